#include "commands/targets.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <set>

#include "base/join.h"
#include "codeobject/architectures.h"
#include "device/cuda/cuda.h"
#include "device/device.h"
#include "device/hip/hip.h"
#include "target/nvidia.h"

namespace hipplan::commands {

std::filesystem::path kernels_folder(const Io& io) {
  return std::filesystem::path(io.data_folder()) / "kernels";
}
std::filesystem::path targets_folder(const Io& io) {
  return std::filesystem::path(io.data_folder()) / "targets";
}

namespace {

Result<void> refuse_twice(const std::vector<target::Arch>& arches) {
  std::set<std::string> seen;
  for (const auto& arch : arches)
    if (!seen.insert(arch.text()).second)
      return Error{.code = Code::bad_input,
                   .reason = "duplicate-target",
                   .where = "target " + arch.text(),
                   .what = "is given twice"};
  return {};
}

/// The least compute capability of an NVIDIA GPU that kernels are made for.
constexpr unsigned kLeastMajor = 8;

bool below_least(const target::Arch& arch) {
  const auto nvidia = target::parse_nvidia(arch.base);
  return nvidia && nvidia->major < kLeastMajor;
}

/// Whether somebody has such a GPU: one that AMD code objects can be for, or any of NVIDIA's.
bool is_known(const target::Arch& arch) {
  return !arch.is_amd() || codeobject::machine_number(arch.base).has_value();
}

/// Which plans an NVIDIA GPU without a target file runs as they are.
std::string plans_for(const target::Arch& arch) {
  std::string best;
  for (const std::string code : {"sm_80", "sm_90"})
    if (target::nvidia_runs(code, arch.base)) best = code;
  if (!best.empty()) return cat(arch.base, " runs plans for ", best, " as they are");
  return cat("plans for ", arch.base, " are PTX");
}

/// Every command's one answer to a name that no target file describes. `said` is what the targets
/// say of it. A word that names no target is bad_input, reason "unknown-target"; an architecture
/// that there is, and of which nothing is known here, is unusable, reason "undescribed-target".
Error target_error(const std::string& name, Error said, const pipeline::Targets& known) {
  const auto arch = target::Arch::parse(name);
  if (said.reason != "unknown-target" || !arch) return said;
  if (!is_known(*arch)) {
    said.what = "is not known";
    const std::string similar = known.similar_arch(arch->base);
    if (!similar.empty()) {
      said.expected = "";
      said.advice = "did you mean " + similar + "?";
    }
    return said;
  }
  said.code = Code::unusable;
  said.reason = "undescribed-target";
  if (below_least(*arch)) {
    said.what = "is below the least compute capability that kernels are made for";
    said.expected = cat(kLeastMajor, ".0 (sm_80) or more");
    said.found = arch->base;
    said.advice = "";
  } else if (target::parse_nvidia(arch->base)) {
    said.advice = plans_for(*arch) + "; " + said.advice;
  }
  return said;
}

/// Takes out of `names`, once each, those that one of the descriptions is for.
void leave_described(std::vector<std::string>& names,
                     const std::vector<target::Description>& described) {
  for (const auto& description : described) {
    const auto at = std::find_if(names.begin(), names.end(), [&](const auto& name) {
      const auto arch = target::Arch::parse(name);
      return name == description.name || (arch && arch->text() == description.arch.text());
    });
    if (at != names.end()) names.erase(at);
  }
}

Result<target::Description> described_in(const pipeline::Targets& known, const std::string& name) {
  auto found = known.find(name);
  if (!found) return target_error(name, found.error(), known);
  return found;
}

}  // namespace

Result<target::Description> find_target(const std::string& name, const Io& io) {
  HIPPLAN_TRY_ASSIGN(const auto known, pipeline::Targets::load(targets_folder(io)));
  return described_in(known, name);
}

std::string advice_to_bake(const target::Arch& arch) {
  if (below_least(arch))
    return cat("no kernels are made for it: NVIDIA GPUs are served from compute capability ",
               kLeastMajor, ".0 (sm_80) on");
  return "bake one for " + arch.base;
}

Result<std::vector<std::string>> target_names(const hipplan_strings& lists) {
  std::vector<std::string> out;
  for (size_t i = 0; i < lists.count; ++i) {
    auto names = items({lists.items + i, 1}, true);
    if (names.empty())
      return usage_error({.where = cat("target '", lists.items[i], "'"),
                          .what = "names no target",
                          .advice = "name one, or several with commas: gfx942,gfx1100"});
    out.insert(out.end(), std::make_move_iterator(names.begin()),
               std::make_move_iterator(names.end()));
  }
  return out;
}

Result<std::vector<target::Description>> resolve_targets(const hipplan_strings& names,
                                                         const hipplan_strings& files,
                                                         const Io& io) {
  HIPPLAN_TRY_ASSIGN(auto out, read_descriptions(files));
  std::vector<target::Arch> arches;
  for (const auto& description : out) arches.push_back(description.arch);
  HIPPLAN_TRY_ASSIGN(auto wanted, target_names(names));
  leave_described(wanted, out);
  if (!wanted.empty()) {
    HIPPLAN_TRY_ASSIGN(const auto known, pipeline::Targets::load(targets_folder(io)));
    for (const auto& name : wanted) {
      HIPPLAN_TRY_ASSIGN(auto description, described_in(known, name));
      arches.push_back(description.arch);
      out.push_back(std::move(description));
    }
  }
  HIPPLAN_TRY(refuse_twice(arches));
  return out;
}

Result<std::vector<target::Description>> read_descriptions(const hipplan_strings& files) {
  std::vector<target::Description> out;
  for (const auto& file : items(files)) {
    HIPPLAN_TRY_ASSIGN(auto description, pipeline::Targets::read(file));
    out.push_back(std::move(description));
  }
  return out;
}

Result<std::vector<target::Arch>> demanded_arches(const std::vector<std::string>& names,
                                                  const std::vector<target::Description>& described,
                                                  bool device_named, const Io& io) {
  std::vector<target::Arch> out;
  for (const auto& name : names) {
    const auto named = std::find_if(described.begin(), described.end(),
                                    [&](const auto& one) { return one.name == name; });
    if (named != described.end()) {
      out.push_back(named->arch);
      continue;
    }
    HIPPLAN_TRY_ASSIGN(auto arch, arch_of(name, io, described));
    out.push_back(std::move(arch));
  }
  if (names.empty() && !device_named)
    for (const auto& description : described) out.push_back(description.arch);
  HIPPLAN_TRY(refuse_twice(out));
  return out;
}

namespace {

Error device_error(const std::string& name, Code code, const std::string& what) {
  return {.code = code,
          .reason = "device",
          .where = "device '" + name.substr(0, 80) + "'",
          .what = what,
          .expected =
              "auto, hip:NUMBER, cuda:NUMBER, emulator:ARCH or null:ARCH, for instance "
              "emulator:gfx942"};
}

struct DeviceName {
  DeviceKind kind;
  std::string arch;  ///< or the number of a GPU
};

constexpr std::pair<std::string_view, DeviceKind> kDeviceKinds[] = {
    {"emulator", DeviceKind::emulator},
    {"null", DeviceKind::null},
    {"hip", DeviceKind::hip},
    {"cuda", DeviceKind::cuda}};

Result<DeviceName> split_device(const std::string& name, const std::string& plan_target) {
  if (name.empty() || name == "auto") {
    const bool nvidia = target::parse_nvidia(plan_target).has_value();
    return nvidia ? DeviceName{DeviceKind::cuda, "0"}
                  : DeviceName{DeviceKind::emulator, plan_target};
  }
  const size_t colon = name.find(':');
  const auto kind = std::find_if(std::begin(kDeviceKinds), std::end(kDeviceKinds),
                                 [&](const auto& k) { return k.first == name.substr(0, colon); });
  if (kind == std::end(kDeviceKinds) || colon == std::string::npos || colon + 1 == name.size())
    return device_error(name, Code::bad_input, "is not a device name");
  return DeviceName{kind->second, name.substr(colon + 1)};
}

/// What is known of the architecture (or the target) `name`.
Result<target::Description> find_description(const std::string& name, const DeviceRequest& request,
                                             const Io& io) {
  const auto arch = target::Arch::parse(name);
  for (const auto& description : request.described)
    if (description.name == name || (arch && description.arch.base == arch->base))
      return description;
  return find_target(name, io);
}

/// Whether nothing but a description is wanting.
bool is_undescribed(const Error& error) {
  return error.reason == "undescribed-target" || error.reason == "unknown-target";
}

Result<int> gpu_index(const std::string& device_name, const std::string& text) {
  int index = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (failure != std::errc() || end != text.data() + text.size() || index < 0)
    return device_error(device_name, Code::bad_input, "is not a device name");
  return index;
}

/// What is known of a GPU: the target file for its product, or else for its architecture. Of one
/// that no file describes its driver tells what a launch needs.
Result<target::Description> describe_gpu(const device::Identity& identity,
                                         const DeviceRequest& request, const Io& io) {
  auto description = find_description(identity.name, request, io);
  if (!description || description->arch.base != identity.arch.base)
    description = find_description(identity.arch.base, request, io);
  if (description) return description;
  const Error& error = description.error();
  if (!is_undescribed(error) && error.reason != "data-folder") return error;
  target::Description out;
  out.name = identity.name;
  out.arch = identity.arch;
  out.source = "the driver";
  return out;
}

/// The device with what is known of it.
Result<std::unique_ptr<device::Device>> open_hip(const std::string& device_name,
                                                 const std::string& number,
                                                 const DeviceRequest& request, const Io& io) {
  HIPPLAN_TRY_ASSIGN(const int index, gpu_index(device_name, number));
  HIPPLAN_TRY_ASSIGN(auto runtime, device::hip::Runtime::open(io.hip_library()));
  HIPPLAN_TRY_ASSIGN(const auto identity, runtime->identify(index));
  HIPPLAN_TRY_ASSIGN(auto description, describe_gpu(identity, request, io));
  return device::hip::open_device(std::move(runtime), index, std::move(description));
}

Result<std::unique_ptr<device::Device>> open_cuda(const std::string& device_name,
                                                  const std::string& number,
                                                  const DeviceRequest& request, const Io& io) {
  HIPPLAN_TRY_ASSIGN(const int index, gpu_index(device_name, number));
  HIPPLAN_TRY_ASSIGN(auto runtime, device::cuda::Runtime::open(io.cuda_library()));
  HIPPLAN_TRY_ASSIGN(const auto identity, runtime->identify(index));
  HIPPLAN_TRY_ASSIGN(auto description, describe_gpu(identity, request, io));
  return device::cuda::open_device(std::move(runtime), index, std::move(description));
}

/// A GPU of this machine, or nothing for a device that is made of software.
Result<std::unique_ptr<device::Device>> open_gpu(const DeviceName& split,
                                                 const DeviceRequest& request, const Io& io) {
  if (split.kind == DeviceKind::hip) return open_hip(request.name, split.arch, request, io);
  if (split.kind == DeviceKind::cuda) return open_cuda(request.name, split.arch, request, io);
  return std::unique_ptr<device::Device>();
}

/// What the emulator says of GPUs that it is not made for, before plans are looked for.
Result<void> check_emulated(const DeviceName& device, const target::Arch& arch) {
  if (device.kind != DeviceKind::emulator || arch.is_amd()) return {};
  return Error{
      .code = Code::unusable,
      .reason = "arch",
      .where = "emulator:" + arch.base,
      .what = "the emulator runs AMD architectures only",
      .expected = "gfx90a, gfx942 or the like",
      .found = arch.text(),
      .advice = cat("take null:", arch.base, ", which loads and launches, or cuda:NUMBER")};
}

}  // namespace

Result<target::Arch> arch_of(const std::string& name, const Io& io,
                             const std::vector<target::Description>& described) {
  auto arch = target::Arch::parse(name);
  if (arch && is_known(*arch)) return arch;
  for (const auto& description : described)
    if (arch && description.arch.base == arch->base) return arch;
  const auto description = find_target(name, io);
  if (description) return description->arch;
  return without_target_file(description.error(), "any other is named by its architecture");
}

Error without_target_file(Error error, const std::string& advice) {
  if (error.advice.find("--target-file") != std::string::npos) error.advice = advice;
  return error;
}

std::string advice_on_list(const std::string& word, std::vector<std::string> given, const Io& io) {
  if (word.find_first_of("/.") != std::string::npos || !arch_of(word, io)) return "";
  if (given.empty()) return word + " is a target; --target names it";
  if (std::find(given.begin(), given.end(), word) == given.end()) given.push_back(word);
  return word + " is a target, and targets stand in one list with commas: " + joined(given, ",");
}

Error hint_at_list(Error error, const std::string& path, const hipplan_strings& given,
                   const Io& io) {
  auto advice = error.reason == "open" ? advice_on_list(path, items(given, true), io) : "";
  if (!advice.empty()) error.advice = std::move(advice);
  return error;
}

Result<DeviceKind> kind_of(const std::string& device, const std::string& plan_target) {
  HIPPLAN_TRY_ASSIGN(const auto split, split_device(device, plan_target));
  return split.kind;
}

Result<void> refuse_null(DeviceKind kind) {
  if (kind != DeviceKind::null) return {};
  return usage_error(
      {.what = "the null device computes nothing, so there are no results to check or write",
       .advice = "take an emulator"});
}

Result<target::Arch> arch_of_device(const DeviceRequest& request, const Io& io) {
  HIPPLAN_TRY_ASSIGN(const auto split, split_device(request.name, request.plan_target));
  HIPPLAN_TRY_ASSIGN(const auto gpu, open_gpu(split, request, io));
  if (gpu) return gpu->description().arch;
  const auto description = find_description(split.arch, request, io);
  if (description) {
    HIPPLAN_TRY(check_emulated(split, description->arch));
    return description->arch;
  }
  const auto arch = target::Arch::parse(split.arch);
  if (!arch || description.error().reason != "undescribed-target") return description.error();
  HIPPLAN_TRY(check_emulated(split, *arch));
  return arch;
}

Result<std::unique_ptr<device::Device>> open_device(const DeviceRequest& request, const Io& io) {
  HIPPLAN_TRY_ASSIGN(const auto split, split_device(request.name, request.plan_target));
  HIPPLAN_TRY_ASSIGN(auto gpu, open_gpu(split, request, io));
  if (gpu) return gpu;
  HIPPLAN_TRY_ASSIGN(const auto description, find_description(split.arch, request, io));
  if (split.kind == DeviceKind::null) return device::open_null(description);
  device::OpenOptions options = request.options;
  options.module_folder = io.module_folder();
  options.jobs = io.jobs();
  if (io.can_be_interrupted()) options.interrupted = [&io] { return !io.check_interrupted().ok(); };
  return device::open_emulator(description, options);
}

}  // namespace hipplan::commands
