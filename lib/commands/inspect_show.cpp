// hipplan-inspect show, bundle, unbundle: whole files, ours and those of others.
#include <filesystem>
#include <optional>
#include <set>

#include "archive/kpack.h"
#include "archive/print.h"
#include "base/counted.h"
#include "base/file.h"
#include "base/harmless.h"
#include "codeobject/codeobject.h"
#include "codeobject/print.h"
#include "commands/inspect_parts.h"
#include "commands/plans.h"
#include "plan/bundle.h"
#include "plan/foreign_facts.h"
#include "plan/print.h"
#include "plan/signature.h"

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

Result<void> show_bundle(Inspection& in, ByteView bytes, const std::string& path) {
  HIPPLAN_TRY_ASSIGN(const auto members, plan::list_bundle(bytes, path));
  if (members.empty()) return empty_bundle(path);
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

/// How many plans of a folder have their signatures in a file beside them.
uint64_t detached_signatures(const std::filesystem::path& folder) {
  uint64_t out = 0;
  std::error_code failed, ignored;
  for (std::filesystem::recursive_directory_iterator it(folder, failed), end; !failed && it != end;
       it.increment(failed))
    if (it->path().extension() == ".hplan" && it->is_regular_file(ignored) && !it->is_symlink() &&
        std::filesystem::exists(plan::detached_path(it->path()), ignored))
      ++out;
  return out;
}

/// The bundle that a command has made or unpacked, with --json.
Result<void> report_bundle(Inspection& in, const std::string& path) {
  if (!in.io.json()) return {};
  HIPPLAN_TRY_ASSIGN(const auto bytes, FileView::open(path));
  return show_bundle(in, bytes.view(), path);
}

/// What --graph-key and --target leave of a file: at least one plan.
Result<plan::ShowOptions> show_options(const Inspection& in, const plan::File& file) {
  plan::ShowOptions out;
  out.graph_key = in.graph_key;
  std::vector<plan::EntryInfo> taken;
  std::string asked =
      in.graph_key.empty() ? "" : " with a graph key that starts with " + in.graph_key;
  if (!in.targets.empty()) {
    HIPPLAN_TRY_ASSIGN(const auto arch, target_arch(in));
    HIPPLAN_TRY_ASSIGN(taken, resolve_each(file, in.graph_key, arch));
    if (const auto note = note_on_taken(taken, arch)) in.io.note(cat(file.where(), ": ", *note));
    asked += " that runs on " + arch.text();
    std::set<uint64_t> positions;
    for (const auto& entry : taken) positions.insert(entry.position);
    out.wanted = [positions = std::move(positions)](const plan::EntryInfo& entry) {
      return positions.count(entry.position) != 0;
    };
  } else {
    HIPPLAN_TRY(file.for_each_of(in.graph_key, [&](const plan::EntryInfo& entry) {
      taken.push_back(entry);
      return false;
    }));
  }
  if (!taken.empty() || asked.empty()) return out;
  HIPPLAN_TRY_ASSIGN(const auto targets, targets_in(file, in.graph_key));
  return Error{.code = Code::negative,
               .reason = "no-such-plan",
               .where = file.where(),
               .what = "the file holds no plan" + asked,
               .found = in.targets.empty() || targets.empty() ? "" : "plans for " + targets,
               .advice = "hipplan-inspect without --graph-key and --target lists what it holds"};
}

Result<void> show_file(Inspection& in, const std::string& path) {
  HIPPLAN_TRY_ASSIGN(auto bytes, open_view(path));
  HIPPLAN_TRY_ASSIGN(const bool foreign, show_foreign(in, bytes.view(), path));
  if (foreign) return {};
  if (plan::looks_like_bundle(bytes.view())) return show_bundle(in, bytes.view(), path);
  HIPPLAN_TRY_ASSIGN(const auto file, parse_file(std::move(bytes), path, plan::Check::lookup));
  HIPPLAN_TRY_ASSIGN(const auto options, show_options(in, file));
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

}  // namespace

Result<void> show(Inspection& in) {
  if (in.arguments.empty()) return inspect_usage("no file given", "at least one file");
  if (in.io.json() && in.arguments.size() != 1)
    return inspect_usage("--json shows one file at a time", "one file");
  for (const auto& path : in.arguments) {
    auto shown = show_file(in, path);
    if (shown) continue;
    Error error = shown.error();
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
      error.advice = "name its files, " + path + "/*.hplan; hipplan-verify takes folders";
    else if (error.reason == "open" && path.find_first_of("./:") == std::string::npos)
      error.advice = "there is no such command either; hipplan-inspect --help lists them";
    in.io.fail(error);
  }
  return {};
}

Result<void> bundle(Inspection& in) {
  HIPPLAN_TRY(need(in, 1, "one folder"));
  if (in.output.empty()) return inspect_usage("no output given", "-o FILE.tar.zst");
  if (in.output == "-")
    return inspect_usage("a bundle is not written to standard output", "-o FILE.tar.zst");
  // It would be taken for a plan, and may be one of those that are packed.
  if (in.output.ends_with(".hplan"))
    return Error{.code = Code::bad_input,
                 .reason = "output-name",
                 .where = in.output,
                 .what = "is a plan's name",
                 .expected = "-o FILE.tar.zst"};
  std::error_code ignored;
  if (in.io.json() && std::filesystem::exists(in.output, ignored) &&
      !std::filesystem::is_regular_file(in.output, ignored))
    return inspect_usage("a pipe or device cannot be read back for the report", "-o FILE.tar.zst");
  HIPPLAN_TRY(plan::write_bundle(in.arguments[0], in.output));
  if (const uint64_t left = detached_signatures(in.arguments[0]); left != 0)
    in.io.note(cat(counted(left, "detached signature"), left == 1 ? " is" : " are",
                   " not in the bundle, which takes .hplan files only; signatures inside files "
                   "(sign without --detached) travel with them"));
  return report_bundle(in, in.output);
}

Result<void> unbundle(Inspection& in) {
  HIPPLAN_TRY(need(in, 1, "one bundle"));
  if (in.output.empty()) return inspect_usage("no output given", "-o FOLDER/");
  if (in.output == "-") return inspect_usage("files cannot go to standard output", "-o FOLDER/");
  HIPPLAN_TRY_ASSIGN(const auto members, plan::list_bundle(in.arguments[0]));
  if (members.empty()) return empty_bundle(in.arguments[0]);
  HIPPLAN_TRY(plan::unpack_bundle(in.arguments[0], in.output));
  return report_bundle(in, in.arguments[0]);
}

}  // namespace hipplan::commands
