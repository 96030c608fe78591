// Finding the graph a command means, by its key or its name.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "plan/plan.h"
#include "target/target.h"

namespace hipplan::commands {

/// "2b39f525edc6c7ef (add)": the digits that tools print, and the name of a graph that has one, as
/// a terminal may see it.
[[nodiscard]] std::string graph_label(const Digest& key, const std::string& name);

/// Digest of the graph's text that travels with an entry; nothing when none does.
Result<std::optional<Digest>> graph_digest(const plan::File& file, const plan::EntryInfo& entry);

/// The names of the graphs of plans that are looked at one after the other. Plans of one graph
/// mostly share its text, which is read once then.
class GraphNames {
 public:
  explicit GraphNames(const plan::File& file) : file_(file) {}
  /// Empty for a plan that carries no graph, and for a graph without a name.
  Result<std::string> of(const plan::EntryInfo& entry);

 private:
  const plan::File& file_;
  std::optional<Digest> text_{};  ///< whose name is `name_`
  std::string name_{};
};

/// The graphs of the entries whose keys start with `digits`, with their names: at most `most`, in
/// order of key. Of names that plans of one graph give, the first one's.
Result<std::map<Digest, std::string>> graphs_in(const plan::File& file, const std::string& digits,
                                                size_t most);
/// The labels of graphs_in() with commas, for messages; "…" where there are more than a message
/// takes.
Result<std::string> graph_list(const plan::File& file, const std::string& digits);

/// The digits that keys of the graphs start with which `asked` means: `asked` itself (as the keys
/// have it, in lower case) where keys start so, else the key of the one graph that has this name.
/// Fewer than 4 digits are also compared with the names. Empty stays empty. Fails with
/// no_such_graph(), naming the nearest graphs, or with bad_input, reason "ambiguous-plan", naming
/// those that fit. Looking for a name reads every graph.
Result<std::string> graph_digits(const plan::File& file, const std::string& asked);

/// The parts of "2b39f525edc6c7ef/gfx942", as tools name a plan.
struct PlanName {
  std::string key, target;
};
/// Nothing for any other text: a name is rarely hexadecimal digits, 4 or more, and an architecture.
[[nodiscard]] std::optional<PlanName> plan_name(const std::string& asked);
/// Both in place: `key` and `target` of a command, where `key` names a plan and `target` is empty.
/// Fails with bad_input, reason "usage", where both name a target.
Result<void> split_plan_name(std::string& key, std::string& target);

// What every command answers when a choice leaves nothing of a file.

/// No graph has the name or key `asked` (which may be empty: the file holds no plan at all):
/// bad_input, reason "no-such-plan". Says what a key is, the nearest graphs, and, as with_list(),
/// what lists all.
[[nodiscard]] Error no_such_graph(const plan::File& file, const std::string& asked,
                                  const std::vector<std::string>& nearest = {});
/// No plan of the graphs whose keys start with `digits` runs on the device: unusable, reason
/// "target". Says which targets there are, and, as with_list(), what lists all plans.
[[nodiscard]] Error no_plan_runs(const plan::File& file, const std::string& digits,
                                 const target::Arch& device);
/// Adds to an error about a choice ("no-such-plan", "target") what lists all plans of the file,
/// where it holds several and can be opened again by its name.
[[nodiscard]] Error with_list(Error error, const plan::File& file);

// The same for who asks by key only and knows no commands, as callers of the C interface.

/// No key starts with `digits`, which may be empty: the file holds no plan at all.
[[nodiscard]] Error no_such_key(const plan::File& file, const std::string& digits);
/// no_plan_runs() without what lists all.
[[nodiscard]] Error no_plan_for(const plan::File& file, const std::string& digits,
                                const target::Arch& device);

/// The only plan whose key starts with `digits`. Of several the error says what would choose one.
Result<plan::EntryInfo> only_entry(const plan::File& file, const std::string& digits);

}  // namespace hipplan::commands
