// The reasons for which plan files are refused: one table, in the order of the checks. Errors can
// only be made with reasons that stand here, and `hipplan-verify --list-reasons` prints the table.
#pragma once

#include <string>
#include <string_view>

namespace hipplan::plan {

struct ReasonFacts {
  std::string_view check;   ///< the check it belongs to; reasons of one check exclude each other
  std::string_view reason;  ///< stable
  std::string_view error_class;  ///< as in docs/errors.md
  std::string_view meaning;
};

/// Reading a file, from its first byte to its code objects.
inline constexpr ReasonFacts kReadReasons[] = {
    {"kind", "foreign-file", "bad-input", "recognised as another kind of file"},
    {"magic", "truncated", "damaged", "the file ends before what it announces"},
    {"magic", "text-mode", "damaged", "line endings were converted, as a text-mode copy does"},
    {"magic", "magic", "damaged", "does not start like a plan file"},
    {"directory-digest", "directory-digest", "damaged",
     "header and directory differ from their digest"},
    {"size", "trailing-bytes", "damaged", "bytes after the end that was written"},
    {"size", "signature-block", "damaged", "the signature block is malformed"},
    {"trust", "unsigned", "untrusted", "a signature is required and there is none"},
    {"trust", "bad-signature", "untrusted", "a trusted key's signature is not over this file"},
    {"trust", "expired-trust", "untrusted", "the trust in the signing key has ended"},
    {"trust", "unknown-key", "untrusted", "no signature is by a trusted key"},
    {"version", "format-too-new", "unusable", "written in a newer format than this reader knows"},
    {"version", "format-too-old", "unusable", "written in an older format than this reader reads"},
    {"header", "header-form", "damaged", "a field of the header cannot be"},
    {"directory", "directory-form", "damaged", "an entry of the directory cannot be"},
    {"directory", "unknown-section", "unusable", "a required section of an unknown type"},
    {"directory", "compression", "unusable", "an unknown compression"},
    {"coverage", "directory-order", "damaged", "sections are not in the order of their types"},
    {"coverage", "directory-coverage", "damaged", "sections do not follow one another"},
    {"sections", "padding", "damaged", "bytes between sections are not zero"},
    {"sections", "section-digest", "damaged", "a section differs from its digest"},
    {"index", "index-digest", "damaged", "a page of the index differs from its digest"},
    {"index", "index-form", "damaged", "a page of the index is malformed"},
    {"index", "index-order", "damaged", "entries or records are out of order"},
    {"index", "index-count", "damaged", "the index holds another number of entries than counted"},
    {"record", "record-range", "damaged", "a plan's record lies outside its section"},
    {"record", "record-digest", "damaged", "a plan's record differs from its digest"},
    {"record", "record-form", "damaged", "a plan's record is malformed"},
    {"envelope-seal", "envelope-truncated", "damaged", "the envelope is shorter than its header"},
    {"envelope-seal", "envelope-marker", "damaged", "the envelope does not start like one"},
    {"envelope-seal", "envelope-digest", "damaged", "the envelope differs from its digest"},
    {"envelope-seal", "envelope-kind", "unusable", "an unknown kind of envelope"},
    {"envelope-seal", "envelope-header", "damaged", "the envelope's header is malformed"},
    {"envelope-body", "envelope-body", "damaged", "the envelope's body is no sound FlatBuffer"},
    {"envelope-version", "envelope-version", "unusable", "an unknown version of the envelope"},
    {"envelope-fields", "envelope-field", "damaged", "a field of the envelope is missing"},
    {"envelope-fields", "envelope-limit", "damaged", "a list of the envelope is too long"},
    {"envelope-rules", "envelope-workspace", "damaged", "a workspace size below zero"},
    {"envelope-rules", "envelope-tensors", "damaged", "tensor uids and alignments cannot be"},
    {"envelope-rules", "envelope-provider", "damaged", "the provider's name is missing"},
    {"envelope-rules", "target-form", "damaged", "not a target's name"},
    {"identity", "record-identity", "damaged", "the record belongs to another entry"},
    {"payload-seal", "payload-truncated", "damaged", "the payload is shorter than its header"},
    {"payload-seal", "payload-marker", "damaged", "the payload does not start like one"},
    {"payload-seal", "payload-digest", "damaged", "the payload differs from its digest"},
    {"payload-seal", "payload-kind", "unusable", "an unknown kind of payload"},
    {"payload-seal", "payload-header", "damaged", "the payload's header is malformed"},
    {"payload-body", "payload-place", "damaged", "a payload of the kind for another place"},
    {"payload-body", "payload-body", "damaged", "the payload's body is no sound FlatBuffer"},
    {"payload-fields", "payload-field", "damaged", "a field of the payload is missing"},
    {"payload-fields", "payload-limit", "damaged", "a list of the payload is too long"},
    {"payload-fields", "payload-code", "damaged", "code objects are not where they belong"},
    {"payload-rules", "payload-engine", "damaged", "the engine's name cannot be"},
    {"payload-rules", "payload-dispatch", "damaged", "the dispatch name cannot be"},
    {"payload-rules", "payload-text", "damaged", "a diagnostic text cannot be"},
    {"payload-rules", "launch-value-form", "damaged", "a launch value cannot be"},
    {"payload-rules", "payload-kernels", "damaged", "the list of kernels cannot be"},
    {"payload-rules", "payload-source-kind", "damaged", "an unknown kind of kernel source"},
    {"payload-rules", "payload-symbol", "damaged", "a kernel's symbol cannot be"},
    {"payload-rules", "signature-form", "damaged", "a kernel's argument list cannot be"},
    {"pass-by-value", "runtime-pass-by-value", "unusable",
     "the plan takes values at run time that no saved plan can take"},
    {"agreement", "engine-id", "damaged", "the engine id is not the hash of the engine's name"},
    {"agreement", "workspace-size", "damaged", "envelope and payload name two workspace sizes"},
    {"references", "record-refs", "damaged", "the record names other objects than the plan needs"},
    {"references", "unknown-part", "unusable", "a required part of an unknown type"},
    {"plan-digest", "plan-digest", "damaged", "the decisions differ from the plan digest"},
    {"objects", "object-range", "damaged", "an object lies outside its section"},
    {"objects", "object-coverage", "damaged", "objects do not fill their section"},
    {"objects", "raw-size", "damaged", "an object's size is beyond the caps"},
    {"objects", "zstd-frame", "damaged", "an object does not decompress"},
    {"objects", "object-digest", "damaged", "an object differs from its digest"},
    {"objects", "code-digest", "damaged", "a code object differs from its digest"},
};

/// Bundles of files.
inline constexpr ReasonFacts kBundleReasons[] = {
    {"bundle", "bundle-stream", "damaged", "not one sound tar.zst stream"},
    {"bundle", "bundle-manifest", "damaged", "the manifest is missing or malformed"},
    {"bundle", "bundle-version", "unusable", "an unknown version of the manifest"},
    {"bundle", "bundle-limit", "damaged", "sizes or counts beyond the limits"},
    {"bundle", "bundle-member", "damaged", "members are not those of the manifest, or no files"},
    {"bundle", "bundle-size", "damaged", "a member has another size than the manifest says"},
    {"bundle", "bundle-digest", "damaged", "a member differs from its digest"},
};

/// Refusals of writers and of callers' wishes; verification never meets them.
inline constexpr ReasonFacts kWriteReasons[] = {
    {"write", "no-plans", "bad-input", "there is no plan to write"},
    {"write", "duplicate-plan", "bad-input", "two plans with one key and different decisions"},
    {"write", "code-missing", "bad-input", "a code object is not in memory"},
    {"write", "code-too-large", "unusable", "code objects do not fit into one payload"},
    {"write", "extra-part", "bad-input", "an extra part has a type of its own or no bytes"},
    {"write", "signature-count", "bad-input", "no room for another signature"},
    {"write", "section-conflict", "bad-input", "files have different sections of one unknown type"},
    {"write", "envelope-payload", "bad-input", "the payload is empty or too large"},
    {"write", "envelope-identity", "bad-input", "an envelope that does not say what it is for"},
    {"write", "compress", "machine", "compression failed"},
    {"write", "io", "machine", "reading or writing failed"},
    {"write", "open", "bad-input", "a file or folder cannot be opened"},
    {"choose", "no-such-plan", "bad-input", "the file has no such plan"},
    {"choose", "ambiguous-plan", "bad-input", "several plans fit"},
    {"choose", "no-such-section", "bad-input", "the file has no such section"},
    {"choose", "no-such-member", "bad-input", "the bundle has no such member"},
    {"choose", "no-graph", "negative", "the plan was saved without its graph"},
    {"choose", "file-name", "bad-input", "two plans would be written to one file"},
    {"bundle", "bundle-name", "bad-input", "a file name cannot go into a bundle"},
    {"bundle", "bundle-write", "machine", "writing the bundle failed"},
    {"bundle", "bundle-link", "bad-input", "the destination leads through a link"},
    {"bundle", "file-changed", "machine", "a file changed while it was read"},
    {"sign", "key", "bad-input", "not an Ed25519 key in PEM form"},
    {"sign", "sign", "machine", "signing failed"},
    {"sign", "trust-folder", "bad-input", "the trust folder cannot be used"},
    {"sbom", "no-provenance", "negative", "the plan carries no provenance"},
};

[[nodiscard]] constexpr bool is_reason(std::string_view text) {
  for (const auto& facts : kReadReasons)
    if (facts.reason == text) return true;
  for (const auto& facts : kBundleReasons)
    if (facts.reason == text) return true;
  for (const auto& facts : kWriteReasons)
    if (facts.reason == text) return true;
  return false;
}

/// A reason out of the tables; any other text does not compile.
class Reason {
 public:
  consteval Reason(const char* text) : text_(text) {
    if (!is_reason(text_)) throw "this reason is not in the tables above";
  }
  [[nodiscard]] std::string text() const { return std::string(text_); }

 private:
  std::string_view text_;
};

}  // namespace hipplan::plan
