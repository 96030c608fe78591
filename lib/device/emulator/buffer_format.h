// Data and number formats of buffer resources: between elements in memory and registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace hipplan::emulator {

/// Numbers as the resources of gfx9 encode them.
enum class NumberFormat : uint8_t {
  unorm,
  snorm,
  uscaled,
  sscaled,
  uint,
  sint,
  reserved,
  floating
};

struct BufferFormat {
  uint8_t bits[4] = {};  ///< of X, Y, Z, W, the first in the lowest bits; 0: absent
  NumberFormat number = NumberFormat::reserved;

  /// Formats that do not exist read 0 and write nothing.
  [[nodiscard]] bool exists() const { return bits[0] != 0; }
  [[nodiscard]] unsigned components() const;
  /// Of a whole element.
  [[nodiscard]] unsigned bytes() const;
  /// Components that share a dword with others can only be had with it.
  [[nodiscard]] bool packed() const { return bits[0] % 8 != 0 || bits[1] % 8 != 0; }
  /// From the element's start to the end of component `last`.
  [[nodiscard]] unsigned bytes_to(unsigned last) const;
  [[nodiscard]] bool is_integer() const {
    return number == NumberFormat::uint || number == NumberFormat::sint;
  }
};

/// Separate fields of gfx9, one field of gfx11 and gfx12.
BufferFormat separate_format(unsigned data, unsigned number);
BufferFormat unified_format(unsigned code);
/// "BUF_DATA_FORMAT_16,BUF_NUM_FORMAT_SINT", either part alone, or "BUF_FMT_8_SINT", as LLVM prints
/// formats that are not 8 bits UNORM; nothing for other text.
std::optional<BufferFormat> named_format(std::string_view name);

/// Component `which` of the element at `from`, as stored.
uint32_t read_component(const BufferFormat& format, const std::byte* from, unsigned which);
/// Puts a component's bits into an element of four dwords that is 0 there.
void write_component(const BufferFormat& format, unsigned which, uint32_t raw, uint32_t* element);

/// A stored component as a register has it: float or integer of 32 bits, or of 16.
uint32_t widen_component(NumberFormat number, unsigned bits, uint32_t raw);
uint16_t halve_component(NumberFormat number, unsigned bits, uint32_t raw);
/// And back: saturates; floats are rounded to nearest even.
uint32_t narrow_component(NumberFormat number, unsigned bits, uint32_t value);
uint32_t narrow_half_component(NumberFormat number, unsigned bits, uint16_t value);

}  // namespace hipplan::emulator
