#include "device/errors.h"

#include <algorithm>

#include "base/hex.h"

namespace hipplan::device {
namespace {

std::string text_of(const Dim3& d) {
  return cat(d.x, "x", d.y, "x", d.z);
}

Error refuse(Code code, const char* reason, std::string_view kernel, std::string what,
             std::string expected, std::string found) {
  return {.code = code,
          .reason = reason,
          .where = cat("launch of ", kernel),
          .what = std::move(what),
          .expected = std::move(expected),
          .found = std::move(found)};
}

}  // namespace

Error other_architecture(const std::string& device, const target::Arch& runs,
                         const target::Arch& code) {
  return {.code = Code::unusable,
          .reason = "driver-load",
          .where = device,
          .what = "the code object is for another architecture",
          .expected = runs.text(),
          .found = code.text()};
}

Error foreign_kernel(const std::string& device) {
  return {.code = Code::internal,
          .reason = "foreign-kernel",
          .where = device,
          .what = "the kernel belongs to another device"};
}

Error no_kernel(const std::string& device, std::string_view symbol) {
  return {.code = Code::unusable,
          .reason = "symbol",
          .where = device,
          .what = cat("the code object has no kernel '", symbol.substr(0, 80), "'")};
}

Error no_memory(const std::string& device, uint64_t bytes, uint64_t free_bytes,
                uint64_t total_bytes) {
  return {.code = Code::machine,
          .reason = "device-memory",
          .where = device,
          .what = cat("cannot allocate ", bytes, " bytes"),
          .expected = cat("at most ", free_bytes, " of ", total_bytes, " bytes, which are free")};
}

Error not_allocated(const std::string& device, Address address) {
  return {.code = Code::machine,
          .reason = "bad-address",
          .where = device,
          .what = cat("release of ", hex(address), ", which no allocation starts at")};
}

Result<void> check_launch(const Launch& launch, std::string_view kernel, const KernelLimits& limits,
                          const target::Description& device) {
  const auto& [grid, block] = std::pair{launch.grid, launch.block};
  if (grid.x == 0 || grid.y == 0 || grid.z == 0)
    return refuse(Code::bad_input, "grid", kernel, "the grid is empty", "at least 1x1x1",
                  text_of(grid));
  uint64_t most = limits.max_workgroup_size;
  if (device.max_workgroup_size != 0) most = std::min<uint64_t>(most, device.max_workgroup_size);
  const bool sane = block.x != 0 && block.y != 0 && block.z != 0 && block.x <= most &&
                    block.y <= most && block.z <= most;
  if (!sane || uint64_t{block.x} * block.y * block.z > most)
    return refuse(Code::bad_input, "block", kernel,
                  "the workgroup does not fit the kernel and the device",
                  cat("1 to ", most, " work-items"), text_of(block));
  const uint64_t lds = uint64_t{limits.lds_bytes} + launch.dynamic_lds_bytes;
  if (device.lds_bytes_per_workgroup != 0 && lds > device.lds_bytes_per_workgroup)
    return refuse(Code::unusable, "lds", kernel, "the workgroup needs more LDS than the device has",
                  cat("at most ", device.lds_bytes_per_workgroup, " bytes"), cat(lds));
  return {};
}

std::string launch_text(std::string_view kernel, const Launch& launch) {
  return cat("launch of ", kernel, ", grid ", text_of(launch.grid), ", workgroup ",
             text_of(launch.block), ", ", launch.dynamic_lds_bytes, " bytes of dynamic LDS");
}

}  // namespace hipplan::device
