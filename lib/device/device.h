// One interface over everything that runs kernels: the null device, the emulator, HIP.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "device/profile.h"
#include "device/timing.h"
#include "target/target.h"

namespace hipplan::codeobject {
struct CodeObject;
}

namespace hipplan::device {

class Device;

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  friend bool operator==(const Dim3&, const Dim3&) = default;
};

/// One kernel launch. `grid` counts workgroups, `block` work-items per workgroup.
struct Launch {
  Dim3 grid, block;
  uint32_t dynamic_lds_bytes = 0;
  ByteView
      arguments;  ///< the explicit kernel arguments, laid out as the code object's metadata says
};

/// Address in device memory. Pointer arithmetic is allowed inside one allocation; 0 is null.
using Address = uint64_t;

/// A kernel of a loaded module. Valid as long as its module.
class Kernel {
 public:
  explicit Kernel(const Device* owner) : owner_(owner) {}
  virtual ~Kernel() = default;
  /// The device that loaded the module, as it knows itself; no other one launches the kernel.
  [[nodiscard]] const Device* owner() const { return owner_; }

 private:
  const Device* owner_;
};

/// A launch with its kernel, for replays.
struct KernelLaunch {
  const Kernel* kernel = nullptr;
  Launch launch{};
};

/// A loaded code object. Unloads when destroyed. Any thread.
class Module {
 public:
  virtual ~Module() = default;
  /// Fails with unusable when the symbol is not there. `symbol` is the kernel's name without ".kd".
  virtual Result<const Kernel*> kernel(std::string_view symbol) = 0;
};

/// What a device counted during launches. Zero where a device does not count.
struct Counters {
  uint64_t launches = 0;
  uint64_t instructions = 0;       ///< wavefront instructions
  uint64_t lane_instructions = 0;  ///< the same times the active lanes
  uint64_t memory_bytes_read = 0;
  uint64_t memory_bytes_written = 0;
  uint64_t matrix_flops = 0;
};

/// A device. Calls may come from several threads. Work on one device runs in the order of the
/// calls; launch() may return before the kernel has ended, synchronize() and copies out wait for
/// it.
class Device {
 public:
  virtual ~Device() = default;
  [[nodiscard]] virtual std::string name() const = 0;  ///< "emulator:gfx942"
  [[nodiscard]] virtual const target::Description& description() const = 0;

  /// Memory of `bytes` bytes, aligned to 256, content undefined. Zero bytes give a valid address.
  /// Fails with machine when there is not enough.
  virtual Result<Address> allocate(uint64_t bytes) = 0;
  virtual Result<void> release(Address address) = 0;
  virtual Result<void> copy_in(Address to, ByteView from) = 0;
  virtual Result<void> copy_out(std::span<std::byte> to, Address from) = 0;
  virtual Result<void> fill(Address to, std::byte value, uint64_t bytes) = 0;
  /// Says that nothing may rely on the content of [at, at + bytes), although something was copied
  /// there: for a check of uninitialised reads it counts as never written.
  virtual Result<void> mark_undefined(Address at, uint64_t bytes) {
    (void)at, (void)bytes;
    return {};
  }

  /// Loads a code object, for callers that have not parsed it.
  Result<std::unique_ptr<Module>> load(ByteView code_object);
  /// Loads a code object that is parsed: `parsed` is what codeobject::parse() made of these bytes.
  /// Fails with unusable, reason driver-load, for code that this device's architecture does not
  /// run. Both may go when this returns.
  virtual Result<std::unique_ptr<Module>> load(ByteView code_object,
                                               const codeobject::CodeObject& parsed) = 0;
  /// Faults inside the kernel (bad address, unknown instruction) come back here or from
  /// synchronize() as machine errors.
  virtual Result<void> launch(const Kernel& kernel, const Launch& launch) = 0;
  virtual Result<void> synchronize() = 0;
  [[nodiscard]] virtual Counters counters() const { return {}; }
  /// Profiles of the launches since the last call, in order; empty where OpenOptions::profile is
  /// off or the device cannot look.
  [[nodiscard]] virtual std::vector<Profile> take_profiles() { return {}; }

  // Timing (timing.h). What a device cannot do is unusable, reason not-supported, with the why.

  virtual Result<std::unique_ptr<Event>> make_event() { return lacks("timing by events"); }
  /// A closed gate: everything started from now on waits for it.
  virtual Result<std::unique_ptr<Gate>> close_gate() { return lacks("holding up work"); }
  virtual Result<std::unique_ptr<Replay>> make_replay(std::span<const KernelLaunch> launches) {
    (void)launches;
    return lacks("replaying recorded launches");
  }
  [[nodiscard]] virtual Result<Facts> facts() const { return lacks("asking a driver for facts"); }

 private:
  [[nodiscard]] Error lacks(std::string_view what) const {
    return not_supported(name(), what, "a device without a driver");
  }
};

/// A wavefront to watch in an emulator.
struct Trace {
  /// Gets one line per instruction (or per break), without a line feed. Empty: no trace.
  std::function<void(std::string_view)> line{};
  uint64_t workgroup = 0;  ///< number in launch order: x + grid.x * (y + grid.y * z)
  uint32_t wavefront = 0;
  bool instructions = true;        ///< every instruction, with EXEC and the registers it changed
  uint64_t break_pc = UINT64_MAX;  ///< all registers each time this address is reached
};

/// Settings that reach a device when it is opened.
struct OpenOptions {
  std::string
      module_folder;  ///< where libhipplan-emulator.so and libhipplan-llvm.so lie; empty: beside us
  unsigned jobs = 0;  ///< emulator worker threads, 0: one per hardware thread
  /// Asked between workgroups and every 100,000 instructions in one, from any thread; true ends the
  /// launch with an `interrupted` error.
  std::function<bool()> interrupted{};
  uint64_t instruction_budget =
      0;  ///< instructions after which a wavefront counts as endless, 0: default
  /// Not 0: workgroups and the wavefronts in them take turns in an order drawn from this number,
  /// the same for the same number. Launches then run on one thread.
  uint64_t schedule_seed = 0;
  /// Two wavefronts that touch the same bytes with no barrier in between, at least one with a plain
  /// write, are a fault. Launches then run on one thread.
  bool check_races = false;
  /// A read of device memory or LDS that nothing has written is a fault.
  bool check_uninitialized = false;
  bool profile = false;  ///< fill Device::take_profiles()
  Trace trace{};         ///< a launch with a trace runs on one thread
};

/// A device whose launches do nothing but get recorded; memory is real host memory. For tests.
class NullDevice;
Result<std::unique_ptr<Device>> open_null(const target::Description& description);
/// Loads the emulator module and opens `description` in it.
Result<std::unique_ptr<Device>> open_emulator(const target::Description& description,
                                              const OpenOptions& options);

}  // namespace hipplan::device
