#include "plan/foreign.h"

#include <algorithm>
#include <array>

#include "plan/errors.h"

namespace hipplan::plan {
namespace {

struct KindFacts {
  FileKind kind;
  const char* name;
  const char* text;
};
constexpr KindFacts kKinds[] = {
    {FileKind::unknown, "unknown", "a file of unknown kind"},
    {FileKind::hplan, "hplan", "a hipplan file"},
    {FileKind::hipplan_payload, "hipplan-payload", "a bare hipplan payload"},
    {FileKind::hipplan_envelope, "hipplan-envelope", "a bare hipplan envelope"},
    {FileKind::bundle, "bundle", "a zstd frame, perhaps a hipplan bundle"},
    {FileKind::hipdnn_envelope, "hipdnn-envelope", "a hipDNN serialized execution plan"},
    {FileKind::hipdnn_container, "hipdnn-container", "a hipDNN graph-and-plan container"},
    {FileKind::ingestor_payload, "ingestor-payload", "a hipDNN kernel-ingestor plan payload"},
    {FileKind::kpack, "kpack", "a kpack kernel archive"},
    {FileKind::amd_code_object, "amd-code-object", "an AMDGPU ELF code object"},
    {FileKind::cubin, "cubin", "a CUDA ELF binary (cubin)"},
    {FileKind::elf, "elf", "an ELF file for a processor that is no GPU"},
    {FileKind::json, "json", "JSON text, perhaps a graph"},
};

const KindFacts& facts(FileKind kind) {
  return *std::find_if(std::begin(kKinds), std::end(kKinds),
                       [&](const KindFacts& f) { return f.kind == kind; });
}

bool has(ByteView bytes, uint64_t at, std::string_view text) {
  const auto part = slice(bytes, at, text.size());
  return part && as_text(*part) == text;
}

/// Offset from a FlatBuffers table's start to a field, 0 when absent, nothing when it does not fit.
std::optional<uint16_t> field_at(ByteView bytes, uint64_t vtable, unsigned index) {
  const auto size = load<uint16_t>(bytes, vtable);
  if (!size) return std::nullopt;
  const uint64_t at = 4 + 2 * index;
  if (at + 2 > *size) return uint16_t{0};
  return load<uint16_t>(bytes, vtable + at);
}

/// hipDNN's plan has no marker; its root table has a small version in field 0, the engine id and
/// workspace size as 8-byte fields and a list of tensor uids.
bool is_hipdnn_envelope(ByteView bytes) {
  const auto root = load<uint32_t>(bytes, 0);
  if (!root || *root < 4 || bytes.size() < 16) return false;
  const auto back = load<int32_t>(bytes, *root);
  if (!back) return false;
  const int64_t vtable = int64_t{*root} - *back;
  if (vtable < 4 || vtable % 2 != 0) return false;
  const auto vtable_at = static_cast<uint64_t>(vtable);
  const auto vtable_bytes = load<uint16_t>(bytes, vtable_at);
  if (!vtable_bytes || *vtable_bytes < 12 || *vtable_bytes > 24 || *vtable_bytes % 2 != 0)
    return false;
  const auto version = field_at(bytes, vtable_at, 0), engine = field_at(bytes, vtable_at, 1);
  const auto uids = field_at(bytes, vtable_at, 3);
  if (!version || !engine || !uids || *version == 0 || *engine == 0 || *uids == 0) return false;
  const auto number = load<uint32_t>(bytes, uint64_t{*root} + *version);
  const auto uid_step = load<uint32_t>(bytes, uint64_t{*root} + *uids);
  if (!number || *number < 1 || *number > 16 || !uid_step) return false;
  const auto count = load<uint32_t>(bytes, uint64_t{*root} + *uids + *uid_step);
  return count && *count > 0 && uint64_t{*count} * 8 < bytes.size();
}

FileKind elf_kind(ByteView bytes) {
  constexpr uint16_t kAmdGpu = 224, kCuda = 190;
  const auto machine_number = load<uint16_t>(bytes, 18);
  if (machine_number == kAmdGpu) return FileKind::amd_code_object;
  if (machine_number == kCuda) return FileKind::cubin;
  return FileKind::elf;
}

bool is_json(ByteView bytes) {
  std::string_view text = as_text(bytes.first(std::min<size_t>(bytes.size(), 4096)));
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || (text[first] != '{' && text[first] != '[')) return false;
  const auto second = text.find_first_not_of(" \t\r\n", first + 1);
  return second != std::string_view::npos &&
         std::string_view("\"{[]}").find(text[second]) != std::string_view::npos;
}

}  // namespace

const char* file_kind_text(FileKind kind) {
  return facts(kind).text;
}
const char* file_kind_name(FileKind kind) {
  return facts(kind).name;
}

FileKind recognise(ByteView bytes) {
  if (has(bytes, 0, "\x89HPL")) return FileKind::hplan;
  if (has(bytes, 0, "HPLP")) return FileKind::hipplan_payload;
  if (has(bytes, 0, "HPLV")) return FileKind::hipplan_envelope;
  if (has(bytes, 0, "HKIP")) return FileKind::ingestor_payload;
  if (has(bytes, 0, "KPAK")) return FileKind::kpack;
  if (has(bytes, 0,
          "\x7f"
          "ELF"))
    return elf_kind(bytes);
  if (has(bytes, 0, "\x28\xb5\x2f\xfd")) return FileKind::bundle;
  if (has(bytes, 4, "HDGP")) return FileKind::hipdnn_container;
  if (is_json(bytes)) return FileKind::json;
  if (is_hipdnn_envelope(bytes)) return FileKind::hipdnn_envelope;
  return FileKind::unknown;
}

std::optional<Error> foreign_error(ByteView bytes, const std::string& where) {
  const FileKind kind = recognise(bytes);
  if (kind == FileKind::unknown || kind == FileKind::hplan) return std::nullopt;
  return bad_input("foreign-file", where, cat("not a hipplan file but ", file_kind_text(kind)),
                   "a file with magic 89 48 50 4c 0d 0a 1a 0a", {},
                   kind == FileKind::json ? "bake it with hipplan-build first" : "");
}

std::optional<Error> foreign_error(ByteView bytes, const std::string& where, FileKind wanted,
                                   const std::string& thing, const std::string& expected) {
  const FileKind kind = recognise(bytes);
  if (kind == FileKind::unknown || kind == wanted) return std::nullopt;
  return bad_input("foreign-file", where, cat("not ", thing, " but ", file_kind_text(kind)),
                   expected);
}

}  // namespace hipplan::plan
