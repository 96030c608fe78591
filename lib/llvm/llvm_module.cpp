#include "llvm/llvm_module.h"

#include <llvm-c/Disassembler.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/TargetParser/Triple.h>

#include <memory>
#include <string>
#include <string_view>

// Declared by hand: llvm-c/Target.h declares every target of the installed LLVM.
extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUDisassembler();
}

namespace {

constexpr const char* kTriple = "amdgcn-amd-amdhsa";
// LLVM ends the process when asked to decode for older families.
constexpr std::string_view kFamilies[] = {"gfx8", "gfx9", "gfx10", "gfx11", "gfx12"};

#if LLVM_VERSION_MAJOR >= 22
using TripleName = llvm::Triple;
#else
using TripleName = llvm::StringRef;
#endif

bool knows(std::string_view cpu) {
  bool in_family = false;
  for (const std::string_view family : kFamilies) in_family |= cpu.starts_with(family);
  if (!in_family) return false;
  std::string ignored;
  const TripleName triple(kTriple);
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, ignored);
  if (target == nullptr) return false;
  const std::unique_ptr<llvm::MCSubtargetInfo> subtarget(
      target->createMCSubtargetInfo(triple, "", ""));
  return subtarget != nullptr && subtarget->isCPUStringValid(llvm::StringRef(cpu));
}

void* create(const char* cpu, const char* features) {
  static const bool initialised = [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
    return true;
  }();
  (void)initialised;
  if (!knows(cpu)) return nullptr;
  return LLVMCreateDisasmCPUFeatures(kTriple, cpu, features, nullptr, 0, nullptr, nullptr);
}

size_t decode(void* handle, const uint8_t* code, size_t code_size, uint64_t address, char* text,
              size_t text_size) {
  // LLVM's interface takes a writable pointer and only reads through it.
  return LLVMDisasmInstruction(handle, const_cast<uint8_t*>(code), code_size, address, text,
                               text_size);
}

void destroy(void* handle) {
  LLVMDisasmDispose(handle);
}

constexpr hipplan::llvm_module::Interface kFunctions = {
    hipplan::llvm_module::kInterface, LLVM_VERSION_STRING, create, decode, destroy};

}  // namespace

extern "C" __attribute__((visibility("default"))) const hipplan::llvm_module::Interface*
hipplan_llvm_interface() {
  return &kFunctions;
}
