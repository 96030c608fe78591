// inspect list plans: a line for each plan of a file.
#include "base/interruption.h"
#include "commands/graphs.h"
#include "commands/inspect_parts.h"
#include "commands/plans.h"
#include "json/array_stream.h"
#include "plan/layout.h"

namespace hipplan::commands {
namespace {

/// What a line says of a plan.
struct PlanRow {
  plan::EntryInfo entry;
  std::string engine, kernel, name;
  uint64_t code_bytes = 0;
};

Result<PlanRow> row_of(const plan::File& file, const plan::EntryInfo& entry, GraphNames& names) {
  HIPPLAN_TRY_ASSIGN(const auto plan, file.read_decisions(entry, false));
  HIPPLAN_TRY_ASSIGN(const auto parts, file.parts(entry));
  HIPPLAN_TRY_ASSIGN(auto name, names.of(entry));
  PlanRow out{entry, plan.payload.engine_name, plan.payload.kernel_name, std::move(name), 0};
  if (out.kernel.empty() && !plan.payload.kernels.empty())
    out.kernel = plan.payload.kernels.front().symbol;
  for (const auto& part : parts)
    if (part.type == plan::kCodeSection) out.code_bytes += part.raw_bytes;
  return out;
}

void write_row(json::Writer& out, const PlanRow& row) {
  out.begin_object().member("graph_key", row.entry.graph_key.hex());
  row.name.empty() ? out.key("graph_name").null() : out.member("graph_name", row.name);
  out.member("target", row.entry.target).member("engine", row.engine);
  out.member("kernel", row.kernel).member("code_bytes", row.code_bytes);
  out.member("plan_digest", row.entry.plan_digest.hex()).end_object();
}

/// The name comes last: it may hold spaces, and nothing else does.
std::string line_of(const PlanRow& row) {
  return cat(row.entry.graph_key.hex().substr(0, 16), "  ", row.entry.target, "  ", row.engine,
             "  ", row.kernel, "  ", row.code_bytes, row.name.empty() ? "" : "  ", row.name);
}

/// Calls `visit` with the entries that --graph-key and --target leave.
Result<void> visit_wanted(Inspection& in, const plan::File& file,
                          const std::function<Result<void>(const plan::EntryInfo&)>& visit) {
  const auto digits = graph_digits(file, in.graph_key);
  if (!digits) return digits.error().within(file.where());
  if (!in.targets.empty()) {
    HIPPLAN_TRY_ASSIGN(const auto arch, target_arch(in));
    HIPPLAN_TRY_ASSIGN(const auto taken, resolve_each(file, *digits, arch));
    if (taken.empty()) return no_plan_runs(file, *digits, arch).within(file.where());
    if (const auto note = note_on_taken(taken, arch)) in.io.note(cat(file.where(), ": ", *note));
    for (const auto& entry : taken) HIPPLAN_TRY(visit(entry));
    return {};
  }
  Result<void> failed;
  const auto one = [&](const plan::EntryInfo& entry) {
    failed = visit(entry);
    return failed.ok();
  };
  HIPPLAN_TRY(digits->empty() ? file.for_each(one) : file.for_each_of(*digits, one));
  return failed;
}

}  // namespace

Result<void> list_plans(Inspection& in, const std::string& path) {
  HIPPLAN_TRY_ASSIGN(const auto file, open_file(path, plan::Check::lookup));
  json::Writer front;
  front.begin_object().member("schema", "hipplan.list/1").member("what", "plans");
  front.member("path", path).key("rows").begin_array();
  json::ArrayStream out(std::move(front), [&](std::string_view text) { in.io.bytes(text); });
  GraphNames names(file);
  const auto done = visit_wanted(in, file, [&](const plan::EntryInfo& entry) -> Result<void> {
    HIPPLAN_TRY(check_interruption());
    HIPPLAN_TRY_ASSIGN(const auto row, row_of(file, entry, names));
    if (in.io.json())
      out.item([&](json::Writer& one) { write_row(one, row); });
    else
      in.io.line(line_of(row));
    return {};
  });
  if (in.io.json()) finish_stream(in.io, out, done, [](json::Writer&) {});
  return done;
}

}  // namespace hipplan::commands
