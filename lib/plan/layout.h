// Numbers and fixed structures of the container, exactly as docs/plan-format.md gives them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/result.h"

namespace hipplan::plan {

inline constexpr std::array<uint8_t, 8> kMagic = {0x89, 'H', 'P', 'L', 0x0d, 0x0a, 0x1a, 0x0a};
inline constexpr uint16_t kContainerMajor = 1, kContainerMinor = 0;
inline constexpr uint64_t kHeaderBytes = 128, kDirectoryEntryBytes = 96, kPageBytes = 4096;
inline constexpr uint64_t kMostSections = 1024;
inline constexpr uint64_t kSectionAlignment = 16;

/// Section types. Types 4 … 63 hold one object per plan part; 64 … are about the whole file.
enum SectionType : uint16_t {
  kIndexSection = 1,
  kPlansSection = 2,
  kCodeSection = 3,
  kGraphsSection = 4,
  kReasonsSection = 5,
  kMeasurementsSection = 6,
  kEvidenceSection = 7,
  kProvenanceSection = 8,
  kFirstWholeFileSection = 64,
  kStatementSection = 64,   ///< reserved: in-toto statement about the file
  kBillSection = 65,        ///< reserved: bill of materials
  kDictionarySection = 66,  ///< reserved: compression dictionary
};

/// Flags of a directory entry.
enum SectionFlags : uint16_t { kRequiredFlag = 1, kBoundFlag = 2 };

enum Compression : uint8_t { kStored = 0, kZstd = 1, kPerObject = 2 };

/// "plans", "code", …; "type-<n>" for numbers without a name.
[[nodiscard]] std::string section_name(uint16_t type);
[[nodiscard]] const char* compression_name(uint8_t compression);
/// Whether sections of that type hold objects that records refer to.
[[nodiscard]] bool is_object_section(uint16_t type);
/// Whether this version knows what a section of that type means.
[[nodiscard]] bool is_known_section(uint16_t type);
[[nodiscard]] bool is_required_section(uint16_t type);
/// Whether sections of that type are about the file that they lie in, with the flag or without.
[[nodiscard]] bool is_bound_section(uint16_t type);

struct Header {
  uint16_t major = kContainerMajor, minor = kContainerMinor;
  uint32_t header_bytes = kHeaderBytes;
  uint64_t content_bytes = 0;  ///< the file without its signature block
  uint64_t directory_offset = kHeaderBytes, directory_bytes = 0;
  uint64_t entry_count = 0;
  uint32_t index_root_page = 0;
  Digest index_root;
  Digest directory_digest;
};

struct Section {
  uint16_t type = 0;
  bool required = false;
  uint8_t compression = kStored;
  uint64_t offset = 0, stored_bytes = 0, raw_bytes = 0, objects = 0;
  Digest sha256;       ///< of the stored bytes
  bool bound = false;  ///< about this file as a whole: not taken over into another
  /// What a later minor version put into the entry where this one has zeros.
  uint16_t later_flags = 0;
  std::array<uint8_t, 3> later_head{};
  std::array<uint8_t, 24> later_tail{};
  [[nodiscard]] uint64_t end() const { return offset + stored_bytes; }
};

/// Header and directory as bytes, the directory digest filled in.
[[nodiscard]] Bytes encode_front(Header header, const std::vector<Section>& sections,
                                 Digest* directory_digest = nullptr);

/// Header of the signature block that may follow the content: marker, format, count, size, digest.
inline constexpr std::array<uint8_t, 8> kSignatureMagic = {0x89, 'H',  'S',  'G',
                                                           0x0d, 0x0a, 0x1a, 0x0a};
inline constexpr uint64_t kSignatureHeaderBytes = 64;

/// Where an object lies: a frame in a section, and the object's place in the frame's raw bytes.
struct ObjectRef {
  uint16_t type = 0;
  uint8_t compression = kStored;
  bool required = false;
  uint64_t offset = 0, stored_bytes = 0;     ///< the frame, inside its section
  uint64_t frame_bytes = 0;                  ///< raw size of the frame
  uint64_t inner_offset = 0, raw_bytes = 0;  ///< the object, inside the raw frame
  Digest sha256;                             ///< of the object's raw bytes
  /// Whether the frame holds nothing else.
  [[nodiscard]] bool alone() const { return inner_offset == 0 && raw_bytes == frame_bytes; }
};
/// A frame of several objects may not be larger, raw: a reader decompresses it for one of them.
inline constexpr uint64_t kMostGroupBytes = 1 << 20;

/// A plan's record: references and the envelope, whose payload names code by digest.
struct Record {
  std::vector<ObjectRef> refs;  ///< in order of (type, digest), each once
  ByteView envelope;
};
inline constexpr uint64_t kRecordHeaderBytes = 16, kObjectRefBytes = 80;
[[nodiscard]] uint64_t record_bytes(size_t refs, uint64_t envelope_bytes);
[[nodiscard]] Bytes encode_record(const Record& record);
/// Checks sizes, order and padding; whether frames lie inside their sections is the reader's check.
Result<Record> parse_record(ByteView bytes, const std::string& where);

[[nodiscard]] constexpr uint64_t align_up(uint64_t value, uint64_t to) {
  return (value + to - 1) / to * to;
}
[[nodiscard]] bool all_zero(ByteView bytes);

}  // namespace hipplan::plan
