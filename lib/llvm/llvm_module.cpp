#include "llvm/llvm_module.h"

#include <llvm/Config/llvm-config.h>
#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCDisassembler/MCDisassembler.h>
#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstPrinter.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/MCTargetOptions.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Triple.h>

#include <algorithm>
#include <cstring>
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

/// What LLVM reads at most, that of processors with the longest instructions.
constexpr size_t kMostBytes = 20;

/// LLVM's parts for one processor.
struct Disassembler {
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  llvm::MCTargetOptions options;
  std::unique_ptr<llvm::MCAsmInfo> syntax;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCSubtargetInfo> processor;
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> decoder;
  std::unique_ptr<llvm::MCInstPrinter> printer;
  unsigned most_bytes = 0;       ///< of an instruction of this processor
  bool literal_after_8 = false;  ///< whether 64-bit encodings take a literal
};

bool in_known_family(std::string_view cpu) {
  return std::any_of(std::begin(kFamilies), std::end(kFamilies),
                     [&](std::string_view family) { return cpu.starts_with(family); });
}

/// A decoder that reads kMostBytes, whatever the processor. A literal where it has none is then
/// decoded, and refused by its size; else LLVM writes that it lacks bytes to a stream that is not
/// there, which ends the process. The limit is taken when the decoder is made, which is LLVM's own
/// affair: a test decodes such a literal.
std::unique_ptr<llvm::MCDisassembler> make_decoder(const llvm::Target& target,
                                                   llvm::MCSubtargetInfo& processor,
                                                   llvm::MCContext& context) {
  constexpr const char* kLongest = "nsa-encoding";
  const bool has = processor.checkFeatures(std::string("+") + kLongest);
  if (!has) processor.ToggleFeature(kLongest);
  std::unique_ptr<llvm::MCDisassembler> out(target.createMCDisassembler(processor, context));
  if (!has) processor.ToggleFeature(kLongest);
  return out;
}

std::unique_ptr<Disassembler> make(const llvm::Target& target, const char* cpu,
                                   const char* features) {
  const TripleName name(kTriple);
  const llvm::Triple triple(kTriple);
  auto out = std::make_unique<Disassembler>();
  out->processor.reset(target.createMCSubtargetInfo(name, "", ""));
  if (!out->processor || !out->processor->isCPUStringValid(cpu)) return nullptr;
  out->processor.reset(target.createMCSubtargetInfo(name, cpu, features));
  out->registers.reset(target.createMCRegInfo(name));
  out->instructions.reset(target.createMCInstrInfo());
  if (!out->processor || !out->registers || !out->instructions) return nullptr;
  out->syntax.reset(target.createMCAsmInfo(*out->registers, name, out->options));
  if (!out->syntax) return nullptr;
  out->most_bytes = out->syntax->getMaxInstLength(out->processor.get());
  out->literal_after_8 = out->processor->checkFeatures("+vop3-literal");
  out->context = std::make_unique<llvm::MCContext>(triple, out->syntax.get(), out->registers.get(),
                                                   out->processor.get());
  out->decoder = make_decoder(target, *out->processor, *out->context);
  out->printer.reset(target.createMCInstPrinter(triple, out->syntax->getAssemblerDialect(),
                                                *out->syntax, *out->instructions, *out->registers));
  if (!out->decoder || !out->printer) return nullptr;
  return out;
}

void* create(const char* cpu, const char* features) {
  static const bool initialised = [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
    return true;
  }();
  (void)initialised;
  try {
    std::string ignored;
    const llvm::Target* target = llvm::TargetRegistry::lookupTarget(TripleName(kTriple), ignored);
    if (target == nullptr || !in_known_family(cpu)) return nullptr;
    return make(*target, cpu, features).release();
  } catch (...) {  // no memory; nothing may be thrown to another C++ runtime
    return nullptr;
  }
}

/// Whether the processor has instructions of so many bytes.
bool has_size(const Disassembler& parts, uint64_t size) {
  return size <= parts.most_bytes && (parts.literal_after_8 || size % 8 == 0 || size == 4);
}

size_t decode_inside(const Disassembler& parts, llvm::ArrayRef<uint8_t> code, uint64_t address,
                     std::string& text) {
  // Bytes beyond the end are zero for the decoder; what needs them is no instruction.
  uint8_t padded[kMostBytes] = {};
  std::copy_n(code.begin(), std::min(code.size(), kMostBytes), padded);
  llvm::MCInst instruction;
  llvm::raw_null_ostream silent;  // one of its own: threads decode at the same time
  uint64_t size = 0;
  if (parts.decoder->getInstruction(instruction, size, padded, address, silent) !=
          llvm::MCDisassembler::Success ||
      size > code.size() || !has_size(parts, size))
    return 0;
  llvm::raw_string_ostream out(text);
  parts.printer->printInst(&instruction, address, "", *parts.processor, out);
  out.flush();
  return size;
}

size_t decode(void* handle, const uint8_t* code, size_t code_size, uint64_t address, char* text,
              size_t text_size) {
  try {
    std::string line;
    const size_t size =
        decode_inside(*static_cast<const Disassembler*>(handle), {code, code_size}, address, line);
    if (size == 0 || text_size == 0) return size;
    const size_t copied = std::min(text_size - 1, line.size());
    std::memcpy(text, line.data(), copied);
    text[copied] = 0;
    return size;
  } catch (...) {
    return 0;
  }
}

void destroy(void* handle) {
  delete static_cast<Disassembler*>(handle);
}

constexpr hipplan::llvm_module::Interface kFunctions = {
    hipplan::llvm_module::kInterface, LLVM_VERSION_STRING, create, decode, destroy};

}  // namespace

extern "C" __attribute__((visibility("default"))) const hipplan::llvm_module::Interface*
hipplan_llvm_interface() {
  return &kFunctions;
}
