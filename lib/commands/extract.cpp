// hipplan-inspect extract: one part of one plan.
#include <algorithm>

#include "base/file.h"
#include "commands/graphs.h"
#include "commands/inspect_parts.h"
#include "commands/plans.h"
#include "plan/extract.h"
#include "plan/folder_output.h"

namespace hipplan::commands {
namespace {

/// With --json, what was taken out and where it is.
void report_part(Inspection& in, const std::vector<std::string>& files) {
  if (!in.io.json()) return;
  json::Writer out;
  out.begin_object().member("schema", "hipplan.extract/1").member("path", in.arguments[0]);
  out.member("part", in.part).key("files").begin_array();
  for (const auto& file : files) out.value(file);
  in.io.line(out.end_array().end_object().text());
}

/// The same as a line for readers.
void tell_part(Inspection& in, const plan::EntryInfo& entry, const std::string& part,
               uint64_t bytes) {
  if (in.io.json()) return;
  in.io.note(cat(in.output, ": ", part == "plan" ? "" : "the " + part + " of ", "plan ",
                 entry.graph_key.hex().substr(0, 16), "/", entry.target, ", ", bytes, " bytes"));
}

Result<void> deliver(Inspection& in, const plan::EntryInfo& entry, ByteView bytes) {
  if (in.output.empty())
    return inspect_usage("no output given", "-o FILE, or -o - for standard output");
  if (in.output == "-") {
    if (in.io.json())
      return inspect_usage("standard output cannot take the part and a report", "-o FILE");
    in.io.bytes(as_text(bytes));
    return {};
  }
  HIPPLAN_TRY(refuse_overwrite(in.output, in.arguments));
  const bool binary = in.part == "code" || in.part == "envelope";
  HIPPLAN_TRY(refuse_other_name(in.output, in.part == "plan" ? ".hplan" : binary ? "" : ".json"));
  HIPPLAN_TRY(write_file(in.output, bytes));
  report_part(in, {in.output});
  tell_part(in, entry, in.part, bytes.size());
  return {};
}

Result<void> deliver_code(Inspection& in, const plan::EntryInfo& entry,
                          const std::vector<plan::CodeFile>& code) {
  if (code.size() == 1) return deliver(in, entry, *code.front().bytes);
  if (in.output.empty() || in.output == "-")
    return inspect_usage(cat("the plan has ", code.size(), " code objects"), "-o FOLDER/");
  HIPPLAN_TRY(refuse_file_name(in.output));
  HIPPLAN_TRY_ASSIGN(auto out, plan::FolderOutput::create(in.output));
  std::vector<std::string> files;
  uint64_t bytes = 0;
  for (const auto& file : code) {
    files.push_back((std::filesystem::path(in.output) / file.name).string());
    HIPPLAN_TRY(out.add(file.name, *file.bytes));
    bytes += file.bytes->size();
  }
  HIPPLAN_TRY(out.commit());
  report_part(in, files);
  tell_part(in, entry, cat(files.size(), " code objects"), bytes);
  return {};
}

/// Without --target the plans of one graph for several targets are as good as one, when the same
/// text travels with each.
Result<plan::EntryInfo> entry_of_graph(const Inspection& in, const plan::File& file) {
  if (!in.targets.empty()) return chosen_entry(in, file);
  const auto digits = graph_digits(file, in.graph_key);
  if (!digits) return digits.error().within(file.where());
  std::optional<plan::EntryInfo> first;
  std::optional<Digest> graph;
  bool alike = true;
  Result<void> failed;
  HIPPLAN_TRY(file.for_each_of(*digits, [&](const plan::EntryInfo& entry) {
    const auto digest = graph_digest(file, entry);
    if (!digest) {
      failed = digest.error();
      return false;
    }
    if (!first) {
      first = entry;
      graph = *digest;
    }
    alike = entry.graph_key == first->graph_key && *digest == graph;
    return alike;
  }));
  HIPPLAN_TRY(failed);
  return first && alike ? Result<plan::EntryInfo>(*first) : chosen_entry(in, file);
}

/// The texts beside the graph that may travel with a plan.
struct TextPart {
  const char* name;
  std::string plan::Plan::* text;
  const char* missing;
};
constexpr TextPart kTextParts[] = {
    {"reasons", &plan::Plan::reasons, "the plan carries no record of how it was chosen"},
    {"measurements", &plan::Plan::measurements,
     "the plan's kernel was not chosen by measured times"},
    {"evidence", &plan::Plan::evidence, "the plan carries no evidence of an execution"},
    {"provenance", &plan::Plan::provenance, "the plan does not say where its parts came from"},
};

Result<void> deliver_text(Inspection& in, const plan::File& file, const plan::EntryInfo& entry,
                          const TextPart& part) {
  HIPPLAN_TRY_ASSIGN(const auto plan, file.read_plan(entry, false));
  const std::string& text = plan.*part.text;
  if (!text.empty()) return deliver(in, entry, as_bytes(text));
  return Error{.code = Code::negative,
               .reason = cat("no-", part.name),
               .where = in.arguments[0],
               .what = part.missing};
}

}  // namespace

Result<void> extract(Inspection& in) {
  if (in.part.empty())
    return inspect_usage("nothing to extract named",
                         "one of --plan, --graph, --code, --envelope, --reasons, --measurements, "
                         "--evidence, --provenance");
  HIPPLAN_TRY(need(in, 1, "one file"));
  HIPPLAN_TRY_ASSIGN(const auto file, open_file(in.arguments[0], plan::Check::lookup));
  HIPPLAN_TRY_ASSIGN(const auto entry,
                     in.part == "graph" ? entry_of_graph(in, file) : chosen_entry(in, file));
  if (in.part == "plan") {
    HIPPLAN_TRY_ASSIGN(const auto bytes, plan::extract_plan(file, entry));
    return deliver(in, entry, bytes);
  }
  if (in.part == "envelope") {
    HIPPLAN_TRY_ASSIGN(const auto bytes, plan::extract_envelope(file, entry));
    return deliver(in, entry, bytes);
  }
  if (in.part == "graph") {
    HIPPLAN_TRY_ASSIGN(const auto text, plan::extract_graph(file, entry));
    return deliver(in, entry, as_bytes(text));
  }
  if (in.part == "code") {
    HIPPLAN_TRY_ASSIGN(const auto code, plan::extract_code(file, entry));
    return deliver_code(in, entry, code);
  }
  for (const TextPart& part : kTextParts)
    if (in.part == part.name) return deliver_text(in, file, entry, part);
  return inspect_usage(
      "no part of a plan is called '" + in.part.substr(0, 80) + "'",
      "plan, graph, code, envelope, reasons, measurements, evidence or provenance");
}

}  // namespace hipplan::commands
