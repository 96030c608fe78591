// A checked view of an ELF64 file: headers, sections, strings and symbols. No AMD knowledge here.
#pragma once

#include <elf.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace hipplan::codeobject {

/// No name is longer. Far above what compilers make.
inline constexpr uint64_t kMaxNameBytes = 64u << 10;

struct ElfSection {
  Elf64_Shdr header{};
  std::string_view name;
  ByteView content;  ///< empty for SHT_NOBITS
};

struct ElfSymbol {
  Elf64_Sym raw{};
  std::string_view name;
};

/// Every table and every section lies inside the file; names are inside their string tables. All
/// sections together are no larger than the file, all names together no larger than a few times
/// their table: work for each section or name is work in proportion to the file.
struct ElfFile {
  Elf64_Ehdr header{};
  std::vector<Elf64_Phdr> segments;
  std::vector<ElfSection> sections;
};

/// Little-endian ELF64 only. Fails with damaged, `where` "<where>: <part>".
Result<ElfFile> read_elf(ByteView bytes, const std::string& where);

/// The string at `offset` of a string table, or nothing when it does not end inside the table or is
/// longer than kMaxNameBytes.
[[nodiscard]] std::optional<std::string_view> string_at(ByteView table, uint64_t offset);

/// Symbols of a SHT_SYMTAB or SHT_DYNSYM section, the null symbol left out. Call it once for each
/// table: their number bounds the work.
Result<std::vector<ElfSymbol>> read_symbols(const ElfFile& file, const ElfSection& section,
                                            const std::string& where);

}  // namespace hipplan::codeobject
