// Native functions that descriptors name: graph matchers, pack and kernel matchers, scorers, launch
// makers. This half of the engines sees graphs; the half that restores plans (dispatch.h) does not.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/launch_value.h"
#include "base/result.h"
#include "descriptor/descriptor.h"
#include "graph/graph.h"
#include "target/target.h"

namespace hipplan::engine {

/// Why something is not served. `reason` is a stable kebab-case id; `text` names the feature.
struct Refusal {
  std::string reason;
  std::string text;
};

/// What a graph matcher bound: an operation in the engine's own terms. Each op family derives its
/// own type from it; functions of that family accept no other.
class Problem {
 public:
  virtual ~Problem() = default;
  /// Named figures for reports ("x.uid", "n", "dtype", …).
  [[nodiscard]] virtual LaunchValues tokens() const = 0;
};
using GraphMatch = std::variant<std::shared_ptr<const Problem>, Refusal>;

/// A kernel's completed metadata with its schema. Typed reads give nothing for a missing field or
/// one of another type.
class Metadata {
 public:
  Metadata(const descriptor::MetadataSchema& schema, const std::vector<ValueData>& values)
      : schema_(&schema), values_(&values) {}
  [[nodiscard]] std::optional<int64_t> integer(std::string_view field) const;
  [[nodiscard]] std::optional<double> number(std::string_view field) const;
  [[nodiscard]] std::optional<bool> flag(std::string_view field) const;
  [[nodiscard]] const std::string* text(std::string_view field) const;

 private:
  const descriptor::MetadataSchema* schema_;
  const std::vector<ValueData>* values_;
};

/// Judges a graph for a whole engine (UED graph_match, or a pack's graph-scope matcher).
using GraphMatcher = GraphMatch (*)(const graph::Graph&);
/// Judges one kernel; nothing means it fits.
using KernelMatcher = std::optional<Refusal> (*)(const Problem&, const Metadata&,
                                                 const target::Description&);
/// An estimate for ranking, in the unit of its Scorer entry.
using ScoreFunction = std::optional<double> (*)(const Problem&, const Metadata&,
                                                const target::Description&);
/// Launch inputs for the dispatch handler of the same name.
using LaunchMaker = Result<LaunchValues> (*)(const Problem&, const Metadata&,
                                             const target::Description&);

struct Scorer {
  ScoreFunction score = nullptr;
  bool maximize = false;
  std::string_view unit;  ///< "microseconds"
};

/// The native functions of one op family, as flat tables sorted by nothing in particular.
struct Natives {
  template <class F>
  struct Named {
    std::string_view name;
    F function;
  };
  std::vector<Named<GraphMatcher>> graph_matchers;
  std::vector<Named<KernelMatcher>> kernel_matchers;
  std::vector<Named<Scorer>> scorers;
  std::vector<Named<LaunchMaker>> launch_makers;  ///< by unversioned dispatch name
};

// Lookup by name; null when no such function is registered. Any thread.
[[nodiscard]] GraphMatcher find_graph_matcher(std::string_view name);
[[nodiscard]] KernelMatcher find_kernel_matcher(std::string_view name);
[[nodiscard]] const Scorer* find_scorer(std::string_view name);
[[nodiscard]] LaunchMaker find_launch_maker(std::string_view name);
/// Every registered name, sorted, for listings.
[[nodiscard]] std::vector<std::string> native_names();

}  // namespace hipplan::engine
