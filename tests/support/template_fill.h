// Graph templates with "${case.name}" placeholders, filled from the cases of a sweep file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json/json.h"

namespace hipplan::test {

struct FilledGraph {
  std::string case_id;
  std::string text;  ///< graph JSON
};

namespace detail {

/// Where a placeholder's value comes from: the case's entry for the tensor that it stands in, then
/// the case's values, then their "attributes".
struct FillScope {
  const json::Value* tensor = nullptr;
  const json::Value* values = nullptr;

  [[nodiscard]] const json::Value* find(std::string_view name) const {
    const json::Value* attributes = values ? values->find("attributes") : nullptr;
    for (const json::Value* source : {tensor, values, attributes})
      if (source)
        if (const json::Value* found = source->find(name)) return found;
    return nullptr;
  }
  [[nodiscard]] const json::Value* tensor_entry(int64_t uid) const {
    const json::Value* tensors = values ? values->find("tensors") : nullptr;
    if (!tensors) return nullptr;
    for (const json::Value& entry : tensors->items)
      if (const json::Value* own = entry.find("uid"); own && own->integer == uid) return &entry;
    return nullptr;
  }
};

inline json::Value fill(const json::Value& value, const FillScope& scope) {
  constexpr std::string_view kOpen = "${case.";
  json::Value out = value;
  if (value.kind == json::Kind::string && value.string.starts_with(kOpen) &&
      value.string.back() == '}') {
    const std::string name =
        value.string.substr(kOpen.size(), value.string.size() - kOpen.size() - 1);
    if (const json::Value* found = scope.find(name)) out = *found;
  }
  FillScope inner = scope;
  if (const json::Value* uid = value.find("uid")) inner.tensor = scope.tensor_entry(uid->integer);
  if (value.kind == json::Kind::array || value.kind == json::Kind::object) {
    for (json::Value& item : out.items) item = fill(item, inner);
    for (auto& [key, member] : out.members) member = fill(member, inner);
  }
  return out;
}

}  // namespace detail

/// One graph per case; empty when one of the texts is not what it should be. Placeholders without a
/// value stay, so that reading such a graph fails.
inline std::vector<FilledGraph> fill_template(std::string_view template_text,
                                              std::string_view sweep_text) {
  std::vector<FilledGraph> out;
  const auto graph = json::parse(template_text, "template");
  const auto sweep = json::parse(sweep_text, "sweep");
  const json::Value* cases = graph && sweep ? sweep->find("cases") : nullptr;
  if (!cases) return out;
  for (const json::Value& entry : cases->items) {
    const json::Value* id = entry.find("id");
    const detail::FillScope scope{nullptr, entry.find("values")};
    out.push_back({id ? id->string : "", json::print(detail::fill(*graph, scope), 2)});
  }
  return out;
}

}  // namespace hipplan::test
