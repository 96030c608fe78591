#include "device/emulator/semantics.h"

#include <unordered_map>

namespace hipplan::emulator {

namespace {

using Index = std::unordered_map<std::string_view, const Semantics*>;

std::vector<std::span<const Semantics>> families() {
  return {scalar_semantics(),         scalar_memory_semantics(), control_semantics(),
          integer_semantics(),        compare_semantics(),       float_semantics(),
          double_semantics(),         half_semantics(),          convert_semantics(),
          lane_semantics(),           lds_semantics(),           memory_semantics(),
          atomic_semantics(),         packed_semantics(),        matrix_semantics(),
          rdna_semantics(),           call_semantics(),          fp8_semantics(),
          register_index_semantics(), lds_direct_semantics(),    formatted_semantics(),
          lds_exchange_semantics(),   wide_vector_semantics(),   block_semantics(),
          exec_semantics(),           mode_semantics(),          scalar_store_semantics()};
}

Index make_index() {
  Index index;
  for (const auto family : families())
    for (const Semantics& entry : family)
      if (!entry.mnemonic.empty()) index.emplace(entry.mnemonic, &entry);
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

std::vector<Defined> all_semantics() {
  std::vector<Defined> all;
  std::unordered_map<const Semantics*, size_t> places;
  for (const auto family : families()) {
    Citation cited;
    for (const Semantics& entry : family) {
      if (entry.mnemonic.empty()) {
        cited = entry.cited;
      } else if (find_semantics(entry.mnemonic) == &entry) {  // not hidden by an earlier one
        places.emplace(&entry, all.size());
        all.push_back({entry.mnemonic, {}, cited});
      }
    }
  }
  for (const Alias& alias : aliases()) {
    const auto place = places.find(find_semantics(alias.name));
    if (place != places.end() && place->first->mnemonic != alias.name)
      all[place->second].aliases.push_back(alias.name);
  }
  return all;
}

}  // namespace hipplan::emulator
