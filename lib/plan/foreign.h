// Files that are not ours, told by their first bytes.
#pragma once

#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/result.h"

namespace hipplan::plan {

enum class FileKind {
  unknown,
  hplan,             ///< our container, or something that starts like it
  hipplan_payload,   ///< our bare payload
  hipplan_envelope,  ///< our bare envelope
  bundle,            ///< zstd frame, as our tar.zst bundles are
  hipdnn_envelope,   ///< hipDNN's serialized execution plan (no marker; told by its table layout)
  hipdnn_container,  ///< hipDNN's graph-and-plan container, identifier HDGP
  ingestor_payload,  ///< the ingestor provider's payload, marker HKIP
  kpack,             ///< kernel archive
  amd_code_object,   ///< ELF for AMDGPU
  cubin,             ///< ELF for CUDA
  elf,               ///< any other ELF
  ptx,               ///< PTX text
  json,              ///< text that starts like JSON
  signature,         ///< detached signatures of a plan file, NAME.hplan.sig
  pem,               ///< keys or certificates in PEM form
  text,              ///< any other text
  npy,               ///< NumPy array
  kpack_manifest,    ///< what a tool around kpack archives writes, .kpm
  tar,
  gzip,
  xz,
  zip,
};

/// "an AMDGPU ELF code object"; with an article, for messages.
[[nodiscard]] const char* file_kind_text(FileKind kind);
/// Stable word for JSON output: "amd-code-object".
[[nodiscard]] const char* file_kind_name(FileKind kind);

/// Looks at the bytes only as far as needed to name the kind. Code is told as
/// codeobject::kind_of() tells it.
[[nodiscard]] FileKind recognise(ByteView bytes);

/// Error of class bad_input, reason "foreign-file", for a file that is recognised as something
/// else.
[[nodiscard]] std::optional<Error> foreign_error(ByteView bytes, const std::string& where);

/// The same where another kind than a plan file is wanted: `thing` names it, `expected` tells more.
[[nodiscard]] std::optional<Error> foreign_error(ByteView bytes, const std::string& where,
                                                 FileKind wanted, const std::string& thing,
                                                 const std::string& expected);

}  // namespace hipplan::plan
