#include "pack/jobs.h"

#include <atomic>
#include <mutex>

#include "base/file.h"
#include "base/interruption.h"
#include "base/parallel.h"
#include "pack/process.h"

namespace hipplan::pack {
namespace fs = std::filesystem;
namespace {

using descriptor::SourceKind;

Result<Compiled> read_prebuilt(const std::string& file) {
  Compiled out;
  HIPPLAN_TRY_ASSIGN(out.code, read_file(file, 1u << 30));
  out.source_digest = sha256(out.code);
  out.toc_key = fs::path(file).stem().string() + "-" + out.source_digest.hex().substr(0, 32);
  return out;
}

/// What must hold for any code object, whoever made it.
Result<void> check_object(Job& job) {
  const std::string where = cat(job.unit.file, " for ", job.arch);
  auto object = codeobject::parse(job.result.code, where);
  if (!object) {
    Error error = std::move(object).error();
    if (job.prebuilt) error.code = Code::bad_input;
    return error;
  }
  job.object = std::move(object).value();
  if (job.object.arch.text() != job.arch && job.object.arch.base != job.arch)
    return Error{Code::bad_input,
                 "code-object-arch",
                 where,
                 "the code object is for another architecture",
                 job.arch,
                 job.object.arch.text(),
                 "list the architectures of this kernel"};
  if (!job.object.undefined.empty())
    return Error{Code::bad_input,
                 "undefined-symbol",
                 where,
                 "the code object leaves a symbol undefined",
                 "none",
                 job.object.undefined.front(),
                 "define the function in the same source"};
  job.sha256 = sha256(job.result.code);
  return {};
}

bool is_interrupted(const BuildOptions& options) {
  return options.interrupted && options.interrupted();
}

}  // namespace

Jobs::Key Jobs::key_of(const descriptor::Source& source, const std::string& arch) const {
  if (source.kind == SourceKind::hsaco) return {true, Unit{{}, source.path, {}, {}}, arch};
  return {false, Unit{kernels_, source.file, source.defines, source.flags}, arch};
}

Result<void> Jobs::add(const ArchWork& work) {
  for (const PackWork& pack : work.packs)
    for (const descriptor::Kernel* kernel : pack.kernels)
      for (const descriptor::Source& source : kernel->sources) {
        if (source.kind != SourceKind::hip && source.kind != SourceKind::hsaco)
          return Error{Code::bad_input,
                       "source-kind",
                       cat(kernel->origin.file, ": kernel ", kernel->name),
                       "this kind of kernel source cannot be packed",
                       "hip or hsaco",
                       descriptor::source_kind_name(source.kind),
                       ""};
        Key key = key_of(source, work.arch);
        if (!index_.emplace(key, jobs_.size()).second) continue;
        Job job;
        job.arch = work.arch;
        job.prebuilt = std::get<0>(key);
        job.unit = std::get<1>(key);
        jobs_.push_back(std::move(job));
      }
  return {};
}

bool Jobs::needs_compiler() const {
  for (const Job& job : jobs_)
    if (!job.prebuilt) return true;
  return false;
}

Result<void> Jobs::run(const BuildOptions& options, const Compiler& compiler,
                       const fs::path& work) {
  std::vector<Error> errors(jobs_.size());
  std::vector<char> failed(jobs_.size(), 0);
  std::atomic<bool> stop{false};
  std::mutex reporting;
  size_t done = 0;
  const auto one = [&](size_t i) -> Result<void> {
    Job& job = jobs_[i];
    if (is_interrupted(options)) return interrupted_error();
    if (job.prebuilt) {
      HIPPLAN_TRY_ASSIGN(job.result, read_prebuilt(job.unit.file));
    } else {
      HIPPLAN_TRY_ASSIGN(const TemporaryFolder folder, TemporaryFolder::create(work));
      auto compiled = compile(compiler, job.unit, job.arch, folder.path(), options.cache);
      // What a user stops with Ctrl-C ends the compilers too; that is no fault of the source.
      if (!compiled)
        return is_interrupted(options) ? interrupted_error() : std::move(compiled).error();
      job.result = std::move(compiled).value();
    }
    return check_object(job);
  };
  parallel_for(jobs_.size(), options.jobs, [&](size_t i) {
    if (stop) return;
    if (auto result = one(i); !result) {
      errors[i] = std::move(result).error();
      failed[i] = 1;
      stop = true;
    }
    const std::lock_guard lock(reporting);
    ++done;
    if (options.progress && !stop) options.progress(done, jobs_.size());
  });
  for (size_t i = 0; i < jobs_.size(); ++i)
    if (failed[i] != 0) return errors[i];
  return {};
}

const Job& Jobs::of(const descriptor::Source& source, const std::string& arch) const {
  return jobs_[index_.at(key_of(source, arch))];
}

}  // namespace hipplan::pack
