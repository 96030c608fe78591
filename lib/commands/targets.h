// Target arguments of the tools -> descriptions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "commands/io.h"
#include "pipeline/pipeline.h"

namespace hipplan::commands {

[[nodiscard]] std::filesystem::path kernels_folder(const Io& io);
[[nodiscard]] std::filesystem::path targets_folder(const Io& io);

/// What lists of targets name, separated by commas. A list that is given and names none is refused:
/// bad_input, reason "usage"; else what was to be asked of every target would be asked of none.
Result<std::vector<std::string>> target_names(const hipplan_strings& lists);

/// What files describe, then what names say that none of them describes, in the order given; the
/// same architecture twice among names or among files is bad_input. A word
/// that names no target is bad_input, reason "unknown-target"; an architecture that no target file
/// describes is unusable, reason "undescribed-target".
Result<std::vector<target::Description>> resolve_targets(const hipplan_strings& names,
                                                         const hipplan_strings& files,
                                                         const Io& io);

/// The same for one name.
Result<target::Description> find_target(const std::string& name, const Io& io);

/// An error of these without the advice to pass --target-file, for what takes none.
[[nodiscard]] Error without_target_file(Error error, const std::string& advice);

/// The architecture that a name means: one that there is or that is `described`, whether a target
/// file describes it or not, or the target or product of that name. Enough for whatever only asks
/// what runs where. Any other word is bad_input, reason "unknown-target".
Result<target::Arch> arch_of(const std::string& name, const Io& io,
                             const std::vector<target::Description>& described = {});
/// The targets that every graph of a file needs a plan for: those of `names`, which may name what a
/// target file describes; without names and without a device, those that are described. The same
/// architecture twice is bad_input.
Result<std::vector<target::Arch>> demanded_arches(const std::vector<std::string>& names,
                                                  const std::vector<target::Description>& described,
                                                  bool device_named, const Io& io);
/// What to do where no plan runs on `arch`: "bake one for gfx942", if that can be.
[[nodiscard]] std::string advice_to_bake(const target::Arch& arch);
/// The error of a file that is not there, with advice where its name is a target: a list of targets
/// was given with spaces, `given` being its first.
[[nodiscard]] Error hint_at_list(Error error, const std::string& path, const hipplan_strings& given,
                                 const Io& io);
/// That advice, for a word that is a target and no file; else nothing.
[[nodiscard]] std::string advice_on_list(const std::string& word, std::vector<std::string> given,
                                         const Io& io);
/// What the target files describe.
Result<std::vector<target::Description>> read_descriptions(const hipplan_strings& files);

enum class DeviceKind { emulator, null, hip, cuda };
/// What kind of device a name asks for; what "auto" and empty stand for follows from the plan's
/// target, an emulator while that is not known. Fails with bad_input, reason "device".
Result<DeviceKind> kind_of(const std::string& device, const std::string& plan_target = "");
/// Refuses the null device where results are wanted: bad_input, reason "usage".
Result<void> refuse_null(DeviceKind kind);

/// A device name and what it may refer to.
struct DeviceRequest {
  std::string name;         ///< "emulator:gfx942", "hip:0", "cuda:0", "auto" or empty
  std::string plan_target;  ///< what "auto" stands for
  std::vector<target::Description>
      described;  ///< from target files; searched before those that ship
  device::OpenOptions options =
      {};  ///< for an emulator; folder, jobs and interruption come from Io
};

/// Opens the device; "auto" is the emulator of `plan_target`, or cuda:0 for an NVIDIA one. The
/// device refers to `io` when that can be interrupted.
Result<std::unique_ptr<device::Device>> open_device(const DeviceRequest& request, const Io& io);
/// The architecture of the device asked for; that of a device made of software needs no
/// description.
Result<target::Arch> arch_of_device(const DeviceRequest& request, const Io& io);

}  // namespace hipplan::commands
