// What a driver would refuse about the code objects of a plan, told without a driver.
#include "codeobject/codeobject.h"
#include "restore/restore.h"

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
  if (!arch) return false;
  return code.base == arch->base ||
         (code.is_generic() && target::generic_family(arch->base) == code.base);
}

}  // namespace

Result<void> check_code(const plan::Plan& plan) {
  for (const auto& image : plan.payload.kernels) {
    if (!image.code) continue;
    auto parsed = codeobject::parse(*image.code, "kernel " + image.symbol + ": code object");
    if (!parsed) return parsed.error();
    if (!runs_on(parsed->arch, image.target))
      return unusable_code(image, "code-target", "the machine code is for another architecture",
                           image.target, parsed->arch.text());
    const auto* kernel = parsed->find(image.symbol);
    if (kernel == nullptr)
      return unusable_code(image, "symbol", "the code object has no such kernel", image.symbol,
                           parsed->kernels.empty() ? "no kernels" : parsed->kernels.front().name);
    const auto signature = kernel->signature();
    bool same = signature.size() == image.signature.size();
    for (size_t i = 0; same && i < signature.size(); ++i)
      same = signature[i].kind == image.signature[i].kind &&
             signature[i].size == image.signature[i].size &&
             signature[i].offset == image.signature[i].offset;
    if (!same)
      return unusable_code(image, "code-signature",
                           "the recorded arguments differ from the code object's own metadata",
                           cat(image.signature.size(), " arguments as recorded"),
                           cat(signature.size(), " in the metadata"));
  }
  return {};
}

}  // namespace hipplan::restore
