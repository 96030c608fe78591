#include "commands/memory_need.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>

namespace hipplan::commands {
namespace {

/// The number behind a key of /proc/meminfo, in bytes; 0 when it is not there.
uint64_t meminfo(const std::string& wanted) {
  std::ifstream lines("/proc/meminfo");
  std::string key, unit;
  for (uint64_t kibibytes = 0; lines >> key >> kibibytes;) {
    if (key == wanted) return kibibytes << 10;
    std::getline(lines, unit);
  }
  return 0;
}

/// What can be had now, swap space included.
uint64_t available_bytes() {
  if (const uint64_t free = meminfo("MemAvailable:")) return free + meminfo("SwapFree:");
  const long pages = ::sysconf(_SC_PHYS_PAGES), size = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(size)
                               : UINT64_MAX;
}

uint64_t added(uint64_t a, uint64_t b) {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/// Bytes of tensors together; too many for the type count as the most.
uint64_t bytes_of(const graph::Graph& graph, const std::vector<size_t>& tensors) {
  uint64_t out = 0;
  for (const size_t position : tensors) {
    const int64_t bytes = graph.tensors[position].span_bytes();
    out = added(out, bytes < 0 ? UINT64_MAX : static_cast<uint64_t>(bytes));
  }
  return out;
}

}  // namespace

Result<void> check_memory(const graph::Graph& graph, bool emulated) {
  const uint64_t inputs = bytes_of(graph, graph.external_inputs());
  const uint64_t outputs = bytes_of(graph, graph.external_outputs());
  uint64_t needed = added(inputs, added(outputs, outputs));
  if (emulated) needed = added(needed, added(inputs, outputs));
  const uint64_t available = available_bytes();
  if (needed <= available) return {};
  const bool beyond = needed > static_cast<uint64_t>(INT64_MAX);
  return Error{.code = Code::machine,
               .reason = "out-of-memory",
               .where = graph.name.empty() ? "graph" : cat("graph '", graph.name, "'"),
               .what = "its tensors do not fit into this machine's memory",
               .expected = cat("at most ", available, " bytes, which are available"),
               .found = beyond ? "2^63 bytes or more" : cat(needed, " bytes")};
}

}  // namespace hipplan::commands
