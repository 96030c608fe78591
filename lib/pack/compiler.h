// Compiling kernel sources for one architecture, reproducibly.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/result.h"

namespace hipplan::pack {

struct Compiler {
  std::string program;
  std::string version;  ///< the line that it prints about itself
  bool nvcc = false;    ///< takes NVIDIA's options; otherwise it is a clang
};

/// `requested`, or the first of clang-22, clang++-22, ROCm's amdclang++, clang++ that starts. Fails
/// with machine, reason "compiler-missing".
Result<Compiler> find_compiler(const std::string& requested);

/// One translation unit: what a toc key stands for.
struct Unit {
  std::filesystem::path folder;  ///< kernels folder; `file` is relative to it
  std::string file;
  std::vector<std::pair<std::string, std::string>> defines;  ///< sorted
  std::vector<std::string> flags;
  friend auto operator<=>(const Unit&, const Unit&) = default;
};

struct Compiled {
  Bytes code;
  std::string toc_key;
  Digest source_digest;  ///< over names and content of the source and everything it includes
  std::vector<std::string> dependencies;
  bool reused = false;
};

/// Arguments that make a code object of a unit for `arch`, without the program's and output's
/// names.
[[nodiscard]] std::vector<std::string> compile_arguments(const Unit& unit, const std::string& arch,
                                                         bool nvcc = false);

/// Compiles into `work` (a folder for this call alone). `cache` may be empty; a cached code object
/// is taken when compiler, arguments, the names of all files under the kernels folder and the
/// content of all files used are the same. Fails with bad_input (machine where it could not write
/// or crashed), reason "compile-failed", in the compiler's words.
Result<Compiled> compile(const Compiler& compiler, const Unit& unit, const std::string& arch,
                         const std::filesystem::path& work, const std::filesystem::path& cache);

}  // namespace hipplan::pack
