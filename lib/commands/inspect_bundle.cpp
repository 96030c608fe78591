// hipplan-inspect bundle, unbundle: a folder of plans as one file and back.
#include <filesystem>

#include "base/counted.h"
#include "base/file.h"
#include "base/interruption.h"
#include "commands/inspect_parts.h"
#include "commands/plans.h"
#include "plan/bundle.h"
#include "plan/signature.h"

namespace hipplan::commands {

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

namespace {

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

/// The bundle that was made or unpacked: the document with --json, else a line about it.
Result<void> report_bundle(Inspection& in, ByteView bytes, const std::string& bundle,
                           const std::string& written) {
  if (in.io.json()) return show_bundle(in, bytes, bundle);
  HIPPLAN_TRY_ASSIGN(const auto members, plan::list_bundle(bytes, bundle));
  uint64_t size = bytes.size();
  if (written != bundle) {
    size = 0;
    for (const auto& member : members) size += member.bytes;
  }
  in.io.note(cat(written, ": ", counted(members.size(), "file"), ", ", size, " bytes"));
  return {};
}

/// How a file that is there is not the member; empty when it is.
std::string difference(const std::filesystem::path& path, const plan::BundleMember& member) {
  const auto there = FileView::open(path);
  if (!there)
    return "is there and cannot be compared with the bundle's file: " + there.error().what;
  if (there->view().size() == member.bytes && sha256(there->view()) == member.sha256) return "";
  return "is there and differs from the bundle's file";
}

/// Refuses to replace a file of the folder that is not the member of its name.
Result<void> refuse_changed(const std::vector<plan::BundleMember>& members,
                            const std::string& folder) {
  std::string first, how;
  uint64_t changed = 0;
  for (const auto& member : members) {
    HIPPLAN_TRY(check_interruption());
    std::error_code ignored;
    const auto path = std::filesystem::path(folder) / member.name;
    // Folders are judged where they are written, and links have been.
    const auto kind = std::filesystem::symlink_status(path, ignored).type();
    if (kind == std::filesystem::file_type::not_found || kind == std::filesystem::file_type::none ||
        kind == std::filesystem::file_type::directory ||
        kind == std::filesystem::file_type::symlink)
      continue;
    // A pipe would be waited for.
    std::string now = kind == std::filesystem::file_type::regular
                          ? difference(path, member)
                          : "is there and is no regular file";
    if (now.empty() || changed++ != 0) continue;
    first = path.string();
    how = std::move(now);
  }
  if (changed == 0) return {};
  return Error{.code = Code::bad_input,
               .reason = "file-exists",
               .where = first,
               .what = cat(how, changed == 1 ? "" : cat("; so with ", changed - 1, " more")),
               .advice = "write to another folder, or replace with --force"};
}

}  // namespace

Result<void> bundle(Inspection& in) {
  HIPPLAN_TRY(need(in, 1, "one folder"));
  if (in.output.empty()) return inspect_usage("no output given", "-o FILE.tar.zst");
  std::error_code ignored;
  const bool to_stdout = in.output == "-";
  const bool device = std::filesystem::exists(in.output, ignored) &&
                      !std::filesystem::is_regular_file(in.output, ignored);
  // A plan's name would be taken for a plan, and may be one of those that are packed. Under others
  // than this no command finds members.
  if (!to_stdout && !device && !plan::is_bundle_file_name(in.output))
    return Error{.code = Code::bad_input,
                 .reason = "output-name",
                 .where = in.output,
                 .what = in.output.ends_with(".hplan") ? "is a plan's name" : "is no bundle's name",
                 .expected = "-o FILE.tar.zst"};
  if (in.io.json() && to_stdout)
    return inspect_usage("standard output cannot take the bundle and a report", "-o FILE.tar.zst");
  if (in.io.json() && device)
    return inspect_usage("a pipe or device cannot be read back for the report", "-o FILE.tar.zst");
  if (to_stdout) {
    HIPPLAN_TRY(plan::write_bundle(in.arguments[0], [&](ByteView piece) -> Result<void> {
      in.io.bytes(as_text(piece));
      return {};
    }));
  } else {
    HIPPLAN_TRY(plan::write_bundle(in.arguments[0], in.output));
  }
  if (const uint64_t left = detached_signatures(in.arguments[0]); left != 0)
    in.io.note(cat(counted(left, "detached signature"), left == 1 ? " is" : " are",
                   " not in the bundle, which takes .hplan files only; signatures inside files "
                   "(sign without --detached) travel with them"));
  if (to_stdout || device) return {};
  HIPPLAN_TRY_ASSIGN(const auto written, FileView::open(in.output));
  return report_bundle(in, written.view(), in.output, in.output);
}

Result<void> unbundle(Inspection& in) {
  HIPPLAN_TRY(need(in, 1, "one bundle"));
  if (in.output.empty()) return inspect_usage("no output given", "-o FOLDER/");
  if (in.output == "-") return inspect_usage("files cannot go to standard output", "-o FOLDER/");
  HIPPLAN_TRY(refuse_file_name(in.output));
  // Opened once: what comes out of a pipe comes once.
  const std::string& bundle = in.arguments[0];
  HIPPLAN_TRY_ASSIGN(const auto file, FileView::open(bundle));
  HIPPLAN_TRY_ASSIGN(const auto members, plan::list_bundle(file.view(), bundle));
  if (members.empty()) return empty_bundle(bundle);
  HIPPLAN_TRY(plan::refuse_links(in.output, members));
  if (!in.force) HIPPLAN_TRY(refuse_changed(members, in.output));
  HIPPLAN_TRY(plan::unpack_bundle(file.view(), bundle, in.output));
  return report_bundle(in, file.view(), bundle, in.output);
}

}  // namespace hipplan::commands
