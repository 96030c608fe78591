#include "commands/graphs.h"

#include <algorithm>
#include <set>

#include "base/harmless.h"
#include "base/interruption.h"
#include "base/join.h"
#include "base/spelling.h"
#include "plan/layout.h"
#include "plan/print.h"

namespace hipplan::commands {
namespace {

/// So many digits of a key stand for it in what tools print.
constexpr size_t kKeyDigits = 16;
/// So many digits are taken for a key where one starts so, whatever graphs are called.
constexpr size_t kSureDigits = 8;
/// Graphs and plans that a message names.
constexpr size_t kNamed = 10;

bool is_digits(const std::string& text) {
  constexpr size_t kMostDigits = 64;
  return text.size() <= kMostDigits &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// Calls `visit` with the entries below `digits` and their graphs' names until it says false.
/// Without digits the whole file is read.
using Visit = std::function<bool(const plan::EntryInfo&, const std::string& name)>;
Result<void> visit_graphs(const plan::File& file, const std::optional<std::string>& digits,
                          const Visit& visit) {
  GraphNames names(file);
  Result<void> failed;
  const auto one = [&](const plan::EntryInfo& entry) {
    if (failed = check_interruption(); !failed) return false;
    // What cannot be read has no name here; whoever reads that plan is told.
    const auto name = names.of(entry);
    return visit(entry, name ? *name : std::string());
  };
  HIPPLAN_TRY(digits ? file.for_each_of(*digits, one) : file.for_each(one));
  return failed;
}

Result<bool> any_starts_with(const plan::File& file, const std::string& digits) {
  bool out = false;
  HIPPLAN_TRY(file.for_each_of(digits, [&](const plan::EntryInfo&) {
    out = true;
    return false;
  }));
  return out;
}

std::string labels(const std::map<Digest, std::string>& graphs) {
  std::vector<std::string> out;
  for (const auto& [key, name] : graphs) {
    if (out.size() == kNamed) {
      out.emplace_back("…");
      break;
    }
    out.push_back(graph_label(key, name));
  }
  return joined(out);
}

Error ambiguous(const std::string& where, const std::string& what, const std::string& list) {
  return {.code = Code::bad_input,
          .reason = "ambiguous-plan",
          .where = where,
          .what = what,
          .expected = "--graph-key with one of " + list};
}

std::string place_of(const std::string& asked, bool key) {
  constexpr size_t kMostShown = 64;
  return key ? "graph key " + asked : "graph '" + asked.substr(0, kMostShown) + "'";
}

}  // namespace

std::string graph_label(const Digest& key, const std::string& name) {
  constexpr size_t kMostShown = 64;
  return key.hex().substr(0, kKeyDigits) +
         (name.empty() ? "" : " (" + harmless(name.substr(0, kMostShown)) + ")");
}

Result<std::optional<Digest>> graph_digest(const plan::File& file, const plan::EntryInfo& entry) {
  HIPPLAN_TRY_ASSIGN(const auto parts, file.parts(entry));
  for (const auto& part : parts)
    if (part.type == plan::kGraphsSection) return std::optional<Digest>(part.sha256);
  return std::optional<Digest>();
}

Result<std::string> GraphNames::of(const plan::EntryInfo& entry) {
  HIPPLAN_TRY_ASSIGN(const auto text, graph_digest(file_, entry));
  if (!text) return std::string();
  if (text != text_) {
    HIPPLAN_TRY_ASSIGN(const auto plan, file_.read_plan(entry, false));
    name_ = plan::graph_name(plan.graph);
    text_ = text;
  }
  return name_;
}

Result<std::map<Digest, std::string>> graphs_in(const plan::File& file, const std::string& digits,
                                                size_t most) {
  std::map<Digest, std::string> out;
  HIPPLAN_TRY(
      visit_graphs(file, digits, [&](const plan::EntryInfo& entry, const std::string& name) {
        out.emplace(entry.graph_key, name);
        return out.size() < most;
      }));
  return out;
}

Result<std::string> graph_list(const plan::File& file, const std::string& digits) {
  HIPPLAN_TRY_ASSIGN(const auto graphs, graphs_in(file, digits, kNamed + 1));
  return labels(graphs);
}

namespace {

/// The graph that is most like what was asked for.
class NearestGraph {
 public:
  explicit NearestGraph(const std::string& asked)
      : digits_(is_digits(asked) && asked.size() >= kFewestDigits ? asked.size() : 0),
        nearest_(asked) {}
  void look(const plan::EntryInfo& entry, const std::string& name) {
    const bool like_key = digits_ != 0 && nearest_.look(entry.graph_key.hex().substr(0, digits_));
    if (like_key || (!name.empty() && nearest_.look(name)))
      label_ = graph_label(entry.graph_key, name);
  }
  /// Empty when none is alike.
  [[nodiscard]] const std::string& label() const { return label_; }

 private:
  static constexpr size_t kFewestDigits = 4;
  size_t digits_;  ///< of keys that are compared; 0: what was asked for is none
  NearestWord nearest_;
  std::string label_;
};

/// What was asked for is not there: names the nearest graph, or lists some. Where the file cannot
/// be read for that, why not.
Error no_such_graph(const plan::File& file, const std::string& asked, const std::string& nearest) {
  Error out{.code = Code::bad_input,
            .reason = "no-such-plan",
            .where = place_of(asked, is_digits(asked)),
            .what = "the file holds no plan"};
  if (file.entry_count() == 0) return out;
  out.what = is_digits(asked) ? "the file holds no plan under a key that starts so"
                              : "the file holds no plan of a graph with this name";
  if (!nearest.empty()) {
    out.advice = "nearest is " + nearest;
    return out;
  }
  const auto list = graph_list(file, "");
  if (!list) return list.error();
  out.expected = "one of " + *list;
  return out;
}

}  // namespace

Result<std::string> graph_digits(const plan::File& file, const std::string& asked) {
  if (asked.empty()) return asked;
  bool starts = false;
  if (is_digits(asked)) {
    HIPPLAN_TRY_ASSIGN(starts, any_starts_with(file, asked));
    if (starts && asked.size() >= kSureDigits) return asked;
  }
  std::map<Digest, std::string> named;
  NearestGraph nearest(asked);
  HIPPLAN_TRY(
      visit_graphs(file, std::nullopt, [&](const plan::EntryInfo& entry, const std::string& name) {
        if (name == asked)
          named.emplace(entry.graph_key, name);
        else if (named.empty() && !starts)
          nearest.look(entry, name);
        return named.size() <= kNamed;
      }));
  if (named.empty() && starts) return asked;
  if (named.empty()) return no_such_graph(file, asked, nearest.label());
  if (starts) {
    HIPPLAN_TRY_ASSIGN(const auto keyed, graphs_in(file, asked, kNamed + 1));
    named.insert(keyed.begin(), keyed.end());
  }
  if (named.size() == 1) return named.begin()->first.hex();
  return ambiguous(
      place_of(asked, false),
      starts ? "is the name of a graph and the start of a key" : "several graphs have this name",
      labels(named));
}

Result<plan::EntryInfo> only_entry(const plan::File& file, const std::string& digits) {
  std::optional<plan::EntryInfo> only;
  std::set<Digest> keys;
  std::set<std::string> targets;
  uint64_t matches = 0;
  HIPPLAN_TRY(file.for_each_of(digits, [&](const plan::EntryInfo& entry) {
    ++matches;
    only = entry;
    keys.insert(entry.graph_key);
    targets.insert(entry.target);
    return keys.size() <= kNamed;
  }));
  if (matches == 1) return *only;
  if (matches == 0) return no_such_graph(file, digits, "").within(file.where());
  Error error{.code = Code::bad_input,
              .reason = "ambiguous-plan",
              .where = file.where(),
              .what = "several plans fit"};
  const std::string target_list = joined(targets);
  if (keys.size() == 1) {
    error.expected = "--target with one of " + target_list;
    return error;
  }
  HIPPLAN_TRY_ASSIGN(const auto list, graph_list(file, digits));
  error.expected = "--graph-key with one of " + list;
  if (targets.size() > 1) error.expected += "; and --target with one of " + target_list;
  return error;
}

}  // namespace hipplan::commands
