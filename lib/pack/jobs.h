// Everything that has to be compiled or read, each once.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "codeobject/codeobject.h"
#include "descriptor/descriptor.h"
#include "pack/compiler.h"
#include "pack/pack.h"
#include "pack/survey.h"

namespace hipplan::pack {

/// A code object of one unit (or prebuilt file) for one architecture.
struct Job {
  std::string arch;
  bool prebuilt = false;
  Unit unit;  ///< of a prebuilt file only `file`, its whole path
  Compiled result;
  Digest sha256;
  codeobject::CodeObject object;  ///< views into result.code
};

class Jobs {
 public:
  explicit Jobs(std::filesystem::path kernels) : kernels_(std::move(kernels)) {}
  /// Fails with bad_input for source kinds that cannot be packed.
  Result<void> add(const ArchWork& work);
  /// Compiles and reads on `options.jobs` threads; `work` is a folder for intermediate files.
  Result<void> run(const BuildOptions& options, const Compiler& compiler,
                   const std::filesystem::path& work);
  [[nodiscard]] bool needs_compiler() const;
  [[nodiscard]] const Job& of(const descriptor::Source& source, const std::string& arch) const;
  [[nodiscard]] const std::vector<Job>& all() const { return jobs_; }

 private:
  using Key = std::tuple<bool, Unit, std::string>;
  [[nodiscard]] Key key_of(const descriptor::Source& source, const std::string& arch) const;
  std::filesystem::path kernels_;
  std::vector<Job> jobs_;
  std::map<Key, size_t> index_;
};

}  // namespace hipplan::pack
