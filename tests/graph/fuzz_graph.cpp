// Any bytes: no crash, every refusal says what and why, and what is accepted prints to a text that
// reads back to the same meaning, key and text.
#include <cstdlib>

#include "graph/graph.h"

using namespace hipplan;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const bool allow : {false, true}) {
    const auto graph = graph::read_graph(text, "f", {.allow_unknown_keys = allow}, {});
    if (!graph) {
      const Error& error = graph.error();
      if (error.code != Code::bad_input || error.reason.empty() || error.what.empty()) std::abort();
      continue;
    }
    const std::string once = graph::print_graph(*graph);
    const auto again = graph::read_graph(once, "p", {}, {});
    if (!again || !graph::same_meaning(*graph, *again) || graph::print_graph(*again) != once)
      std::abort();
    if (graph::content_key(*graph) != graph::content_key(*again)) std::abort();
    for (const auto& tensor : graph->tensors)
      if (tensor.span_bytes() < 1) std::abort();
  }
  return 0;
}
