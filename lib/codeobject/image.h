// What a loader does with a code object: segments in memory, symbols, relocations.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codeobject/codeobject.h"
#include "codeobject/elf_file.h"

namespace hipplan::codeobject {

/// The PT_LOAD segments: sorted, not overlapping, file parts inside the file, below 2 GiB in all.
Result<std::vector<Segment>> read_segments(const ElfFile& file, ByteView bytes,
                                           const std::string& where);

/// File-backed bytes at a virtual address, all in one segment (an executable one if asked), or
/// nothing.
[[nodiscard]] std::optional<ByteView> file_bytes(const std::vector<Segment>& segments,
                                                 uint64_t address, uint64_t size, bool executable);

/// Dynamic and static symbols with addresses, sorted by (address, name); every range checked. A
/// file has at most one table of each.
class SymbolTable {
 public:
  static Result<SymbolTable> read(const ElfFile& file, const std::vector<Segment>& segments,
                                  const std::string& where);
  /// A symbol of the dynamic table (what loaders look up) by name, or null.
  [[nodiscard]] const Symbol* find(std::string_view name) const;
  [[nodiscard]] const std::vector<Symbol>& defined() const { return defined_; }
  [[nodiscard]] const std::vector<std::string>& undefined() const { return undefined_; }
  /// The dynamic table as it lies in the file, without the null symbol: what relocations refer to.
  [[nodiscard]] const std::vector<ElfSymbol>& dynamic_entries() const { return entries_; }

 private:
  Result<void> add_table(const std::vector<ElfSymbol>& table, bool dynamic,
                         const std::vector<Segment>& segments, const std::string& where);
  std::map<std::string, Symbol, std::less<>> dynamic_;
  std::vector<ElfSymbol> entries_;
  std::vector<Symbol> defined_;
  std::vector<std::string> undefined_;
};

/// Dynamic relocations; only the types that AMD's loader applies.
Result<std::vector<Relocation>> read_relocations(const ElfFile& file, ByteView bytes,
                                                 const SymbolTable& symbols,
                                                 const std::vector<Segment>& segments,
                                                 const std::string& where);

}  // namespace hipplan::codeobject
