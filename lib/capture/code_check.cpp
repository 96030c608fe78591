#include "capture/code_check.h"

#include <algorithm>

#include "codeobject/arguments.h"
#include "target/code_object_target.h"

namespace hipplan::capture {
namespace {

using codeobject::Argument;
using descriptor::Source;

std::string place(const Source& source) {
  return cat("kernel ", source.symbol, " in ", source.file);
}

Result<void> check_target(const VerifiedCode& code, const Source& source,
                          const target::Arch& device) {
  if (target::code_loads_on(code.parsed.arch, device)) return {};
  return Error{.code = Code::unusable,
               .reason = "code-target",
               .where = place(source),
               .what = "the machine code is for another architecture",
               .expected = device.text(),
               .found = code.parsed.arch.text()};
}

Result<const codeobject::Kernel*> find_symbol(const VerifiedCode& code, const Source& source) {
  if (const auto* kernel = code.parsed.find(source.symbol)) return kernel;
  std::string found;
  for (const auto& kernel : code.parsed.kernels) found += (found.empty() ? "" : ", ") + kernel.name;
  return Error{.code = Code::damaged,
               .reason = "symbol",
               .where = place(source),
               .what = "the code object has no kernel of this name",
               .expected = source.symbol,
               .found = found.empty() ? "no kernels" : found,
               .advice = "pack the kernels again"};
}

/// `error`, completed with where the lists differ, when they do.
template <class A, class B>
Result<void> same_arguments(const std::vector<A>& wanted, const std::vector<B>& found,
                            Error error) {
  const auto mismatch = codeobject::argument_mismatch(wanted, found);
  if (!mismatch) return {};
  error.where += ", " + mismatch->where;
  error.expected = mismatch->expected;
  error.found = mismatch->found;
  return error;
}

Result<void> check_signatures(const std::vector<Argument>& actual, const Source& source,
                              const engine::DispatchHandler& handler) {
  if (source.kind == descriptor::SourceKind::kpack)
    HIPPLAN_TRY(
        same_arguments(source.signature, actual,
                       {.code = Code::damaged,
                        .reason = "signature",
                        .where = place(source),
                        .what = "the code object's arguments are not those of its descriptor",
                        .advice = "pack the kernels again"}));
  return same_arguments(
      handler.signature(source.launch_name), actual,
      {.code = Code::unusable,
       .reason = "handler-signature",
       .where = place(source),
       .what = cat("the kernel's arguments are not those that ", handler.alias(), " passes")});
}

Result<void> check_resources(const codeobject::Kernel& kernel, const Source& source,
                             const engine::PreparedLaunch& launch,
                             const target::Description& target) {
  const auto refuse = [&](const char* what, uint64_t limit, uint64_t found) {
    return Error{.code = Code::unusable,
                 .reason = "resources",
                 .where = place(source),
                 .what = what,
                 .expected = cat("at most ", limit),
                 .found = cat(found)};
  };
  const uint64_t items = uint64_t{launch.block.x} * launch.block.y * launch.block.z;
  if (kernel.max_flat_workgroup_size != 0 && items > kernel.max_flat_workgroup_size)
    return refuse("the workgroup is larger than the kernel was compiled for",
                  kernel.max_flat_workgroup_size, items);
  const uint64_t lds = uint64_t{kernel.group_segment_fixed_size} + launch.dynamic_lds_bytes;
  if (target.lds_bytes_per_workgroup != 0 && lds > target.lds_bytes_per_workgroup)
    return refuse("the workgroup needs more LDS bytes than the target has",
                  target.lds_bytes_per_workgroup, lds);
  return {};
}

}  // namespace

Result<const codeobject::Kernel*> check_kernel(const VerifiedCode& code, const Source& source,
                                               const engine::DispatchHandler& handler,
                                               const engine::PreparedLaunch& launch,
                                               const target::Description& target) {
  HIPPLAN_TRY(check_target(code, source, target.arch));
  HIPPLAN_TRY_ASSIGN(const codeobject::Kernel* kernel, find_symbol(code, source));
  HIPPLAN_TRY(check_signatures(kernel->signature(), source, handler));
  HIPPLAN_TRY(check_resources(*kernel, source, launch, target));
  return kernel;
}

}  // namespace hipplan::capture
