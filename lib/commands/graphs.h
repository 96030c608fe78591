// Finding the graph a command means, by its key or its name.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "plan/plan.h"

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

/// The digits that keys of the graphs start with which `asked` means: `asked` itself where keys
/// start so, else the key of the one graph that has this name. Fewer than 8 digits are also
/// compared with the names. Empty stays empty. Fails with bad_input: reason "no-such-plan", naming
/// the nearest graph, or "ambiguous-plan", naming those that fit. Looking for a name reads every
/// graph.
Result<std::string> graph_digits(const plan::File& file, const std::string& asked);

/// The only plan whose key starts with `digits`. Of several the error says what would choose one.
Result<plan::EntryInfo> only_entry(const plan::File& file, const std::string& digits);

}  // namespace hipplan::commands
