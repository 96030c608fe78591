// The table of contents of a kpack file, checked against the file around it.
#pragma once

#include <string>
#include <vector>

#include "archive/kpack.h"
#include "base/bytes.h"
#include "base/result.h"

namespace hipplan::archive {

inline constexpr uint64_t kHeaderBytes = 16;
inline constexpr std::string_view kMagic = "KPAK";

/// Where a blob lies in the file.
struct Blob {
  uint64_t offset = 0, size = 0;
};

struct Toc {
  Info info;
  std::vector<Entry> entries;
  std::vector<Blob> blobs;  ///< by ordinal, all inside the file, none overlapping
};

/// Reads header and table and checks every rule of docs/archives.md but the content of the blobs.
Result<Toc> read_toc(ByteView file, const std::string& where);

/// An Error about a kpack file with reason "kpack".
[[nodiscard]] Error kpack_error(Code code, const std::string& where, std::string what,
                                std::string expected = "", std::string found = "");

}  // namespace hipplan::archive
