#include "pack/nvidia_compiler.h"

#include "pack/process.h"
#include "target/nvidia.h"

namespace hipplan::pack {
namespace {

/// What nvcc prints about itself: the line with its release, "Cuda compilation tools, release …".
std::string release_line(const std::string& text) {
  const size_t at = text.find("release ");
  if (at == std::string::npos) return {};
  const size_t from = text.rfind('\n', at);
  const size_t start = from == std::string::npos ? 0 : from + 1;
  return text.substr(start, text.find('\n', at) - start);
}

/// "sm_80" of "compute_80": clang names PTX by the GPU it is the least for.
std::string gpu_name(const std::string& arch) {
  return "sm_" + arch.substr(arch.find('_') + 1);
}

}  // namespace

bool is_nvidia(std::string_view arch) {
  return target::parse_nvidia(arch).has_value();
}

Result<Compiler> find_nvidia_compiler(const std::string& requested, bool machine_code) {
  std::vector<std::string> candidates = {"/usr/local/cuda/bin/nvcc", "nvcc"};
  if (!machine_code) candidates.insert(candidates.begin(), {"clang-22", "clang++-22"});
  if (!requested.empty()) candidates = {requested};
  std::string tried;
  for (const std::string& named : candidates) {
    // nvcc finds its own parts beside itself, not beside a link to it.
    std::error_code failed;
    const auto real = std::filesystem::canonical(named, failed);
    const std::string program =
        failed || named.find('/') == std::string::npos ? named : real.string();
    tried += (tried.empty() ? "" : ", ") + program;
    const auto answer = run_program({program, "--version"}, {});
    if (!answer || answer->status != 0) continue;
    const std::string release = release_line(answer->output);
    const bool nvcc = answer->output.find("NVIDIA") != std::string::npos && !release.empty();
    if (machine_code && !nvcc)
      return Error{.code = Code::bad_input,
                   .reason = "compiler",
                   .where = program,
                   .what = "makes no machine code for NVIDIA GPUs, only PTX",
                   .advice = "name nvcc with --compiler, or ask for --arch compute_80"};
    return Compiler{program, nvcc ? release : answer->output.substr(0, answer->output.find('\n')),
                    nvcc};
  }
  return Error{
      .code = Code::machine,
      .reason = "compiler-missing",
      .where = tried,
      .what = "no compiler for NVIDIA GPUs starts",
      .advice = machine_code
                    ? "install the CUDA toolkit, or ask for --arch compute_80, which clang "
                      "compiles"
                    : "install clang-22, or name a compiler with --compiler"};
}

std::vector<std::string> nvidia_arguments(const Unit& unit, const std::string& arch, bool nvcc) {
  const bool ptx = arch.starts_with("compute_");
  std::vector<std::string> out = {"-x"};
  if (nvcc) {
    out.insert(out.end(), {"cu", "-arch=" + arch, ptx ? "-ptx" : "-cubin", "-O3",
                           // The sources hold pragmas of clang.
                           "-diag-suppress=20199"});
  } else {
    out.insert(out.end(),
               {"cuda", "--cuda-device-only", "--cuda-gpu-arch=" + gpu_name(arch),
                // No toolkit that happens to be here decides the version of the PTX.
                "--cuda-path=/nonexistent", "--cuda-feature=+ptx70", "-nocudainc", "-nocudalib",
                "-nostdlibinc", "-O3", "-fuse-cuid=none", "-Werror=date-time"});
  }
  out.insert(out.end(), {"-I.", "-Iinclude"});
  for (const auto& [name, value] : unit.defines) out.push_back("-D" + name + "=" + value);
  out.insert(out.end(), unit.flags.begin(), unit.flags.end());
  if (!nvcc) out.push_back("-S");
  out.push_back(unit.file);
  return out;
}

}  // namespace hipplan::pack
