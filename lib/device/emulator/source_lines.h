// Source lines of a code object that was compiled with -g: DWARF 5 line programs (.debug_line),
// read defensively from untrusted bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace hipplan::emulator {

/// Addresses of instructions to source lines. Empty when there are none or they are damaged: a
/// message then has no line, nothing else changes.
class SourceLines {
 public:
  /// Reads the .debug_line section of an ELF file.
  static SourceLines read(ByteView code_object);
  /// Reads line programs; `line_strings` and `strings` are .debug_line_str and .debug_str.
  static SourceLines parse(ByteView programs, ByteView line_strings, ByteView strings);

  /// "folder/file.hip:12", or nothing.
  [[nodiscard]] std::string find(uint64_t address) const;
  [[nodiscard]] bool empty() const { return rows_.empty(); }

 private:
  friend class LineProgram;
  struct Row {
    uint64_t address = 0;
    uint32_t file = 0, line = 0;  ///< line 0: no source line from here on
  };
  std::vector<std::string> files_;
  std::vector<Row> rows_;  ///< ascending
};

}  // namespace hipplan::emulator
