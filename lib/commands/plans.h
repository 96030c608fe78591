// Finding the plan a command means.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/plan.h"
#include "plan/signature.h"
#include "target/target.h"

namespace hipplan::commands {

/// Why one entry of a file does or does not serve a device.
struct Candidate {
  plan::EntryInfo entry;
  std::optional<Error> refusal;
};

/// The parts of "BUNDLE.tar.zst:MEMBER", a file inside a bundle.
struct MemberPath {
  std::string bundle, member;
};
/// Nothing for any other path, and for a file that has such a name itself.
[[nodiscard]] std::optional<MemberPath> member_path(const std::string& path);
/// Whether a path is a file inside a bundle.
[[nodiscard]] bool is_member(const std::string& path);
/// A bundle without members, where there must be one: bad_input, reason "open".
[[nodiscard]] Error empty_bundle(const std::string& path);
/// A file's bytes, also of "-" and of a bundle's member. A pipe can be read only once.
Result<FileView> open_view(const std::string& path);
/// A plan file out of its bytes; foreign files are refused by what they are. Empty files are
/// damaged.
Result<plan::File> parse_file(FileView bytes, const std::string& where, plan::Check check);
/// Both in one.
Result<plan::File> open_file(const std::string& path, plan::Check check);

/// The keys that may have signed a file, and the time that their trust is judged at.
struct Trust {
  plan::TrustStore keys;
  int64_t now = 0;  ///< seconds since 1970
};
/// Reads the trust folder.
Result<Trust> load_trust(const std::string& folder);
/// The same as --require-signed and --trust ask for it: both or neither.
Result<std::optional<Trust>> asked_trust(bool require_signed, const std::string& folder);
/// A file, and who has signed it, where that was asked.
struct OpenedFile {
  plan::File file;
  std::vector<plan::Signer> signed_by;
};
/// parse_file(), refusing a file that no trusted key has signed before anything behind its
/// directory is looked at. Without `trust` it takes all files.
Result<OpenedFile> parse_signed(FileView bytes, const std::string& where, ByteView detached,
                                plan::Check check, const std::optional<Trust>& trust);

/// Every entry whose key starts with `graph_key`, judged against `device` by the target rule only.
Result<std::vector<Candidate>> judge(const plan::File& file, const std::string& graph_key,
                                     const target::Arch& device);

/// Why a plan for `target` comes before others that fit a device.
[[nodiscard]] std::string precedence(const std::string& target, const target::Arch& device);

/// Each graph's best candidate: the exact target, then the base architecture, then any that fits.
/// Graphs without one map to null.
[[nodiscard]] std::map<Digest, const Candidate*> best_by_graph(
    const std::vector<Candidate>& candidates, const target::Arch& device);

/// The plans that a device gets, one of each graph whose key starts with `graph_key`; graphs
/// without one are left out. With resolve() this is how every command reads --target.
Result<std::vector<plan::EntryInfo>> resolve_each(const plan::File& file,
                                                  const std::string& graph_key,
                                                  const target::Arch& device);

/// The targets that a file's plans are for, for messages: "gfx1100, gfx942". Empty without plans.
Result<std::string> targets_in(const plan::File& file, const std::string& graph_key);

/// Says which plans were taken where they are not for `device` by name; else nothing:
/// "for sm_86 the plan for sm_80 is taken".
std::optional<std::string> note_on_taken(const std::vector<plan::EntryInfo>& taken,
                                         const target::Arch& device);

/// The one entry that fits: exact target first, then the base architecture's. Several graphs and no
/// key: bad_input listing the keys. None fits: unusable, naming the targets there are.
Result<plan::EntryInfo> resolve(const plan::File& file, const std::string& graph_key,
                                const target::Arch& device);

/// A file is not given a name that says it were something else, by which tools and people would
/// take it for that, and which may be a plan's or a key's that is there. `own` is the ending of
/// what is written, empty where it has none of its own.
Result<void> refuse_other_name(const std::string& output, std::string_view own);

}  // namespace hipplan::commands
