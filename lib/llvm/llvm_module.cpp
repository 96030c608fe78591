#include "llvm/llvm_module.h"

#include <llvm-c/Disassembler.h>
#include <llvm/Config/llvm-config.h>

// Declared by hand: llvm-c/Target.h declares every target of the installed LLVM.
extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUDisassembler();
}

namespace {

constexpr const char* kTriple = "amdgcn-amd-amdhsa";

void* create(const char* cpu, const char* features) {
  static const bool initialised = [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
    return true;
  }();
  (void)initialised;
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
