#include "device/emulator/semantics.h"

#include <unordered_map>

namespace hipplan::emulator {

namespace {

using Index = std::unordered_map<std::string_view, const Semantics*>;

Index make_index() {
  Index index;
  for (const auto family :
       {scalar_semantics(),         scalar_memory_semantics(), control_semantics(),
        integer_semantics(),        compare_semantics(),       float_semantics(),
        double_semantics(),         half_semantics(),          convert_semantics(),
        lane_semantics(),           lds_semantics(),           memory_semantics(),
        atomic_semantics(),         packed_semantics(),        matrix_semantics(),
        rdna_semantics(),           call_semantics(),          fp8_semantics(),
        register_index_semantics(), lds_direct_semantics()})
    for (const Semantics& entry : family) index.emplace(entry.mnemonic, &entry);
  for (const Alias& alias : aliases()) {
    const auto found = index.find(alias.of);
    if (found != index.end()) index.emplace(alias.name, found->second);
  }
  return index;
}

}  // namespace

const Semantics* find_semantics(std::string_view mnemonic) {
  static const Index index = make_index();
  const auto found = index.find(mnemonic);
  return found == index.end() ? nullptr : found->second;
}

}  // namespace hipplan::emulator
