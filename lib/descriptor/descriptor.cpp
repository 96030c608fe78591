#include "descriptor/descriptor.h"

#include <algorithm>
#include <array>

namespace hipplan::descriptor {
namespace {

struct KindNames {
  const char* suffix;
  const char* short_name;
};
// In the order of enum Kind.
constexpr std::array<KindNames, 7> kKinds = {{
    {".ued.json", "UED"},
    {".kmd.json", "KMD"},
    {".umd.json", "UMD"},
    {".udd.json", "UDD"},
    {".uhd.json", "UHD"},
    {".kdp.json", "KDP"},
    {".ukd.json", "UKD"},
}};

}  // namespace

const char* suffix(Kind kind) {
  return kKinds[static_cast<size_t>(kind)].suffix;
}
const char* short_name(Kind kind) {
  return kKinds[static_cast<size_t>(kind)].short_name;
}

std::optional<Kind> kind_of(std::string_view file_name) {
  for (size_t i = 0; i < kKinds.size(); ++i) {
    const std::string_view end = kKinds[i].suffix;
    if (file_name.size() > end.size() && file_name.ends_with(end)) return static_cast<Kind>(i);
  }
  return std::nullopt;
}

const char* field_type_name(FieldType type) {
  constexpr const char* kNames[] = {"bool", "int", "float", "string", "int_list"};
  return kNames[static_cast<size_t>(type)];
}

const char* source_kind_name(SourceKind kind) {
  constexpr const char* kNames[] = {"kpack", "embedded_source", "hsaco_file", "rocke_builder",
                                    "hip",   "hsaco",           "rocke"};
  return kNames[static_cast<size_t>(kind)];
}

std::optional<size_t> MetadataSchema::find(std::string_view field) const {
  for (size_t i = 0; i < fields.size(); ++i)
    if (fields[i].name == field) return i;
  return std::nullopt;
}

const Heuristic* Engine::heuristic_for(std::string_view base_arch) const {
  for (const auto& [arch, entry] : heuristic_by_arch)
    if (arch == base_arch) return entry;
  return heuristic;
}

const Engine* DescriptorSet::find_engine(std::string_view name) const {
  const auto at = std::lower_bound(engines.begin(), engines.end(), name,
                                   [](const auto& e, std::string_view n) { return e->name < n; });
  return at != engines.end() && (*at)->name == name ? at->get() : nullptr;
}

const Engine* DescriptorSet::find_engine(int64_t engine_id) const {
  for (const auto& engine : engines)
    if (engine->engine_id == engine_id) return engine.get();
  return nullptr;
}

}  // namespace hipplan::descriptor
