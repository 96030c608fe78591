// Small ELF files that would cost far more than their size: texts that a million names share,
// tables that are read again and again.
#include <doctest/doctest.h>
#include <elf.h>

#include <chrono>
#include <cstring>

#include "codeobject/codeobject.h"
#include "codeobject/elf_file.h"
#include "sample.h"
#include "sanitized.h"

using namespace hipplan;
using test::contains;

namespace {

/// Section headers and their contents behind an ELF header, names and all.
class Elf {
 public:
  explicit Elf(uint16_t machine) {
    header_.e_machine = machine;
    std::memcpy(header_.e_ident, ELFMAG, SELFMAG);
    header_.e_ident[EI_CLASS] = ELFCLASS64;
    header_.e_ident[EI_DATA] = ELFDATA2LSB;
    header_.e_ident[EI_VERSION] = EV_CURRENT;
    header_.e_version = EV_CURRENT;
    header_.e_ehsize = sizeof(Elf64_Ehdr);
    header_.e_shentsize = sizeof(Elf64_Shdr);
    header_.e_type = machine == 190 ? ET_EXEC : ET_DYN;
    header_.e_ident[EI_OSABI] = machine == 190 ? 51 : 64;
    header_.e_ident[EI_ABIVERSION] = machine == 190 ? 7 : 3;
    header_.e_flags = machine == 190 ? 90 : 0x4c;
    bytes_.resize(sizeof header_);
    sections_.push_back({});
  }
  /// Its index. Sections made with the content of another one overlap it.
  uint16_t add(uint32_t type, ByteView content, uint32_t name = 0, uint32_t link = 0,
               uint64_t entry = 0) {
    const uint64_t offset = bytes_.size();
    append(bytes_, content);
    return add_at(type, offset, content.size(), name, link, entry);
  }
  uint16_t add_at(uint32_t type, uint64_t offset, uint64_t size, uint32_t name, uint32_t link,
                  uint64_t entry) {
    Elf64_Shdr section{};
    section.sh_type = type;
    section.sh_offset = offset;
    section.sh_size = size;
    section.sh_name = name;
    section.sh_link = link;
    section.sh_entsize = entry;
    section.sh_flags = SHF_ALLOC;
    sections_.push_back(section);
    return static_cast<uint16_t>(sections_.size() - 1);
  }
  [[nodiscard]] const Elf64_Shdr& section(uint16_t index) const { return sections_[index]; }
  Bytes finish(uint16_t names) {
    header_.e_shstrndx = names;
    header_.e_shnum = static_cast<uint16_t>(sections_.size());
    header_.e_shoff = bytes_.size();
    std::memcpy(bytes_.data(), &header_, sizeof header_);
    for (const auto& section : sections_) append(bytes_, section);
    return std::move(bytes_);
  }

 private:
  Elf64_Ehdr header_{};
  Bytes bytes_;
  std::vector<Elf64_Shdr> sections_;
};

/// A string table: an empty name, then one of `length` letters at offset 1.
Bytes long_name(size_t length) {
  Bytes out(length + 2, std::byte{'n'});
  out.front() = out.back() = std::byte{0};
  return out;
}

Bytes symbols_at(size_t count, uint32_t name) {
  Elf64_Sym symbol{};
  symbol.st_name = name;
  symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
  Bytes out(sizeof symbol);
  for (size_t i = 0; i < count; ++i) append(out, symbol);
  return out;
}

/// The refusal, which takes no longer than a sound file of that size would.
std::string refused_at_once(const Bytes& bytes) {
  const auto start = std::chrono::steady_clock::now();
  const auto object = codeobject::parse(bytes, "hostile");
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  CHECK(passed.count() < (test::kSanitized ? 20 : 2));
  REQUIRE(!object.ok());
  CHECK(object.error().code == Code::damaged);
  CHECK(object.error().text().size() < 1000);
  return object.error().text();
}

}  // namespace

TEST_CASE("symbols that share one long name are refused") {
  for (const auto machine : {uint16_t{190}, uint16_t{224}})
    for (const size_t length : {size_t{60} << 10, size_t{4} << 20}) {
      CAPTURE(machine);
      CAPTURE(length);
      Elf elf(machine);
      const auto strings = elf.add(SHT_STRTAB, long_name(length));
      elf.add(machine == 190 ? SHT_SYMTAB : SHT_DYNSYM, symbols_at(100000, 1), 0, strings,
              sizeof(Elf64_Sym));
      const std::string refusal = refused_at_once(elf.finish(strings));
      CHECK(contains(refusal, length > codeobject::kMaxNameBytes
                                  ? "the name is not inside the string table"
                                  : "the names are far longer together than the string table"));
    }
}

TEST_CASE("sections that share one long name or one content are refused") {
  Elf named(224);
  const auto strings = named.add(SHT_STRTAB, long_name(60 << 10));
  for (int i = 0; i < 65000; ++i) named.add(SHT_PROGBITS, {}, 1);
  CHECK(contains(refused_at_once(named.finish(strings)), "the names are far longer together"));

  // Every kernel's attributes are the same million.
  Elf shared(190);
  std::string text(1, '\0');
  std::vector<std::pair<uint32_t, uint32_t>> names;
  for (int i = 0; i < 20000; ++i) {
    const std::string name = std::to_string(i);
    names.emplace_back(text.size(), text.size() + 9 + name.size() + 1);
    text += ".nv.info." + name + '\0' + ".text." + name + '\0';
  }
  const auto texts = shared.add(SHT_STRTAB, as_bytes(text));
  Bytes attributes;
  for (int i = 0; i < 1000000; ++i) append(attributes, uint32_t{0x0001});
  const uint64_t offset = shared.section(shared.add(SHT_PROGBITS, attributes)).sh_offset;
  for (const auto& [info, code] : names) {
    shared.add_at(SHT_PROGBITS, offset, attributes.size(), info, 0, 0);
    shared.add(SHT_PROGBITS, {}, code);
  }
  CHECK(contains(refused_at_once(shared.finish(texts)), "the sections overlap"));
}

TEST_CASE("a symbol table is read once, whoever refers to it") {
  Elf tables(224);
  const auto strings = tables.add(SHT_STRTAB, long_name(10));
  tables.add(SHT_DYNSYM, {}, 0, strings, sizeof(Elf64_Sym));
  tables.add(SHT_DYNSYM, {}, 0, strings, sizeof(Elf64_Sym));
  CHECK(contains(refused_at_once(tables.finish(strings)), "another symbol table of this type"));

  Elf relocated(224);
  const auto names = relocated.add(SHT_STRTAB, long_name(10));
  const auto symbols =
      relocated.add(SHT_DYNSYM, symbols_at(1 << 18, 0), 0, names, sizeof(Elf64_Sym));
  for (int i = 0; i < 60000; ++i) relocated.add(SHT_RELA, {}, 0, symbols, sizeof(Elf64_Rela));
  CHECK(contains(refused_at_once(relocated.finish(names)), "no AMDGPU metadata note"));
}

TEST_CASE("segments of notes do not overlap, and there is one dynamic segment") {
  const Bytes good = test::sample("gfx942");
  auto header = *load<Elf64_Ehdr>(good, 0);
  Bytes originals;
  Elf64_Phdr dynamic{}, notes{};
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    const auto segment = *load<Elf64_Phdr>(good, header.e_phoff + i * sizeof(Elf64_Phdr));
    append(originals, segment);
    if (segment.p_type == PT_DYNAMIC) dynamic = segment;
  }
  REQUIRE(dynamic.p_type == PT_DYNAMIC);
  // Empty notes of nobody, which the search for the right one passes by.
  notes.p_type = PT_NOTE;
  notes.p_offset = good.size();
  notes.p_filesz = 12 << 16;
  const auto with = [&](const Elf64_Phdr& segment, size_t count) {
    Bytes bytes = good;
    bytes.resize(bytes.size() + notes.p_filesz);
    Elf64_Ehdr changed = header;
    changed.e_phoff = bytes.size();
    changed.e_phnum = static_cast<uint16_t>(header.e_phnum + count);
    for (size_t i = 0; i < count; ++i) append(bytes, segment);
    append(bytes, originals);
    std::memcpy(bytes.data(), &changed, sizeof changed);
    return bytes;
  };
  CHECK(codeobject::parse(with(notes, 1), "x").ok());
  CHECK(contains(refused_at_once(with(notes, 60000)), "the segments of notes overlap"));
  CHECK(contains(refused_at_once(with(dynamic, 1)), "dynamic segment: there are two"));
}
