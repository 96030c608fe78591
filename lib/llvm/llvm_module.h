// The C interface of libhipplan-llvm.so, the only code that knows LLVM.
//
// The module is opened at run time so that a hipplan without LLVM still bakes, inspects and
// verifies. Both sides are built from this file; a module with another kInterface is refused.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hipplan::llvm_module {

inline constexpr uint32_t kInterface = 1;
inline constexpr const char* kFileName = "libhipplan-llvm.so";
inline constexpr const char* kEntry = "hipplan_llvm_interface";

/// The functions of the module. Handles of different threads are independent.
struct Interface {
  uint32_t version;          ///< kInterface of the module's build
  const char* llvm_version;  ///< "22.1.8"
  /// Null when `cpu` is no AMDGPU processor. `features` in LLVM's notation, "+wavefrontsize64".
  void* (*create)(const char* cpu, const char* features);
  /// Decodes one instruction at the start of `code`. Returns its size in bytes, at most
  /// `code_size`, and writes its text, zero-terminated; returns 0 when the bytes are no
  /// instruction.
  size_t (*decode)(void* handle, const uint8_t* code, size_t code_size, uint64_t address,
                   char* text, size_t text_size);
  void (*destroy)(void* handle);
};

/// Type of the one exported function, named kEntry.
using Entry = const Interface*();

}  // namespace hipplan::llvm_module
