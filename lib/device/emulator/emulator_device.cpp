#include "device/emulator/emulator_device.h"

#include <new>
#include <utility>

#include "device/emulator/entry.h"
#include "device/emulator/fence.h"
#include "device/emulator/semantics.h"
#include "device/errors.h"
#include "target/code_object_target.h"

namespace hipplan::emulator {
namespace {

/// Instructions of one wavefront after which it counts as endless.
constexpr uint64_t kDefaultBudget = 2'000'000'000;

class EmulatorModule final : public device::Module {
 public:
  EmulatorModule(EmulatorDevice& device) : device_(device) {}
  ~EmulatorModule() override { device_.unload(segments); }
  Result<const device::Kernel*> kernel(std::string_view symbol) override {
    for (const auto& program : programs)
      if (program->info.name == symbol) return static_cast<const device::Kernel*>(program.get());
    return device::no_kernel(device_.name(), symbol);
  }

  std::vector<uint64_t> segments;
  std::vector<std::unique_ptr<Program>> programs;

 private:
  EmulatorDevice& device_;
};

/// What `done` says, and where: on this device.
template <class T>
Result<T> at(const device::Device& device, Result<T> done) {
  if (!done) return done.error().within(device.name());
  return done;
}

Schedule schedule_of(const device::OpenOptions& options) {
  return {.jobs = options.jobs,
          .instruction_budget =
              options.instruction_budget != 0 ? options.instruction_budget : kDefaultBudget,
          .seed = options.schedule_seed,
          .interrupted = options.interrupted};
}
MonitorSettings monitor_of(const device::OpenOptions& options) {
  return {.races = options.check_races,
          .uninitialized = options.check_uninitialized,
          .profile = options.profile,
          .trace = options.trace};
}

}  // namespace

EmulatorDevice::EmulatorDevice(target::Description description,
                               disassembly::Disassembler disassembler,
                               const device::OpenOptions& options)
    : description_(std::move(description)),
      module_folder_(options.module_folder),
      disassembler_(std::move(disassembler)),
      memory_(description_.memory_bytes),
      scheduler_(schedule_of(options), monitor_of(options)),
      profile_(options.profile) {
  if (monitor_of(options).any()) memory_.keep_shadows(options.check_uninitialized);
}

Result<std::unique_ptr<device::Device>> EmulatorDevice::open(const target::Description& description,
                                                             const device::OpenOptions& options) {
  if (!description.arch.is_amd())
    return Error{.code = Code::unusable,
                 .reason = "arch",
                 .where = "emulator:" + description.arch.base,
                 .what = "the emulator runs AMD architectures only",
                 .expected = "gfx90a, gfx942 or the like",
                 .found = description.arch.text()};
  HIPPLAN_TRY_ASSIGN(auto disassembler,
                     disassembly::Disassembler::open(description.arch.base, options.module_folder));
  return std::unique_ptr<device::Device>(
      new EmulatorDevice(description, std::move(disassembler), options));
}

Result<const disassembly::Disassembler*> EmulatorDevice::decoder(const codeobject::Kernel& kernel) {
  if (kernel.wavefront_size != 64 || description_.arch.base.rfind("gfx9", 0) == 0)
    return static_cast<const disassembly::Disassembler*>(&disassembler_);
  if (!wide_disassembler_) {
    HIPPLAN_TRY_ASSIGN(wide_disassembler_,
                       disassembly::Disassembler::open(description_.arch.base, module_folder_, 64));
  }
  return static_cast<const disassembly::Disassembler*>(&*wide_disassembler_);
}

Result<device::Address> EmulatorDevice::allocate(uint64_t bytes) {
  return fenced(name(), [&] {
    const std::lock_guard lock(mutex_);
    return at(*this, memory_.allocate(bytes, kBufferKind));
  });
}
Result<void> EmulatorDevice::release(device::Address address) {
  const std::lock_guard lock(mutex_);
  return at(*this, memory_.release(address));
}
Result<void> EmulatorDevice::copy_in(device::Address to, ByteView from) {
  const std::lock_guard lock(mutex_);
  HIPPLAN_TRY_ASSIGN(std::byte* const place, at(*this, memory_.reach(to, from.size())));
  if (!from.empty()) std::memcpy(place, from.data(), from.size());
  memory_.mark(to, from.size(), true);
  return {};
}
Result<void> EmulatorDevice::copy_out(std::span<std::byte> to, device::Address from) {
  const std::lock_guard lock(mutex_);
  HIPPLAN_TRY_ASSIGN(const std::byte* const place, at(*this, memory_.reach(from, to.size())));
  if (!to.empty()) std::memcpy(to.data(), place, to.size());
  return {};
}
Result<void> EmulatorDevice::fill(device::Address to, std::byte value, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  HIPPLAN_TRY_ASSIGN(std::byte* const place, at(*this, memory_.reach(to, bytes)));
  if (bytes != 0) std::memset(place, std::to_integer<int>(value), bytes);
  memory_.mark(to, bytes, true);
  return {};
}
Result<void> EmulatorDevice::mark_undefined(device::Address address, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  HIPPLAN_TRY(at(*this, memory_.reach(address, bytes)));
  memory_.mark(address, bytes, false);
  return {};
}

Result<std::unique_ptr<device::Module>> EmulatorDevice::load(ByteView code_object,
                                                             const codeobject::CodeObject& object) {
  return fenced(name(), [&] { return load_inside(code_object, object); });
}

Result<std::unique_ptr<device::Module>> EmulatorDevice::load_inside(
    ByteView code_object, const codeobject::CodeObject& object) {
  if (!target::code_loads_on(object.arch, description_.arch))
    return device::other_architecture(name(), description_.arch, object.arch);
  auto module = std::make_unique<EmulatorModule>(*this);
  std::unique_lock lock(mutex_);
  const auto fill_module = [&]() -> Result<void> {
    HIPPLAN_TRY_ASSIGN(const uint64_t bias, place_segments(object, memory_, module->segments));
    uint64_t instructions_left = kMaxModuleInstructions;
    const auto source_lines = std::make_shared<const SourceLines>(SourceLines::read(code_object));
    for (const auto& kernel : object.kernels) {
      HIPPLAN_TRY_ASSIGN(const auto* disassembler, decoder(kernel));
      auto program = build_program(*this, object, kernel, bias, *disassembler, instructions_left);
      if (!program) return program.error().within(cat("kernel ", kernel.name));
      (*program)->source_lines = source_lines;
      module->programs.push_back(std::move(program).value());
    }
    return {};
  };
  Result<void> done = fill_module();
  lock.unlock();  // a failed module unloads itself, which locks
  if (!done) return done.error().within(name());
  return std::unique_ptr<device::Module>(std::move(module));
}

void EmulatorDevice::unload(const std::vector<uint64_t>& segments) {
  const std::lock_guard lock(mutex_);
  for (const uint64_t base : segments) (void)memory_.release(base);
}

Result<void> EmulatorDevice::launch(const device::Kernel& kernel, const device::Launch& launch) {
  return fenced(name(), [&] { return launch_inside(kernel, launch); });
}

Result<void> EmulatorDevice::launch_inside(const device::Kernel& kernel,
                                           const device::Launch& launch) {
  if (kernel.owner() != this) return device::foreign_kernel(name());
  const auto* program = static_cast<const Program*>(&kernel);
  const std::lock_guard lock(mutex_);
  HIPPLAN_TRY(at(*this, check_launch(*program, launch, description_)));
  // The launch's own allocations go when it ends, however it ends.
  struct Owned {
    AddressSpace& memory;
    std::vector<uint64_t> bases;
    ~Owned() {
      for (const uint64_t base : bases) (void)memory.release(base);
    }
  } owned{memory_, {}};
  WaveCounters counted;
  ProfileCounts profiled;
  const auto run = [&]() -> Result<void> {
    HIPPLAN_TRY_ASSIGN(const Dispatch dispatch,
                       make_dispatch(*program, launch, memory_, owned.bases));
    Result<void> ran = scheduler_.run(dispatch, memory_, counted, profiled);
    if (profile_) {
      profiles_.push_back(make_profile(dispatch, profiled, description_));
      profiles_.back().footprint_bytes = Monitor::footprint(memory_);
    }
    return ran;
  };
  Result<void> done = run();
  ++counters_.launches;
  counters_.instructions += counted.instructions;
  counters_.lane_instructions += counted.lane_instructions;
  counters_.memory_bytes_read += counted.bytes_read;
  counters_.memory_bytes_written += counted.bytes_written;
  counters_.matrix_flops += counted.matrix_flops;
  return at(*this, std::move(done));
}

device::Counters EmulatorDevice::counters() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

std::vector<device::Profile> EmulatorDevice::take_profiles() {
  const std::lock_guard lock(mutex_);
  return std::exchange(profiles_, {});
}

}  // namespace hipplan::emulator

/// See entry.h.
extern "C" __attribute__((visibility("default"))) int hipplan_emulator_open(
    const hipplan::emulator::AbiTag* tag, const hipplan::target::Description* description,
    const hipplan::device::OpenOptions* options, hipplan::device::Device** device,
    hipplan::Error* error) {
  if (!(*tag == hipplan::emulator::AbiTag{})) return 2;
  try {
    auto opened = hipplan::emulator::EmulatorDevice::open(*description, *options);
    if (!opened) {
      *error = std::move(opened).error();
      return 1;
    }
    *device = std::move(opened).value().release();
    return 0;
  } catch (...) {
    *error = hipplan::emulator::caught("emulator:" + description->arch.base);
  }
  return 1;
}

/// See entry.h.
extern "C" __attribute__((visibility("default"))) int hipplan_emulator_instructions(
    const hipplan::emulator::AbiTag* tag, std::vector<hipplan::device::EmulatedInstruction>* out) {
  if (!(*tag == hipplan::emulator::AbiTag{})) return 2;
  try {
    for (const auto& defined : hipplan::emulator::all_semantics())
      out->push_back({std::string(defined.mnemonic),
                      {defined.aliases.begin(), defined.aliases.end()},
                      {std::string(defined.cited.cdna), std::string(defined.cited.rdna3),
                       std::string(defined.cited.rdna4)},
                      std::string(defined.cited.note)});
    return 0;
  } catch (...) {
    return 1;
  }
}
