#include "descriptor/identity.h"

#include <map>
#include <tuple>

#include "base/result.h"

namespace hipplan::descriptor {
namespace {

using Identity = std::tuple<Kind, Uuid, std::vector<std::string>>;

struct Holder {
  size_t index = 0;       ///< position of the descriptor that holds the identity
  bool poisoned = false;  ///< contradicted in its own root
};

std::string identity_text(const ParsedFile& file) {
  std::string out = cat(short_name(file.kind), " ", file.id.text());
  if (file.arch.empty()) return out;
  out += " for";
  for (const std::string& arch : file.arch) out += " " + arch;
  return out;
}

}  // namespace

std::vector<ParsedFile> unique_identities(std::vector<ParsedFile> files,
                                          std::vector<Diagnostic>& diagnostics) {
  std::map<Identity, Holder> holders;
  std::vector<bool> dropped(files.size(), false);
  for (size_t i = 0; i < files.size(); ++i) {
    const ParsedFile& file = files[i];
    const auto [at, fresh] =
        holders.try_emplace(Identity{file.kind, file.id, file.arch}, Holder{.index = i});
    if (fresh) continue;
    dropped[i] = true;
    Holder& holder = at->second;
    const ParsedFile& first = files[holder.index];
    if (!holder.poisoned && same_json(*first.origin.document, *file.origin.document)) continue;
    const bool same_root = first.origin.root == file.origin.root;
    if (same_root && !holder.poisoned) holder.poisoned = dropped[holder.index] = true;
    diagnostics.push_back(
        {Severity::error, holder.poisoned ? "contradicting-descriptors" : "later-root-refused",
         file.origin.file,
         cat(identity_text(file), " is also in ", first.origin.file, " with other content; ",
             holder.poisoned ? "both are ignored" : "the earlier root stays")});
  }
  std::vector<ParsedFile> out;
  out.reserve(files.size());
  for (size_t i = 0; i < files.size(); ++i)
    if (!dropped[i]) out.push_back(std::move(files[i]));
  return out;
}

}  // namespace hipplan::descriptor
