// Members of DriverRuntime. Api brings, beside the entry points: kBackend ("hip"), kDriver ("HIP
// runtime"), open(), Attribute; and its namespace start(), ask_identity(), ask_attribute(),
// ask_bus_id(), version_text(), status_error().
#pragma once

#include <algorithm>
#include <utility>

#include "device/driver_api.h"
#include "device/driver_runtime.h"

namespace hipplan::device {

template <class Api>
DriverRuntime<Api>::DriverRuntime(std::unique_ptr<Api> api) : api_(std::move(api)) {}
template <class Api>
DriverRuntime<Api>::~DriverRuntime() = default;

template <class Api>
Result<std::shared_ptr<DriverRuntime<Api>>> DriverRuntime<Api>::open(const std::string& library) {
  HIPPLAN_TRY_ASSIGN(auto opened, Api::open(library));
  auto runtime = std::make_shared<DriverRuntime>(std::make_unique<Api>(std::move(opened)));
  const Api& api = runtime->api();
  // Without a GPU a driver may say so already here (HIP 5.2 says "invalid device").
  const Status status = api.init(0);
  runtime->has_gpu_ = status == kSuccess;
  if (status != kSuccess && status != kNoDevice && status != kInvalidDevice)
    return status_error(api, status, api.path, cat("the ", Api::kDriver, " does not start"));
  return runtime;
}

template <class Api>
Result<int> DriverRuntime<Api>::count() const {
  if (!has_gpu_) return 0;
  int count = 0;
  const Status status = api_->device_count(&count);
  if (status == kNoDevice) return 0;
  if (status != kSuccess)
    return status_error(*api_, status, api_->path,
                        cat("the ", Api::kDriver, " does not count its devices"));
  return std::max(count, 0);
}

template <class Api>
Result<Identity> DriverRuntime<Api>::identify(int index) const {
  HIPPLAN_TRY_ASSIGN(const int devices, count());
  const std::string where = cat(Api::kBackend, ":", index);
  if (index < 0 || index >= devices)
    return Error{.code = Code::machine,
                 .reason = "no-device",
                 .where = where,
                 .what = "there is no such device",
                 .expected = devices == 0 ? cat("a GPU; the ", Api::kDriver, " sees none")
                                          : cat("an index below ", devices)};
  return ask_identity(*api_, index, where);
}

template <class Api>
Result<Facts> DriverRuntime<Api>::facts(int index) const {
  HIPPLAN_TRY_ASSIGN(Identity identity, identify(index));
  using Attribute = typename Api::Attribute;
  const auto ask = [&](Attribute attribute) { return ask_attribute(*api_, attribute, index); };
  Facts out;
  out.name = std::move(identity.name);
  out.arch = std::move(identity.arch);
  out.memory_bytes = identity.memory_bytes;
  out.driver_version = version_text(*api_, identity.driver_version);
  out.runtime_version = version_text(*api_, identity.runtime_version);
  out.bus_id = ask_bus_id(*api_, index);
  out.last_level_cache_bytes = ask(Attribute::l2_cache_bytes);
  out.wavefront_size = ask(Attribute::wavefront_size);
  out.compute_units = ask(Attribute::compute_units);
  out.max_workgroup_size = ask(Attribute::max_workgroup_size);
  out.lds_bytes_per_workgroup = ask(Attribute::lds_bytes_per_workgroup);
  out.registers_per_workgroup = ask(Attribute::registers_per_workgroup);
  out.clock_khz = ask(Attribute::clock_khz);
  out.memory_clock_khz = ask(Attribute::memory_clock_khz);
  out.memory_bus_bits = ask(Attribute::memory_bus_bits);
  return out;
}

}  // namespace hipplan::device
