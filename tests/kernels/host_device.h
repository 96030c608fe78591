// Runs kernels compiled for the host: workgroups one after the other, work-items as fibers that
// switch at barriers. One thread at a time.
#pragma once

#include <string_view>

#include "base/bytes.h"
#include "device/device.h"
#include "host_entry.h"

namespace hipplan_host {

/// Null when no such kernel was compiled in.
Entry find(std::string_view name);

void launch(Entry entry, const hipplan::device::Dim3& grid, const hipplan::device::Dim3& block,
            hipplan::ByteView arguments);

}  // namespace hipplan_host
