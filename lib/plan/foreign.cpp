#include "plan/foreign.h"

#include <algorithm>
#include <array>

#include "codeobject/codeobject.h"
#include "json/text.h"
#include "plan/errors.h"
#include "plan/flat_table.h"

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
    {FileKind::ptx, "ptx", "PTX text"},
    {FileKind::json, "json", "JSON text, perhaps a graph"},
    {FileKind::signature, "signature", "the detached signatures of a plan file"},
    {FileKind::pem, "pem", "a key or certificate in PEM form"},
    {FileKind::text, "text", "text"},
    {FileKind::npy, "npy", "a NumPy array"},
    {FileKind::kpack_manifest, "kpack-manifest", "the manifest of kpack archives"},
    {FileKind::tar, "tar", "a tar archive"},
    {FileKind::gzip, "gzip", "a gzip file"},
    {FileKind::xz, "xz", "an xz file"},
    {FileKind::zip, "zip", "a zip archive"},
};

const KindFacts& facts(FileKind kind) {
  return *std::find_if(std::begin(kKinds), std::end(kKinds),
                       [&](const KindFacts& f) { return f.kind == kind; });
}

bool has(ByteView bytes, uint64_t at, std::string_view text) {
  const auto part = slice(bytes, at, text.size());
  return part && as_text(*part) == text;
}

/// hipDNN's plan has no marker; its root table has a small version in field 0, the engine id and
/// workspace size as 8-byte fields and a list of tensor uids.
bool is_hipdnn_envelope(ByteView bytes) {
  constexpr unsigned kLeastFields = 4, kMostFields = 10;
  constexpr uint32_t kMostVersion = 16;
  const auto plan = FlatTable::root(bytes);
  if (!plan || plan->slots() < kLeastFields || plan->slots() > kMostFields) return false;
  const auto version = plan->value<uint32_t>(0);
  const auto uids = plan->list(3, 8);
  return version && *version >= 1 && *version <= kMostVersion && plan->has(1) && uids &&
         !uids->empty();
}

/// What the kind of code is called as a kind of file.
std::optional<FileKind> code_file(ByteView bytes) {
  switch (codeobject::kind_of(bytes)) {
    case codeobject::CodeKind::amd:
      return FileKind::amd_code_object;
    case codeobject::CodeKind::cubin:
      return FileKind::cubin;
    case codeobject::CodeKind::other_elf:
      return FileKind::elf;
    case codeobject::CodeKind::ptx:
      return FileKind::ptx;
    case codeobject::CodeKind::none:
      break;
  }
  return std::nullopt;
}

bool is_json(ByteView bytes) {
  std::string_view text = as_text(bytes.first(std::min<size_t>(bytes.size(), 4096)));
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || (text[first] != '{' && text[first] != '[')) return false;
  const auto second = text.find_first_not_of(" \t\r\n", first + 1);
  return second != std::string_view::npos &&
         std::string_view("\"{[]}").find(text[second]) != std::string_view::npos;
}

/// UTF-8 without control characters other than those that text has; the first pages tell.
bool is_text(ByteView bytes) {
  constexpr size_t kLooked = 4096, kLongest = 4;
  const std::string_view text = as_text(bytes.first(std::min(bytes.size(), kLooked)));
  const auto is_control = [](char c) {
    return (c >= 0 && c < ' ' && std::string_view("\t\n\r\f").find(c) == std::string_view::npos) ||
           c == 0x7f;
  };
  if (text.empty() || std::any_of(text.begin(), text.end(), is_control)) return false;
  // The end of the look may cut a character in two.
  const size_t cut = text.size() < bytes.size() ? kLongest - 1 : 0;
  return json::detail::first_bad_utf8(text) + cut >= text.size();
}

bool is_pem(ByteView bytes) {
  const std::string_view text = as_text(bytes.first(std::min<size_t>(bytes.size(), 4096)));
  return text.find("-----BEGIN ") != std::string_view::npos;
}

/// Formats that are told by their first bytes and are nothing to us; msgpack's map of strings that
/// kpack manifests are starts with the name of their version.
std::optional<FileKind> known_format(ByteView bytes) {
  struct Mark {
    FileKind kind;
    uint64_t at;
    std::string_view text;
  };
  constexpr Mark kMarks[] = {{FileKind::npy, 0, "\x93NUMPY"},
                             {FileKind::kpack_manifest, 1,
                              "\xae"
                              "format_version"},
                             {FileKind::tar, 257, "ustar"},
                             {FileKind::gzip, 0, "\x1f\x8b\x08"},
                             {FileKind::xz, 0,
                              "\xfd"
                              "7zXZ"},
                             {FileKind::zip, 0, "PK\x03\x04"}};
  for (const Mark& mark : kMarks)
    if (has(bytes, mark.at, mark.text)) return mark.kind;
  return std::nullopt;
}

/// What to do with a file of a kind that plans are not.
const char* advice_on(FileKind kind) {
  switch (kind) {
    case FileKind::json:
      return "bake it with hipplan-build first";
    case FileKind::signature:
      return "hipplan-inspect signatures PLAN lists them, PLAN being the file beside it";
    case FileKind::pem:
      return "hipplan-inspect sign takes a private key with --key, --trust a folder of public ones";
    case FileKind::bundle:
      return "hipplan-inspect FILE lists a bundle's members, FILE.tar.zst:MEMBER names one";
    default:
      return "";
  }
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
  if (has(bytes, 0, "\x89HSG\r\n\x1a\n")) return FileKind::signature;
  if (has(bytes, 0, "HPLP")) return FileKind::hipplan_payload;
  if (has(bytes, 0, "HPLV")) return FileKind::hipplan_envelope;
  if (has(bytes, 0, "HKIP")) return FileKind::ingestor_payload;
  if (has(bytes, 0, "KPAK")) return FileKind::kpack;
  if (const auto code = code_file(bytes)) return *code;
  if (has(bytes, 0, "\x28\xb5\x2f\xfd")) return FileKind::bundle;
  if (const auto known = known_format(bytes)) return *known;
  if (has(bytes, 4, "HDGP")) return FileKind::hipdnn_container;
  if (is_json(bytes)) return FileKind::json;
  if (is_hipdnn_envelope(bytes)) return FileKind::hipdnn_envelope;
  if (is_text(bytes)) return is_pem(bytes) ? FileKind::pem : FileKind::text;
  return FileKind::unknown;
}

std::optional<Error> foreign_error(ByteView bytes, const std::string& where) {
  const FileKind kind = recognise(bytes);
  if (kind == FileKind::unknown || kind == FileKind::hplan) return std::nullopt;
  return bad_input("foreign-file", where, cat("not a hipplan file but ", file_kind_text(kind)),
                   "a file with magic 89 48 50 4c 0d 0a 1a 0a", {}, advice_on(kind));
}

std::optional<Error> foreign_error(ByteView bytes, const std::string& where, FileKind wanted,
                                   const std::string& thing, const std::string& expected) {
  const FileKind kind = recognise(bytes);
  if (kind == FileKind::unknown || kind == wanted) return std::nullopt;
  return bad_input("foreign-file", where, cat("not ", thing, " but ", file_kind_text(kind)),
                   expected);
}

}  // namespace hipplan::plan
