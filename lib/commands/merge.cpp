// hipplan-inspect merge, split, strip: plans from file to file, as they are stored.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <set>

#include "base/counted.h"
#include "commands/graphs.h"
#include "commands/inspect_parts.h"
#include "commands/plan_files.h"
#include "commands/plans.h"
#include "commands/replaced.h"
#include "commands/targets.h"
#include "plan/bundle.h"
#include "plan/extract.h"
#include "plan/folder_output.h"
#include "plan/signature.h"

namespace hipplan::commands {
namespace {

Error usage(const Inspection& in, const std::string& what, const std::string& expected) {
  return usage_error({.where = in.command, .what = what, .expected = expected});
}

/// Puts the entries that `wanted` accepts into the writer, and what the file has besides plans.
Result<uint64_t> take(plan::Writer& writer, const plan::File& file,
                      const std::function<bool(const plan::EntryInfo&)>& wanted) {
  Result<void> failed;
  uint64_t taken = 0;
  HIPPLAN_TRY(file.for_each([&](const plan::EntryInfo& entry) {
    if (!wanted(entry)) return true;
    failed = writer.add_from(file, entry);
    ++taken;
    return failed.ok();
  }));
  if (!failed) {
    // Errors about parts of the file name it already.
    const Error& error = failed.error();
    return error.where.starts_with(file.where()) ? error : error.within(file.where());
  }
  HIPPLAN_TRY(writer.keep_unknown_sections(file));
  return taken;
}

/// A plan file may take the place of one that it is made of, but not of a bundle, whose other
/// members would be gone.
Result<void> keep_bundles(const Inspection& in) {
  std::vector<std::string> members;
  std::copy_if(in.arguments.begin(), in.arguments.end(), std::back_inserter(members),
               [](const auto& path) { return is_member(path) || plan::is_bundle_file_name(path); });
  return refuse_overwrite(in.output, members);
}

/// Whether somebody has signed a file, inside it or beside it.
bool is_signed(const plan::File& file, const std::string& path) {
  std::error_code ignored;
  return !file.signature_block().empty() ||
         std::filesystem::exists(plan::detached_path(path), ignored);
}

std::string note_on_unsigned(const std::string& output, uint64_t signed_inputs) {
  return cat(output, ": holds plans of ", counted(signed_inputs, "signed file"),
             " and is not signed itself");
}

/// `signed_inputs`: how many of the files that the plans come from are signed.
Result<void> write_to(Inspection& in, plan::Writer& writer, uint64_t signed_inputs) {
  HIPPLAN_TRY(keep_bundles(in));
  HIPPLAN_TRY(refuse_other_name(in.output, ".hplan"));
  if (in.output != "-") {
    const auto note = note_on_signature(in.output, false);
    HIPPLAN_TRY(writer.write(in.output));
    if (note)
      in.io.note(*note);
    else if (signed_inputs != 0)
      in.io.note(note_on_unsigned(in.output, signed_inputs));
    return {};
  }
  if (in.io.json())
    return usage(in, "standard output cannot take the file and a report", "-o FILE.hplan");
  HIPPLAN_TRY_ASSIGN(const auto bytes, writer.to_bytes());
  in.io.bytes(as_text(bytes));
  return {};
}

/// What was written: plans, into how many files of how many bytes; no bytes for pipes and devices.
struct Written {
  uint64_t plans = 0, files = 1;
  std::optional<uint64_t> bytes{};
};

Written one_file(const Inspection& in, uint64_t plans) {
  std::error_code failed;
  const uint64_t size = std::filesystem::file_size(in.output, failed);
  return {plans, 1, failed ? std::nullopt : std::optional(size)};
}

void report(Inspection& in, const char* schema, const Written& written) {
  if (in.output == "-") return;
  if (!in.io.json()) {
    in.io.line(cat(in.output, ": ", counted(written.plans, "plan"), " in ",
                   counted(written.files, "file"),
                   written.bytes ? cat(", ", *written.bytes, " bytes") : ""));
    return;
  }
  json::Writer out;
  out.begin_object().member("schema", schema).member("output", in.output);
  out.member("plans", written.plans).member("files", written.files);
  if (written.bytes) out.member("bytes", *written.bytes);
  out.end_object();
  in.io.line(out.text());
}

}  // namespace

Result<void> merge(Inspection& in) {
  if (in.arguments.empty())
    return usage(in, "no file given", "at least one plan file, folder or bundle");
  if (in.output.empty()) return usage(in, "no output given", "-o FILE.hplan");
  HIPPLAN_TRY_ASSIGN(const auto paths, plan_paths(in.arguments));
  plan::Writer writer{plan::WriteOptions{}};
  uint64_t taken = 0, signed_inputs = 0;
  const FileVisitor add = [&](const std::string& name, Result<OpenedFile> opened) -> Result<void> {
    HIPPLAN_TRY(in.io.check_interrupted());
    if (!opened) return opened.error();
    HIPPLAN_TRY_ASSIGN(const uint64_t count,
                       take(writer, opened->file, [](const plan::EntryInfo&) { return true; }));
    taken += count;
    signed_inputs += is_signed(opened->file, name) ? 1 : 0;
    return {};
  };
  for (size_t i = 0; i < paths.size(); ++i) {
    HIPPLAN_TRY(for_each_plan_file(paths[i], plan::Check::lookup, std::nullopt, add));
    if (paths.size() > 1) in.io.progress("merging files", i + 1, paths.size());
  }
  HIPPLAN_TRY(write_to(in, writer, signed_inputs));
  if (const uint64_t twice = taken - writer.entry_count())
    in.io.note(cat(counted(twice, "plan"), twice == 1 ? " was" : " were",
                   " there already and written once; of names and texts beside a plan that differ "
                   "the first in byte order stays"));
  report(in, "hipplan.merge/1", one_file(in, writer.entry_count()));
  return {};
}

Result<void> split(Inspection& in) {
  if (in.arguments.size() != 1) return usage(in, "wrong number of files", "one plan file");
  if (in.output.empty() || in.output == "-") return usage(in, "no folder given", "-o FOLDER/");
  HIPPLAN_TRY(refuse_file_name(in.output));
  HIPPLAN_TRY_ASSIGN(const auto file, open_file(in.arguments[0], plan::Check::lookup));
  std::vector<plan::EntryInfo> entries;
  std::set<std::string> names;
  std::string twice;
  HIPPLAN_TRY(file.for_each([&](const plan::EntryInfo& entry) {
    entries.push_back(entry);
    if (!names.insert(plan::entry_file_name(entry)).second) twice = plan::entry_file_name(entry);
    return twice.empty();
  }));
  if (!twice.empty())
    return Error{.code = Code::bad_input,
                 .reason = "file-name",
                 .where = file.where(),
                 .what = "two plans would be written to " + twice,
                 .advice = "take them out one by one with extract --plan"};
  HIPPLAN_TRY_ASSIGN(auto out, plan::FolderOutput::create(in.output));
  uint64_t bytes = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    HIPPLAN_TRY(in.io.check_interrupted());
    plan::Writer writer{plan::WriteOptions{}};
    HIPPLAN_TRY(writer.add_from(file, entries[i]));
    HIPPLAN_TRY(writer.keep_unknown_sections(file));
    const auto write = [&](const std::filesystem::path& place) -> Result<void> {
      HIPPLAN_TRY(writer.write(place));
      std::error_code ignored;
      bytes += std::filesystem::file_size(place, ignored);
      return {};
    };
    HIPPLAN_TRY(out.add(plan::entry_file_name(entries[i]), write));
    in.io.progress("writing files", i + 1, entries.size());
  }
  HIPPLAN_TRY(out.commit());
  if (is_signed(file, in.arguments[0])) in.io.note(note_on_unsigned(in.output, 1));
  report(in, "hipplan.split/1", {entries.size(), entries.size(), bytes});
  return {};
}

namespace {

/// Whether `wanted`, as named on a command line, means plans for `target`: the same device, one
/// that plans for `target` serve, or a name without features that stands for all variants.
bool means(const target::Arch& wanted, const std::string& target) {
  const auto arch = target::Arch::parse(target);
  if (!arch) return false;
  return *arch == wanted || target::serves(*arch, wanted) || target::serves(wanted, *arch);
}

/// Positions of the plans to keep: those that a name means, and those that its device gets. Each
/// name must have one.
Result<std::set<uint64_t>> kept_plans(const Inspection& in, const plan::File& file) {
  std::set<uint64_t> out;
  for (const auto& name : in.targets) {
    HIPPLAN_TRY_ASSIGN(const auto arch, arch_of(name, in.io));
    HIPPLAN_TRY_ASSIGN(auto taken, resolve_each(file, "", arch));
    std::erase_if(taken, [&](const auto& entry) { return means(arch, entry.target); });
    if (const auto note = note_on_taken(taken, arch)) in.io.note(cat(file.where(), ": ", *note));
    HIPPLAN_TRY(file.for_each([&](const plan::EntryInfo& entry) {
      if (means(arch, entry.target)) taken.push_back(entry);
      return true;
    }));
    if (taken.empty()) return no_plan_runs(file, "", arch).within(file.where());
    for (const auto& entry : taken) out.insert(entry.position);
  }
  return out;
}

}  // namespace

Result<void> strip(Inspection& in) {
  if (in.arguments.size() != 1) {
    Error error = usage(in, "wrong number of files", "one plan file");
    if (in.arguments.size() > 1)
      error.advice = advice_on_list(in.arguments.back(), in.targets, in.io);
    return error;
  }
  if (in.targets.empty()) return usage(in, "no target to keep", "--keep-target T[,T…]");
  if (in.output.empty()) return usage(in, "no output given", "-o FILE.hplan");
  HIPPLAN_TRY_ASSIGN(const auto file, open_file(in.arguments[0], plan::Check::lookup));
  HIPPLAN_TRY_ASSIGN(const auto kept, kept_plans(in, file));
  const auto wanted = [&](const plan::EntryInfo& entry) { return kept.count(entry.position) != 0; };
  plan::Writer writer{plan::WriteOptions{}};
  HIPPLAN_TRY_ASSIGN(const uint64_t taken, take(writer, file, wanted));
  HIPPLAN_TRY(write_to(in, writer, is_signed(file, in.arguments[0]) ? 1 : 0));
  report(in, "hipplan.strip/1", one_file(in, taken));
  return {};
}

}  // namespace hipplan::commands
