// Finds and opens the emulator module.
#include <filesystem>
#include <vector>

#include "base/shared_library.h"
#include "device/emulator/entry.h"

namespace hipplan::device {
namespace {

/// Module file names, best for this processor first.
std::vector<std::string> file_names() {
  std::vector<std::string> names;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi2"))
    names.push_back("libhipplan-emulator-avx2.so");
#endif
  names.push_back("libhipplan-emulator.so");
  return names;
}

std::vector<std::filesystem::path> folders(const std::string& module_folder) {
  if (!module_folder.empty()) return {module_folder};
  const auto own = own_folder();
  if (own.empty()) return {};  // no file of the current folder is ever taken for the module
  return {own, own / "hipplan", own / ".." / "lib", own / ".." / "lib" / "hipplan"};
}

constexpr const char* kReinstall = "install hipplan as a whole, or name the folder of its modules";

Result<SharedLibrary> open_module(const std::string& module_folder, std::string& path) {
  std::error_code ignored;
  for (const auto& folder : folders(module_folder))
    for (const auto& name : file_names())
      if (std::filesystem::exists(folder / name, ignored)) {
        path = (folder / name).string();
        return SharedLibrary::open(path);
      }
  return Error{.code = Code::machine,
               .reason = "no-emulator",
               .where = module_folder.empty() ? own_folder().string() : module_folder,
               .what = "the emulator module is not there",
               .expected = "libhipplan-emulator.so",
               .advice = "build hipplan with HIPPLAN_LLVM=ON, or name the module folder"};
}

Error no_entry(const std::string& path, const char* symbol) {
  return {.code = Code::machine,
          .reason = "emulator-version",
          .where = path,
          .what = "the emulator module exports no entry",
          .expected = symbol,
          .advice = kReinstall};
}
Error other_version(const std::string& path) {
  return {.code = Code::machine,
          .reason = "emulator-version",
          .where = path,
          .what = "the emulator module belongs to another hipplan",
          .advice = kReinstall};
}

/// The device together with the library that its code lives in.
class LoadedDevice final : public Device {
 public:
  LoadedDevice(SharedLibrary library, std::unique_ptr<Device> inner)
      : library_(std::move(library)), inner_(std::move(inner)) {}

  [[nodiscard]] std::string name() const override { return inner_->name(); }
  [[nodiscard]] const target::Description& description() const override {
    return inner_->description();
  }
  Result<Address> allocate(uint64_t bytes) override { return inner_->allocate(bytes); }
  Result<void> release(Address address) override { return inner_->release(address); }
  Result<void> copy_in(Address to, ByteView from) override { return inner_->copy_in(to, from); }
  Result<void> copy_out(std::span<std::byte> to, Address from) override {
    return inner_->copy_out(to, from);
  }
  Result<void> fill(Address to, std::byte value, uint64_t bytes) override {
    return inner_->fill(to, value, bytes);
  }
  Result<void> mark_undefined(Address at, uint64_t bytes) override {
    return inner_->mark_undefined(at, bytes);
  }
  Result<std::unique_ptr<Module>> load(ByteView code_object,
                                       const codeobject::CodeObject& parsed) override {
    return inner_->load(code_object, parsed);
  }
  Result<void> launch(const Kernel& kernel, const Launch& launch) override {
    return inner_->launch(kernel, launch);
  }
  Result<void> synchronize() override { return inner_->synchronize(); }
  [[nodiscard]] Counters counters() const override { return inner_->counters(); }
  [[nodiscard]] std::vector<Profile> take_profiles() override { return inner_->take_profiles(); }

 private:
  SharedLibrary library_;  // goes last
  std::unique_ptr<Device> inner_;
};

}  // namespace

Result<std::unique_ptr<Device>> open_emulator(const target::Description& description,
                                              const OpenOptions& options) {
  std::string path;
  HIPPLAN_TRY_ASSIGN(SharedLibrary library, open_module(options.module_folder, path));
  auto* open = library.function<emulator::OpenFunction>(emulator::kOpenSymbol);
  if (open == nullptr) return no_entry(path, emulator::kOpenSymbol);
  const emulator::AbiTag tag;
  Device* device = nullptr;
  Error error;
  switch (open(&tag, &description, &options, &device, &error)) {
    case 0:
      return std::unique_ptr<Device>(
          new LoadedDevice(std::move(library), std::unique_ptr<Device>(device)));
    case 1:
      return error;
    default:
      return other_version(path);
  }
}

Result<std::vector<EmulatedInstruction>> emulated_instructions(const std::string& module_folder) {
  std::string path;
  HIPPLAN_TRY_ASSIGN(SharedLibrary library, open_module(module_folder, path));
  auto* list = library.function<emulator::InstructionsFunction>(emulator::kInstructionsSymbol);
  if (list == nullptr) return no_entry(path, emulator::kInstructionsSymbol);
  const emulator::AbiTag tag;
  std::vector<EmulatedInstruction> instructions;
  switch (list(&tag, &instructions)) {
    case 0:
      return instructions;
    case 1:
      return Error{.code = Code::machine,
                   .reason = "out-of-memory",
                   .where = path,
                   .what = "the host has not enough memory"};
    default:
      return other_version(path);
  }
}

std::optional<IsaFamily> isa_family(std::string_view arch) {
  if (arch.starts_with("gfx9")) return IsaFamily::cdna;
  if (arch.starts_with("gfx11")) return IsaFamily::rdna3;
  if (arch.starts_with("gfx12")) return IsaFamily::rdna4;
  return std::nullopt;
}

std::string_view isa_document(IsaFamily family) {
  constexpr std::array<std::string_view, kIsaFamilies.size()> kNames = {"CDNA ISA", "RDNA3 ISA",
                                                                        "RDNA4 ISA"};
  return kNames[static_cast<size_t>(family)];
}

std::string isa_section(IsaFamily family, std::string_view format) {
  if (format == "VOP3")
    return family == IsaFamily::cdna ? "VOP3A & VOP3B Instructions" : "VOP3 & VOP3SD Instructions";
  if (format == "DS" && family != IsaFamily::rdna4) return "LDS & GDS Instructions";
  if (format == "FLAT" || format == "GLOBAL" || format == "SCRATCH")
    return "FLAT, Scratch and Global Instructions";
  return std::string(format) + " Instructions";
}

}  // namespace hipplan::device
