#include "device_runner.h"

#include <doctest/doctest.h>

#include <cstring>

#include "codeobject/codeobject.h"

namespace hipplan::test {

namespace {

/// "conv_fwd.direct_float_b64_m1" belongs to hipplan.conv_fwd.dispatch.
const engine::DispatchHandler* handler_of(const std::string& kernel) {
  return engine::find_by_name("hipplan." + kernel.substr(0, kernel.find('.')) + ".dispatch");
}

Result<void> check_signature(const std::string& kernel, const Image& image) {
  HIPPLAN_TRY_ASSIGN(const auto object, codeobject::parse(image.code, kernel));
  const auto* compiled = object.find(image.symbol);
  REQUIRE(compiled != nullptr);
  const auto* handler = handler_of(kernel);
  REQUIRE(handler != nullptr);
  const auto expected = handler->signature("");
  const auto found = compiled->signature();
  REQUIRE(found.size() == expected.size());
  CHECK(compiled->arguments.size() == found.size());  // no hidden arguments
  for (size_t i = 0; i < found.size(); ++i) {
    CHECK(found[i].kind == expected[i].kind);
    CHECK(found[i].size == expected[i].size);
    CHECK(found[i].offset == expected[i].offset);
  }
  return {};
}

/// Device memory of one launch; released at the end.
class Memory {
 public:
  explicit Memory(device::Device& device) : device_(device) {}
  ~Memory() {
    for (const auto address : addresses_) (void)device_.release(address);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  Result<void> add(const Bytes& content) {
    HIPPLAN_TRY_ASSIGN(const auto address, device_.allocate(content.size()));
    addresses_.push_back(address);
    return device_.copy_in(address, content);
  }
  [[nodiscard]] device::Address at(size_t i) const { return addresses_[i]; }

 private:
  device::Device& device_;
  std::vector<device::Address> addresses_;
};

Result<void> launch_all(device::Device& device, const device::Kernel& kernel,
                        const engine::PreparedKernel& prepared, const Memory& memory) {
  for (const auto& launch : prepared.launches) {
    Bytes arguments = launch.arguments;
    for (const auto& patch : launch.patches) {
      const uint64_t address = memory.at(patch.binding) + patch.add;
      std::memcpy(arguments.data() + patch.offset, &address, sizeof(address));
    }
    HIPPLAN_TRY(
        device.launch(kernel, {launch.grid, launch.block, launch.dynamic_lds_bytes, arguments}));
  }
  return device.synchronize();
}

}  // namespace

Runner device_runner(device::Device& device, FindImage find) {
  return [&device, find = std::move(find)](const std::string& name,
                                           const engine::PreparedKernel& prepared,
                                           std::vector<Bytes>& buffers) -> Result<void> {
    HIPPLAN_TRY_ASSIGN(const Image image, find(name));
    HIPPLAN_TRY(check_signature(name, image));
    HIPPLAN_TRY_ASSIGN(const auto module, device.load(image.code));
    HIPPLAN_TRY_ASSIGN(const device::Kernel* kernel, module->kernel(image.symbol));
    Memory memory(device);
    for (const auto& buffer : buffers) HIPPLAN_TRY(memory.add(buffer));
    HIPPLAN_TRY(launch_all(device, *kernel, prepared, memory));
    for (size_t i = 0; i < buffers.size(); ++i)
      HIPPLAN_TRY(device.copy_out(buffers[i], memory.at(i)));
    return {};
  };
}

}  // namespace hipplan::test
