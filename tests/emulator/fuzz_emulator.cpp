// Any bytes as a code object: loading answers, and what loads may run for a while. The first kernel
// is launched with a buffer in each of its first arguments.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "device/device.h"
#include "emulated_target.h"

namespace {

using namespace hipplan;

std::unique_ptr<device::Device> open(const char* arch) {
  device::OpenOptions options;
  options.jobs = 1;
  options.instruction_budget = 2000;
  options.check_races = options.check_uninitialized = true;
  auto device = device::open_emulator(test::emulated_target(arch), options);
  if (!device) {  // packed for another machine without the module
    std::fprintf(stderr, "fuzz_emulator: %s\n", device.error().text().c_str());
    return nullptr;
  }
  return std::move(device).value();
}

/// The symbols of kernels, found by their descriptors' names.
std::string first_kernel(ByteView bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const size_t end = text.find(".kd");
  if (end == std::string_view::npos) return {};
  const size_t begin = text.rfind('\0', end);
  return std::string(text.substr(begin == std::string_view::npos ? 0 : begin + 1,
                                 begin == std::string_view::npos ? end : end - begin - 1));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::unique_ptr<device::Device> devices[] = {open("gfx942"), open("gfx1100"),
                                                            open("gfx1201")};
  const ByteView bytes(reinterpret_cast<const std::byte*>(data), size);
  for (const auto& device : devices) {
    if (!device) continue;
    const auto module = device->load(bytes);
    if (!module) {
      if (module.error().what.empty()) std::abort();
      continue;
    }
    const auto kernel = (*module)->kernel(first_kernel(bytes));
    if (!kernel) continue;
    const auto buffer = device->allocate(4096);
    if (!buffer) std::abort();
    Bytes arguments;
    for (int i = 0; i < 2; ++i) append(arguments, *buffer);
    for (const size_t length : {size_t{8}, size_t{12}, size_t{16}}) {
      device::Launch launch;
      launch.grid = {2};
      launch.block = {64};
      launch.arguments = ByteView(arguments).first(length);
      if (device->launch(**kernel, launch)) break;
    }
    if (!device->release(*buffer)) std::abort();
  }
  return 0;
}
