#include "codeobject/elf_file.h"

namespace hipplan::codeobject {
namespace {

// Far above what compilers make; keeps a hostile header from asking for work without end.
constexpr uint64_t kMaxSymbols = 1u << 20;
// Names may share text: linkers let one be the end of another. They share little of it, though, so
// all names out of a string table come to no more than a few times its size.
constexpr uint64_t kMaxNameSharing = 4;

Error damaged_elf(const std::string& where, std::string what, std::string expected = "",
                  std::string found = "") {
  return Error{Code::damaged,
               "elf-structure",
               where,
               std::move(what),
               std::move(expected),
               std::move(found),
               "make the file again, or copy it again in binary mode"};
}

Result<Elf64_Ehdr> read_header(ByteView bytes, const std::string& where) {
  const std::string place = where + ": ELF header";
  const auto header = load<Elf64_Ehdr>(bytes, 0);
  if (!header)
    return damaged_elf(place, "the file ends inside the header", cat(sizeof(Elf64_Ehdr), " bytes"),
                       cat(bytes.size(), " bytes"));
  if (std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
    return damaged_elf(place, "the magic is not ELF's");
  const auto field = [&](const char* name, uint64_t expected, uint64_t found) -> Result<void> {
    if (expected == found) return {};
    return damaged_elf(cat(place, ", ", name), "wrong value", cat(expected), cat(found));
  };
  HIPPLAN_TRY(field("EI_CLASS", ELFCLASS64, header->e_ident[EI_CLASS]));
  HIPPLAN_TRY(field("EI_DATA", ELFDATA2LSB, header->e_ident[EI_DATA]));
  HIPPLAN_TRY(field("EI_VERSION", EV_CURRENT, header->e_ident[EI_VERSION]));
  HIPPLAN_TRY(field("e_version", EV_CURRENT, header->e_version));
  HIPPLAN_TRY(field("e_ehsize", sizeof(Elf64_Ehdr), header->e_ehsize));
  if (header->e_phnum != 0)
    HIPPLAN_TRY(field("e_phentsize", sizeof(Elf64_Phdr), header->e_phentsize));
  if (header->e_shnum != 0)
    HIPPLAN_TRY(field("e_shentsize", sizeof(Elf64_Shdr), header->e_shentsize));
  return *header;
}

/// `count` table entries of type T at `offset`.
template <class T>
Result<std::vector<T>> read_table(ByteView bytes, uint64_t offset, uint64_t count,
                                  const std::string& place) {
  const auto size = checked_mul<uint64_t>(count, sizeof(T));
  const auto part = size ? slice(bytes, offset, *size) : std::nullopt;
  if (!part)
    return damaged_elf(place, "the table reaches outside the file",
                       cat("at most ", bytes.size(), " bytes"),
                       cat(count, " entries at offset ", offset));
  std::vector<T> table(static_cast<size_t>(count));
  if (!table.empty()) std::memcpy(table.data(), part->data(), part->size());
  return table;
}

/// Names out of one string table. What all of them come to is bounded, or else a million names that
/// are one long text would cost a million times its length.
class StringTable {
 public:
  explicit StringTable(ByteView table)
      : table_(table), most_(kMaxNameSharing * table.size() + kMaxNameBytes) {}
  /// The error says what is wrong with the name and not where it is.
  Result<std::string_view> at(uint64_t offset) {
    const auto name = string_at(table_, offset);
    if (!name)
      return damaged_elf("", "the name is not inside the string table",
                         cat("an end within ", kMaxNameBytes, " bytes"), cat("offset ", offset));
    taken_ += name->size();
    if (taken_ > most_)
      return damaged_elf("", "the names are far longer together than the string table",
                         cat("at most ", most_, " bytes"), cat("more than ", taken_));
    return *name;
  }

 private:
  ByteView table_;
  uint64_t most_, taken_ = 0;
};

/// Adds up the sizes of parts of a file that do not overlap: together they fit into it. Reading
/// each of them is then work in proportion to the file.
Result<void> add_part(uint64_t& sum, uint64_t size, ByteView bytes, const std::string& where) {
  const auto next = checked_add(sum, size);
  if (!next || *next > bytes.size())
    return damaged_elf(where, "the sections overlap: together they are larger than the file",
                       cat("at most ", bytes.size(), " bytes"));
  sum = *next;
  return {};
}

Result<void> read_sections(ElfFile& file, ByteView bytes, const std::string& where) {
  const std::string table = where + ": section headers";
  HIPPLAN_TRY_ASSIGN(const auto headers, read_table<Elf64_Shdr>(bytes, file.header.e_shoff,
                                                                file.header.e_shnum, table));
  file.sections.reserve(headers.size());
  uint64_t sum = 0;
  for (size_t i = 0; i < headers.size(); ++i) {
    ElfSection section{headers[i], {}, {}};
    // Cubins that are not linked have a type of their own for shared memory, which has no bytes.
    constexpr uint32_t kCudaSharedNoBits = SHT_LOPROC + 0xa;
    const uint32_t type = headers[i].sh_type;
    if (type != SHT_NOBITS && type != SHT_NULL && type != kCudaSharedNoBits) {
      const auto content = slice(bytes, headers[i].sh_offset, headers[i].sh_size);
      if (!content)
        return damaged_elf(cat(where, ": section ", i), "the section reaches outside the file",
                           cat("at most ", bytes.size(), " bytes"),
                           cat(headers[i].sh_size, " bytes at offset ", headers[i].sh_offset));
      section.content = *content;
      HIPPLAN_TRY(add_part(sum, content->size(), bytes, table));
    }
    file.sections.push_back(section);
  }
  if (file.sections.empty()) return {};
  if (file.header.e_shstrndx >= file.sections.size())
    return damaged_elf(where + ": ELF header, e_shstrndx", "no such section",
                       cat("below ", file.sections.size()), cat(file.header.e_shstrndx));
  StringTable names(file.sections[file.header.e_shstrndx].content);
  for (size_t i = 0; i < file.sections.size(); ++i) {
    if (file.sections[i].header.sh_type == SHT_NULL) continue;
    const auto name = names.at(file.sections[i].header.sh_name);
    if (!name) return name.error().within(cat(where, ": section ", i, ", sh_name"));
    file.sections[i].name = *name;
  }
  return {};
}

}  // namespace

std::optional<std::string_view> string_at(ByteView table, uint64_t offset) {
  if (offset >= table.size()) return std::nullopt;
  const std::string_view rest =
      as_text(table.subspan(static_cast<size_t>(offset))).substr(0, kMaxNameBytes + 1);
  const size_t end = rest.find('\0');
  if (end == std::string_view::npos) return std::nullopt;
  return rest.substr(0, end);
}

Result<ElfFile> read_elf(ByteView bytes, const std::string& where) {
  ElfFile file;
  HIPPLAN_TRY_ASSIGN(file.header, read_header(bytes, where));
  HIPPLAN_TRY_ASSIGN(file.segments,
                     read_table<Elf64_Phdr>(bytes, file.header.e_phoff, file.header.e_phnum,
                                            where + ": program headers"));
  HIPPLAN_TRY(read_sections(file, bytes, where));
  return file;
}

Result<std::vector<ElfSymbol>> read_symbols(const ElfFile& file, const ElfSection& section,
                                            const std::string& where) {
  const std::string place = cat(where, ": section ", section.name.substr(0, 200));
  if (section.header.sh_entsize != sizeof(Elf64_Sym) ||
      section.content.size() % sizeof(Elf64_Sym) != 0)
    return damaged_elf(
        place, "the size of the symbol table is wrong", cat("a multiple of ", sizeof(Elf64_Sym)),
        cat(section.content.size(), " bytes in entries of ", section.header.sh_entsize));
  const uint64_t count = section.content.size() / sizeof(Elf64_Sym);
  if (count > kMaxSymbols)
    return damaged_elf(place, "too many symbols", cat("at most ", kMaxSymbols), cat(count));
  if (section.header.sh_link >= file.sections.size() ||
      file.sections[section.header.sh_link].header.sh_type != SHT_STRTAB)
    return damaged_elf(place + ", sh_link", "the string table is missing", "a SHT_STRTAB section",
                       cat(section.header.sh_link));
  StringTable names(file.sections[section.header.sh_link].content);
  std::vector<ElfSymbol> symbols;
  symbols.reserve(count);
  for (uint64_t i = 1; i < count; ++i) {
    ElfSymbol symbol{*load<Elf64_Sym>(section.content, i * sizeof(Elf64_Sym)), {}};
    const auto name = names.at(symbol.raw.st_name);
    if (!name) return name.error().within(cat(place, ", symbol ", i));
    symbol.name = *name;
    symbols.push_back(symbol);
  }
  return symbols;
}

}  // namespace hipplan::codeobject
