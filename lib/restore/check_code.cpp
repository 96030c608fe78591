// What a driver would refuse about the code objects of a plan, told without a driver.
#include "codeobject/arguments.h"
#include "codeobject/codeobject.h"
#include "restore/restore.h"
#include "target/code_object_target.h"

namespace hipplan::restore {
namespace {

Error unusable_code(const plan::KernelImage& image, std::string reason, std::string what,
                    std::string expected, std::string found) {
  return {.code = Code::unusable,
          .reason = std::move(reason),
          .where = "kernel " + image.symbol,
          .what = std::move(what),
          .expected = std::move(expected),
          .found = std::move(found)};
}

bool runs_on(const target::Arch& code, const std::string& wanted) {
  const auto arch = target::Arch::parse(wanted);
  return arch && (code == *arch || target::code_loads_on(code, *arch));
}

Result<void> check_kernel(const plan::KernelImage& image, const codeobject::CodeObject& code) {
  if (!runs_on(code.arch, image.target))
    return unusable_code(image, "code-target", "the machine code is for another architecture",
                         image.target, code.arch.text());
  const auto* kernel = code.find(image.symbol);
  if (kernel == nullptr)
    return unusable_code(image, "symbol", "the code object has no such kernel", image.symbol,
                         code.kernels.empty() ? "no kernels" : code.kernels.front().name);
  const auto mismatch = codeobject::argument_mismatch(kernel->signature(), image.signature);
  if (!mismatch) return {};
  return unusable_code(image, "code-signature",
                       "the recorded arguments differ from the code object's own metadata",
                       cat(mismatch->where, ": ", mismatch->expected), mismatch->found);
}

}  // namespace

Result<ParsedCode> check_code(const plan::Plan& plan) {
  std::map<Digest, Result<codeobject::CodeObject>> parsed;
  for (const auto& image : plan.payload.kernels) {
    if (!image.code || parsed.contains(image.sha256)) continue;
    auto code = codeobject::parse(*image.code, "kernel " + image.symbol + ": code object");
    if (!code && code.error().code == Code::damaged) return code.error();
    parsed.emplace(image.sha256, std::move(code));
  }
  for (const auto& image : plan.payload.kernels) {
    if (!image.code) continue;
    const auto& code = parsed.at(image.sha256);
    if (!code) return code.error();
    HIPPLAN_TRY(check_kernel(image, *code));
  }
  ParsedCode out;
  for (auto& [digest, code] : parsed) out.emplace(digest, std::move(code).value());
  return out;
}

}  // namespace hipplan::restore
