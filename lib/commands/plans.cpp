#include "commands/plans.h"

#include <algorithm>
#include <set>

#include "plan/bundle.h"
#include "plan/foreign.h"
#include "restore/restore.h"

namespace hipplan::commands {
namespace {

constexpr size_t kListed = 20;

/// "a.tar.zst:dir/x.hplan" -> its two halves; nothing when the path names no bundle.
std::optional<std::pair<std::string, std::string>> split_bundle(const std::string& path) {
  constexpr std::string_view kSuffix = ".tar.zst:";
  const size_t at = path.find(kSuffix);
  if (at == std::string::npos) return std::nullopt;
  return std::pair{path.substr(0, at + kSuffix.size() - 1), path.substr(at + kSuffix.size())};
}

Result<FileView> view_of(const std::string& path) {
  const auto split = split_bundle(path);
  if (!split) return FileView::open(path);
  HIPPLAN_TRY_ASSIGN(auto bytes, plan::read_bundle_member(split->first, split->second));
  return FileView::own(std::move(bytes));
}

bool starts_with(const std::string& text, const std::string& prefix) {
  return text.compare(0, prefix.size(), prefix) == 0;
}

template <class Words>
std::string listed(const Words& words) {
  std::string out;
  size_t count = 0;
  for (const auto& word : words) {
    if (count++ == kListed) return out + ", …";
    out += (out.empty() ? "" : ", ") + word;
  }
  return out.empty() ? "nothing" : out;
}

Error no_such_plan(const std::string& graph_key, const std::set<std::string>& keys) {
  return {.code = Code::bad_input,
          .reason = "no-such-plan",
          .where = "graph key " + graph_key.substr(0, 64),
          .what = "the file holds no such plan",
          .expected = "one of " + listed(keys)};
}

}  // namespace

Result<plan::File> open_file(const std::string& path, plan::Check check) {
  HIPPLAN_TRY_ASSIGN(auto bytes, view_of(path));
  if (bytes.view().empty())
    return Error{.code = Code::damaged,
                 .reason = "truncated",
                 .where = path,
                 .what = "the file is empty",
                 .expected = "a .hplan file"};
  if (auto foreign = plan::foreign_error(bytes.view(), path)) return std::move(*foreign);
  return plan::File::parse(std::move(bytes), path, check);
}

Result<std::vector<Candidate>> judge(const plan::File& file, const std::string& graph_key,
                                     const target::Arch& device) {
  std::vector<plan::EntryInfo> entries;
  HIPPLAN_TRY(file.for_each([&](const plan::EntryInfo& entry) {
    if (starts_with(entry.graph_key.hex(), graph_key)) entries.push_back(entry);
    return true;
  }));
  std::vector<Candidate> out;
  for (const auto& entry : entries) {
    HIPPLAN_TRY_ASSIGN(const auto plan, file.read_plan(entry, false));
    auto fits = restore::check_target(plan, device);
    out.push_back({entry, fits.ok() ? std::nullopt : std::optional<Error>(fits.error())});
  }
  return out;
}

std::map<Digest, const Candidate*> best_by_graph(const std::vector<Candidate>& candidates,
                                                 const target::Arch& device) {
  const auto rank = [&](const Candidate& c) {
    return c.entry.target == device.text() ? 2 : c.entry.target == device.base ? 1 : 0;
  };
  std::map<Digest, const Candidate*> out;
  for (const auto& candidate : candidates) {
    const Candidate*& best = out[candidate.entry.graph_key];
    if (candidate.refusal) continue;
    if (best == nullptr || rank(candidate) > rank(*best)) best = &candidate;
  }
  return out;
}

Result<plan::EntryInfo> resolve(const plan::File& file, const std::string& graph_key,
                                const target::Arch& device) {
  std::set<std::string> keys, targets;
  HIPPLAN_TRY(file.for_each([&](const plan::EntryInfo& entry) {
    keys.insert(entry.graph_key.hex());
    return keys.size() <= kListed || graph_key.empty();
  }));
  std::set<std::string> chosen;
  HIPPLAN_TRY(file.for_each([&](const plan::EntryInfo& entry) {
    if (starts_with(entry.graph_key.hex(), graph_key)) chosen.insert(entry.graph_key.hex());
    return chosen.size() < 2;
  }));
  if (chosen.empty()) return no_such_plan(graph_key, keys);
  if (chosen.size() > 1)
    return Error{.code = Code::bad_input,
                 .reason = "ambiguous-plan",
                 .where = "graph key",
                 .what = graph_key.empty() ? "the file holds plans of several graphs"
                                           : "several graphs have keys that start like this",
                 .expected = "--graph-key with one of " + listed(keys)};
  HIPPLAN_TRY_ASSIGN(const auto candidates, judge(file, *chosen.begin(), device));
  for (const auto& candidate : candidates) targets.insert(candidate.entry.target);
  const Candidate* best = best_by_graph(candidates, device).begin()->second;
  if (best == nullptr)
    return Error{.code = Code::unusable,
                 .reason = "target",
                 .where = "graph key " + chosen.begin()->substr(0, 16),
                 .what = "no plan in the file runs on " + device.text(),
                 .expected = "one of " + listed(targets),
                 .found = device.text(),
                 .advice = "bake one for " + device.base};
  return best->entry;
}

}  // namespace hipplan::commands
