#include <algorithm>
#include <fstream>
#include <set>

#include "base/file.h"
#include "base/folder.h"
#include "descriptor/loader.h"
#include "pack/jobs.h"
#include "pack/nvidia_compiler.h"
#include "pack/pack.h"
#include "pack/packed_tree.h"
#include "pack/process.h"
#include "target/target.h"

namespace hipplan::pack {
namespace fs = std::filesystem;
namespace {

Error bad_option(std::string where, std::string what, std::string expected = "",
                 std::string found = "") {
  return Error{Code::bad_input,  "usage", std::move(where), std::move(what), std::move(expected),
               std::move(found), ""};
}

/// Folders that options name, where the answer is plain before anything is done.
Result<void> check_folders(const BuildOptions& options) {
  std::error_code ignored;
  if (!options.kernels.empty() && !fs::is_directory(options.kernels, ignored))
    return Error{.code = Code::bad_input,
                 .reason = "open",
                 .where = options.kernels.string(),
                 .what = fs::exists(options.kernels, ignored) ? "is no folder" : "is not there",
                 .expected = "the folder of the kernel sources"};
  if (std::error_code failed; !options.kernels.empty()) {
    (void)fs::directory_iterator(options.kernels, failed);
    if (failed) return folder_error(options.kernels, "read", failed);
  }
  if (fs::exists(options.cache, ignored) && !fs::is_directory(options.cache, ignored))
    return bad_option("--cache " + options.cache.string(), "is no folder",
                      "a folder, which may be a new one");
  return {};
}

Result<void> check_options(const BuildOptions& options) {
  if (options.sources.empty()) return bad_option("build", "no descriptor tree was given");
  if (options.output.empty()) return bad_option("build", "no output folder was given", "-o DIR");
  if (options.arches.empty())
    return bad_option("build", "no architecture was given", "--arch gfx942,…");
  std::set<std::string> seen, names;
  for (const std::string& arch : options.arches) {
    HIPPLAN_TRY_ASSIGN(const target::Arch parsed, target::Arch::parse(arch));
    if (parsed.text() != arch || !parsed.features.empty())
      return bad_option("--arch", "not a base architecture",
                        "gfx942, gfx11-generic, sm_90, compute_80, …", arch);
    if (is_nvidia(arch) != is_nvidia(options.arches.front()) ||
        (is_nvidia(arch) && parsed.is_generic() != options.arches.front().starts_with("compute_")))
      return bad_option("--arch", "one compiler cannot make these together",
                        "AMD GPUs, NVIDIA GPUs (sm_…) or PTX (compute_…) in one call",
                        options.arches.front() + ", " + arch);
    if (!seen.insert(arch).second)
      return bad_option("--arch", "the architecture is there twice", "", arch);
  }
  for (const fs::path& root : options.sources) {
    const fs::path normal = root.lexically_normal();
    const std::string name =
        (normal.has_filename() ? normal : normal.parent_path()).filename().string();
    if (options.sources.size() > 1 && !names.insert(name).second)
      return bad_option(root.string(), "two descriptor trees have one folder name",
                        "different names", name);
  }
  return {};
}

Result<std::shared_ptr<const descriptor::DescriptorSet>> load(const BuildOptions& options) {
  descriptor::LoadOptions load_options;
  load_options.keep_documents = true;
  load_options.jobs = options.jobs;
  HIPPLAN_TRY_ASSIGN(const descriptor::Loaded loaded,
                     descriptor::load(options.sources, load_options));
  for (const Diagnostic& diagnostic : loaded.diagnostics) report(options.notes, diagnostic);
  HIPPLAN_TRY(require_descriptors(options.sources, loaded));
  for (const Diagnostic& diagnostic : loaded.diagnostics)
    if (diagnostic.severity == Severity::error)
      return Error{Code::bad_input,
                   diagnostic.reason,
                   diagnostic.where,
                   diagnostic.text,
                   "",
                   "",
                   "mend the descriptors first"};
  return loaded.set;
}

/// Whether a folder holds nothing but folders; build tools make those before they call.
bool holds_no_files(const fs::path& folder) {
  std::error_code failed;
  for (fs::recursive_directory_iterator it(folder, failed), end; !failed && it != end;
       it.increment(failed))
    if (!fs::is_directory(it->symlink_status())) return false;
  return !failed;
}

/// Only folders that this packer made (or empty ones) are ever replaced.
Result<void> check_replaceable(const fs::path& folder, const std::string& arch) {
  std::error_code ignored;
  if (!fs::exists(fs::symlink_status(folder, ignored))) return {};
  const bool ours = fs::is_directory(fs::symlink_status(folder, ignored)) &&
                    (fs::exists(folder / archive_path(arch), ignored) || holds_no_files(folder));
  if (ours) return {};
  return Error{Code::bad_input,
               "output-foreign",
               folder.string(),
               "would be replaced, and no packer made it",
               "",
               "",
               "remove it, or choose another output folder"};
}

Error write_error(const fs::path& path, const std::string& text) {
  return Error{Code::machine, "output-write", path.string(), text, "", "", ""};
}

/// Everything is renamed into place, `target`, at the end, so that files need no care one by one.
Result<void> write_tree(const PackedTree& tree, const fs::path& folder, const fs::path& target) {
  for (const auto& [name, content] : tree.files) {
    const fs::path path = folder / name;
    std::error_code failed;
    fs::create_directories(path.parent_path(), failed);
    if (failed) return write_error((target / name).parent_path(), failed.message());
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(content.data()),
              static_cast<std::streamsize>(content.size()));
    out.close();
    if (!out) return write_error(target / name, "writing failed; is the disk full?");
  }
  return {};
}

/// Moves `fresh` (or nothing, when it does not exist) to where `arch`'s output belongs.
Result<void> replace(const fs::path& output, const std::string& arch, const fs::path& stage) {
  const fs::path target = output / arch, fresh = stage / arch, old = stage / ("old-" + arch);
  HIPPLAN_TRY(check_replaceable(target, arch));
  std::error_code failed;
  const bool replaced = fs::exists(target, failed) && !failed;
  if (replaced) fs::rename(target, old, failed);
  if (failed) return write_error(target, failed.message());
  if (!fs::exists(fresh, failed)) return {};
  fs::rename(fresh, target, failed);
  if (!failed) return {};
  // The folder of `old` goes away with this build.
  std::error_code lost;
  if (replaced) fs::rename(old, target, lost);
  return write_error(target, failed.message());
}

Result<void> install(const BuildOptions& options, const std::vector<PackedTree>& trees,
                     const fs::path& stage) {
  for (const PackedTree& tree : trees)
    if (!tree.files.empty())
      HIPPLAN_TRY(write_tree(tree, stage / tree.report.arch, options.output / tree.report.arch));
  for (const PackedTree& tree : trees)
    HIPPLAN_TRY(check_replaceable(options.output / tree.report.arch, tree.report.arch));
  for (const PackedTree& tree : trees)
    HIPPLAN_TRY(replace(options.output, tree.report.arch, stage));
  return {};
}

Result<Compiler> compiler_for(const Jobs& jobs, const BuildOptions& options) {
  if (!jobs.needs_compiler()) return Compiler{};
  const std::string& arch = options.arches.front();
  if (is_nvidia(arch)) return find_nvidia_compiler(options.compiler, arch.starts_with("sm_"));
  return find_compiler(options.compiler);
}

Result<std::vector<PackedTree>> make_trees(const std::vector<ArchWork>& works, const Jobs& jobs,
                                           const descriptor::DescriptorSet& set,
                                           const BuildOptions& options, const Compiler& compiler) {
  std::vector<PackedTree> trees;
  for (const ArchWork& work : works) {
    PackedTree tree;
    tree.report.arch = work.arch;
    if (work.packs.empty()) {
      report(options.notes, {Severity::note, "arch-empty", work.arch,
                             "no kernels for " + work.arch + ", skipping"});
    } else {
      HIPPLAN_TRY_ASSIGN(tree, make_tree(work, jobs, set, options.sources, compiler));
    }
    trees.push_back(std::move(tree));
  }
  return trees;
}

}  // namespace

Result<BuildReport> build(const BuildOptions& given) {
  HIPPLAN_TRY(check_options(given));
  HIPPLAN_TRY(check_folders(given));
  BuildOptions options = given;
  for (fs::path& root : options.sources) root = root.lexically_normal();
  if (options.kernels.empty()) options.kernels = options.sources.front();
  HIPPLAN_TRY_ASSIGN(const auto set, load(options));
  std::vector<ArchWork> works;
  Jobs jobs(options.kernels);
  for (const std::string& arch : options.arches) {
    works.push_back(survey(*set, arch));
    HIPPLAN_TRY(check_launch_sets(works.back()));
    HIPPLAN_TRY(jobs.add(works.back()));
  }
  NewFolders made;
  HIPPLAN_TRY(made.make(options.output));
  TemporaryFolder::remove_stale(options.output);
  const fs::path absolute = fs::absolute(options.output);
  const auto stage = TemporaryFolder::create(absolute);
  if (!stage) return without_temporary(stage.error(), absolute, options.output);
  HIPPLAN_TRY_ASSIGN(const Compiler compiler, compiler_for(jobs, options));
  if (const auto done = jobs.run(options, compiler, stage->path()); !done)
    return without_temporary(done.error(), stage->path(), options.output);
  HIPPLAN_TRY_ASSIGN(const auto trees, make_trees(works, jobs, *set, options, compiler));
  HIPPLAN_TRY(install(options, trees, stage->path()));
  made.keep();
  BuildReport out;
  out.compiler = compiler.version;
  for (const PackedTree& tree : trees) out.arches.push_back(tree.report);
  for (const Job& job : jobs.all())
    if (!job.prebuilt) ++(job.result.reused ? out.reused : out.compiled);
  return out;
}

void write_json(const BuildReport& report, json::Writer& writer) {
  writer.begin_object();
  writer.member("compiler", report.compiler);
  writer.member("compiled", static_cast<uint64_t>(report.compiled));
  writer.member("reused", static_cast<uint64_t>(report.reused));
  writer.key("archs").begin_array();
  for (const ArchReport& arch : report.arches) {
    writer.begin_object();
    writer.member("arch", arch.arch);
    writer.member("packs", static_cast<uint64_t>(arch.packs));
    writer.member("kernels", static_cast<uint64_t>(arch.kernels));
    writer.member("code_objects", static_cast<uint64_t>(arch.code_objects));
    writer.member("archive_bytes", arch.archive_bytes);
    writer.end_object();
  }
  writer.end_array();
  writer.end_object();
}

}  // namespace hipplan::pack
