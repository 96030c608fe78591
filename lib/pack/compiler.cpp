#include "pack/compiler.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sstream>

#include "base/file.h"
#include "base/join.h"
#include "pack/compile_cache.h"
#include "pack/dependencies.h"
#include "pack/nvidia_compiler.h"
#include "pack/process.h"

namespace hipplan::pack {
namespace fs = std::filesystem;
namespace {

constexpr size_t kMaxShownOutput = 4096;
constexpr uint64_t kMaxObjectBytes = 1ull << 30;

// Looked up in PATH unless they are paths.
constexpr const char* kCandidates[] = {"clang-22",   "clang++-22", "/opt/rocm/llvm/bin/amdclang++",
                                       "amdclang++", "clang++",    "clang"};

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

std::string shown(std::string output) {
  while (!output.empty() && output.back() == '\n') output.pop_back();
  if (output.size() > kMaxShownOutput) output = output.substr(0, kMaxShownOutput) + "…";
  return output;
}

bool is_generic(std::string_view arch) {
  return arch.ends_with("-generic");
}

/// Name of the unit in messages: its file and what is defined.
std::string unit_text(const Unit& unit, const std::string& arch) {
  std::string out = unit.file + " for " + arch;
  for (const auto& [name, value] : unit.defines) out += " -D" + name + "=" + value;
  return out;
}

/// Readable part of a toc key: the file name without folder and suffix.
std::string stem(const std::string& file) {
  return fs::path(file).stem().string();
}

std::vector<std::string> dependency_arguments(const Compiler& compiler, const std::string& file) {
  if (compiler.nvcc) return {"-MD", "-MF", file};
  // The driver writes no dependency file for device code; the compiler proper does.
  std::vector<std::string> out;
  for (const std::string& argument : {std::string("-dependency-file"), file, std::string("-MT"),
                                      std::string("unit"), std::string("-sys-header-deps")})
    out.insert(out.end(), {"-Xclang", argument});
  return out;
}

Result<void> finish(Compiled& out, const Unit& unit) {
  HIPPLAN_TRY_ASSIGN(out.source_digest, digest_files(unit.folder, out.dependencies));
  Sha256 key;
  key.update("hipplan toc key 1\n").update(out.source_digest.hex()).update("\n");
  for (const auto& [name, value] : unit.defines)
    key.update(cat("define ", name.size(), " ", value.size(), " ", name, value, "\n"));
  for (const std::string& flag : unit.flags) key.update(cat("flag ", flag.size(), " ", flag, "\n"));
  out.toc_key = stem(unit.file) + "-" + key.finish().hex().substr(0, 32);
  return {};
}

}  // namespace

Result<Compiler> find_compiler(const std::string& requested) {
  std::vector<std::string> candidates(std::begin(kCandidates), std::end(kCandidates));
  if (!requested.empty()) candidates = {requested};
  std::string tried;
  for (const std::string& program : candidates) {
    tried += (tried.empty() ? "" : ", ") + program;
    const auto answer = run_program({program, "--version"}, {});
    if (answer && answer->status == 0) return Compiler{program, first_line(answer->output)};
  }
  return Error{Code::machine,
               "compiler-missing",
               tried,
               "no clang for AMD GPUs starts",
               "",
               "",
               "install clang-22 and lld-22, or name one with --compiler"};
}

std::vector<std::string> compile_arguments(const Unit& unit, const std::string& arch, bool nvcc) {
  if (is_nvidia(arch)) return nvidia_arguments(unit, arch, nvcc);
  std::vector<std::string> out = {
      "-x", "hip", "--cuda-device-only", "--offload-arch=" + arch, "-nogpuinc", "-nogpulib",
      "-nostdlibinc", "-O3", "--no-gpu-bundle-output",
      // Generic architectures exist from code object version 6 on; older loaders know 5.
      is_generic(arch) ? "-mcode-object-version=6" : "-mcode-object-version=5",
      // Nothing of the machine, the folder or the day goes into the object.
      "-fuse-cuid=none", "-Werror=date-time", "-I.", "-Iinclude"};
  for (const auto& [name, value] : unit.defines) out.push_back("-D" + name + "=" + value);
  out.insert(out.end(), unit.flags.begin(), unit.flags.end());
  out.insert(out.end(), {"-c", unit.file});
  return out;
}

namespace {

/// The lines in which a compiler and what it starts say what is wrong.
std::vector<std::string> error_lines(const std::string& output) {
  std::vector<std::string> out;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);)
    if (line.find("error:") != std::string::npos) out.push_back(line);
  return out;
}

/// Whether such a line says that the machine kept the compiler from writing, and nothing of the
/// source. It runs in the C locale.
bool is_of_machine(const std::string& line) {
  for (const int number : {ENOSPC, EDQUOT, EFBIG, EIO, ENOMEM, EMFILE, ENFILE, EROFS}) {
    const std::string text = std::strerror(number);
    if (line.ends_with(text) || line.ends_with(text + "'") || line.ends_with(text + "\""))
      return true;
  }
  return false;
}

/// A compiler that failed. One that a signal ended met no error in the source: a full disk does
/// that to what writes through a mapping.
Error compile_error(const Finished& finished, const std::string& where) {
  const auto errors = error_lines(finished.output);
  const auto any = [&](const auto& holds) {
    return std::any_of(errors.begin(), errors.end(), holds);
  };
  constexpr int kSignal = 128;
  const bool killed = finished.status > kSignal || any([](const std::string& line) {
                        return line.find("failed due to signal") != std::string::npos;
                      });
  Error out{.code = killed || any(is_of_machine) ? Code::machine : Code::bad_input,
            .reason = "compile-failed",
            .where = where,
            .what = cat("the compiler failed with status ", finished.status),
            .advice = shown(finished.output)};
  if (killed) {
    out.what = "the compiler was ended by a signal; is the disk full?";
    out.advice = joined(errors, "\n");
  }
  return out;
}

}  // namespace

Result<Compiled> compile(const Compiler& compiler, const Unit& unit, const std::string& arch,
                         const fs::path& work, const fs::path& cache) {
  HIPPLAN_TRY_ASSIGN(const CompileCache store, CompileCache::open(cache, compiler, unit, arch));
  Compiled out;
  out.reused = store.load(out);
  if (!out.reused) {
    const fs::path object = work / "unit.hsaco", listed = work / "unit.d";
    std::vector<std::string> arguments = {compiler.program};
    for (std::string& argument : compile_arguments(unit, arch, compiler.nvcc))
      arguments.push_back(std::move(argument));
    for (std::string& argument : dependency_arguments(compiler, listed.string()))
      arguments.push_back(std::move(argument));
    arguments.insert(arguments.end(), {"-o", object.string()});
    HIPPLAN_TRY_ASSIGN(const Finished finished, run_program(arguments, unit.folder));
    if (finished.status != 0) return compile_error(finished, unit_text(unit, arch));
    std::error_code ignored;
    if (!fs::exists(object, ignored))
      return Error{Code::bad_input,
                   "compile-failed",
                   unit_text(unit, arch),
                   compiler.program + " ended with status 0 and wrote nothing",
                   "a code object",
                   "",
                   "is it the compiler that --compiler should name?"};
    HIPPLAN_TRY_ASSIGN(out.code, read_file(object, kMaxObjectBytes));
    HIPPLAN_TRY_ASSIGN(out.dependencies, read_dependencies(listed));
    // nvcc's own headers stand for nothing but its version.
    if (compiler.nvcc)
      std::erase_if(out.dependencies,
                    [](const auto& name) { return fs::path(name).is_absolute(); });
  }
  HIPPLAN_TRY(finish(out, unit));
  if (!out.reused) store.save(out);
  return out;
}

}  // namespace hipplan::pack
