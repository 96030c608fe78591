#include "commands/plans.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <set>

#include "base/interruption.h"
#include "commands/graphs.h"
#include "commands/targets.h"
#include "plan/bundle.h"
#include "plan/foreign.h"
#include "restore/restore.h"

namespace hipplan::commands {
namespace {

constexpr size_t kListed = 20;

/// What stands between a bundle's name, which it belongs to, and a member's.
constexpr std::string_view kMemberMark = ".tar.zst:";

/// The first words with commas; empty for none.
template <class Words>
std::string listed(const Words& words) {
  std::string out;
  size_t count = 0;
  for (const auto& word : words) {
    if (count++ == kListed) return out + ", …";
    out += (out.empty() ? "" : ", ") + word;
  }
  return out;
}

}  // namespace

namespace {

/// "a.hplan, b.hplan": the members of a bundle, or nothing where they cannot be told.
std::string members_of(ByteView bytes, const std::string& path) {
  const auto members = plan::list_bundle(bytes, path);
  std::vector<std::string> names;
  if (members)
    for (const auto& member : *members) names.push_back(member.name);
  return listed(names);
}

/// A bundle where one plan file is wanted: names the members.
Error whole_bundle(ByteView bytes, const std::string& path, Error error) {
  const std::string members = members_of(bytes, path);
  if (members.empty() || !path.ends_with(kMemberMark.substr(0, kMemberMark.size() - 1)))
    return error;
  error.what = "a bundle, not a plan file";
  error.expected = path + ":MEMBER with one of " + members;
  error.found = error.advice = "";
  return error;
}

Result<void> check_kind(ByteView bytes, const std::string& path) {
  if (bytes.empty())
    return Error{.code = Code::damaged,
                 .reason = "truncated",
                 .where = path,
                 .what = "the file is empty",
                 .expected = "a .hplan file"};
  if (auto foreign = plan::foreign_error(bytes, path))
    return plan::looks_like_bundle(bytes) ? whole_bundle(bytes, path, *foreign) : *foreign;
  return {};
}

}  // namespace

Error empty_bundle(const std::string& path) {
  return {.code = Code::bad_input,
          .reason = "open",
          .where = path,
          .what = "the bundle holds no .hplan file"};
}

std::optional<MemberPath> member_path(const std::string& path) {
  std::error_code ignored;
  const size_t mark = path.find(kMemberMark);
  if (mark == std::string::npos || std::filesystem::exists(path, ignored)) return std::nullopt;
  const size_t colon = mark + kMemberMark.size() - 1;
  return MemberPath{path.substr(0, colon), path.substr(colon + 1)};
}

bool is_member(const std::string& path) {
  return member_path(path).has_value();
}

Result<FileView> open_view(const std::string& path) {
  const auto inside = member_path(path);
  if (!inside) return FileView::open(path);
  auto bytes = plan::read_bundle_member(inside->bundle, inside->member);
  if (bytes) return FileView::own(*std::move(bytes));
  Error error = bytes.error();
  if (error.reason != "no-such-member") return error;
  if (const auto file = FileView::open(inside->bundle))
    error.expected = "one of " + members_of(file->view(), inside->bundle);
  error.found = inside->member;
  return error;
}

Result<plan::File> parse_file(FileView bytes, const std::string& where, plan::Check check) {
  HIPPLAN_TRY(check_kind(bytes.view(), where));
  return plan::File::parse(std::move(bytes), where, check);
}

Result<plan::File> open_file(const std::string& path, plan::Check check) {
  HIPPLAN_TRY_ASSIGN(auto bytes, open_view(path));
  return parse_file(std::move(bytes), path, check);
}

Result<Trust> load_trust(const std::string& folder) {
  HIPPLAN_TRY_ASSIGN(auto keys, plan::TrustStore::load(folder));
  return Trust{std::move(keys), static_cast<int64_t>(std::time(nullptr))};
}

Result<std::optional<Trust>> asked_trust(bool require_signed, const std::string& folder) {
  if (require_signed == folder.empty())
    return usage_error({.what = "--require-signed and --trust go together",
                        .advice = "pass --require-signed --trust DIR, a folder of public keys"});
  if (!require_signed) return std::optional<Trust>();
  HIPPLAN_TRY_ASSIGN(auto trust, load_trust(folder));
  return std::optional<Trust>(std::move(trust));
}

Result<OpenedFile> parse_signed(FileView bytes, const std::string& where, ByteView detached,
                                plan::Check check, const std::optional<Trust>& trust) {
  if (!trust) {
    HIPPLAN_TRY_ASSIGN(auto file, parse_file(std::move(bytes), where, check));
    return OpenedFile{std::move(file), {}};
  }
  HIPPLAN_TRY(check_kind(bytes.view(), where));
  HIPPLAN_TRY_ASSIGN(const auto signatures, plan::read_signatures(bytes.view(), detached, where));
  HIPPLAN_TRY_ASSIGN(auto by, plan::require_signed(signatures, trust->keys, trust->now, where));
  HIPPLAN_TRY_ASSIGN(auto file, plan::File::parse(std::move(bytes), where, check));
  if (file.directory_digest() != signatures.directory_digest)
    return Error{.code = Code::machine,
                 .reason = "file-changed",
                 .where = where,
                 .what = "file changed while it was read",
                 .expected = signatures.directory_digest.hex(),
                 .found = file.directory_digest().hex()};
  return OpenedFile{std::move(file), std::move(by)};
}

Result<std::vector<Candidate>> judge(const plan::File& file, const std::string& graph_key,
                                     const target::Arch& device) {
  std::vector<plan::EntryInfo> entries;
  HIPPLAN_TRY(file.for_each_of(graph_key, [&](const plan::EntryInfo& entry) {
    entries.push_back(entry);
    return true;
  }));
  std::vector<Candidate> out;
  for (const auto& entry : entries) {
    HIPPLAN_TRY(check_interruption());
    // The target rule needs no text and no code, so damage in those of a plan hides no other plan.
    HIPPLAN_TRY_ASSIGN(const auto plan, file.read_decisions(entry, false));
    auto fits = restore::check_target(plan, device);
    out.push_back({entry, fits.ok() ? std::nullopt : std::optional<Error>(fits.error())});
  }
  return out;
}

namespace {

/// Targets whose plans come before those of others, best first.
std::array<std::string, 2> preferred_targets(const target::Arch& device) {
  return {device.text(), device.base};
}

/// Plans of a lower rank come first.
size_t rank_of(const std::string& target, const target::Arch& device) {
  const auto order = preferred_targets(device);
  return static_cast<size_t>(std::find(order.begin(), order.end(), target) - order.begin());
}

}  // namespace

std::string precedence(const std::string& target, const target::Arch& device) {
  constexpr const char* kWhy[] = {"is for this very target", "is for the target's architecture",
                                  "comes first in the file"};  // by rank
  return kWhy[rank_of(target, device)];
}

std::map<Digest, const Candidate*> best_by_graph(const std::vector<Candidate>& candidates,
                                                 const target::Arch& device) {
  const auto rank = [&](const Candidate& c) { return rank_of(c.entry.target, device); };
  std::map<Digest, const Candidate*> out;
  for (const auto& candidate : candidates) {
    const Candidate*& best = out[candidate.entry.graph_key];
    if (candidate.refusal) continue;
    if (best == nullptr || rank(candidate) < rank(*best)) best = &candidate;
  }
  return out;
}

namespace {

/// Some graph keys of the entries whose keys start with `digits`, at most `most`.
Result<std::set<std::string>> some_keys(const plan::File& file, const std::string& digits,
                                        size_t most) {
  std::set<std::string> out;
  HIPPLAN_TRY(file.for_each_of(digits, [&](const plan::EntryInfo& entry) {
    out.insert(entry.graph_key.hex());
    return out.size() < most;
  }));
  return out;
}

/// The graph key that `digits` means; exactly one must start so.
Result<Digest> one_key(const plan::File& file, const std::string& digits) {
  if (const auto whole = Digest::from_hex(digits)) return *whole;
  HIPPLAN_TRY_ASSIGN(const auto chosen, some_keys(file, digits, 2));
  if (chosen.size() == 1) return *Digest::from_hex(*chosen.begin());
  if (chosen.empty()) return no_such_key(file, digits);
  HIPPLAN_TRY_ASSIGN(const auto list, graph_list(file, digits));
  return Error{.code = Code::bad_input,
               .reason = "ambiguous-plan",
               .where = "graph key",
               .what = digits.empty() ? "the file holds plans of several graphs"
                                      : "several graphs have keys that start like this",
               .expected = "--graph-key with one of " + list};
}

/// The entry for exactly this target, when it is there and fits the device.
Result<std::optional<plan::EntryInfo>> exact_entry(const plan::File& file, const Digest& key,
                                                   const std::string& target,
                                                   const target::Arch& device) {
  HIPPLAN_TRY_ASSIGN(const auto found, file.find(key, target));
  if (!found) return found;
  HIPPLAN_TRY_ASSIGN(const auto plan, file.read_decisions(*found, false));
  return restore::check_target(plan, device) ? found : std::nullopt;
}

}  // namespace

Result<std::string> targets_in(const plan::File& file, const std::string& graph_key) {
  std::set<std::string> out;
  HIPPLAN_TRY(file.for_each_of(graph_key, [&](const plan::EntryInfo& entry) {
    out.insert(entry.target);
    return out.size() <= kListed;
  }));
  return listed(out);
}

std::optional<std::string> note_on_taken(const std::vector<plan::EntryInfo>& taken,
                                         const target::Arch& device) {
  std::map<std::string, uint64_t> others;
  for (const auto& entry : taken)
    if (entry.target != device.text()) ++others[entry.target];
  if (others.empty()) return std::nullopt;
  std::string list;
  uint64_t count = 0;
  for (const auto& [target, plans] : others) {
    list +=
        cat(list.empty() ? "" : " and ", "the ", plans == 1 ? "plan" : "plans", " for ", target);
    count += plans;
  }
  return cat("for ", device.text(), " ", list, count == 1 ? " is taken" : " are taken");
}

Result<plan::EntryInfo> resolve(const plan::File& file, const std::string& graph_key,
                                const target::Arch& device) {
  HIPPLAN_TRY_ASSIGN(const Digest key, one_key(file, graph_key));
  for (const std::string& target : preferred_targets(device)) {
    HIPPLAN_TRY_ASSIGN(const auto exact, exact_entry(file, key, target, device));
    if (exact) return *exact;
  }
  HIPPLAN_TRY_ASSIGN(const auto candidates, judge(file, key.hex(), device));
  if (candidates.empty()) return no_such_key(file, graph_key);
  const Candidate* best = best_by_graph(candidates, device).begin()->second;
  if (best != nullptr) return best->entry;
  return no_plan_for(file, key.hex(), device);
}

Result<std::vector<plan::EntryInfo>> resolve_each(const plan::File& file,
                                                  const std::string& graph_key,
                                                  const target::Arch& device) {
  std::vector<Digest> keys;
  HIPPLAN_TRY(file.for_each_of(graph_key, [&](const plan::EntryInfo& entry) {
    if (keys.empty() || keys.back() != entry.graph_key) keys.push_back(entry.graph_key);
    return true;
  }));
  std::vector<plan::EntryInfo> out;
  for (const auto& key : keys) {
    auto entry = resolve(file, key.hex(), device);
    if (entry)
      out.push_back(*std::move(entry));
    else if (entry.error().reason != "target")
      return entry.error();
  }
  return out;
}

Result<void> refuse_other_name(const std::string& output, std::string_view own) {
  constexpr std::pair<std::string_view, const char*> kEndings[] = {
      {".hplan", "a plan file's"}, {plan::kBundleSuffix, "a bundle's"},
      {".sig", "a signature's"},   {".pem", "a key's"},
      {".npy", "an array's"},      {".kpack", "a kernel archive's"},
      {".json", "a JSON file's"}};
  for (const auto& [ending, whose] : kEndings) {
    if (ending == own || !output.ends_with(ending)) continue;
    Error error{.code = Code::bad_input, .reason = "output-name", .where = output};
    error.what = cat("is ", whose, " name");
    error.expected = cat("-o FILE", own);
    if (ending == plan::kBundleSuffix)
      error.advice = "hipplan-inspect bundle FOLDER -o FILE.tar.zst makes a bundle";
    return error;
  }
  return {};
}

}  // namespace hipplan::commands
