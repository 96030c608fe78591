// hipplan-verify: is it intact, is it usable.
#include <algorithm>
#include <map>
#include <set>

#include "commands/io.h"
#include "commands/plan_files.h"
#include "commands/reasons.h"
#include "commands/targets.h"
#include "commands/verify_parts.h"
#include "restore/restore.h"

namespace hipplan::commands {
namespace {

void note_failure(FileVerdict& file, const Error& error) {
  file.status = worse(file.status, exit_code(error.code));
}

/// Code objects that were found good already, by digest, symbol, target and each argument's
/// kind, size and offset: libraries share them.
using CheckedCode = std::set<std::string>;

Result<void> check_code_once(const plan::Plan& plan, CheckedCode& checked) {
  std::string identity;
  for (const auto& image : plan.payload.kernels) {
    identity += cat(image.sha256.hex(), " ", image.symbol.size(), " ", image.symbol, " ",
                    image.target, ":");
    for (const auto& a : image.signature) identity += cat(a.kind, " ", a.size, "@", a.offset, ";");
  }
  if (checked.count(identity) != 0) return {};
  HIPPLAN_TRY(restore::check_code(plan));
  checked.insert(identity);
  return {};
}

Result<void> check_plan(const plan::Plan& plan, const std::string& file, PlanVerdict& verdict,
                        Verification& v, CheckedCode& checked) {
  const auto& provider = restore::built_in_provider();
  const auto code = check_code_once(plan, checked);
  HIPPLAN_TRY(restore::check_restorable(plan, provider, nullptr, code ? nullptr : &code.error()));
  for (const auto& target : v.targets)
    if (restore::check_target(plan, target)) verdict.usable_on.push_back(target.text());
  if (v.options.execute != 0) {
    auto executed = execute_plan(plan, file, verdict, v);
    v.long_work.end();
    HIPPLAN_TRY(std::move(executed));
  }
  return v.io.check_interrupted();
}

/// Each target asked for needs a plan of every graph in the file that runs there.
void check_targets(FileVerdict& file, Verification& v) {
  for (const auto& target : v.targets) {
    std::map<Digest, bool> served;
    for (const auto& plan : file.plans) {
      const auto& on = plan.usable_on;
      served[plan.entry.graph_key] |= std::count(on.begin(), on.end(), target.text()) != 0;
    }
    for (const auto& [key, good] : served) {
      if (good) continue;
      file.missing.push_back({key, target.text()});
      const Error error = missing_error(file.missing.back());
      v.io.fail(error.within(file.path));
      if (!file.failure) file.failure = error;
      note_failure(file, error);
    }
  }
}

Result<void> check_file(const plan::File& file, FileVerdict& out, Verification& v) {
  CheckedCode checked;
  std::vector<plan::EntryInfo> entries;
  entries.reserve(static_cast<size_t>(file.entry_count()));
  HIPPLAN_TRY(file.for_each([&](const plan::EntryInfo& entry) {
    entries.push_back(entry);
    return true;
  }));
  if (entries.empty() && v.options.require_plan != 0)
    return Error{.code = Code::unusable, .reason = "no-plan", .what = "the file holds no plan"};
  out.plans.reserve(entries.size());
  v.executed = 0;
  v.to_execute = entries.size();  // at most: plans for other devices are left out
  for (const auto& entry : entries) {
    HIPPLAN_TRY(v.io.check_interrupted());
    PlanVerdict verdict{entry, {}, {}, {}, {}, {}, {}};
    // The full check has read the texts; only execution needs one of them.
    HIPPLAN_TRY_ASSIGN(const auto plan, v.options.execute != 0 ? file.read_plan(entry, true)
                                                               : file.read_decisions(entry));
    verdict.engine = *out.names.insert(plan.payload.engine_name).first;
    verdict.kernel = *out.names.insert(plan.payload.kernel_name).first;
    if (auto good = check_plan(plan, out.path, verdict, v, checked); !good) {
      if (good.error().code == Code::interrupted) return good;
      verdict.failure = good.error();
      v.io.fail(good.error().within(cat(out.path, ": plan ", short_name(entry))));
      note_failure(out, good.error());
    }
    out.plans.push_back(std::move(verdict));
    if (entries.size() > 1 && v.options.execute == 0)
      v.io.progress("checking plans", out.plans.size(), entries.size());
  }
  check_targets(out, v);
  return {};
}

void judge_file(const std::string& path, Result<OpenedFile> opened, Verification& v) {
  FileVerdict out;
  out.path = path;
  if (opened) out.signed_by = opened->signed_by;
  Result<void> done =
      opened ? check_file(opened->file, out, v)
             : Result<void>(hint_at_list(opened.error(), path, v.options.targets, v.io));
  if (!done) {
    const Error& error = done.error();
    const bool named = error.where.compare(0, path.size(), path) == 0;
    out.failure = error;
    note_failure(out, error);
    // A request to stop is told once, of the whole.
    if (error.code != Code::interrupted) v.io.fail(named ? error : error.within(path));
  }
  v.files.push_back(std::move(out));
}

Result<void> check_format(const Verification& v) {
  const std::string format = text_or_empty(v.options.format);
  for (const char* known : {"", "text", "json", "junit", "sarif"})
    if (format == known && (!v.io.json() || format.empty() || format == "json")) return {};
  return usage_error({.what = v.io.json() ? "--json and another --format given" : "unknown format",
                      .expected = "text, json, junit or sarif",
                      .found = format});
}

Result<void> work(Verification& v) {
  HIPPLAN_TRY(check_format(v));
  HIPPLAN_TRY_ASSIGN(v.trust,
                     asked_trust(v.options.require_signed != 0, text_or_empty(v.options.trust)));
  HIPPLAN_TRY_ASSIGN(v.described, read_descriptions(v.options.target_files));
  HIPPLAN_TRY_ASSIGN(const auto names, target_names(v.options.targets));
  const bool device_named = !text_or_empty(v.options.device).empty();
  HIPPLAN_TRY_ASSIGN(v.targets, demanded_arches(names, v.described, device_named, v.io));
  if (v.options.paths.count == 0)
    return usage_error(
        {.what = "no file given", .advice = "name at least one .hplan file, folder or bundle"});
  if (v.options.execute == 0 && !text_or_empty(v.options.device).empty())
    return usage_error({.what = "--device goes with --execute",
                        .advice = "pass --execute, or --target to ask where plans run"});
  if (v.options.execute != 0) {
    HIPPLAN_TRY_ASSIGN(const auto kind, kind_of(text_or_empty(v.options.device)));
    HIPPLAN_TRY(refuse_null(kind));
    const std::string name = text_or_empty(v.options.device);
    if (!name.empty() && name != "auto") {
      HIPPLAN_TRY_ASSIGN(v.device, arch_of_device({name, "", v.described, {}}, v.io));
    }
  }
  HIPPLAN_TRY_ASSIGN(const auto paths, plan_paths(items(v.options.paths)));
  const auto judge = [&](const std::string& name, Result<OpenedFile> opened) {
    judge_file(name, std::move(opened), v);
    return v.io.check_interrupted();
  };
  for (size_t i = 0; i < paths.size(); ++i) {
    HIPPLAN_TRY(v.io.check_interrupted());
    HIPPLAN_TRY(for_each_plan_file(paths[i], plan::Check::full, v.trust, judge));
    if (paths.size() > 1) v.io.progress("verifying files", i + 1, paths.size());
  }
  return v.io.check_interrupted();
}

}  // namespace

int verify(const hipplan_verify_options& options, Io& io) {
  if (options.list_reasons != 0) {
    print_reasons(io);
    return io.status();
  }
  Verification v{options, io, {}, {}, {}, {}, {}};
  const auto done = work(v);
  judge_left_out(v);
  if (!done) {
    io.fail(done.error());
    if (v.files.empty()) return io.status();
  }
  const std::string format = text_or_empty(options.format);
  if (format == "junit")
    print_verdicts_junit(v.files, io);
  else if (format == "sarif")
    print_verdicts_sarif(v.files, io);
  else if (io.json() || format == "json")
    print_verdicts_json(v.files, io);
  else
    print_verdicts(v.files, io);
  return io.status();
}

}  // namespace hipplan::commands
