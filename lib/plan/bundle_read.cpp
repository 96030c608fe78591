#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <memory>
#include <new>
#include <set>

#include "base/file.h"
#include "base/interruption.h"
#include "json/json.h"
#include "plan/bundle.h"
#include "plan/bundle_frame.h"
#include "plan/bundle_locale.h"
#include "plan/compress.h"
#include "plan/errors.h"
#include "plan/folder_output.h"
#include "plan/foreign.h"

namespace hipplan::plan {
namespace fs = std::filesystem;
namespace {

struct FreeReader {
  void operator()(archive* a) const { archive_read_free(a); }
};

/// A tar stream inside a zstd stream; nothing else is accepted.
class TarReader {
 public:
  TarReader(ByteView bytes, const std::string& where)
      : where_(where), frame_(bytes, where), from_(archive_read_new()) {
    if (from_ == nullptr) throw std::bad_alloc();
    const LocaleHeld names(bytes_locale());
    archive_read_support_format_tar(from_.get());
    open_ = archive_read_open(from_.get(), this, nullptr, pull, nullptr) == ARCHIVE_OK;
  }
  TarReader(const TarReader&) = delete;
  TarReader& operator=(const TarReader&) = delete;

  /// Name of the next member, nothing at the end. Only plain files are let through.
  Result<std::optional<std::string>> next() {
    if (!open_) return broken();
    const LocaleHeld names(bytes_locale());
    const int status = archive_read_next_header(from_.get(), &entry_);
    if (status == ARCHIVE_EOF) return std::optional<std::string>();
    if (status != ARCHIVE_OK && status != ARCHIVE_WARN) return broken();
    const char* name = archive_entry_pathname(entry_);
    // Of names that are not ASCII it warns that they are handed over as they are stored.
    if (status == ARCHIVE_WARN && (name == nullptr || is_ascii(name))) return broken();
    const std::string place = cat(where_, ": member ", quote(name == nullptr ? "" : name));
    const bool plain =
        name != nullptr && archive_entry_filetype(entry_) == AE_IFREG &&
        archive_entry_hardlink(entry_) == nullptr && archive_entry_symlink(entry_) == nullptr &&
        archive_entry_sparse_count(entry_) == 0 && archive_entry_size_is_set(entry_) != 0;
    if (!plain)
      return damaged("bundle-member", place, "member is not a plain file",
                     "regular files without links and holes", "something else");
    return std::optional<std::string>(name);
  }

  /// The member's content, which must be exactly `expected` bytes (nothing: at most `most`).
  Result<Bytes> read(std::optional<uint64_t> expected, uint64_t most, const std::string& place) {
    const auto size = static_cast<uint64_t>(archive_entry_size(entry_));
    if (size > most)
      return damaged("bundle-limit", place, "member is too large", cat("at most ", most, " bytes"),
                     cat(size, " bytes"));
    if (expected && size != *expected)
      return damaged("bundle-size", place, "member has another size than the manifest says",
                     cat(*expected, " bytes"), cat(size, " bytes"));
    Bytes out;
    constexpr uint64_t kStep = 1 << 20;
    while (out.size() < size) {
      // Grown as data arrives, so that a false size costs nothing.
      const size_t old = out.size(), step = std::min<uint64_t>(kStep, size - old);
      out.resize(old + step);
      const la_ssize_t got = archive_read_data(from_.get(), out.data() + old, step);
      if (got <= 0) return broken();
      out.resize(old + static_cast<size_t>(got));
    }
    return out;
  }

  /// Reads what is left of the frame, up to its checksum.
  Result<void> finish() {
    while (true) {
      HIPPLAN_TRY_ASSIGN(const auto piece, frame_.next());
      if (piece.empty()) return {};
    }
  }

 private:
  static la_ssize_t pull(archive*, void* data, const void** bytes) {
    auto& self = *static_cast<TarReader*>(data);
    const auto piece = self.frame_.next();
    if (!piece) {
      self.fault_ = piece.error();
      return -1;
    }
    *bytes = piece->data();
    return static_cast<la_ssize_t>(piece->size());
  }
  Error broken() {
    if (fault_) return *fault_;
    const char* text = archive_error_string(from_.get());
    return damaged("bundle-stream", where_, "not a sound tar.zst stream", {},
                   text == nullptr ? "an early end" : text);
  }
  std::string where_;
  BundleFrameReader frame_;
  std::optional<Error> fault_;
  std::unique_ptr<archive, FreeReader> from_;
  archive_entry* entry_ = nullptr;
  bool open_ = false;
};

Error manifest_error(const std::string& where, const std::string& what, std::string expected = {},
                     std::string found = {}) {
  return damaged("bundle-manifest", cat(where, ": ", kManifestName), what, std::move(expected),
                 std::move(found));
}

Result<BundleMember> parse_member(const json::Value& from, const std::string& where, size_t i) {
  const auto *name = from.find("name"), *bytes = from.find("bytes"), *digest = from.find("sha256");
  const auto parsed = digest == nullptr ? std::nullopt : Digest::from_hex(digest->string);
  if (name == nullptr || bytes == nullptr || bytes->kind != json::Kind::integer ||
      bytes->integer < 0 || !parsed || from.members.size() != 3)
    return manifest_error(where, cat("member ", i, " is not of the right form"));
  if (!is_bundle_member_name(name->string))
    return manifest_error(where, cat("member ", i, " has a name that cannot be"),
                          "a relative path to a .hplan file", quote(name->string));
  return BundleMember{name->string, static_cast<uint64_t>(bytes->integer), *parsed};
}

Result<void> check_limits(const std::vector<BundleMember>& members, uint64_t bundle_bytes,
                          const BundleLimits& limits, const std::string& where) {
  uint64_t total = 0;
  for (const auto& member : members) {
    const auto sum = checked_add(total, member.bytes);
    if (member.bytes > limits.max_member_bytes || !sum || *sum > limits.max_total_bytes ||
        *sum / kMostFrameRatio > bundle_bytes)
      return damaged("bundle-limit", cat(where, ": member ", quote(member.name)),
                     "sizes go beyond the limits",
                     cat("members up to ", limits.max_member_bytes, " bytes, together ",
                         limits.max_total_bytes, ", at most ", kMostFrameRatio, ":1"),
                     cat(member.bytes, " bytes"));
    total = *sum;
  }
  return {};
}

/// No member lies in a folder that is another member: "a.hplan" beside "a.hplan/b.hplan".
Result<void> check_folders(const std::vector<BundleMember>& members, const std::string& where) {
  std::set<std::string_view> names;
  for (const auto& member : members) names.insert(member.name);
  for (const auto& member : members) {
    const std::string_view name = member.name;
    for (size_t at = name.find('/'); at != std::string_view::npos; at = name.find('/', at + 1))
      if (names.contains(name.substr(0, at)))
        return manifest_error(where, "a member lies in a folder that is another member",
                              "files in folders", quote(name));
  }
  return {};
}

Result<std::vector<BundleMember>> parse_manifest(const Bytes& text, uint64_t bundle_bytes,
                                                 const BundleLimits& limits,
                                                 const std::string& where) {
  const auto parsed = json::parse(as_text(text), kManifestName, {.max_bytes = text.size() + 1});
  if (!parsed) return manifest_error(where, parsed.error().what, {}, parsed.error().where);
  const auto *schema = parsed->find("schema"), *list = parsed->find("members");
  if (schema == nullptr || schema->string != kManifestSchema)
    return unusable("bundle-version", cat(where, ": ", kManifestName), "unknown kind of manifest",
                    kManifestSchema, quote(schema == nullptr ? "none" : schema->string),
                    "use a newer hipplan");
  if (list == nullptr || list->kind != json::Kind::array)
    return manifest_error(where, "list of members is missing");
  if (list->items.size() > limits.max_members)
    return damaged("bundle-limit", where, "too many members", cat("at most ", limits.max_members),
                   cat(list->items.size()));
  std::vector<BundleMember> out;
  for (size_t i = 0; i < list->items.size(); ++i) {
    HIPPLAN_TRY_ASSIGN(auto member, parse_member(list->items[i], where, i));
    if (!out.empty() && out.back().name >= member.name)
      return manifest_error(where, cat("member ", i, " is out of order or there twice"));
    out.push_back(std::move(member));
  }
  HIPPLAN_TRY(check_folders(out, where));
  HIPPLAN_TRY(check_limits(out, bundle_bytes, limits, where));
  return out;
}

Result<std::vector<BundleMember>> read_manifest(TarReader& tar, ByteView bundle,
                                                const BundleLimits& limits,
                                                const std::string& where) {
  HIPPLAN_TRY_ASSIGN(const auto name, tar.next());
  if (!name || *name != kManifestName)
    return manifest_error(where, "bundle does not start with its manifest", kManifestName,
                          name ? quote(*name) : "an empty bundle");
  HIPPLAN_TRY_ASSIGN(const auto text,
                     tar.read(std::nullopt, limits.max_manifest_bytes, where + ": manifest"));
  auto members = parse_manifest(text, bundle.size(), limits, where);
  if (members || members.error().reason != "bundle-version") return members;
  // A version is believed only where every byte is what was written. Bundles without a seal are of
  // version 1.
  HIPPLAN_TRY(tar.finish());
  if (is_sealed_bundle(bundle)) return members;
  return manifest_error(where, "unknown kind of manifest", members.error().expected,
                        members.error().found);
}

/// Whether bytes are the first of a bundle's magic, and no more.
bool ends_inside_magic(ByteView bytes) {
  constexpr std::string_view kMagicBytes = "\x28\xb5\x2f\xfd";
  return !bytes.empty() && bytes.size() < kMagicBytes.size() &&
         kMagicBytes.starts_with(as_text(bytes));
}

/// The whole file is one zstd frame, and what a seal covers is what was written.
Result<void> check_one_frame(ByteView bundle, const std::string& where) {
  if (bundle.empty() || ends_inside_magic(bundle))
    return damaged("bundle-stream", where, "file ends inside its magic", "4 bytes of magic",
                   cat(bundle.size(), " bytes"));
  if (auto foreign = foreign_error(bundle, where, FileKind::bundle, "a bundle",
                                   "a .tar.zst file that bundle wrote"))
    return *std::move(foreign);
  return check_bundle_frame(bundle, where);
}

}  // namespace

bool looks_like_bundle(ByteView bytes) {
  return load<uint32_t>(bytes, 0) == 0xfd2fb528u || ends_inside_magic(bytes);
}

Result<void> for_each_in_bundle(ByteView bundle, const std::string& where,
                                const BundleLimits& limits, const BundleVisitor& visit) {
  HIPPLAN_TRY(check_one_frame(bundle, where));
  TarReader tar(bundle, where);
  HIPPLAN_TRY_ASSIGN(const auto members, read_manifest(tar, bundle, limits, where));
  for (const auto& member : members) {
    HIPPLAN_TRY(check_interruption());
    const std::string place = where + ": " + member.name;
    HIPPLAN_TRY_ASSIGN(const auto name, tar.next());
    if (!name || *name != member.name)
      return damaged("bundle-member", place, "members are not those of the manifest", member.name,
                     name ? quote(*name) : "the end");
    HIPPLAN_TRY_ASSIGN(const auto bytes, tar.read(member.bytes, limits.max_member_bytes, place));
    if (const Digest actual = sha256(bytes); actual != member.sha256)
      return damaged("bundle-digest", place, "member does not match its digest",
                     member.sha256.hex(), actual.hex());
    HIPPLAN_TRY_ASSIGN(const bool more, visit(member, bytes));
    if (!more) return {};
  }
  HIPPLAN_TRY_ASSIGN(const auto extra, tar.next());
  if (extra)
    return damaged("bundle-member", where, "a member that the manifest lacks", "the end",
                   quote(*extra));
  return tar.finish();
}

Result<void> for_each_in_bundle(const fs::path& bundle, const BundleLimits& limits,
                                const BundleVisitor& visit) {
  HIPPLAN_TRY_ASSIGN(const auto file, FileView::open(bundle));
  return for_each_in_bundle(file.view(), bundle.string(), limits, visit);
}

Result<std::vector<BundleMember>> list_bundle(const fs::path& bundle, const BundleLimits& limits) {
  HIPPLAN_TRY_ASSIGN(const auto file, FileView::open(bundle));
  return list_bundle(file.view(), bundle.string(), limits);
}

Result<std::vector<BundleMember>> list_bundle(ByteView bundle, const std::string& where,
                                              const BundleLimits& limits) {
  HIPPLAN_TRY(check_one_frame(bundle, where));
  TarReader tar(bundle, where);
  return read_manifest(tar, bundle, limits, where);
}

Result<Bytes> read_bundle_member(const fs::path& bundle, std::string_view name,
                                 const BundleLimits& limits) {
  std::optional<Bytes> found;
  HIPPLAN_TRY(for_each_in_bundle(bundle, limits,
                                 [&](const BundleMember& member, ByteView bytes) -> Result<bool> {
                                   if (member.name != name) return true;
                                   found.emplace(bytes.begin(), bytes.end());
                                   return false;
                                 }));
  if (found) return *std::move(found);
  return bad_input("no-such-member", bundle.string(), "bundle has no such member",
                   quote(std::string(name)));
}

Result<void> refuse_links(const fs::path& folder, const std::vector<BundleMember>& members) {
  for (const auto& member : members) {
    HIPPLAN_TRY(check_interruption());
    fs::path at = folder;
    for (const auto& part : fs::path(member.name)) {
      at /= part;
      std::error_code ignored;
      if (fs::is_symlink(fs::symlink_status(at, ignored)))
        return bad_input("bundle-link", at.string(), "destination leads through a link",
                         "folders and files", "a symbolic link", "unpack into an empty folder");
    }
  }
  return {};
}

Result<void> unpack_bundle(const fs::path& bundle, const fs::path& folder,
                           const BundleLimits& limits) {
  HIPPLAN_TRY_ASSIGN(const auto file, FileView::open(bundle));
  return unpack_bundle(file.view(), bundle.string(), folder, limits);
}

Result<void> unpack_bundle(ByteView bundle, const std::string& where, const fs::path& folder,
                           const BundleLimits& limits) {
  // A file that is no bundle makes no folder.
  HIPPLAN_TRY_ASSIGN(const auto members, list_bundle(bundle, where, limits));
  HIPPLAN_TRY(refuse_links(folder, members));
  HIPPLAN_TRY_ASSIGN(auto out, FolderOutput::create(folder));
  const BundleVisitor write = [&](const BundleMember& member, ByteView bytes) -> Result<bool> {
    HIPPLAN_TRY(out.add(member.name, bytes));
    return true;
  };
  HIPPLAN_TRY(for_each_in_bundle(bundle, where, limits, write));
  return out.commit();
}

}  // namespace hipplan::plan
