#include "archive/toc.h"

#include <algorithm>
#include <set>

#include <zstd.h>

#include "json/msgpack.h"
#include "target/target.h"

namespace hipplan::archive {
namespace {

using json::Kind;
using json::Value;

Error damaged(const std::string& where, std::string what, std::string expected = "",
              std::string found = "") {
  return kpack_error(Code::damaged, where, std::move(what), std::move(expected), std::move(found));
}

Result<const Value*> member(const Value& map, std::string_view key, Kind kind,
                            const std::string& where) {
  const Value* found = map.find(key);
  if (found == nullptr) return damaged(cat(where, ", ", key), "the key is missing");
  if (found->kind != kind)
    return damaged(cat(where, ", ", key), "wrong type", json::kind_name(kind),
                   json::kind_name(found->kind));
  return found;
}

Result<uint64_t> number(const Value& map, std::string_view key, uint64_t max,
                        const std::string& where) {
  HIPPLAN_TRY_ASSIGN(const Value* found, member(map, key, Kind::integer, where));
  if (found->integer < 0 || static_cast<uint64_t>(found->integer) > max)
    return damaged(cat(where, ", ", key), "out of range", cat("0 to ", max), cat(found->integer));
  return static_cast<uint64_t>(found->integer);
}

Result<void> only_keys(const Value& map, std::initializer_list<std::string_view> known,
                       const std::string& where) {
  if (map.kind != Kind::object)
    return damaged(where, "wrong type", "map", json::kind_name(map.kind));
  for (const auto& [key, value] : map.members)
    if (std::find(known.begin(), known.end(), key) == known.end())
      return kpack_error(Code::unusable, cat(where, ", ", key),
                         "unknown key; another dialect wrote this archive");
  return {};
}

Result<void> check_arch(const std::string& arch, const std::string& where) {
  const auto parsed = target::Arch::parse(arch);
  if (!parsed || parsed->text() != arch)
    return damaged(where, "not an architecture", "gfx942 and the like", arch);
  return {};
}

Result<void> read_info(const Value& root, Toc& toc, const std::string& where) {
  HIPPLAN_TRY_ASSIGN(const uint64_t version, number(root, "format_version", UINT32_MAX, where));
  if (version != kFormatVersion)
    return damaged(where + ", format_version", "not the header's version", cat(kFormatVersion),
                   cat(version));
  HIPPLAN_TRY_ASSIGN(const Value* group, member(root, "group_name", Kind::string, where));
  HIPPLAN_TRY_ASSIGN(const Value* family, member(root, "gfx_arch_family", Kind::string, where));
  HIPPLAN_TRY_ASSIGN(const Value* arches, member(root, "gfx_arches", Kind::array, where));
  toc.info.group_name = group->string;
  toc.info.arch_family = family->string;
  std::set<std::string_view> seen;
  for (size_t i = 0; i < arches->items.size(); ++i) {
    const std::string place = cat(where, ", gfx_arches[", i, "]");
    const Value& arch = arches->items[i];
    if (arch.kind != Kind::string)
      return damaged(place, "wrong type", "string", json::kind_name(arch.kind));
    HIPPLAN_TRY(check_arch(arch.string, place));
    if (!seen.insert(arch.string).second) return damaged(place, "listed twice", "", arch.string);
    toc.info.arches.push_back(arch.string);
  }
  return {};
}

Result<void> read_scheme(const Value& root, Toc& toc, const std::string& where) {
  HIPPLAN_TRY_ASSIGN(const Value* scheme, member(root, "compression_scheme", Kind::string, where));
  for (const Scheme known : {Scheme::none, Scheme::zstd_per_kernel})
    if (scheme->string == scheme_name(known)) {
      toc.info.scheme = known;
      return {};
    }
  return kpack_error(Code::unusable, where + ", compression_scheme", "unknown scheme",
                     "none or zstd-per-kernel", scheme->string);
}

/// Blobs of scheme none: absolute offsets.
Result<void> read_plain_blobs(const Value& root, uint64_t toc_offset, Toc& toc,
                              const std::string& where) {
  HIPPLAN_TRY_ASSIGN(const Value* blobs, member(root, "blobs", Kind::array, where));
  if (blobs->items.size() > kMaxBlobs)
    return damaged(where + ", blobs", "too many blobs", cat("at most ", kMaxBlobs),
                   cat(blobs->items.size()));
  for (size_t i = 0; i < blobs->items.size(); ++i) {
    const std::string place = cat(where, ", blobs[", i, "]");
    HIPPLAN_TRY(only_keys(blobs->items[i], {"offset", "size"}, place));
    HIPPLAN_TRY_ASSIGN(const uint64_t offset, number(blobs->items[i], "offset", toc_offset, place));
    HIPPLAN_TRY_ASSIGN(const uint64_t size, number(blobs->items[i], "size", toc_offset, place));
    if (offset < kHeaderBytes || size > toc_offset - offset)
      return damaged(place, "the blob is not between header and table of contents",
                     cat("inside ", kHeaderBytes, " to ", toc_offset),
                     cat(size, " bytes at offset ", offset));
    toc.blobs.push_back({offset, size});
  }
  return {};
}

/// Blobs of scheme zstd-per-kernel: a count, then per blob its size and one frame, back to back.
Result<void> read_zstd_blobs(const Value& root, ByteView file, uint64_t toc_offset, Toc& toc,
                             const std::string& where) {
  HIPPLAN_TRY_ASSIGN(const uint64_t offset, number(root, "zstd_offset", toc_offset, where));
  HIPPLAN_TRY_ASSIGN(const uint64_t size, number(root, "zstd_size", kMaxZstdBytes, where));
  if (offset < kHeaderBytes || size > toc_offset - offset)
    return damaged(where + ", zstd_size", "the blobs are not between header and table of contents",
                   cat("inside ", kHeaderBytes, " to ", toc_offset),
                   cat(size, " bytes at offset ", offset));
  const ByteView area = *slice(file, offset, size);
  const auto count = load<uint32_t>(area, 0);
  if (!count || *count > kMaxBlobs)
    return damaged(where + ", zstd_offset", "the number of frames is missing or too large",
                   cat("at most ", kMaxBlobs), count ? cat(*count) : "");
  uint64_t at = sizeof(uint32_t);
  for (uint32_t i = 0; i < *count; ++i) {
    const auto frame_size = load<uint32_t>(area, at);
    if (!frame_size || !slice(area, at + sizeof(uint32_t), *frame_size))
      return damaged(cat(where, ", frame ", i), "the frame reaches outside the blobs",
                     cat("at most ", size, " bytes"), frame_size ? cat(*frame_size) : "");
    toc.blobs.push_back({offset + at + sizeof(uint32_t), *frame_size});
    at += sizeof(uint32_t) + *frame_size;
  }
  if (at != size)
    return damaged(where + ", zstd_size", "bytes are left behind the last frame", cat(at),
                   cat(size));
  return {};
}

/// Blobs do not overlap, and what lies between header, blobs and table of contents is zero.
Result<void> check_layout(const Toc& toc, ByteView file, uint64_t toc_offset,
                          const std::string& where) {
  std::vector<Blob> sorted = toc.blobs;
  if (toc.info.scheme == Scheme::zstd_per_kernel)  // the frames' sizes count as used
    for (Blob& blob : sorted) blob = {blob.offset - sizeof(uint32_t), blob.size + sizeof(uint32_t)};
  std::sort(sorted.begin(), sorted.end(),
            [](const Blob& a, const Blob& b) { return a.offset < b.offset; });
  sorted.push_back({toc_offset, 0});
  uint64_t end = kHeaderBytes;
  for (const Blob& blob : sorted) {
    if (blob.offset < end)
      return damaged(cat(where, ": offset ", blob.offset), "two blobs overlap",
                     cat("at least ", end), cat(blob.offset));
    // The frame count of zstd-per-kernel stands right before the first frame.
    uint64_t gap_end = blob.offset;
    if (toc.info.scheme == Scheme::zstd_per_kernel && end == kHeaderBytes)
      gap_end -= sizeof(uint32_t);
    for (uint64_t i = end; i < gap_end; ++i)
      if (file[static_cast<size_t>(i)] != std::byte{0})
        return damaged(cat(where, ": offset ", i),
                       "bytes outside header, blobs and table of contents", "0",
                       cat(std::to_integer<int>(file[static_cast<size_t>(i)])));
    end = blob.offset + blob.size;
  }
  return {};
}

/// What the blob itself says about its size, where it says so.
Result<void> check_size(const Entry& entry, const Toc& toc, ByteView file,
                        const std::string& where) {
  const Blob& blob = toc.blobs[entry.ordinal];
  uint64_t actual = blob.size;
  if (toc.info.scheme == Scheme::zstd_per_kernel) {
    const ByteView frame = *slice(file, blob.offset, blob.size);
    actual = ZSTD_getFrameContentSize(frame.data(), frame.size());
    if (actual == ZSTD_CONTENTSIZE_ERROR) return damaged(where, "the blob is not a zstd frame");
    if (actual == ZSTD_CONTENTSIZE_UNKNOWN) return {};
  }
  if (actual == entry.original_size) return {};
  return damaged(where + ", original_size", "not the size of the blob", cat(actual),
                 cat(entry.original_size));
}

Result<Entry> read_entry(const Value& value, const Toc& toc, ByteView file,
                         const std::string& where) {
  HIPPLAN_TRY(only_keys(value, {"type", "ordinal", "original_size", "metadata"}, where));
  HIPPLAN_TRY_ASSIGN(const Value* type, member(value, "type", Kind::string, where));
  if (type->string != "hsaco")
    return kpack_error(Code::unusable, where + ", type", "unknown type of content", "hsaco",
                       type->string);
  if (toc.blobs.empty()) return damaged(where + ", ordinal", "the archive has no blobs");
  HIPPLAN_TRY_ASSIGN(const uint64_t ordinal, number(value, "ordinal", toc.blobs.size() - 1, where));
  const uint64_t stored = toc.blobs[static_cast<size_t>(ordinal)].size;
  const uint64_t by_ratio = checked_mul<uint64_t>(stored, kMaxRatio).value_or(UINT64_MAX);
  const uint64_t cap = std::min(kMaxCodeObjectBytes, by_ratio);
  Entry entry;
  HIPPLAN_TRY_ASSIGN(entry.original_size, number(value, "original_size", cap, where));
  entry.ordinal = static_cast<uint32_t>(ordinal);
  HIPPLAN_TRY(check_size(entry, toc, file, where));
  return entry;
}

Result<void> read_entries(const Value& root, Toc& toc, ByteView file, const std::string& where) {
  HIPPLAN_TRY_ASSIGN(const Value* names, member(root, "toc", Kind::object, where));
  std::set<std::string> seen;
  const std::set<std::string_view> known(toc.info.arches.begin(), toc.info.arches.end());
  std::vector<uint64_t> size_of(toc.blobs.size(), UINT64_MAX);
  for (const auto& [raw_name, arches] : names->members) {
    std::string name = raw_name;
    std::replace(name.begin(), name.end(), '\\', '/');
    const std::string place = cat(where, ", toc, ", name);
    if (name.empty() || name.find('\0') != std::string::npos) return damaged(place, "bad name");
    if (!seen.insert(name).second) return damaged(place, "the name is there twice");
    if (arches.kind != Kind::object)
      return damaged(place, "wrong type", "map", json::kind_name(arches.kind));
    for (const auto& [arch, value] : arches.members) {
      const std::string entry_place = cat(place, ", ", arch);
      if (!known.contains(arch))
        return damaged(entry_place, "the architecture is not in gfx_arches");
      HIPPLAN_TRY_ASSIGN(Entry entry, read_entry(value, toc, file, entry_place));
      uint64_t& size = size_of[entry.ordinal];
      if (size != UINT64_MAX && size != entry.original_size)
        return damaged(entry_place + ", original_size", "entries that share a blob differ in size",
                       cat(size), cat(entry.original_size));
      size = entry.original_size;
      entry.name = name;
      entry.arch = arch;
      toc.entries.push_back(std::move(entry));
    }
  }
  return {};
}

Result<uint64_t> read_header(ByteView file, const std::string& where) {
  const std::string place = where + ": header";
  const auto magic = slice(file, 0, kMagic.size());
  if (!magic || as_text(*magic) != kMagic)
    return damaged(place, "the magic is not that of a kpack file", "KPAK");
  const auto version = load<uint32_t>(file, 4);
  const auto toc_offset = load<uint64_t>(file, 8);
  if (!version || !toc_offset)
    return damaged(place, "the file ends inside the header", "16 bytes", cat(file.size()));
  if (*version != kFormatVersion)
    return kpack_error(
        Code::unusable, place + ", version",
        *version > kFormatVersion ? "the archive is too new" : "the archive is too old",
        cat("version ", kFormatVersion), cat("version ", *version));
  if (*toc_offset < kHeaderBytes || *toc_offset >= file.size())
    return damaged(place + ", TOC offset", "the table of contents is not inside the file",
                   cat(kHeaderBytes, " to ", file.size()), cat(*toc_offset));
  return *toc_offset;
}

}  // namespace

Error kpack_error(Code code, const std::string& where, std::string what, std::string expected,
                  std::string found) {
  return Error{code, "kpack", where, std::move(what), std::move(expected), std::move(found), ""};
}

const char* scheme_name(Scheme scheme) {
  return scheme == Scheme::none ? "none" : "zstd-per-kernel";
}

Result<Toc> read_toc(ByteView file, const std::string& where) {
  HIPPLAN_TRY_ASSIGN(const uint64_t toc_offset, read_header(file, where));
  const std::string place = where + ": table of contents";
  json::Limits limits;
  limits.max_bytes = 256ull << 20;
  limits.max_depth = 8;
  auto root = json::parse_msgpack(file.subspan(static_cast<size_t>(toc_offset)), place, limits);
  if (!root) {
    Error error = std::move(root).error();
    error.code = Code::damaged;
    error.reason = "kpack";
    return error;
  }
  Toc toc;
  toc.info.file_bytes = file.size();
  if (root->kind != Kind::object)
    return damaged(place, "wrong type", "map", json::kind_name(root->kind));
  HIPPLAN_TRY(read_scheme(*root, toc, place));
  HIPPLAN_TRY(read_info(*root, toc, place));
  if (toc.info.scheme == Scheme::none) {
    HIPPLAN_TRY(only_keys(*root,
                          {"format_version", "group_name", "gfx_arch_family", "gfx_arches", "toc",
                           "compression_scheme", "blobs"},
                          place));
    HIPPLAN_TRY(read_plain_blobs(*root, toc_offset, toc, place));
  } else {
    HIPPLAN_TRY(only_keys(*root,
                          {"format_version", "group_name", "gfx_arch_family", "gfx_arches", "toc",
                           "compression_scheme", "zstd_offset", "zstd_size"},
                          place));
    HIPPLAN_TRY(read_zstd_blobs(*root, file, toc_offset, toc, place));
  }
  HIPPLAN_TRY(check_layout(toc, file, toc_offset, where));
  toc.info.blobs = toc.blobs.size();
  HIPPLAN_TRY(read_entries(*root, toc, file, place));
  return toc;
}

}  // namespace hipplan::archive
