#include "commands/reasons.h"

#include <iterator>

namespace hipplan::commands {
namespace {

/// Behind the checks of the file: code objects, provider, target, handler, what a driver would say.
constexpr plan::ReasonFacts kRestoreReasons[] = {
    {"code-form", "elf-structure", "damaged", "a code object is no sound ELF file"},
    {"code-form", "code-object-flags", "damaged", "a code object's flags contradict each other"},
    {"code-form", "cubin", "damaged", "code for an NVIDIA GPU is no sound cubin"},
    {"code-form", "ptx", "damaged", "code for an NVIDIA GPU is no sound PTX"},
    {"code-form", "code-object", "damaged", "a code object is no sound AMDGPU ELF file"},
    {"code-form", "code-object-image", "damaged", "a code object's segments or symbols cannot be"},
    {"code-form", "code-object-metadata", "damaged", "a code object's metadata cannot be"},
    {"code-form", "kernel-descriptor", "damaged", "a kernel descriptor contradicts its metadata"},
    {"engine", "engine", "unusable", "the provider has no such engine"},
    {"target", "target", "unusable", "no plan, or not this plan, runs on the target"},
    {"handler", "handler", "unusable", "no such dispatch handler, or named without its version"},
    {"handler-restore", "handler-restore", "unusable", "the dispatch handler cannot restore"},
    {"signature", "signature", "unusable", "the argument list differs from the handler's"},
    {"launch-values", "launch-values", "unusable",
     "a launch value is missing, extra, of the wrong type or out of range"},
    {"promise", "envelope-payload", "damaged", "the launch contradicts what the envelope promises"},
    {"code-version", "code-object-version", "unusable",
     "a code object of another version or for an unknown machine"},
    {"code-target", "code-target", "unusable",
     "the code object is for another architecture than the plan says"},
    {"symbol", "symbol", "unusable", "the code object has no kernel of the recorded name"},
    {"code-signature", "code-signature", "unusable",
     "the recorded arguments differ from the code object's metadata"},
};

/// Opening a device and running on it (--execute).
constexpr plan::ReasonFacts kExecuteReasons[] = {
    {"device", "device", "bad-input", "not a device's name, or no such device here"},
    {"device", "no-emulator", "machine", "the emulator's module cannot be opened"},
    {"device", "emulator-version", "machine", "the emulator's module is of another version"},
    {"device", "no-disassembler", "machine", "the decoder's module cannot be opened"},
    {"device", "disassembler-version", "machine", "the decoder's module is of another version"},
    {"device", "unknown-arch", "unusable", "the decoder does not know the architecture"},
    {"device", "instruction-text", "internal", "the decoder's answer is not understood"},
    {"device", "shared-library", "machine", "a module cannot be loaded"},
    {"device", "hip-library", "machine", "the HIP runtime cannot be loaded"},
    {"device", "hip-symbol", "machine", "the HIP runtime lacks a function"},
    {"device", "cuda-library", "machine", "the CUDA driver cannot be loaded"},
    {"device", "cuda-symbol", "machine", "the CUDA driver lacks a function"},
    {"device", "no-device", "machine", "there is no such device in the machine"},
    {"device", "device-arch", "unusable", "the device is of another or an unknown architecture"},
    {"device", "device-memory", "machine", "the device has not enough memory"},
    {"device", "driver", "machine", "a call of the driver failed"},
    {"device", "not-supported", "unusable", "the device lacks what was asked of it"},
    {"driver", "driver-load", "unusable", "code that the device or its driver refuses"},
    {"driver", "arch", "unusable", "the emulator does not serve this architecture"},
    {"driver", "kernel-code", "damaged", "a kernel's code lies outside its segment"},
    {"driver", "segment", "damaged", "a segment of the code object cannot be loaded"},
    {"driver", "relocation", "unusable", "a relocation that the loader does not apply"},
    {"driver", "undecodable", "unusable", "machine code that does not decode"},
    {"driver", "unknown-instruction", "unusable", "an instruction that the emulator lacks"},
    {"driver", "operand", "unusable", "an operand that the emulator does not take"},
    {"driver", "modifier", "unusable", "an instruction modifier that the emulator lacks"},
    {"driver", "branch-target", "unusable", "a branch to no instruction"},
    {"run", "call-target", "machine", "a call to no function"},
    {"run", "end-of-code", "machine", "execution runs beyond the code"},
    {"driver", "instruction-count", "unusable", "more instructions than the emulator takes"},
    {"driver", "registers", "unusable", "a kernel needs more registers than the device has"},
    {"driver", "lds", "unusable", "a kernel needs more LDS than the device has"},
    {"driver", "private", "unusable", "a kernel needs more private memory than the emulator gives"},
    {"driver", "kernarg", "unusable", "a kernel has more argument bytes than the emulator takes"},
    {"driver", "wavefront-size", "unusable", "a wavefront size that the target lacks"},
    {"driver", "register-index", "machine", "a register beyond the kernel's"},
    {"driver", "register-out-of-range", "unusable", "a register beyond the kernel's"},
    {"driver", "foreign-kernel", "internal", "a kernel of another device"},
    {"run", "foreign-event", "internal", "an event of another device"},
    {"run", "gate-expired", "machine", "work that was held up started by itself"},
    {"driver", "no-code", "internal", "a launch without a code object"},
    {"run", "grid", "bad-input", "a grid that is empty or too large"},
    {"run", "block", "bad-input", "a workgroup that the kernel or the device cannot have"},
    {"run", "arguments", "bad-input", "kernel arguments of the wrong size"},
    {"run", "bad-address", "machine", "an access outside every allocation"},
    {"run", "bad-lds-address", "machine", "an access outside LDS"},
    {"run", "bad-private-address", "machine", "an access outside private memory"},
    {"run", "read-only", "machine", "a write to memory that is read-only"},
    {"run", "misaligned", "machine", "an address that is not aligned"},
    {"run", "buffer-resource", "machine", "an access that its buffer resource does not allow"},
    {"run", "overlap", "damaged", "segments of the code object overlap"},
    {"run", "barrier-divergence", "machine", "waves wait at different barriers"},
    {"run", "instruction-budget", "machine", "a kernel does not end"},
    {"run", "race", "machine", "two waves touch the same memory without order"},
    {"run", "uninitialized", "machine", "a read of memory that nothing has written"},
    {"driver", "rounding", "unusable", "a rounding mode that the emulator lacks"},
    {"run", "mode", "machine", "a mode register setting that the emulator lacks"},
    {"run", "trap", "machine", "a kernel stopped itself"},
    {"run", "out-of-memory", "machine", "out of memory"},
    {"run", "unknown-uid", "bad-input", "a tensor that the plan does not have"},
    {"run", "missing-uid", "bad-input", "a tensor without an address"},
    {"run", "duplicate-uid", "bad-input", "a tensor with two addresses"},
    {"run", "address-alignment", "bad-input", "an address that is not aligned as the plan needs"},
    {"run", "null-workspace", "bad-input", "a workspace is needed and not given"},
    {"result", "no-graph", "bad-input", "the plan carries no graph to check results against"},
    {"result", "graph-key", "damaged", "the graph is not the one the plan was baked from"},
    {"result", "graph-plan", "damaged", "plan and graph disagree about tensors"},
    {"result", "reference-unsupported", "unusable", "the CPU reference lacks the operation"},
    {"result", "missing-tensor", "internal", "the CPU reference misses a tensor"},
    {"result", "axis", "bad-input", "the graph names an axis that is not there"},
    {"result", "shape", "bad-input", "the graph's shapes do not fit"},
    {"result", "attribute", "bad-input", "an attribute of the graph that cannot be computed"},
    {"result", "dropout", "unusable", "the CPU reference computes no dropout"},
    {"result", "missing-input", "bad-input", "an input of the graph is missing"},
    {"result", "input-size", "bad-input", "an input or output is of another size than its tensor"},
    {"result", "input-value", "bad-input", "an input holds a value that cannot be"},
    {"result", "touched-gap", "negative", "the kernel wrote between a tensor's elements"},
    {"result", "unstable-result", "negative", "two runs give different results"},
    {"result", "missing-output", "negative", "the plan does not write an output of its graph"},
    {"result", "wrong-result", "negative", "the results differ from the CPU reference"},
};

/// What was asked, and the machine.
constexpr plan::ReasonFacts kGeneralReasons[] = {
    {"request", "usage", "bad-input", "options or arguments do not fit together"},
    {"request", "open", "bad-input", "a file or folder cannot be opened, or nothing is there"},
    {"request", "output-name", "bad-input", "an output is read too, or wrongly named"},
    {"request", "file-exists", "bad-input", "a file is there already and would change"},
    {"request", "too-large", "bad-input", "a file is larger than this reader takes"},
    {"request", "no-such-member", "bad-input", "the bundle has no such member"},
    {"request", "no-plan", "unusable", "a plan was required and the file holds none"},
    {"request", "architecture", "bad-input", "not an architecture's name"},
    {"request", "unknown-target", "bad-input", "no target of this name is known"},
    {"request", "undescribed-target", "unusable", "no target file describes the architecture"},
    {"request", "duplicate-target", "bad-input", "a target is given twice"},
    {"request", "target-file", "bad-input", "a target description cannot be read"},
    {"request", "data-folder", "machine", "this installation's data cannot be read"},
    {"request", "trust-folder", "bad-input", "the trust folder cannot be used"},
    {"request", "key", "bad-input", "not an Ed25519 key in PEM form"},
    {"machine", "io", "machine", "reading or writing failed"},
    {"machine", "sign", "machine", "the cryptographic library failed"},
    {"machine", "interrupted", "interrupted", "stopped on request"},
    {"machine", "exception", "internal", "a fault inside hipplan"},
    {"machine", "struct-size", "bad-input",
     "an options structure asks for more than this version has, or does not say its size"},
};

}  // namespace

const std::vector<plan::ReasonFacts>& verify_reasons() {
  static const std::vector<plan::ReasonFacts> kAll = [] {
    std::vector<plan::ReasonFacts> out;
    const auto add = [&out](const auto& table) {
      out.insert(out.end(), std::begin(table), std::end(table));
    };
    add(plan::kReadReasons);
    add(kRestoreReasons);
    add(kExecuteReasons);
    add(plan::kBundleReasons);
    add(kGeneralReasons);
    return out;
  }();
  return kAll;
}

void print_reasons(Io& io) {
  json::Writer out;
  out.begin_object().member("schema", "hipplan.reasons-list/1").key("reasons").begin_array();
  for (const auto& entry : verify_reasons()) {
    out.begin_object().member("reason", entry.reason).member("class", entry.error_class);
    out.member("meaning", entry.meaning).end_object();
    if (!io.json()) io.line(cat(entry.reason, "  ", entry.error_class, "  ", entry.meaning));
  }
  out.end_array().end_object();
  if (io.json()) io.line(out.text());
}

}  // namespace hipplan::commands
