// A plan in memory, and the file that holds many of them. The format itself: docs/plan-format.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/diagnostics.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/launch_value.h"
#include "base/result.h"
#include "base/shared_bytes.h"
#include "codeobject/codeobject.h"
#include "target/target.h"

namespace hipplan::plan {

/// Where a kernel's code came from when the plan was captured.
enum class SourceKind : uint8_t {
  unset = 0,
  embedded_source = 1,
  kpack = 2,
  hsaco_file = 3,
  rocke_builder = 4
};

/// Code shared between plans; immutable.
using Code = SharedBytes;

/// One launch's kernel. A single-launch plan has exactly one, with an empty launch_name.
struct KernelImage {
  std::string launch_name;
  SourceKind source_kind = SourceKind::unset;
  std::string symbol;  ///< kernel name without ".kd"
  std::string target;  ///< architecture that loads it (docs/plan-format.md, "Targets")
  Digest sha256;       ///< of the raw code object
  std::vector<codeobject::Argument> signature;
  Code code;  ///< null when held elsewhere in the container under `sha256`
};

/// The provider's part: all that restoring needs.
struct Payload {
  std::string engine_name;
  Uuid kernel_id;
  std::string kernel_name;  ///< diagnostics only
  uint64_t workspace_bytes = 0;
  std::vector<int64_t> runtime_pass_by_value_uids;
  std::string dispatch;  ///< versioned alias
  LaunchValues values;
  std::vector<KernelImage> kernels;
  std::string provider_version;  ///< diagnostics only
};

/// Routing and what a caller needs before running.
struct Envelope {
  uint32_t version = 1;
  int64_t engine_id = 0;
  int64_t workspace_size = 0;
  std::vector<int64_t> tensor_uids;
  std::vector<int64_t> tensor_alignments;  ///< parallel to tensor_uids
  bool is_override_shape_enabled = false;
  std::string provider_name, provider_version;
};

/// A part of a plan whose section type this version does not know: kept, never interpreted.
struct ExtraPart {
  uint16_t type = 0;  ///< section type
  Bytes bytes;
  friend bool operator==(const ExtraPart&, const ExtraPart&) = default;
};

/// One plan with everything that travels with it. Text sections are JSON, empty when absent.
struct Plan {
  Digest graph_key;
  std::string target;  ///< device architecture the plan was baked for, features included
  Envelope envelope;
  Payload payload;
  std::string graph;             ///< hipDNN JSON, canonical print
  std::string reasons;           ///< how the decisions were reached
  std::string measurements;      ///< benchmark results
  std::string evidence;          ///< self-check data
  std::string provenance;        ///< compiler, sources, tool versions
  std::vector<ExtraPart> extra;  ///< in order of (type, digest)
};

/// Every rule that a plan must keep before it may be written, and after it was read: names present,
/// digests and code agree, lists parallel, engine id and name agree (docs/plan-format.md, "Rules").
/// Fails with `failure` (bad_input when a caller hands the plan in, damaged when it was read).
[[nodiscard]] Result<void> check_plan(const Plan& plan, hipplan::Code failure);

/// SHA-256 over the decisions: graph key, target, envelope, payload with code by digest. Nothing
/// else; the fields that are diagnostics only (provider versions, kernel name) are left out.
[[nodiscard]] Digest plan_digest(const Plan& plan);

// Provider payload, standalone form: 48-byte header and FlatBuffers body with the code inside.
[[nodiscard]] Result<Bytes> encode_payload(const Payload& payload);
[[nodiscard]] Result<Payload> decode_payload(ByteView bytes, const std::string& where);
/// What a plan was baked for. In an envelope it is optional; without it there is no plan digest.
struct Identity {
  Digest graph_key;
  std::string target;
  friend bool operator==(const Identity&, const Identity&) = default;
};
// Bare envelope around a standalone payload.
[[nodiscard]] Result<Bytes> encode_envelope(const Envelope& envelope, ByteView payload,
                                            const std::optional<Identity>& identity = {});
struct DecodedEnvelope {
  Envelope envelope;
  Bytes payload;
  std::optional<Identity> identity;
};
[[nodiscard]] Result<DecodedEnvelope> decode_envelope(ByteView bytes, const std::string& where);
/// A plan's decisions as one bare envelope with identity and code, and back. Graph, reasons and the
/// other texts do not travel this way; the plan digest does not change.
[[nodiscard]] Result<Bytes> encode_bare_plan(const Plan& plan);
[[nodiscard]] Result<Plan> decode_bare_plan(ByteView bytes, const std::string& where);
/// The same for an envelope that may lack its identity; graph key and target are empty then.
[[nodiscard]] Result<Plan> decode_any_envelope(ByteView bytes, const std::string& where);

/// What an entry of a file is, without reading the plan itself.
struct EntryInfo {
  Digest graph_key;
  std::string target;
  Digest plan_digest;
  uint64_t position = 0;  ///< handle for File::read_plan; never stored anywhere
  uint32_t record_bytes = 0;
  Digest record_digest;
};

/// Where one part of a plan lies and what it takes; parts are shared between plans.
struct PartInfo {
  uint16_t type = 0;                                     ///< section type
  Digest sha256;                                         ///< of the raw bytes
  uint64_t offset = 0, stored_bytes = 0, raw_bytes = 0;  ///< offset inside the section
};

/// What one section of a file is, for `inspect size` and `diff`.
struct SectionInfo {
  std::string type;  ///< "plans", "code", "graphs", "reasons", …; "type-<n>" when unknown
  uint16_t number = 0;
  uint64_t offset = 0, stored_bytes = 0, raw_bytes = 0;
  std::string compression;  ///< "none", "zstd" or "per-object"
  uint64_t objects = 0;
  Digest sha256;
  bool required = false;
};

/// How much of a file open() checks.
enum class Check {
  lookup,  ///< header and directory; everything else when it is read
  full,    ///< every byte of the file against its digest
};

/// An opened .hplan file. Views into the mapping; any thread may read.
class File {
 public:
  static Result<File> open(const std::filesystem::path& path, Check check);
  static Result<File> parse(FileView bytes, const std::string& where, Check check);
  /// The same for bytes in memory, which the File then owns.
  static Result<File> parse(Bytes bytes, const std::string& where, Check check);
  [[nodiscard]] uint64_t entry_count() const;
  /// Entries in order of (graph key, target); `visit` returns false to stop.
  Result<void> for_each(const std::function<bool(const EntryInfo&)>& visit) const;
  /// The same for the entries whose key's hexadecimal text starts with `key_digits`; only their
  /// part of the index is read.
  Result<void> for_each_of(std::string_view key_digits,
                           const std::function<bool(const EntryInfo&)>& visit) const;
  /// The entry with exactly this key and target, or nothing.
  Result<std::optional<EntryInfo>> find(const Digest& graph_key, std::string_view target) const;
  /// Reads one plan, checking every digest on the way. With `with_code` false kernels keep a null
  /// code.
  Result<Plan> read_plan(const EntryInfo& entry, bool with_code) const;
  /// The decisions and the code, and nothing else: what restoring needs. Graph, reasons and the
  /// other texts are neither read nor checked, and without code nor is that.
  Result<Plan> read_decisions(const EntryInfo& entry, bool with_code = true) const;
  /// The parts that an entry's record names, in their order; the record's digest is checked.
  Result<std::vector<PartInfo>> parts(const EntryInfo& entry) const;
  /// A section as it is stored, its digest checked.
  Result<ByteView> section_bytes(uint16_t type) const;
  /// Bytes of the signature block behind the content; empty when there is none.
  [[nodiscard]] ByteView signature_block() const;
  [[nodiscard]] const std::string& where() const;
  [[nodiscard]] std::vector<SectionInfo> sections() const;
  [[nodiscard]] uint16_t major_version() const;
  [[nodiscard]] uint16_t minor_version() const;
  [[nodiscard]] ByteView bytes() const;
  /// Digest of header and directory: what signatures cover, and the identity of the file.
  [[nodiscard]] const Digest& directory_digest() const;

  struct State;  // defined in lib/plan only

 private:
  friend class Writer;
  static Result<File> start(std::shared_ptr<State> state, Check check);
  std::shared_ptr<const State> state_;
};

struct WriteOptions {
  bool compress_code = true;
  uint64_t memory_bytes =
      64ull << 20;  ///< encoded plans beyond this wait in an unnamed temporary file
  /// Makes the signature block that follows the content, from the directory digest; null: none.
  std::function<Result<Bytes>(const Digest&)> sign = nullptr;
};

/// Collects plans and writes the file. Same plans, same bytes, whatever order they were added in.
/// A second plan for the same (graph key, target) is bad_input unless its decisions are the same.
/// Memory grows with the index and the number of code objects, not with their bytes.
class Writer {
 public:
  explicit Writer(WriteOptions options);
  ~Writer();
  Result<void> add(Plan plan);
  /// Takes a plan over from a file; code objects as they are stored, without compressing again.
  Result<void> add_from(const File& file, const EntryInfo& entry);
  /// Takes over the sections of `file` that this version does not know.
  Result<void> keep_unknown_sections(const File& file);
  [[nodiscard]] uint64_t entry_count() const;
  /// Streams the file through AtomicFile.
  Result<void> write(const std::filesystem::path& path);
  Result<Bytes> to_bytes();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hipplan::plan
