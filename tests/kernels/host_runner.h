// Runs cases on kernels compiled for the host.
#pragma once

#include "cases.h"

namespace hipplan::test {

[[nodiscard]] Result<void> run_on_host(const std::string& kernel,
                                       const engine::PreparedKernel& prepared,
                                       std::vector<Bytes>& buffers);

}  // namespace hipplan::test
