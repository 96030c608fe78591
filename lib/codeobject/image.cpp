#include "codeobject/image.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace hipplan::codeobject {
namespace {

constexpr uint64_t kMaxImageBytes = 1ull << 31;
constexpr size_t kMaxRelocations = 1u << 20;

Error damaged_image(const std::string& where, std::string what, std::string expected = "",
                    std::string found = "") {
  return Error{Code::damaged,       "code-object-image", where, std::move(what),
               std::move(expected), std::move(found),    ""};
}

/// The last segment that starts at or before `address`: no other one can hold bytes from there on.
const Segment* segment_at(const std::vector<Segment>& segments, uint64_t address) {
  const auto above =
      std::upper_bound(segments.begin(), segments.end(), address,
                       [](uint64_t value, const Segment& s) { return value < s.address; });
  return above == segments.begin() ? nullptr : &*std::prev(above);
}

/// Whether [address, address+size) lies in the memory of one segment.
bool in_memory(const std::vector<Segment>& segments, uint64_t address, uint64_t size) {
  const Segment* s = segment_at(segments, address);
  return s != nullptr && address - s->address <= s->memory_size &&
         size <= s->memory_size - (address - s->address);
}

/// The first text of a name in messages.
std::string_view short_name(std::string_view name) {
  return name.substr(0, 200);
}

/// Bytes that a relocation of this type writes, or 0 for types that loaders do not apply.
uint64_t relocation_size(uint32_t type) {
  switch (type) {
    case 1:  // R_AMDGPU_ABS32_LO
    case 2:  // R_AMDGPU_ABS32_HI
    case 6:  // R_AMDGPU_ABS32
      return 4;
    case 3:   // R_AMDGPU_ABS64
    case 13:  // R_AMDGPU_RELATIVE64
      return 8;
    default:
      return 0;
  }
}
constexpr uint32_t kRelative64 = 13;

/// The error does not say where.
Result<Relocation> read_relocation(const Elf64_Rela& raw, const std::vector<ElfSymbol>& symbols,
                                   const std::vector<Segment>& segments) {
  Relocation out{raw.r_offset, static_cast<uint32_t>(ELF64_R_TYPE(raw.r_info)), raw.r_addend, 0};
  const uint64_t size = relocation_size(out.type);
  if (size == 0)
    return damaged_image("", "unknown relocation type", "1, 2, 3, 6 or 13", cat(out.type));
  if (!in_memory(segments, out.address, size))
    return damaged_image("", "the relocation lies outside all segments", "",
                         cat("address ", out.address));
  const uint64_t index = ELF64_R_SYM(raw.r_info);
  if (out.type == kRelative64) return out;
  if (index == 0 || index > symbols.size())
    return damaged_image("", "no such symbol", cat("1 to ", symbols.size()), cat(index));
  const Elf64_Sym& symbol = symbols[static_cast<size_t>(index - 1)].raw;
  if (symbol.st_shndx != SHN_UNDEF) out.symbol_address = symbol.st_value;
  return out;
}

Result<void> add_relocations(const ElfFile& file, const ElfSection& section,
                             const std::vector<ElfSymbol>& symbols,
                             const std::vector<Segment>& segments, const std::string& where,
                             std::vector<Relocation>& out) {
  const std::string place = cat(where, ": section ", short_name(section.name));
  if (section.header.sh_entsize != sizeof(Elf64_Rela) ||
      section.content.size() % sizeof(Elf64_Rela) != 0)
    return damaged_image(place, "the size of the relocation table is wrong",
                         cat("a multiple of ", sizeof(Elf64_Rela)), cat(section.content.size()));
  if (section.header.sh_link >= file.sections.size() ||
      file.sections[section.header.sh_link].header.sh_type != SHT_DYNSYM)
    return damaged_image(place + ", sh_link", "the symbol table is missing", "a SHT_DYNSYM section",
                         cat(section.header.sh_link));
  const size_t count = section.content.size() / sizeof(Elf64_Rela);
  if (count > kMaxRelocations - out.size())
    return damaged_image(place, "too many relocations", cat("at most ", kMaxRelocations),
                         cat(count));
  for (size_t i = 0; i < count; ++i) {
    const auto raw = *load<Elf64_Rela>(section.content, i * sizeof(Elf64_Rela));
    const auto relocation = read_relocation(raw, symbols, segments);
    if (!relocation) return relocation.error().within(cat(place, ", entry ", i));
    out.push_back(*relocation);
  }
  return {};
}

/// Loaders find relocations through the dynamic section: what it says must be what the sections
/// hold.
Result<void> check_dynamic(const ElfFile& file, ByteView bytes, uint64_t rela_bytes,
                           const std::string& where) {
  uint64_t announced = 0;
  bool seen = false;
  for (const Elf64_Phdr& segment : file.segments) {
    if (segment.p_type != PT_DYNAMIC) continue;
    const std::string place = where + ": dynamic segment";
    if (seen) return damaged_image(place, "there are two", "one PT_DYNAMIC");
    seen = true;
    const auto content = slice(bytes, segment.p_offset, segment.p_filesz);
    if (!content) return damaged_image(place, "the segment reaches outside the file");
    for (uint64_t at = 0;; at += sizeof(Elf64_Dyn)) {
      const auto entry = load<Elf64_Dyn>(*content, at);
      if (!entry) return damaged_image(place, "the end mark is missing");
      if (entry->d_tag == DT_NULL) break;
      if (entry->d_tag == DT_RELASZ || entry->d_tag == DT_PLTRELSZ) {
        const auto sum = checked_add(announced, uint64_t{entry->d_un.d_val});
        if (!sum) return damaged_image(place, "the sizes of the relocation tables overflow");
        announced = *sum;
      }
      if (entry->d_tag == DT_REL || entry->d_tag == 36 /* DT_RELR */)
        return damaged_image(place, "a relocation form that loaders do not apply", "DT_RELA",
                             cat(entry->d_tag));
    }
  }
  if (announced != rela_bytes)
    return damaged_image(where + ": dynamic segment, DT_RELASZ",
                         "the relocation tables have another size", cat(rela_bytes),
                         cat(announced));
  return {};
}

}  // namespace

Result<std::vector<Segment>> read_segments(const ElfFile& file, ByteView bytes,
                                           const std::string& where) {
  std::vector<Segment> out;
  uint64_t end = 0;
  for (size_t i = 0; i < file.segments.size(); ++i) {
    const Elf64_Phdr& header = file.segments[i];
    if (header.p_type != PT_LOAD) continue;
    const std::string place = cat(where, ": segment ", i);
    const auto content = slice(bytes, header.p_offset, header.p_filesz);
    if (!content)
      return damaged_image(place, "the segment reaches outside the file",
                           cat("at most ", bytes.size(), " bytes"),
                           cat(header.p_filesz, " bytes at offset ", header.p_offset));
    if (header.p_filesz > header.p_memsz)
      return damaged_image(place + ", p_filesz", "more bytes in the file than in memory",
                           cat("at most ", header.p_memsz), cat(header.p_filesz));
    if (header.p_vaddr < end)
      return damaged_image(place + ", p_vaddr",
                           "the segment overlaps the one before it or is out of order",
                           cat("at least ", end), cat(header.p_vaddr));
    const auto next = checked_add<uint64_t>(header.p_vaddr, header.p_memsz);
    if (!next || *next > kMaxImageBytes)
      return damaged_image(place + ", p_memsz", "the code object is too large in memory",
                           cat("at most ", kMaxImageBytes, " bytes"),
                           cat(header.p_memsz, " at ", header.p_vaddr));
    end = *next;
    out.push_back({header.p_vaddr, header.p_memsz, *content, (header.p_flags & PF_W) != 0,
                   (header.p_flags & PF_X) != 0});
  }
  return out;
}

std::optional<ByteView> file_bytes(const std::vector<Segment>& segments, uint64_t address,
                                   uint64_t size, bool executable) {
  const Segment* segment = segment_at(segments, address);
  if (segment == nullptr || (executable && !segment->executable)) return std::nullopt;
  return slice(segment->content, address - segment->address, size);
}

Result<void> SymbolTable::add_table(const std::vector<ElfSymbol>& table, bool dynamic,
                                    const std::vector<Segment>& segments,
                                    const std::string& where) {
  for (const ElfSymbol& symbol : table) {
    const unsigned type = ELF64_ST_TYPE(symbol.raw.st_info);
    if (type != STT_NOTYPE && type != STT_OBJECT && type != STT_FUNC) continue;
    if (symbol.raw.st_shndx == SHN_ABS || symbol.name.empty()) continue;
    if (symbol.raw.st_shndx == SHN_UNDEF) {
      if (dynamic) undefined_.emplace_back(symbol.name);
      continue;
    }
    Symbol out{std::string(symbol.name), symbol.raw.st_value, symbol.raw.st_size, type == STT_FUNC};
    if (!in_memory(segments, out.address, out.size))
      return damaged_image(cat(where, ": symbol ", short_name(out.name)),
                           "the symbol lies outside all segments", "",
                           cat(out.size, " bytes at address ", out.address));
    if (dynamic && !dynamic_.emplace(out.name, out).second)
      return damaged_image(cat(where, ": symbol ", short_name(out.name)),
                           "the dynamic symbol table has this name twice");
    defined_.push_back(std::move(out));
  }
  return {};
}

Result<SymbolTable> SymbolTable::read(const ElfFile& file, const std::vector<Segment>& segments,
                                      const std::string& where) {
  SymbolTable out;
  bool seen[2] = {false, false};
  for (const ElfSection& section : file.sections) {
    const bool dynamic = section.header.sh_type == SHT_DYNSYM;
    if (!dynamic && section.header.sh_type != SHT_SYMTAB) continue;
    // ELF has one table of each type. Many that share one string table would multiply its names.
    if (std::exchange(seen[dynamic ? 1 : 0], true))
      return damaged_image(cat(where, ": section ", short_name(section.name)),
                           "there is another symbol table of this type");
    HIPPLAN_TRY_ASSIGN(auto table, read_symbols(file, section, where));
    HIPPLAN_TRY(out.add_table(table, dynamic, segments, where));
    if (dynamic) out.entries_ = std::move(table);
  }
  const auto key = [](const Symbol& s) {
    return std::tie(s.address, s.name, s.size, s.is_function);
  };
  std::sort(out.defined_.begin(), out.defined_.end(),
            [&](const Symbol& a, const Symbol& b) { return key(a) < key(b); });
  const auto same = [&](const Symbol& a, const Symbol& b) { return key(a) == key(b); };
  out.defined_.erase(std::unique(out.defined_.begin(), out.defined_.end(), same),
                     out.defined_.end());
  return out;
}

const Symbol* SymbolTable::find(std::string_view name) const {
  const auto found = dynamic_.find(name);
  return found == dynamic_.end() ? nullptr : &found->second;
}

Result<std::vector<Relocation>> read_relocations(const ElfFile& file, ByteView bytes,
                                                 const SymbolTable& symbols,
                                                 const std::vector<Segment>& segments,
                                                 const std::string& where) {
  std::vector<Relocation> out;
  uint64_t rela_bytes = 0;
  for (const ElfSection& section : file.sections) {
    if ((section.header.sh_flags & SHF_ALLOC) == 0) continue;
    if (section.header.sh_type == SHT_REL)
      return damaged_image(cat(where, ": section ", short_name(section.name)),
                           "a relocation form that loaders do not apply", "SHT_RELA");
    if (section.header.sh_type != SHT_RELA) continue;
    HIPPLAN_TRY(add_relocations(file, section, symbols.dynamic_entries(), segments, where, out));
    rela_bytes += section.content.size();
  }
  HIPPLAN_TRY(check_dynamic(file, bytes, rela_bytes, where));
  return out;
}

}  // namespace hipplan::codeobject
