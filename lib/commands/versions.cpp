#include "commands/versions.h"

#include "archive/kpack.h"
#include "plan/layout.h"
#include "plan/sealed.h"

namespace hipplan::commands {
namespace {

/// "NAME: reads 1.0 to 1.MINOR, writes 1.MINOR"
std::string sealed_versions(const plan::SealFormat& format) {
  const std::string newest = cat(format.major, ".", format.minor);
  return cat(format.minor == 0 ? "" : cat(format.major, ".0 to "), newest, ", writes ", newest);
}

}  // namespace

std::string format_versions() {
  using namespace plan;
  return cat("plan file: reads ", kContainerMajor, ".0 and later ", kContainerMajor, ".x, writes ",
             kContainerMajor, ".", kContainerMinor, "\n", "provider payload: reads ",
             sealed_versions(kPayloadSeal), "\n", "envelope: reads ",
             sealed_versions(kEnvelopeSeal), "\n", "kernel archive (kpack): reads ",
             archive::kFormatVersion, ", writes ", archive::kFormatVersion, "\n",
             // lib/descriptor/parse.cpp says which versions its kinds have.
             "descriptors: reads 1.0 and 1.1 (kernels), writes 1.0\n");
}

}  // namespace hipplan::commands
