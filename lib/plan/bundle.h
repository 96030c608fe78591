// Bundles: a folder of plans as one deterministic tar.zst file with a manifest of sizes and
// digests.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/result.h"

namespace hipplan::plan {

struct BundleMember {
  std::string name;  ///< relative path with '/' separators
  uint64_t bytes = 0;
  Digest sha256;
};

/// Caps while reading; a bundle that goes beyond them is refused, reason "bundle-limit".
struct BundleLimits {
  uint64_t max_members = 200'000;
  uint64_t max_member_bytes = 2ull << 30;
  uint64_t max_total_bytes = 64ull << 30;
  uint64_t max_manifest_bytes = 64ull << 20;
};

/// Name of the first member, and the version of its content.
inline constexpr const char* kManifestName = "manifest.json";
inline constexpr const char* kManifestSchema = "hipplan.bundle/1";

/// Relative, '/' between parts, no part empty or made of dots, printable UTF-8, ending in
/// ".hplan".
[[nodiscard]] bool is_bundle_member_name(std::string_view name);

/// Packs the *.hplan files under `folder` (recursively, links not followed) in order of name. Same
/// files, same bytes, whatever the locale. Each file is checked whole; a damaged one is refused,
/// and before that a name that is none of a member: bad_input, reason "bundle-name". Where the
/// machine knows no locale with UTF-8, names that are not ASCII fail with machine, "bundle-write".
Result<void> write_bundle(const std::filesystem::path& folder, const std::filesystem::path& output,
                          int compression_level = 3);
/// Takes the next bytes of a bundle.
using BundleOutput = std::function<Result<void>(ByteView)>;
/// The same bytes piece by piece. What a check refuses is refused before the first; a file that
/// changes meanwhile, or cannot be read any more, ends the bundle in the middle.
Result<void> write_bundle(const std::filesystem::path& folder, const BundleOutput& output,
                          int compression_level = 3);

/// What a bundle's file is called behind its own name.
inline constexpr std::string_view kBundleSuffix = ".tar.zst";
/// Whether a path is named like a bundle.
[[nodiscard]] inline bool is_bundle_file_name(std::string_view path) {
  return path.size() > kBundleSuffix.size() && path.ends_with(kBundleSuffix);
}

/// Whether bytes start like a bundle: a zstd frame, or one cut off inside its magic.
[[nodiscard]] bool looks_like_bundle(ByteView bytes);

/// Calls `visit` for each member in order; the bundle's seal has been checked, and the member's
/// digest and size against the manifest. `visit` returns false to stop early (what was not read is
/// then not checked). One member is in memory at a time. Fails with damaged for anything that
/// write_bundle does not write: links, devices, sparse files, absolute or climbing paths,
/// duplicates, members that the manifest lacks.
using BundleVisitor = std::function<Result<bool>(const BundleMember&, ByteView)>;
Result<void> for_each_in_bundle(const std::filesystem::path& bundle, const BundleLimits& limits,
                                const BundleVisitor& visit);
Result<void> for_each_in_bundle(ByteView bundle, const std::string& where,
                                const BundleLimits& limits, const BundleVisitor& visit);

/// The manifest only, behind the seal's check; the frame's checksum is not compared.
Result<std::vector<BundleMember>> list_bundle(const std::filesystem::path& bundle,
                                              const BundleLimits& limits = {});
Result<std::vector<BundleMember>> list_bundle(ByteView bundle, const std::string& where,
                                              const BundleLimits& limits = {});
/// One member's bytes; bad_input, reason "no-such-member", when it is not there.
Result<Bytes> read_bundle_member(const std::filesystem::path& bundle, std::string_view name,
                                 const BundleLimits& limits = {});
/// Refuses a folder in which a link stands in the place of a member or on the way to it: bad_input,
/// reason "bundle-link".
Result<void> refuse_links(const std::filesystem::path& folder,
                          const std::vector<BundleMember>& members);
/// Writes the members under `folder`, which is made when it does not exist: all of them, or none
/// when anything fails. A link on the way below
/// it, or in the place of a member, is refused (bad_input, reason "bundle-link").
Result<void> unpack_bundle(const std::filesystem::path& bundle, const std::filesystem::path& folder,
                           const BundleLimits& limits = {});
Result<void> unpack_bundle(ByteView bundle, const std::string& where,
                           const std::filesystem::path& folder, const BundleLimits& limits = {});

}  // namespace hipplan::plan
