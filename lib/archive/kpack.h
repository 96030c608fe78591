// Kernel archives (kpack): code objects by name and architecture. The format: docs/archives.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/result.h"
#include "base/zstd_frame.h"

namespace hipplan::archive {

/// The only format version there is.
inline constexpr uint32_t kFormatVersion = 1;
/// A code object is never larger than this, nor than kMaxRatio times its stored blob.
inline constexpr uint64_t kMaxCodeObjectBytes = kMostFrameBytes;
inline constexpr uint64_t kMaxRatio = kMostFrameRatio;
inline constexpr uint64_t kMaxBlobs = 1u << 20;
inline constexpr uint64_t kMaxZstdBytes = 4ull << 30;

enum class Scheme : uint8_t { none, zstd_per_kernel };
[[nodiscard]] const char* scheme_name(Scheme scheme);  ///< spelling in files

/// One row of the table of contents. Several rows may share a blob.
struct Entry {
  std::string name;  ///< '/' separators
  std::string arch;  ///< as written: "gfx942", "gfx90a:xnack-", "gfx11-generic"
  uint32_t ordinal = 0;
  uint64_t original_size = 0;  ///< bytes of the code object
};

/// What the archive says about itself.
struct Info {
  std::string group_name, arch_family;
  std::vector<std::string> arches;
  Scheme scheme = Scheme::none;
  uint64_t blobs = 0, file_bytes = 0;
};

/// An opened archive: the file stays mapped, code objects are decompressed when asked for. Copies
/// share the archive. Any number of threads may read.
class Kpack {
 public:
  /// Everything but the content of the blobs is checked here. Fails with bad_input (missing file),
  /// damaged (bytes that no writer makes) or unusable (version, scheme or key of another dialect).
  static Result<Kpack> open(const std::filesystem::path& path);
  /// The bytes must outlive the archive.
  static Result<Kpack> parse(ByteView bytes, const std::string& where);

  [[nodiscard]] const Info& info() const;
  [[nodiscard]] const std::vector<Entry>& entries() const;  ///< in the file's order
  [[nodiscard]] const std::string& where() const;

  /// The entry with exactly this name and architecture, or null. Valid as long as the archive.
  [[nodiscard]] const Entry* find(std::string_view name, std::string_view arch) const;
  /// The first hit along `arches` (target::lookup_order), or null; Entry::arch says which it was.
  [[nodiscard]] const Entry* find(std::string_view name, std::span<const std::string> arches) const;
  /// The code object of one of this archive's entries. Fails with damaged.
  [[nodiscard]] Result<Bytes> read(const Entry& entry) const;
  /// Stored bytes of an entry's blob.
  [[nodiscard]] uint64_t stored_size(const Entry& entry) const;

 private:
  struct State;
  static Result<Kpack> make(std::shared_ptr<State> state);
  std::shared_ptr<const State> state_;
};

/// A code object and the entry that it came from.
struct Found {
  Entry entry;
  Bytes code;
};

/// Finds, reads and compares with `sha256`. A missing entry is unusable (reason
/// "kpack-entry-missing"); a blob that does not decompress or has another digest is damaged.
Result<Found> read_checked(const Kpack& archive, std::string_view name,
                           std::span<const std::string> arches, const Digest& sha256);

/// Whether a failure of read_checked() says that the open archive cannot be trusted any longer, so
/// that a cache of open archives must drop it. A missing entry does not say so.
[[nodiscard]] inline bool evicts(const Error& error) {
  return error.code == Code::damaged;
}

struct WriterOptions {
  std::string group_name = "hipplan";
  std::string arch_family;
  Scheme scheme = Scheme::zstd_per_kernel;
  int level = 3;  ///< zstd
};

/// Collects code objects and lays out the file. Same entries, same bytes, whatever the order of
/// add().
class Writer {
 public:
  explicit Writer(WriterOptions options);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  /// Identical code objects are stored once. Adding a (name, arch) again with the same bytes does
  /// nothing; with other bytes it fails with bad_input, reason "kpack-key-collision".
  Result<void> add(const std::string& name, const std::string& arch, ByteView code);
  [[nodiscard]] Result<Bytes> to_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hipplan::archive
