// hipplan-inspect: look at files without a GPU.
#include <algorithm>

#include "base/file.h"
#include "base/harmless.h"
#include "codeobject/codeobject.h"
#include "codeobject/disassembly/disassembler.h"
#include "codeobject/print.h"
#include "commands/inspect_parts.h"
#include "commands/io.h"
#include "commands/plans.h"
#include "commands/targets.h"
#include "plan/bundle.h"
#include "plan/diff.h"
#include "plan/extract.h"
#include "plan/foreign.h"
#include "plan/print.h"
#include "select/select.h"

namespace hipplan::commands {
namespace {

Error usage(const std::string& what, const std::string& expected) {
  return usage_error({.what = what, .expected = expected});
}

Result<void> need(const Inspection& in, size_t count, const char* expected) {
  if (in.arguments.size() == count) return {};
  return usage_error({.where = in.command,
                      .what = "wrong number of arguments",
                      .expected = expected,
                      .found = cat(in.arguments.size())});
}

/// Files that are not ours are shown as what they are.
Result<bool> show_foreign(Inspection& in, ByteView bytes, const std::string& path) {
  const auto kind = plan::recognise(bytes);
  if (kind != plan::FileKind::amd_code_object) return false;
  HIPPLAN_TRY_ASSIGN(const auto code, codeobject::parse(bytes, path));
  if (!in.io.json()) {
    in.io.line(path + ": not a hipplan file; " + plan::file_kind_text(kind));
    in.io.result(codeobject::print(code));
    return true;
  }
  json::Writer out;
  out.begin_object().member("schema", "hipplan.foreign/1").member("path", path);
  out.member("kind", plan::file_kind_name(kind)).key("code_object");
  codeobject::write_json(code, out);
  out.end_object();
  in.io.line(out.text());
  return true;
}

Result<void> show_bundle(Inspection& in, ByteView bytes, const std::string& path) {
  HIPPLAN_TRY_ASSIGN(const auto members, plan::list_bundle(bytes, path));
  json::Writer out;
  out.begin_object().member("schema", "hipplan.bundle/1").member("path", path);
  out.key("members").begin_array();
  for (const auto& member : members) {
    if (!in.io.json())
      in.io.line(cat(member.sha256.hex().substr(0, 16), "  ", member.bytes, "  ", member.name));
    out.begin_object().member("name", member.name).member("bytes", member.bytes);
    out.member("sha256", member.sha256.hex()).end_object();
  }
  out.end_array().end_object();
  if (in.io.json()) in.io.line(out.text());
  return {};
}

/// The bundle that a command has made or unpacked, with --json.
Result<void> report_bundle(Inspection& in, const std::string& path) {
  if (!in.io.json()) return {};
  HIPPLAN_TRY_ASSIGN(const auto bytes, FileView::open(path));
  return show_bundle(in, bytes.view(), path);
}

/// With --graph-key or --target, at least one plan must be left to show.
Result<void> check_any(const plan::File& file, const plan::ShowOptions& options) {
  if (options.graph_key.empty() && options.target.empty()) return {};
  bool any = false;
  HIPPLAN_TRY(file.for_each_of(options.graph_key, [&](const plan::EntryInfo& entry) {
    any = options.target.empty() || entry.target == options.target;
    return !any;
  }));
  if (any) return {};
  return Error{
      .code = Code::negative,
      .reason = "no-such-plan",
      .where = file.where(),
      .what = cat("the file holds no plan",
                  options.graph_key.empty() ? "" : " with a graph key that starts with ",
                  options.graph_key, options.target.empty() ? "" : " for exactly ", options.target),
      .advice = "hipplan-inspect without --graph-key and --target lists what it holds"};
}

Result<void> show_file(Inspection& in, const std::string& path) {
  HIPPLAN_TRY_ASSIGN(auto bytes, open_view(path));
  HIPPLAN_TRY_ASSIGN(const bool foreign, show_foreign(in, bytes.view(), path));
  if (foreign) return {};
  if (plan::looks_like_bundle(bytes.view())) return show_bundle(in, bytes.view(), path);
  HIPPLAN_TRY_ASSIGN(const auto file, parse_file(std::move(bytes), path, plan::Check::lookup));
  plan::ShowOptions options;
  options.graph_key = in.graph_key;
  if (!in.targets.empty()) {
    HIPPLAN_TRY_ASSIGN(const auto arch, target_arch(in));
    options.target = arch.text();
  }
  HIPPLAN_TRY(check_any(file, options));
  if (in.io.json()) {
    json::Writer out;
    HIPPLAN_TRY(plan::show_json(file, options, out));
    in.io.line(out.text());
    return {};
  }
  std::string text;
  HIPPLAN_TRY(plan::show_text(file, options, text));
  in.io.result(text);
  return {};
}

Result<void> show(Inspection& in) {
  if (in.arguments.empty()) return usage("no file given", "at least one file");
  if (in.io.json() && in.arguments.size() != 1)
    return usage("--json shows one file at a time", "one file");
  for (const auto& path : in.arguments) {
    auto shown = show_file(in, path);
    if (shown) continue;
    Error error = shown.error();
    if (error.reason == "open" && path.find_first_of("./:") == std::string::npos)
      error.advice = "there is no such command either; hipplan-inspect --help lists them";
    in.io.fail(error);
  }
  return {};
}

Result<void> diff(Inspection& in) {
  HIPPLAN_TRY(need(in, 2, "two files"));
  // The comparison trusts digests, so both files must be what their digests say.
  HIPPLAN_TRY_ASSIGN(const auto a, open_file(in.arguments[0], plan::Check::full));
  HIPPLAN_TRY_ASSIGN(const auto b, open_file(in.arguments[1], plan::Check::full));
  HIPPLAN_TRY_ASSIGN(const auto difference, plan::diff_files(a, b));
  if (in.io.json()) {
    json::Writer out;
    plan::diff_json(out, difference, in.arguments[0], in.arguments[1]);
    in.io.line(out.text());
  } else {
    in.io.result(plan::diff_text(difference, in.arguments[0], in.arguments[1]));
  }
  const bool differs =
      !difference.differences.empty() || difference.only_in_a != 0 || difference.only_in_b != 0;
  if (differs) in.io.fail_quietly(HIPPLAN_NEGATIVE);
  return {};
}

Result<void> size(Inspection& in) {
  HIPPLAN_TRY(need(in, 1, "one file"));
  HIPPLAN_TRY_ASSIGN(const auto file, open_file(in.arguments[0], plan::Check::lookup));
  HIPPLAN_TRY_ASSIGN(const auto report, plan::size_report(file));
  if (!in.io.json()) {
    in.io.result(plan::size_text(report));
    return {};
  }
  json::Writer out;
  plan::size_json(out, report, in.arguments[0]);
  in.io.line(out.text());
  return {};
}

/// With --json, what was taken out and where it is.
void report_part(Inspection& in, const std::vector<std::string>& files) {
  if (!in.io.json()) return;
  json::Writer out;
  out.begin_object().member("schema", "hipplan.extract/1").member("path", in.arguments[0]);
  out.member("part", in.part).key("files").begin_array();
  for (const auto& file : files) out.value(file);
  in.io.line(out.end_array().end_object().text());
}

Result<void> deliver(Inspection& in, ByteView bytes) {
  if (in.output.empty()) return usage("no output given", "-o FILE, or -o - for standard output");
  if (in.output == "-") {
    if (in.io.json()) return usage("standard output cannot take the part and a report", "-o FILE");
    in.io.bytes(as_text(bytes));
    return {};
  }
  HIPPLAN_TRY(refuse_overwrite(in.output, in.arguments));
  HIPPLAN_TRY(write_file(in.output, bytes));
  report_part(in, {in.output});
  return {};
}

Result<void> deliver_code(Inspection& in, const std::vector<plan::CodeFile>& code) {
  if (code.size() == 1) return deliver(in, *code.front().bytes);
  if (in.output.empty() || in.output == "-")
    return usage(cat("the plan has ", code.size(), " code objects"), "-o FOLDER/");
  HIPPLAN_TRY(make_folder(in.output));
  std::vector<std::string> files;
  for (const auto& file : code) {
    files.push_back((std::filesystem::path(in.output) / file.name).string());
    HIPPLAN_TRY(write_file(files.back(), *file.bytes));
  }
  report_part(in, files);
  return {};
}

Result<void> extract(Inspection& in) {
  HIPPLAN_TRY(need(in, 1, "one file"));
  HIPPLAN_TRY_ASSIGN(const auto file, open_file(in.arguments[0], plan::Check::lookup));
  HIPPLAN_TRY_ASSIGN(const auto entry, chosen_entry(in, file));
  if (in.part == "plan") {
    HIPPLAN_TRY_ASSIGN(const auto bytes, plan::extract_plan(file, entry));
    return deliver(in, bytes);
  }
  if (in.part == "envelope") {
    HIPPLAN_TRY_ASSIGN(const auto bytes, plan::extract_envelope(file, entry));
    return deliver(in, bytes);
  }
  if (in.part == "graph") {
    HIPPLAN_TRY_ASSIGN(const auto text, plan::extract_graph(file, entry));
    return deliver(in, as_bytes(text));
  }
  if (in.part == "code") {
    HIPPLAN_TRY_ASSIGN(const auto code, plan::extract_code(file, entry));
    return deliver_code(in, code);
  }
  return usage("nothing to extract named", "one of --plan, --graph, --code, --envelope");
}

Result<void> resolve_command(Inspection& in) {
  HIPPLAN_TRY(need(in, 1, "one file"));
  if (in.targets.size() != 1)
    return usage(cat(in.targets.size(), " targets given"), "one --target");
  HIPPLAN_TRY_ASSIGN(const auto arch, target_arch(in));
  HIPPLAN_TRY_ASSIGN(const auto file, open_file(in.arguments[0], plan::Check::lookup));
  HIPPLAN_TRY_ASSIGN(const auto candidates, judge(file, in.graph_key, arch));
  if (candidates.empty()) return resolve(file, in.graph_key, arch).error().within(in.arguments[0]);
  json::Writer out;
  out.begin_object().member("schema", "hipplan.resolve/1").member("path", in.arguments[0]);
  out.member("target", arch.text()).key("candidates").begin_array();
  const auto chosen = best_by_graph(candidates, arch);
  bool unserved = false;
  for (const auto& candidate : candidates) {
    const Candidate* best = chosen.at(candidate.entry.graph_key);
    const bool wins = best == &candidate;
    unserved |= best == nullptr;
    auto refusal = candidate.refusal;
    // Nothing is to be done where another plan of the graph is chosen.
    if (refusal && best != nullptr) refusal->advice.clear();
    const std::string verdict =
        refusal ? "refused: " + refusal->text() : std::string(wins ? "chosen" : "fits, not chosen");
    if (!in.io.json())
      in.io.line(cat(candidate.entry.graph_key.hex().substr(0, 16), "/", candidate.entry.target,
                     ": ", verdict));
    out.begin_object().member("graph_key", candidate.entry.graph_key.hex());
    out.member("target", candidate.entry.target)
        .member("plan_digest", candidate.entry.plan_digest.hex());
    out.member("chosen", wins);
    if (refusal) {
      out.key("refusal");
      write_error(out, *refusal);
    }
    out.end_object();
  }
  out.end_array().end_object();
  if (in.io.json()) in.io.line(out.text());
  if (unserved)
    return Error{.code = Code::unusable,
                 .reason = "target",
                 .where = in.arguments[0],
                 .what = "a graph has no plan that runs on " + arch.text(),
                 .advice = "bake one for " + arch.base};
  return {};
}

Result<void> why(Inspection& in) {
  HIPPLAN_TRY(need(in, 1, "one file"));
  HIPPLAN_TRY_ASSIGN(const auto file, open_file(in.arguments[0], plan::Check::lookup));
  HIPPLAN_TRY_ASSIGN(const auto entry, chosen_entry(in, file));
  HIPPLAN_TRY_ASSIGN(const auto plan, file.read_plan(entry, false));
  if (plan.reasons.empty())
    return Error{.code = Code::negative,
                 .reason = "no-reasons",
                 .where = in.arguments[0],
                 .what = "the plan carries no record of how it was chosen"};
  if (in.io.json()) {
    in.io.line(plan.reasons);
    return {};
  }
  HIPPLAN_TRY_ASSIGN(const auto text, select::explain_record(plan.reasons, in.arguments[0]));
  in.io.result(harmless(text, "\n"));
  return {};
}

Result<void> bundle(Inspection& in) {
  HIPPLAN_TRY(need(in, 1, "one folder"));
  if (in.output.empty()) return usage("no output given", "-o FILE.tar.zst");
  if (in.output == "-")
    return usage("a bundle is not written to standard output", "-o FILE.tar.zst");
  std::error_code ignored;
  if (in.io.json() && std::filesystem::exists(in.output, ignored) &&
      !std::filesystem::is_regular_file(in.output, ignored))
    return usage("a pipe or device cannot be read back for the report", "-o FILE.tar.zst");
  HIPPLAN_TRY(plan::write_bundle(in.arguments[0], in.output));
  return report_bundle(in, in.output);
}

Result<void> unbundle(Inspection& in) {
  HIPPLAN_TRY(need(in, 1, "one bundle"));
  if (in.output.empty()) return usage("no output given", "-o FOLDER/");
  if (in.output == "-") return usage("files cannot go to standard output", "-o FOLDER/");
  HIPPLAN_TRY(plan::unpack_bundle(in.arguments[0], in.output));
  return report_bundle(in, in.arguments[0]);
}

struct Command {
  const char* name;
  Result<void> (*function)(Inspection&);
};
constexpr Command kCommands[] = {{"show", show},
                                 {"diff", diff},
                                 {"list", list_things},
                                 {"extract", extract},
                                 {"size", size},
                                 {"disasm", disasm},
                                 {"resolve", resolve_command},
                                 {"why", why},
                                 {"bundle", bundle},
                                 {"unbundle", unbundle},
                                 {"merge", merge},
                                 {"split", split},
                                 {"strip", strip},
                                 {"sign", sign},
                                 {"signatures", list_signatures},
                                 {"sbom", sbom}};

}  // namespace

int inspect(const hipplan_inspect_options& options, Io& io) {
  Inspection in{io,
                text_or_empty(options.command),
                items(options.arguments),
                text_or_empty(options.graph_key),
                items(options.targets, true),
                text_or_empty(options.part),
                text_or_empty(options.output),
                text_or_empty(options.key),
                text_or_empty(options.trust),
                text_or_empty(options.format),
                options.detached != 0,
                options.date};
  for (const auto& command : kCommands) {
    if (in.command != command.name) continue;
    if (auto done = command.function(in); !done) io.fail(done.error());
    return io.status();
  }
  io.fail(usage("unknown command '" + in.command + "'",
                "show, diff, list, extract, size, disasm, "
                "resolve, why, bundle, unbundle, merge, split, strip, sign, signatures or sbom"));
  return io.status();
}

}  // namespace hipplan::commands
