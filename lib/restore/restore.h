// Plan -> something that runs. Needs the plan, the provider and the device, nothing else: no graph,
// no descriptors, no archive, no matching, no compiler.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "codeobject/codeobject.h"
#include "device/device.h"
#include "engine/dispatch.h"
#include "plan/plan.h"
#include "restore/provider.h"

namespace hipplan::restore {

/// The checks between "the bytes are sound" and "the driver takes the code", in their fixed order:
/// no runtime pass-by-value tensors, engine known to the provider, target (when one is given),
/// dispatch handler known, handler can restore, argument lists equal, launch values complete and in
/// range, and the envelope in step with what the handler derives. First failure wins; all are
/// unusable, except an envelope that contradicts its payload, which is damaged.
Result<engine::PreparedKernel> check_usable(const plan::Plan& plan, const Provider& provider,
                                            const target::Arch* device);

/// Whether a plan's kernels load on `device`: base architecture or prefix for packed code, the
/// exact string for every other kind.
Result<void> check_target(const plan::Plan& plan, const target::Arch& device);

/// The code objects of a plan, parsed, by their digests. They point into the plan's bytes.
using ParsedCode = std::map<Digest, codeobject::CodeObject>;

/// Without a driver: each code object that the plan carries is well formed (damaged otherwise);
/// then each is of a known version, for the recorded target, and has the recorded symbol with the
/// recorded arguments (unusable).
Result<ParsedCode> check_code(const plan::Plan& plan);

/// All checks of a sound plan in their order, `code_fault` being what check_code() found, or null:
/// damage of code objects, check_usable(), and last what a driver would refuse of the code objects.
Result<engine::PreparedKernel> check_restorable(const plan::Plan& plan, const Provider& provider,
                                                const target::Arch* device,
                                                const Error* code_fault);

/// A pointer for one tensor of the plan.
struct TensorAddress {
  int64_t uid = 0;
  device::Address address = 0;
};

/// A restored plan: immutable and usable from many threads. Each device loads its own module on
/// first use, once, however many threads ask; the device given to create() loads at once, so that a
/// driver's refusal fails the restore. Every device it has run on must outlive it.
class Executable {
 public:
  static Result<std::shared_ptr<const Executable>> create(plan::Plan plan, const Provider& provider,
                                                          device::Device& device);
  /// The second half of it: loads a plan for which check_restorable() has given `prepared` and
  /// check_code() has given `code`.
  static Result<std::shared_ptr<const Executable>> load(plan::Plan plan,
                                                        engine::PreparedKernel prepared,
                                                        device::Device& device,
                                                        const ParsedCode& code);
  ~Executable();
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  [[nodiscard]] const plan::Plan& plan() const;
  [[nodiscard]] const engine::PreparedKernel& prepared() const;

  /// Launches on `device`. Checks first: every tensor of the plan has an address (extra ones are
  /// refused), none is null, alignments hold, the workspace is there when the plan needs one.
  /// Failures of the caller's arguments are bad_input; the device's are machine.
  Result<void> execute(device::Device& device, std::span<const TensorAddress> tensors,
                       device::Address workspace) const;

  /// The same launches with these addresses, recorded once to be started many times. Fails like
  /// execute(), and with not-supported on a device that records nothing. Must go before this.
  Result<std::unique_ptr<device::Replay>> record(device::Device& device,
                                                 std::span<const TensorAddress> tensors,
                                                 device::Address workspace) const;

 private:
  struct State;
  explicit Executable(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace hipplan::restore
