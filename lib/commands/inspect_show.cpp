// hipplan-inspect show: whole files, ours and those of others.
#include <filesystem>
#include <optional>
#include <set>

#include "archive/kpack.h"
#include "archive/print.h"
#include "base/file.h"
#include "base/harmless.h"
#include "base/spelling.h"
#include "codeobject/codeobject.h"
#include "codeobject/print.h"
#include "commands/graphs.h"
#include "commands/inspect_parts.h"
#include "commands/plans.h"
#include "plan/bundle.h"
#include "plan/foreign_facts.h"
#include "plan/print.h"

namespace hipplan::commands {
namespace {

/// Kinds that have a reader and a printer of their own.
struct Detail {
  std::optional<codeobject::CodeObject> code;
  std::optional<archive::Kpack> archive;
};

Result<Detail> detail_of(plan::FileKind kind, ByteView bytes, const std::string& path) {
  Detail out;
  if (kind == plan::FileKind::amd_code_object) {
    HIPPLAN_TRY_ASSIGN(out.code, codeobject::parse(bytes, path));
  }
  if (kind == plan::FileKind::kpack) {
    HIPPLAN_TRY_ASSIGN(out.archive, archive::Kpack::parse(bytes, path));
  }
  // Cubins and PTX of other makers may be of a form that this reader does not know.
  if (kind == plan::FileKind::cubin || kind == plan::FileKind::ptx) {
    auto code = codeobject::parse(bytes, path);
    if (code)
      out.code = std::move(*code);
    else if (code.error().code == Code::damaged)
      return code.error();
  }
  return out;
}

/// Files that are not ours are shown as what they are, as far as their layout is known.
Result<bool> show_foreign(Inspection& in, ByteView bytes, const std::string& path) {
  const auto kind = plan::recognise(bytes);
  // Graphs, keys and signatures belong to plans; the refusal says what to do with them.
  for (const auto other :
       {plan::FileKind::unknown, plan::FileKind::hplan, plan::FileKind::bundle,
        plan::FileKind::json, plan::FileKind::signature, plan::FileKind::pem, plan::FileKind::text})
    if (kind == other) return false;
  HIPPLAN_TRY_ASSIGN(const auto detail, detail_of(kind, bytes, path));
  const auto facts = plan::foreign_facts(bytes);
  if (!in.io.json()) {
    const bool bare =
        kind == plan::FileKind::hipplan_payload || kind == plan::FileKind::hipplan_envelope;
    in.io.line(cat(path,
                   bare ? ": not a hipplan file but a piece of one; " : ": not a hipplan file; ",
                   plan::file_kind_text(kind)));
    if (kind != plan::FileKind::amd_code_object) in.io.result(plan::foreign_text(facts));
    if (detail.code) in.io.result(codeobject::print(*detail.code));
    if (detail.archive) in.io.result(archive::print(*detail.archive));
    return true;
  }
  json::Writer out;
  out.begin_object().member("schema", "hipplan.foreign/1").member("path", path);
  plan::foreign_json(out, facts);
  if (detail.code) {
    out.key("code_object");
    codeobject::write_json(*detail.code, out);
  }
  if (detail.archive) {
    out.key("archive");
    archive::write_json(*detail.archive, out);
  }
  out.end_object();
  in.io.line(out.text());
  return true;
}

/// What --graph-key and --target leave of a file: at least one plan.
Result<plan::ShowOptions> show_options(const Inspection& in, const plan::File& file) {
  plan::ShowOptions out;
  auto digits = graph_digits(file, in.graph_key);
  if (!digits) return digits.error().within(file.where());
  out.graph_key = *std::move(digits);
  if (in.io.json()) out.max_entries = UINT64_MAX;
  if (in.targets.empty()) return out;
  HIPPLAN_TRY_ASSIGN(const auto arch, target_arch(in));
  HIPPLAN_TRY_ASSIGN(const auto taken, resolve_each(file, out.graph_key, arch));
  if (taken.empty()) return no_plan_runs(file, out.graph_key, arch).within(file.where());
  if (const auto note = note_on_taken(taken, arch)) in.io.note(cat(file.where(), ": ", *note));
  std::set<uint64_t> positions;
  for (const auto& entry : taken) positions.insert(entry.position);
  out.wanted = [positions = std::move(positions)](const plan::EntryInfo& entry) {
    return positions.count(entry.position) != 0;
  };
  return out;
}

/// How many plans of a file are asked for: of those that are chosen, as many as can be counted.
uint64_t chosen_plans(const plan::File& file, const plan::ShowOptions& options) {
  if (options.graph_key.empty() && !options.wanted) return file.entry_count();
  uint64_t out = 0;
  // Damage that ends the count has ended the document, and is told.
  (void)file.for_each_of(options.graph_key, [&](const plan::EntryInfo& entry) {
    out += !options.wanted || options.wanted(entry) ? 1 : 0;
    return true;
  });
  return out;
}

Result<void> show_plans_json(Inspection& in, const plan::File& file,
                             const plan::ShowOptions& options) {
  json::Writer front;
  plan::show_json_front(file, front);
  json::ArrayStream out(std::move(front), [&](std::string_view text) { in.io.bytes(text); });
  const auto left = plan::show_json_plans(file, options, out);
  const Result<void> done = left ? Result<void>() : Result<void>(left.error());
  finish_stream(in.io, out, done, [&](json::Writer& end) {
    const uint64_t shown = out.items();
    end.member("plans_not_shown",
               left ? *left : std::max(chosen_plans(file, options), shown) - shown);
  });
  return done;
}

/// Whether the file is one whose machine code could be checked.
Result<bool> show_file(Inspection& in, const std::string& path) {
  HIPPLAN_TRY_ASSIGN(auto bytes, open_view(path));
  HIPPLAN_TRY_ASSIGN(const bool foreign, show_foreign(in, bytes.view(), path));
  if (foreign) return false;
  if (plan::looks_like_bundle(bytes.view())) {
    HIPPLAN_TRY(show_bundle(in, bytes.view(), path));
    return false;
  }
  HIPPLAN_TRY_ASSIGN(const auto file, parse_file(std::move(bytes), path, plan::Check::lookup));
  HIPPLAN_TRY_ASSIGN(const auto options, show_options(in, file));
  if (in.io.json()) {
    HIPPLAN_TRY(show_plans_json(in, file, options));
    return false;
  }
  std::string text;
  HIPPLAN_TRY(plan::show_text(file, options, text));
  in.io.result(text);
  return file.entry_count() != 0;
}

/// A word that is no file's name, and where it stands no command's either.
Result<void> refuse_unknown_command(const std::string& word, bool first) {
  std::error_code ignored;
  if (word.empty() || word == "-" || word.find_first_of("./:") != std::string::npos ||
      std::filesystem::exists(word, ignored))
    return {};
  NearestWord nearest(word);
  for (const auto& command : command_names()) nearest.look(command);
  if (nearest.word().empty() && !first) return {};
  return usage_error(
      {.where = word,
       .what = "is not a command, and no file of that name is there",
       .advice = (nearest.word().empty() ? "" : "the nearest is " + nearest.word() + "; ") +
                 "hipplan-inspect --help lists the commands"});
}

}  // namespace

Result<void> show(Inspection& in) {
  if (in.arguments.empty()) return inspect_usage("no file given", "at least one file");
  if (in.io.json() && in.arguments.size() != 1)
    return inspect_usage("--json shows one file at a time", "one file");
  for (const auto& word : in.arguments)
    if (in.command.empty()) HIPPLAN_TRY(refuse_unknown_command(word, word == in.arguments.front()));
  bool unchecked = false;
  for (const auto& path : in.arguments) {
    const auto shown = show_file(in, path);
    unchecked |= shown && *shown;
    if (shown) continue;
    Error error = shown.error();
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
      error.advice = "name its files, " + path + "/*.hplan; hipplan-verify takes folders";
    in.io.fail(error);
  }
  if (unchecked) in.io.line("machine code is not checked here; hipplan-verify checks it");
  return {};
}

}  // namespace hipplan::commands
