// Where targets and packed descriptors are found.
#include <algorithm>

#include "base/file.h"
#include "base/join.h"
#include "pipeline/pipeline.h"
#include "target/nvidia.h"

namespace hipplan::pipeline {
namespace fs = std::filesystem;
namespace {

/// Without hidden ones: a packing that was killed leaves such a folder behind.
std::vector<fs::path> sorted_children(const fs::path& folder) {
  std::vector<fs::path> out;
  std::error_code failed;
  for (fs::directory_iterator it(folder, failed), end; !failed && it != end; it.increment(failed))
    if (!it->path().filename().string().starts_with('.')) out.push_back(it->path());
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

Result<target::Description> Targets::read(const fs::path& file) {
  HIPPLAN_TRY_ASSIGN(const auto bytes, read_file(file, 1 << 20));
  return target::parse_description(as_text(bytes), file.string());
}

Result<Targets> Targets::load(const fs::path& folder) {
  Targets out;
  out.folder_ = folder;
  for (const auto& file : sorted_children(folder)) {
    if (file.extension() != ".json") continue;
    HIPPLAN_TRY_ASSIGN(auto description, read(file));
    out.targets_.push_back({file.stem().string(), std::move(description)});
  }
  if (out.targets_.empty())
    return Error{.code = Code::bad_input,
                 .reason = "data-folder",
                 .where = folder.string(),
                 .what = "holds no target files",
                 .advice = "pass --data with hipplan's share folder"};
  return out;
}

std::vector<std::string> Catalog::architectures() const {
  std::vector<std::string> out;
  std::error_code ignored;
  for (const auto& child : sorted_children(folder_))
    if (fs::is_directory(child, ignored)) out.push_back(child.filename().string());
  return out;
}

Result<std::shared_ptr<const descriptor::DescriptorSet>> Catalog::descriptors(
    const target::Arch& arch, const DiagnosticSink& sink) {
  const std::lock_guard lock(mutex_);
  if (const auto found = loaded_.find(arch.base); found != loaded_.end()) return found->second;
  std::error_code ignored;
  fs::path tree = folder_ / arch.base;
  if (!fs::is_directory(tree, ignored)) {
    const auto order = target::base_order(arch.base);
    const auto there = std::find_if(order.begin(), order.end(), [&](const std::string& base) {
      return fs::is_directory(folder_ / base, ignored);
    });
    if (there == order.end()) {
      const auto held = architectures();
      return Error{
          .code = Code::unusable,
          .reason = "no-kernels",
          .where = folder_.string(),
          .what = "holds no kernels for " + arch.base,
          .expected = "a folder " + arch.base + (order.size() > 1 ? " or " + order.back() : ""),
          .found = held.empty() ? "nothing" : joined(held),
          .advice = "pack kernels for it with hipplan-pack build"};
    }
    tree = folder_ / *there;
  }
  descriptor::LoadOptions options;
  options.jobs = jobs_;
  HIPPLAN_TRY_ASSIGN(auto loaded, descriptor::load({tree}, options));
  for (const auto& diagnostic : loaded.diagnostics)
    if (diagnostic.severity != Severity::error) report(sink, diagnostic);
  // A faulty file costs what refers to it; choosing among the rest would be a silent fallback.
  for (const auto& diagnostic : loaded.diagnostics)
    if (diagnostic.severity == Severity::error)
      return Error{.code = Code::bad_input,
                   .reason = diagnostic.reason,
                   .where = diagnostic.where,
                   .what = diagnostic.text,
                   .advice =
                       "repair the kernels of this installation; hipplan-pack validate lists "
                       "every fault"};
  loaded_[arch.base] = loaded.set;
  return loaded.set;
}

}  // namespace hipplan::pipeline
