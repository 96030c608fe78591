// Target arguments of the tools -> descriptions.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "commands/io.h"
#include "pipeline/pipeline.h"

namespace hipplan::commands {

[[nodiscard]] std::filesystem::path kernels_folder(const Io& io);
[[nodiscard]] std::filesystem::path targets_folder(const Io& io);

/// Names first, then files, in the order given; the same architecture twice is bad_input.
Result<std::vector<target::Description>> resolve_targets(const hipplan_strings& names,
                                                         const hipplan_strings& files,
                                                         const Io& io);

/// "emulator:gfx942" and its like -> an open device. "auto" takes `plan_target` on the emulator.
Result<std::unique_ptr<device::Device>> open_device(const std::string& name,
                                                    const std::string& plan_target, const Io& io);
/// The architecture a device name asks for; for "auto" that is `plan_target`.
Result<target::Description> describe_device(const std::string& name, const std::string& plan_target,
                                            const Io& io);

}  // namespace hipplan::commands
