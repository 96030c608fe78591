// Loads and stores that convert: the format comes from the buffer resource, for tbuffer ones from
// the instruction. ISA documents, "Vector Memory Buffer Instructions", "MUBUF Instructions", "MTBUF
// Instructions".
#include "device/emulator/buffer_resource.h"
#include "device/emulator/transfer.h"

namespace hipplan::emulator {
namespace {

/// What an entry's parameter says above the Transfer, and Op::immediate from bit 8 on.
struct Form {
  unsigned count = 1;   ///< components
  bool halves = false;  ///< d16: two components a register
  bool high = false;    ///< the upper half
  bool typed = false;   ///< format from the instruction

  [[nodiscard]] constexpr unsigned words() const { return halves ? (count + 1) / 2 : count; }
  [[nodiscard]] constexpr int64_t pack() const {
    return count | int64_t{halves} << 3 | int64_t{high} << 4 | int64_t{typed} << 5;
  }
  static constexpr Form from(uint64_t packed) {
    return {static_cast<unsigned>(packed & 7), (packed >> 3 & 1) != 0, (packed >> 4 & 1) != 0,
            (packed >> 5 & 1) != 0};
  }
};
constexpr unsigned kFormAt = 8, kTypeAt = 24;

/// Format of an access, and for each register the component it has: 0 and 1 are constants, 4 to 7
/// name X to W.
struct Layout {
  BufferFormat format;
  unsigned select[4] = {0, 0, 0, 0};
};

/// Four widths and the number format in 40 bits.
uint64_t pack_format(const BufferFormat& format) {
  uint64_t packed = static_cast<uint64_t>(format.number) << 32;
  for (unsigned i = 0; i < 4; ++i) packed |= static_cast<uint64_t>(format.bits[i]) << (8 * i);
  return packed;
}
BufferFormat unpack_format(uint64_t packed) {
  BufferFormat format;
  for (unsigned i = 0; i < 4; ++i) format.bits[i] = static_cast<uint8_t>(packed >> (8 * i));
  format.number = static_cast<NumberFormat>(packed >> 32 & 7u);
  return format;
}

/// False after a fault.
bool find_layout(Wave& wave, const Op& op, const Form& form, Layout& layout) {
  if (form.typed) {  // X000, XY00, XYZ0 or XYZW
    layout.format = unpack_format(op.immediate >> kTypeAt);
    for (unsigned i = 0; i < layout.format.components(); ++i) layout.select[i] = 4 + i;
    return true;
  }
  const BufferResource resource(wave.scalars + op.from[kScalar].index,
                                (op.immediate & kGfx9Buffer) != 0);
  if (!resource.has_format()) {
    wave.fail({.reason = "buffer-resource",
               .what = "a resource that adds the lane's number has no data format",
               .found = cat("word 3: ", hex(resource.last))});
    return false;
  }
  layout.format = resource.format();
  for (unsigned i = 0; i < 4; ++i) layout.select[i] = resource.select(i);
  return true;
}

/// Component of a register, or -1 where it has a constant.
int component_in(const Layout& layout, unsigned which) {
  const unsigned select = layout.select[which];
  return select >= 4 && layout.format.bits[select - 4] != 0 ? static_cast<int>(select) - 4 : -1;
}

uint32_t loaded_value(const Layout& layout, const Form& form, unsigned which,
                      const std::byte* from) {
  const BufferFormat& format = layout.format;
  const int component = component_in(layout, which);
  if (component < 0) {
    if (layout.select[which] != 1) return 0;
    return format.is_integer() ? 1u : (form.halves ? 0x3c00u : 0x3f800000u);
  }
  const auto index = static_cast<unsigned>(component);
  const uint32_t raw = read_component(format, from, index);
  return form.halves ? halve_component(format.number, format.bits[index], raw)
                     : widen_component(format.number, format.bits[index], raw);
}

void put_loaded(Row* rows, int lane, const Form& form, unsigned which, uint32_t value) {
  if (!form.halves) {
    rows[which].lane[lane] = value;
    return;
  }
  uint32_t& word = rows[which / 2].lane[lane];
  const bool high = form.high || which % 2 == 1;
  word = high ? (word & 0xffffu) | value << 16 : (word & 0xffff0000u) | value;
}

/// Bytes of an element that a load needs.
unsigned loaded_bytes(const Layout& layout, const Form& form) {
  unsigned bytes = 0;
  for (unsigned i = 0; i < form.count; ++i) {
    const int component = component_in(layout, i);
    if (component >= 0)
      bytes = std::max(bytes, layout.format.bytes_to(static_cast<unsigned>(component)));
  }
  return bytes;
}

void load_formatted(Wave& wave, const Op& op) {
  const Form form = Form::from(op.immediate >> kFormAt);
  Layout layout;
  if (!find_layout(wave, op, form, layout)) return;
  const bool exists = layout.format.exists();
  Op access = op;
  access.bytes = static_cast<uint8_t>(exists ? loaded_bytes(layout, form) : 0);
  Places places;
  places.mask = wave.exec();
  if (access.bytes != 0 && !find_places(wave, access, false, 0, places)) return;
  Row* rows = wave.rows + op.to.index;
  for (uint64_t left = places.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const std::byte* from = access.bytes != 0 ? places.at[lane] : nullptr;
    const bool outside = !exists || (access.bytes != 0 && from == nullptr);
    for (unsigned i = 0; i < form.count; ++i)
      put_loaded(rows, lane, form, i, outside ? 0 : loaded_value(layout, form, i, from));
  }
  wave.counters.bytes_read += moved_bytes(places, access.bytes);
}

uint32_t stored_value(const BufferFormat& format, const Form& form, unsigned component,
                      const Row* rows, int lane, unsigned which) {
  const unsigned bits = format.bits[component];
  if (!form.halves) return narrow_component(format.number, bits, rows[which].lane[lane]);
  const uint32_t word = rows[which / 2].lane[lane];
  const bool high = form.high || which % 2 == 1;
  return narrow_half_component(format.number, bits,
                               static_cast<uint16_t>(high ? word >> 16 : word));
}

/// Components that no register has become 0: an element is written as a whole.
void store_formatted(Wave& wave, const Op& op) {
  const Form form = Form::from(op.immediate >> kFormAt);
  Layout layout;
  if (!find_layout(wave, op, form, layout)) return;
  if (!layout.format.exists()) return;
  Op access = op;
  access.bytes = static_cast<uint8_t>(layout.format.bytes());
  access.data_words = static_cast<uint8_t>(form.words());
  Places places;
  if (!find_places(wave, access, true, 0, places)) return;
  const Row* rows = wave.rows + op.from[kData].index;
  for (uint64_t left = places.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    if (places.at[lane] == nullptr) continue;
    uint32_t element[4] = {};
    unsigned written = 0;
    for (unsigned i = 0; i < form.count; ++i) {
      const int component = component_in(layout, i);
      if (component < 0 || (written >> component & 1u) != 0) continue;
      written |= 1u << component;
      const auto index = static_cast<unsigned>(component);
      write_component(layout.format, index, stored_value(layout.format, form, index, rows, lane, i),
                      element);
    }
    std::memcpy(places.at[lane], element, access.bytes);
  }
  wave.counters.bytes_written += moved_bytes(places, access.bytes);
}

/// The format that a tbuffer instruction names.
Result<BufferFormat> typed_format(const Instruction& instruction, bool unified) {
  const auto* named = instruction.find("format");
  if (named == nullptr) return separate_format(1, 0);
  if (!named->values.empty()) {
    const auto code = static_cast<unsigned>(named->values.front());
    return unified ? unified_format(code) : separate_format(code & 15u, code >> 4 & 7u);
  }
  if (const auto format = named_format(named->word)) return *format;
  return modifier_error(instruction, cat("format:[", named->word, "]"));
}

Result<void> lower_formatted(const Instruction& instruction, Lowering& lowering, Op& op) {
  const auto packed = static_cast<uint64_t>(lowering.entry().parameter) >> 32;
  const bool load = instruction.mnemonic.find("_load_") != std::string::npos;
  HIPPLAN_TRY(load ? lower_vector_load(instruction, lowering, op)
                   : lower_vector_store(instruction, lowering, op));
  const bool unified = !lowering.is_gfx9();
  op.immediate |= packed << kFormAt;
  if (!Form::from(packed).typed) return {};
  HIPPLAN_TRY_ASSIGN(const BufferFormat format, typed_format(instruction, unified));
  op.immediate |= pack_format(format) << kTypeAt;
  return {};
}

constexpr Semantics formatted(std::string_view name, const Form& form) {
  const Transfer transfer{Space::buffer, static_cast<uint8_t>(4 * form.words())};
  return {.mnemonic = name,
          .run = name.find("_load_") != std::string_view::npos ? load_formatted : store_formatted,
          .flags = kVector,
          .lower = lower_formatted,
          .parameter = transfer.pack() | form.pack() << 32};
}

// clang-format off
#define WHOLE(P, TYPED)                                                                                    \
  formatted(P "load_format_x", {1, false, false, TYPED}), formatted(P "load_format_xy", {2, false, false, TYPED}),       \
  formatted(P "load_format_xyz", {3, false, false, TYPED}), formatted(P "load_format_xyzw", {4, false, false, TYPED}),   \
  formatted(P "store_format_x", {1, false, false, TYPED}), formatted(P "store_format_xy", {2, false, false, TYPED}),     \
  formatted(P "store_format_xyz", {3, false, false, TYPED}), formatted(P "store_format_xyzw", {4, false, false, TYPED})
#define HALVES(P, TYPED)                                                                                   \
  formatted(P "load_format_d16_x", {1, true, false, TYPED}), formatted(P "load_format_d16_xy", {2, true, false, TYPED}),     \
  formatted(P "load_format_d16_xyz", {3, true, false, TYPED}), formatted(P "load_format_d16_xyzw", {4, true, false, TYPED}), \
  formatted(P "store_format_d16_x", {1, true, false, TYPED}), formatted(P "store_format_d16_xy", {2, true, false, TYPED}),   \
  formatted(P "store_format_d16_xyz", {3, true, false, TYPED}), formatted(P "store_format_d16_xyzw", {4, true, false, TYPED})

constexpr Semantics kFormattedTable[] = {
    isa::each("MUBUF", "MUBUF", "VBUFFER"),
    WHOLE("buffer_", false), HALVES("buffer_", false),
    formatted("buffer_load_format_d16_hi_x", {1, true, true, false}), formatted("buffer_store_format_d16_hi_x", {1, true, true, false}),

    isa::each("MTBUF", "MTBUF", "VBUFFER"),
    WHOLE("tbuffer_", true), HALVES("tbuffer_", true),
};
// clang-format on

}  // namespace

std::span<const Semantics> formatted_semantics() {
  return kFormattedTable;
}

}  // namespace hipplan::emulator
