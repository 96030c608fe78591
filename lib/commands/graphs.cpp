#include "commands/graphs.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/harmless.h"
#include "base/interruption.h"
#include "base/join.h"
#include "base/spelling.h"
#include "commands/io.h"
#include "commands/plans.h"
#include "commands/targets.h"
#include "plan/index.h"
#include "plan/layout.h"
#include "plan/print.h"

namespace hipplan::commands {
namespace {

/// So many digits of a key stand for it in what tools print.
constexpr size_t kKeyDigits = 16;
/// So many digits are taken for a key where one starts so, and in front of a target, whatever
/// graphs are called: comparing with names means reading every graph, of which a library may hold a
/// hundred thousand.
constexpr size_t kSureDigits = 4;
/// Graphs and plans that a message names.
constexpr size_t kNamed = 5;

/// Digits of a whole key.
constexpr size_t kWholeKey = 64;

bool is_hexadecimal(const std::string& text) {
  return text.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
}
/// Whether a key may start so.
bool is_digits(const std::string& text) {
  return text.size() <= kWholeKey && is_hexadecimal(text);
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

/// `digits` as the keys have them that start so; empty where none does.
Result<std::string> start_of_key(const plan::File& file, const std::string& digits) {
  std::string out;
  HIPPLAN_TRY(file.for_each_of(digits, [&](const plan::EntryInfo& entry) {
    out = entry.graph_key.hex().substr(0, digits.size());
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

/// The graphs that are most like what was asked for.
class NearestGraphs {
 public:
  explicit NearestGraphs(const std::string& asked)
      : asked_(asked),
        digits_(is_digits(asked) && asked.size() >= kFewestDigits
                    ? std::min(asked.size(), kKeyDigits)
                    : 0),
        names_(asked, kNearest),
        keys_(digits_ == 0 ? "" : plan::KeyRange::of(asked)->low.hex().substr(0, digits_),
              kNearest) {}
  void look(const plan::EntryInfo& entry, const std::string& name) {
    if (digits_ != 0) {
      const auto slips = keys_.slips(entry.graph_key.hex().substr(0, digits_));
      if (slips) keys_.keep(*slips, graph_label(entry.graph_key, name));
    }
    if (name.empty()) return;
    auto slips = names_.slips(name);
    // A part of a name is less like it than any misspelling.
    if (!slips && asked_.size() >= kFewestLetters && !names_.is_full() &&
        name.find(asked_) != std::string::npos)
      slips = names_.too_many();
    if (slips) names_.keep(*slips, graph_label(entry.graph_key, name));
  }
  /// Labels, names first; empty when none is alike.
  [[nodiscard]] std::vector<std::string> labels() const {
    auto out = names_.meanings();
    for (auto& key : keys_.meanings())
      if (std::find(out.begin(), out.end(), key) == out.end()) out.push_back(std::move(key));
    if (out.size() > kNearest) out.resize(kNearest);
    return out;
  }

 private:
  static constexpr size_t kFewestDigits = 4, kFewestLetters = 3, kNearest = 3;
  std::string asked_;
  size_t digits_;  ///< of keys that are compared; 0: what was asked for is none
  NearestWords names_, keys_;
};

/// Why nothing is called so, in one clause.
std::string not_there(const std::string& asked) {
  if (!is_hexadecimal(asked)) return "the file holds no plan of a graph with this name";
  if (asked.size() > kWholeKey)
    return cat("is longer than a key, which has ", kWholeKey,
               " digits, and no graph in the file has this name");
  return "the file holds no plan under a key that starts so, and none of a graph with this name";
}

/// Whether a call that names a file so gets the same file again.
bool opens_again(const std::string& name) {
  std::error_code ignored;
  return name != "-" && !name.starts_with("/dev/") &&
         (is_member(name) || std::filesystem::is_regular_file(name, ignored));
}

/// No plan at all, or none under a key that starts with what `where` names.
Error no_plan(const std::string& where) {
  return {.code = Code::bad_input,
          .reason = "no-such-plan",
          .where = where,
          .what = "the file holds no plan"};
}

}  // namespace

Error with_list(Error error, const plan::File& file) {
  const bool of_choice = error.reason == "no-such-plan" || error.reason == "target";
  if (!of_choice || file.entry_count() < 2 || !opens_again(file.where())) return error;
  error.advice += cat(error.advice.empty() ? "" : "; ", "hipplan-inspect list plans ",
                      harmless(file.where()), " lists all ", file.entry_count(), " plans");
  return error;
}

Error no_such_key(const plan::File& file, const std::string& digits) {
  Error out = no_plan(digits.empty() ? "" : place_of(digits, true));
  if (file.entry_count() == 0) return out;
  out.what += " under a key that starts so";
  out.expected = cat("first digits of a key, which is ", kWholeKey, " hexadecimal digits");
  return out;
}

Error no_such_graph(const plan::File& file, const std::string& asked,
                    const std::vector<std::string>& nearest) {
  Error out = no_plan(asked.empty() ? "" : place_of(asked, is_digits(asked)));
  if (file.entry_count() == 0) return out;
  out.what = not_there(asked);
  out.expected = cat("a graph's name, or first digits of its key, which is ", kWholeKey,
                     " hexadecimal digits");
  if (!nearest.empty()) {
    out.advice = cat("nearest: ", joined(nearest));
  } else {
    const auto list = graph_list(file, "");
    if (!list) return list.error();
    out.advice = cat("the file holds ", *list);
  }
  return with_list(std::move(out), file);
}

Error no_plan_runs(const plan::File& file, const std::string& digits, const target::Arch& device) {
  return with_list(no_plan_for(file, digits, device), file);
}

Error no_plan_for(const plan::File& file, const std::string& digits, const target::Arch& device) {
  const auto targets = targets_in(file, digits);
  if (!targets) return targets.error();
  Error out{.code = Code::unusable,
            .reason = "target",
            .where = digits.empty() ? "" : place_of(digits.substr(0, kKeyDigits), true),
            .what = "the file holds no plan"};
  if (targets->empty()) return out;
  out.what += " that runs on " + device.text();
  out.expected = "one of " + *targets;
  out.found = device.text();
  out.advice = advice_to_bake(device);
  return out;
}

std::optional<PlanName> plan_name(const std::string& asked) {
  const size_t slash = asked.rfind('/');
  if (slash == std::string::npos || slash < kSureDigits) return std::nullopt;
  PlanName out{asked.substr(0, slash), asked.substr(slash + 1)};
  if (!is_digits(out.key) || !target::Arch::parse(out.target)) return std::nullopt;
  return out;
}

Result<void> split_plan_name(std::string& key, std::string& target) {
  auto name = plan_name(key);
  if (!name) return {};
  if (!target.empty())
    return usage_error({.where = "--graph-key " + key.substr(0, kWholeKey),
                        .what = "names a target, and --target names one too",
                        .expected = "one of them"});
  key = std::move(name->key);
  target = std::move(name->target);
  return {};
}

Result<std::string> graph_digits(const plan::File& file, const std::string& asked) {
  if (asked.empty()) return asked;
  std::string digits;  // of keys that start so
  if (is_digits(asked)) {
    HIPPLAN_TRY_ASSIGN(digits, start_of_key(file, asked));
  }
  if (digits.size() >= kSureDigits) return digits;
  const bool starts = !digits.empty();
  std::map<Digest, std::string> named;
  NearestGraphs nearest(asked);
  HIPPLAN_TRY(
      visit_graphs(file, std::nullopt, [&](const plan::EntryInfo& entry, const std::string& name) {
        if (name == asked)
          named.emplace(entry.graph_key, name);
        else if (named.empty() && !starts)
          nearest.look(entry, name);
        return named.size() <= kNamed;
      }));
  if (named.empty() && starts) return digits;
  if (named.empty()) return no_such_graph(file, asked, nearest.labels());
  if (starts) {
    HIPPLAN_TRY_ASSIGN(const auto keyed, graphs_in(file, digits, kNamed + 1));
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
  if (matches == 0) return no_such_graph(file, digits).within(file.where());
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
