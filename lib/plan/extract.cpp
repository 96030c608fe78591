#include "plan/extract.h"

#include <set>

#include "plan/errors.h"

namespace hipplan::plan {
namespace {

constexpr size_t kListed = 10;

std::string listed(const std::vector<EntryInfo>& entries, uint64_t total) {
  std::string out;
  for (const auto& entry : entries)
    out += cat(out.empty() ? "" : ", ", entry.graph_key.hex().substr(0, 16), "/", entry.target);
  if (total > entries.size()) out += cat(" and ", total - entries.size(), " more");
  return out;
}

/// Characters that are safe in a file name.
std::string file_name_part(std::string text) {
  constexpr size_t kMost = 64;
  if (text.size() > kMost) text.resize(kMost);
  for (char& c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '-';
    if (!plain) c = '_';
  }
  return text;
}

}  // namespace

Result<EntryInfo> choose_entry(const File& file, std::string_view graph_key,
                               std::string_view target) {
  std::vector<EntryInfo> found;
  if (const auto key = Digest::from_hex(graph_key); key && !target.empty()) {
    HIPPLAN_TRY_ASSIGN(const auto entry, file.find(*key, target));
    if (entry) return *entry;
  }
  uint64_t matches = 0;
  HIPPLAN_TRY(file.for_each_of(graph_key, [&](const EntryInfo& entry) {
    if (!target.empty() && entry.target != target) return true;
    ++matches;
    if (found.size() < kListed) found.push_back(entry);
    return true;
  }));
  if (matches == 1) return found[0];
  const std::string asked = cat("graph key ", graph_key.empty() ? "any" : graph_key, ", target ",
                                target.empty() ? "any" : target);
  if (matches > 1)
    return bad_input("ambiguous-plan", file.where(), "several plans fit", "one plan",
                     listed(found, matches), "name a graph key and a target");
  HIPPLAN_TRY(file.for_each([&](const EntryInfo& entry) {
    found.push_back(entry);
    return found.size() < kListed;
  }));
  return bad_input("no-such-plan", file.where(), "file has no such plan", asked,
                   listed(found, file.entry_count()));
}

std::string entry_file_name(const EntryInfo& entry) {
  std::string target = entry.target;
  for (char& c : target)
    if (c == ':') c = '.';
  return cat(entry.graph_key.hex().substr(0, 16), "-", target, ".hplan");
}

Result<Bytes> extract_plan(const File& file, const EntryInfo& entry) {
  Writer writer({});
  HIPPLAN_TRY(writer.add_from(file, entry));
  return writer.to_bytes();
}

Result<Bytes> extract_envelope(const File& file, const EntryInfo& entry) {
  HIPPLAN_TRY_ASSIGN(const auto plan, file.read_plan(entry, true));
  return encode_bare_plan(plan);
}

Result<std::string> extract_graph(const File& file, const EntryInfo& entry) {
  HIPPLAN_TRY_ASSIGN(auto plan, file.read_plan(entry, false));
  if (!plan.graph.empty()) return std::move(plan.graph);
  Error error = bad_input("no-graph", file.where(), "the plan was saved without its graph");
  error.code = ErrorCode::negative;
  return error;
}

Result<std::vector<CodeFile>> extract_code(const File& file, const EntryInfo& entry) {
  HIPPLAN_TRY_ASSIGN(const auto plan, file.read_plan(entry, true));
  std::vector<CodeFile> out;
  std::set<Digest> seen;
  for (const auto& kernel : plan.payload.kernels) {
    if (!seen.insert(kernel.sha256).second) continue;
    const auto& label = kernel.launch_name.empty() ? kernel.symbol : kernel.launch_name;
    out.push_back(
        {cat(file_name_part(label), "-", kernel.sha256.hex().substr(0, 16), ".co"), kernel.code});
  }
  return out;
}

}  // namespace hipplan::plan
