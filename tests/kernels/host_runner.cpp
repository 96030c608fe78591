#include "host_runner.h"

#include <cstdlib>
#include <cstring>
#include <memory>

#include "host_device.h"

namespace hipplan::test {

namespace {
struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<std::byte, Free>;

/// Exactly as large as asked for, aligned as the kernel wants it; an access outside is a fault for
/// the sanitizer.
Memory allocate(const Bytes& content, uint32_t alignment) {
  void* memory = nullptr;
  const size_t align = alignment < sizeof(void*) ? sizeof(void*) : alignment;
  if (posix_memalign(&memory, align, content.size()) != 0) return {};
  std::memcpy(memory, content.data(), content.size());
  return Memory(static_cast<std::byte*>(memory));
}
}  // namespace

Result<void> run_on_host(const std::string& kernel, const engine::PreparedKernel& prepared,
                         std::vector<Bytes>& buffers) {
  const auto entry = hipplan_host::find(kernel);
  if (!entry)
    return Error{Code::bad_input, "no-kernel", kernel, "kernel was not compiled for the host"};
  std::vector<Memory> memory;
  for (size_t i = 0; i < buffers.size(); ++i) {
    memory.push_back(allocate(buffers[i], prepared.bindings[i].min_alignment));
  }
  for (const auto& launch : prepared.launches) {
    Bytes arguments = launch.arguments;
    for (const auto& patch : launch.patches) {
      const auto address = reinterpret_cast<uint64_t>(memory[patch.binding].get()) + patch.add;
      std::memcpy(arguments.data() + patch.offset, &address, sizeof(address));
    }
    hipplan_host::launch(entry, launch.grid, launch.block, arguments);
  }
  for (size_t i = 0; i < buffers.size(); ++i)
    std::memcpy(buffers[i].data(), memory[i].get(), buffers[i].size());
  return {};
}

}  // namespace hipplan::test
