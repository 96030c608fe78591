#include "pack/survey.h"

#include <algorithm>
#include <map>

namespace hipplan::pack {
namespace {

bool covers(const std::vector<std::string>& arches, const std::string& arch) {
  return arches.empty() || std::find(arches.begin(), arches.end(), arch) != arches.end();
}

std::string launch_set(const descriptor::Kernel& kernel) {
  std::string out;
  for (const descriptor::Source& source : kernel.sources)
    if (!source.launch_name.empty()) out += (out.empty() ? "" : ", ") + source.launch_name;
  return out.empty() ? "one launch without a name" : out;
}

}  // namespace

ArchWork survey(const descriptor::DescriptorSet& set, const std::string& arch) {
  ArchWork out{arch, {}};
  for (const auto& pack : set.packs) {
    if (!covers(pack->arch, arch)) continue;
    PackWork work{pack.get(), {}};
    for (const descriptor::PackKernel& entry : pack->kernels)
      if (covers(entry.kernel->arch, arch)) work.kernels.push_back(entry.kernel);
    if (!work.kernels.empty()) out.packs.push_back(std::move(work));
  }
  return out;
}

Result<void> check_launch_sets(const ArchWork& work) {
  std::map<std::string, const descriptor::Kernel*> first;
  for (const PackWork& pack : work.packs)
    for (const descriptor::Kernel* kernel : pack.kernels) {
      const auto [known, added] = first.emplace(pack.pack->dispatch->symbol, kernel);
      const std::string expected = launch_set(*known->second), found = launch_set(*kernel);
      if (added || expected == found) continue;
      return Error{
          Code::bad_input,
          "launch-set",
          cat(kernel->origin.file, ": kernel ", kernel->name),
          cat("kernels of dispatch ", known->first, " name different launches on ", work.arch),
          cat(expected, " (as kernel ", known->second->name, ")"),
          found,
          ""};
    }
  return {};
}

Result<void> require_descriptors(const std::vector<std::filesystem::path>& roots,
                                 const descriptor::Loaded& loaded) {
  if (loaded.files_read != 0 || loaded.has_errors()) return {};
  std::string where;
  for (const auto& root : roots) where += (where.empty() ? "" : ", ") + root.string();
  return Error{.code = Code::bad_input,
               .reason = "open",
               .where = where,
               .what = "holds no descriptor",
               .expected = "a descriptor tree: files .ued.json, .kdp.json and the like"};
}

}  // namespace hipplan::pack
