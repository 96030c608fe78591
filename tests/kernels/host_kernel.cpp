// One kernel for the host: HIPPLAN_KERNEL_SOURCE is its file, HIPPLAN_KERNEL_ENTRY the function and
// HIPPLAN_KERNEL_NAMES the descriptors' names of the variants that the build serves.
#include "host_entry.h"

#define HIPPLAN_HOST 1
#include HIPPLAN_KERNEL_SOURCE

namespace {
void call_entry(const unsigned char* arguments) {
  hipplan_host::call(HIPPLAN_KERNEL_ENTRY, arguments);
}
const hipplan_host::Registration registration(HIPPLAN_KERNEL_NAMES, call_entry);
}  // namespace
