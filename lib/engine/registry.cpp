#include "engine/registry.h"

#include <algorithm>
#include <array>

#include "engine/batchnorm_inference/match.h"
#include "engine/conv_fwd/match.h"
#include "engine/matmul/match.h"
#include "engine/pointwise/match.h"
#include "engine/sdpa_fwd/match.h"

namespace hipplan::engine {
namespace {

/// Every op family, in order of name.
const std::array<const Natives*, 5>& families() {
  static const std::array<const Natives*, 5> all = {&batchnorm_inference::natives(),
                                                    &conv_fwd::natives(), &matmul::natives(),
                                                    &pointwise::natives(), &sdpa_fwd::natives()};
  return all;
}

template <class F>
const F* find(std::vector<Natives::Named<F>> Natives::* table, std::string_view name) {
  for (const Natives* family : families())
    for (const auto& entry : family->*table)
      if (entry.name == name) return &entry.function;
  return nullptr;
}

template <class F>
F find_or_null(std::vector<Natives::Named<F>> Natives::* table, std::string_view name) {
  const F* found = find(table, name);
  return found == nullptr ? nullptr : *found;
}

template <class F>
const F* typed(const descriptor::MetadataSchema& schema, const std::vector<ValueData>& values,
               std::string_view field) {
  const auto at = schema.find(field);
  return at && *at < values.size() ? std::get_if<F>(&values[*at]) : nullptr;
}

template <class F>
std::optional<F> copied(const F* value) {
  return value == nullptr ? std::nullopt : std::optional<F>(*value);
}

}  // namespace

std::optional<int64_t> Metadata::integer(std::string_view field) const {
  return copied(typed<int64_t>(*schema_, *values_, field));
}
std::optional<double> Metadata::number(std::string_view field) const {
  return copied(typed<double>(*schema_, *values_, field));
}
std::optional<bool> Metadata::flag(std::string_view field) const {
  return copied(typed<bool>(*schema_, *values_, field));
}
const std::string* Metadata::text(std::string_view field) const {
  return typed<std::string>(*schema_, *values_, field);
}

GraphMatcher find_graph_matcher(std::string_view name) {
  return find_or_null(&Natives::graph_matchers, name);
}
KernelMatcher find_kernel_matcher(std::string_view name) {
  return find_or_null(&Natives::kernel_matchers, name);
}
const Scorer* find_scorer(std::string_view name) {
  return find(&Natives::scorers, name);
}
LaunchMaker find_launch_maker(std::string_view name) {
  return find_or_null(&Natives::launch_makers, name);
}

std::vector<std::string> native_names() {
  std::vector<std::string> out;
  const auto add = [&out](const auto& table) {
    for (const auto& entry : table) out.emplace_back(entry.name);
  };
  for (const Natives* family : families()) {
    add(family->graph_matchers);
    add(family->kernel_matchers);
    add(family->scorers);
    add(family->launch_makers);
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace hipplan::engine
