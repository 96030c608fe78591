#include "host_device.h"

#include <ucontext.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hipplan_arguments.h"
namespace hipplan_device {
using hipplan_args::u32;
using hipplan_args::u64;
}  // namespace hipplan_device
#include "hipplan_host.h"

namespace hipplan_host {

namespace {

constexpr size_t kStackBytes = 128 * 1024;

std::map<std::string, Entry, std::less<>>& registry() {
  static std::map<std::string, Entry, std::less<>> all;
  return all;
}

struct Fiber {
  ucontext_t context{};
  std::unique_ptr<char[]> stack;
  Indices indices;
  bool done = false;
};

struct State {
  ucontext_t scheduler{};
  std::vector<Fiber> fibers;
  Fiber* current = nullptr;
  Entry entry = nullptr;
  hipplan::ByteView arguments;
};
State state;

void fiber_main() {
  state.entry(reinterpret_cast<const unsigned char*>(state.arguments.data()));
  state.current->done = true;
  swapcontext(&state.current->context, &state.scheduler);
}

void run_workgroup(uint32_t size, Indices indices) {
  for (uint32_t i = 0; i < size; ++i) {
    auto& fiber = state.fibers[i];
    indices.thread = i;
    fiber.indices = indices;
    fiber.done = false;
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = kStackBytes;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, fiber_main, 0);
  }
  for (bool running = true; running;) {
    running = false;
    for (uint32_t i = 0; i < size; ++i) {
      auto& fiber = state.fibers[i];
      if (fiber.done) continue;
      state.current = &fiber;
      swapcontext(&state.scheduler, &fiber.context);
      running = running || !fiber.done;
    }
  }
}

}  // namespace

const Indices& indices() {
  return state.current->indices;
}
void barrier() {
  swapcontext(&state.current->context, &state.scheduler);
}

Registration::Registration(const char* text, Entry entry) {
  std::string_view names = text;
  while (!names.empty()) {
    const auto comma = names.find(',');
    registry()[std::string(names.substr(0, comma))] = entry;
    names = comma == std::string_view::npos ? std::string_view{} : names.substr(comma + 1);
  }
}

Entry find(std::string_view name) {
  const auto it = registry().find(name);
  return it == registry().end() ? nullptr : it->second;
}

void launch(Entry entry, const hipplan::device::Dim3& grid, const hipplan::device::Dim3& block,
            hipplan::ByteView arguments) {
  while (state.fibers.size() < block.x) {
    state.fibers.emplace_back();
    state.fibers.back().stack = std::make_unique<char[]>(kStackBytes);
  }
  state.entry = entry;
  state.arguments = arguments;
  for (uint32_t z = 0; z < grid.z; ++z) {
    for (uint32_t y = 0; y < grid.y; ++y) {
      for (uint32_t x = 0; x < grid.x; ++x) run_workgroup(block.x, {0, x, y, z});
    }
  }
}

}  // namespace hipplan_host
