// Any text as any kind of descriptor: the first byte chooses the kind.
#include <cstdint>
#include <cstdlib>

#include "descriptor/loader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  static const char* const kNames[] = {"a.ued.json", "a.kmd.json", "a.umd.json", "a.udd.json",
                                       "a.uhd.json", "a.kdp.json", "a.ukd.json"};
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto loaded = hipplan::descriptor::load_text(kNames[data[0] % 7], text);
  // One file alone never makes a working engine.
  if (loaded.set == nullptr || !loaded.set->engines.empty() || !loaded.set->packs.empty())
    std::abort();
  return 0;
}
