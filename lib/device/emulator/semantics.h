// The table of instruction meanings, keyed by mnemonic and shared by all architectures.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codeobject/disassembly/instruction.h"
#include "device/emulator/operation.h"

namespace hipplan::emulator {

class Lowering;
using disassembly::Instruction;

/// Types of an instruction's operands in printed order.
struct Shape {
  Type to = Type::none, also = Type::none;
  std::array<Type, 4> from{};
  uint8_t sources = 0;
};

/// Properties of an instruction that its shape does not tell.
enum Flag : uint32_t {
  kVector = 1,        ///< counts active lanes; VOP modifiers are legal
  kIntegerClamp = 2,  ///< clamp saturates; the handler looks at Op::clamp
  kKeepsHigh = 4,     ///< a 16-bit result keeps the upper half of its register on gfx9 too
  kReadsVcc = 8,      ///< the last source is VCC and is not printed
  kAnyModifier = 16,  ///< the handler's own lowering has checked the modifiers
  kOwnOpSel = 32,     ///< op_sel goes to Op::packed instead of selecting halves
};

/// Builds the operation(s) of one instruction. Null stands for the general way, driven by the
/// shape.
using Lower = Result<void> (*)(const Instruction&, Lowering&, Op&);

/// Where AMD's ISA documents define an instruction: the format whose part of the document's chapter
/// "Instructions" has it, "VOP2", for each family of documents. Empty: not in that family's.
struct Citation {
  std::string_view cdna;   ///< CDNA2 (gfx90a), CDNA3 (gfx94x) or CDNA4 (gfx95x)
  std::string_view rdna3;  ///< RDNA3 or RDNA3.5 (gfx11)
  std::string_view rdna4;  ///< RDNA4 (gfx12)
  std::string_view note;   ///< instead of the others: why no document is cited
  [[nodiscard]] constexpr bool given() const {
    return !cdna.empty() || !rdna3.empty() || !rdna4.empty() || !note.empty();
  }
};

/// A line of a table of semantics. One without a mnemonic, made by a function of namespace isa,
/// heads a group: it cites what defines the entries up to the next such line.
struct Semantics {
  std::string_view mnemonic;  ///< without _e32, _e64, _dpp, _sdwa
  Handler run = nullptr;
  Handler directed = nullptr;  ///< see Op::directed
  Shape shape = {};
  uint32_t flags = 0;
  Lower lower = nullptr;
  int64_t parameter = 0;  ///< for lowerings that serve many entries, for instance bytes per lane
  Citation cited = {};    ///< of a group's head
};

/// Heads of groups.
namespace isa {
constexpr Semantics each(std::string_view cdna, std::string_view rdna3, std::string_view rdna4) {
  return {.mnemonic = {}, .shape = {}, .cited = {cdna, rdna3, rdna4, {}}};
}
constexpr Semantics all(std::string_view format) {
  return each(format, format, format);
}
constexpr Semantics cdna(std::string_view format) {
  return each(format, {}, {});
}
constexpr Semantics rdna(std::string_view format) {
  return each({}, format, format);
}
constexpr Semantics rdna3(std::string_view format) {
  return each({}, format, {});
}
constexpr Semantics rdna4(std::string_view format) {
  return each({}, {}, format);
}
/// For what no document defines.
constexpr Semantics none(std::string_view why) {
  return {.mnemonic = {}, .shape = {}, .cited = {{}, {}, {}, why}};
}
}  // namespace isa

/// A second name of an entry, "s_load_b128" for "s_load_dwordx4".
struct Alias {
  std::string_view name, of;
};

/// For instructions that change nothing that can be seen here: waits, hints, cache control.
inline void do_nothing(Wave&, const Op&) {}
inline Result<void> lower_nothing(const Instruction&, Lowering&, Op&) {
  return {};
}

// One function per file of semantics.
std::span<const Semantics> scalar_semantics();
std::span<const Semantics> scalar_memory_semantics();
std::span<const Semantics> control_semantics();
std::span<const Semantics> scalar_store_semantics();
std::span<const Semantics> exec_semantics();
std::span<const Semantics> mode_semantics();
std::span<const Semantics> integer_semantics();
std::span<const Semantics> compare_semantics();
std::span<const Semantics> float_semantics();
std::span<const Semantics> double_semantics();
std::span<const Semantics> half_semantics();
std::span<const Semantics> convert_semantics();
std::span<const Semantics> lane_semantics();
std::span<const Semantics> lds_semantics();
std::span<const Semantics> memory_semantics();
std::span<const Semantics> atomic_semantics();
std::span<const Semantics> packed_semantics();
std::span<const Semantics> matrix_semantics();
std::span<const Semantics> rdna_semantics();
std::span<const Semantics> call_semantics();
std::span<const Semantics> fp8_semantics();
std::span<const Semantics> register_index_semantics();
std::span<const Semantics> lds_direct_semantics();
std::span<const Semantics> formatted_semantics();
std::span<const Semantics> lds_exchange_semantics();
std::span<const Semantics> wide_vector_semantics();
std::span<const Semantics> block_semantics();
std::span<const Alias> aliases();

/// The entry of a mnemonic, through the aliases, or null. The index is built once, on first use.
const Semantics* find_semantics(std::string_view mnemonic);

/// An entry with its other names and the citation at the head of its group.
struct Defined {
  std::string_view mnemonic;
  std::vector<std::string_view> aliases;
  Citation cited;
};
/// Every entry that find_semantics can give, in the tables' order.
std::vector<Defined> all_semantics();

/// Operations by emulated address: where jumps through registers may land. Filled when a kernel's
/// lowering is finished.
struct CodeMap {
  std::vector<std::pair<uint64_t, uint32_t>> starts;  ///< address, first operation; ascending
  [[nodiscard]] std::optional<uint32_t> find(uint64_t address) const;
};

/// One kernel's operations while they are built.
class Lowering {
 public:
  struct Settings {
    std::string arch;        ///< "gfx942"
    unsigned lanes = 64;     ///< wave size of the kernel
    unsigned vgprs = 0;      ///< architectural VGPRs the kernel owns
    unsigned acc_vgprs = 0;  ///< AccVGPRs the kernel owns
    uint64_t load_bias = 0;  ///< emulated address minus address in the code object
  };
  explicit Lowering(Settings settings) : settings_(std::move(settings)) {}

  [[nodiscard]] const Settings& settings() const { return settings_; }
  /// gfx9 family: 16-bit results clear the upper half.
  [[nodiscard]] bool is_gfx9() const { return settings_.arch.rfind("gfx9", 0) == 0; }

  // Operands. Each checks that the kernel owns the registers.
  Result<Source> source(const disassembly::Operand& operand, Type type, unsigned words = 0) const;
  Result<Destination> destination(const disassembly::Operand& operand, Type type,
                                  unsigned words = 0) const;
  /// VCC or EXEC as operands that are not printed.
  [[nodiscard]] Source scalar_source(unsigned number, Type type) const;
  [[nodiscard]] Destination scalar_destination(unsigned number, Type type) const;

  /// The general way: destinations and sources by the entry's shape, then VOP modifiers.
  Result<void> by_shape(const Instruction& instruction, const Semantics& entry, Op& op) const;
  /// clamp, omod, op_sel, DPP and SDWA into `op`. Fails for modifiers that it does not know.
  Result<void> modifiers(const Instruction& instruction, const Semantics& entry, Op& op) const;

  /// Appends the operation(s) of an instruction. Instructions come in address order.
  Result<void> add(const Instruction& instruction, uint32_t line);
  /// Appends one operation; for lowerings that make several out of one instruction. The operation
  /// that the lowering was given is appended after it returns, unless its handler is null.
  void push(const Op& op);
  /// Entry of the instruction that is being lowered.
  [[nodiscard]] const Semantics& entry() const { return *entry_; }

  /// The kernel indexes registers: `handler` runs for each operation that writes M0, wherever it
  /// stands, and runs Op::followed, what the operation is without it.
  void follow_m0(Handler handler) { follow_m0_ = handler; }

  /// The operation that is appended next gets `address` as its Op::target.
  void branch_to(uint64_t address);

  /// The kernel jumps to addresses in registers: functions that it may call are lowered with it.
  std::shared_ptr<const CodeMap> jumps() {
    jumps_ = true;
    return code_map_;
  }
  [[nodiscard]] bool has_jumps() const { return jumps_; }
  [[nodiscard]] std::shared_ptr<const CodeMap> code_map() const { return code_map_; }
  /// Ends a run of instructions: going on behind the last one is a fault.
  void end_of_code();

  /// The instruction may set MODE's round bits of f16 and f64 to another direction than to nearest.
  void rounds_halves(uint64_t address) {
    if (!half_rounding_) half_rounding_ = address;
  }
  /// Address of the first such instruction.
  [[nodiscard]] std::optional<uint64_t> half_rounding() const { return half_rounding_; }

  /// How far the lowering has come; what was added since a mark can be taken back.
  struct Mark {
    size_t ops, starts, targets;
    std::optional<uint64_t> half_rounding;
  };
  [[nodiscard]] Mark mark() const {
    return {ops_.size(), starts_.size(), targets_.size(), half_rounding_};
  }
  void rewind(const Mark& to) {
    ops_.resize(to.ops);
    starts_.resize(to.starts);
    targets_.resize(to.targets);
    half_rounding_ = to.half_rounding;
  }

  /// Resolves branch targets, puts a guard behind the last operation and hands all of them out.
  Result<std::vector<Op>> finish();
  /// First operation of each instruction, by address, ascending.
  [[nodiscard]] const std::vector<std::pair<uint64_t, uint32_t>>& starts() const { return starts_; }

 private:
  Settings settings_;
  const Semantics* entry_ = nullptr;
  uint32_t line_ = 0;
  std::optional<uint64_t> half_rounding_;
  Handler follow_m0_ = nullptr;
  bool jumps_ = false;
  std::shared_ptr<CodeMap> code_map_ = std::make_shared<CodeMap>();
  std::vector<Op> ops_;
  std::vector<std::pair<uint64_t, uint32_t>> starts_;   ///< address, first operation
  std::vector<std::pair<uint32_t, uint64_t>> targets_;  ///< operation, target address
};

/// unusable/"operand" and unusable/"modifier" with the instruction's words in them.
Error operand_error(const Instruction& instruction, const std::string& what);
Error modifier_error(const Instruction& instruction, std::string_view modifier);

}  // namespace hipplan::emulator
