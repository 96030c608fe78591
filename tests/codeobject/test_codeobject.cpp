#include <doctest/doctest.h>
#include <elf.h>

#include <algorithm>
#include <cstring>

#include "codeobject/architectures.h"
#include "codeobject/codeobject.h"
#include "codeobject/print.h"
#include "sample.h"
#include "sanitized.h"

using namespace hipplan;
using codeobject::CodeObject;
using test::contains;
using test::sample;
using test::store;

namespace {

template <class T>
T fetch(const Bytes& bytes, size_t offset) {
  return *load<T>(bytes, offset);
}

/// File offset of the n-th program header of a type.
size_t segment_at(const Bytes& bytes, uint32_t type, int n = 0) {
  const auto header = fetch<Elf64_Ehdr>(bytes, 0);
  for (size_t i = 0; i < header.e_phnum; ++i) {
    const size_t at = header.e_phoff + i * sizeof(Elf64_Phdr);
    if (fetch<Elf64_Phdr>(bytes, at).p_type == type && n-- == 0) return at;
  }
  FAIL("no such segment");
  return 0;
}
/// File offset of the first section header of a type.
size_t section_at(const Bytes& bytes, uint32_t type) {
  const auto header = fetch<Elf64_Ehdr>(bytes, 0);
  for (size_t i = 0; i < header.e_shnum; ++i) {
    const size_t at = header.e_shoff + i * sizeof(Elf64_Shdr);
    if (fetch<Elf64_Shdr>(bytes, at).sh_type == type) return at;
  }
  FAIL("no such section");
  return 0;
}
/// File offset of a text in the file; the first one behind `from`.
size_t text_at(const Bytes& bytes, std::string_view text, size_t from = 0) {
  const size_t at = as_text(bytes).find(text, from);
  REQUIRE(at != std::string_view::npos);
  return at;
}
/// File offset of the descriptor of kernel `add`: .rodata lies in the first segment, where file
/// offset and address are equal.
size_t descriptor_at(const Bytes& bytes) {
  const auto object = codeobject::parse(bytes, "x");
  REQUIRE(object.ok());
  return static_cast<size_t>(object->find("add")->descriptor_address);
}

std::string refusal(const Bytes& bytes) {
  const auto object = codeobject::parse(bytes, "x.hsaco");
  if (object) return "accepted";
  CHECK(object.error().code == Code::damaged);
  CHECK(object.error().where.starts_with("x.hsaco"));
  return object.error().text();
}
/// The refusal of sound bytes of another version.
std::string unusable(const Bytes& bytes) {
  const auto object = codeobject::parse(bytes, "x.hsaco");
  if (object) return "accepted";
  CHECK(object.error().code == Code::unusable);
  CHECK(object.error().reason == "code-object-version");
  return object.error().text();
}
#define CHECK_REFUSED(bytes, part)                   \
  do {                                               \
    const std::string refused = refusal(bytes);      \
    CHECK_MESSAGE(contains(refused, part), refused); \
  } while (false)

#define CHECK_UNUSABLE(bytes, part)                  \
  do {                                               \
    const std::string refused = unusable(bytes);     \
    CHECK_MESSAGE(contains(refused, part), refused); \
  } while (false)

/// What parse() promises about every code object that it accepts.
void check_promises(const CodeObject& object) {
  uint64_t end = 0;
  for (const auto& segment : object.segments) {
    CHECK(segment.address >= end);
    CHECK(segment.content.size() <= segment.memory_size);
    end = segment.address + segment.memory_size;
  }
  const auto inside = [&](uint64_t address, uint64_t size, bool executable) {
    return std::any_of(object.segments.begin(), object.segments.end(), [&](const auto& s) {
      return address >= s.address && address + size <= s.address + s.content.size() &&
             (!executable || s.executable);
    });
  };
  for (const auto& kernel : object.kernels) {
    CHECK(inside(kernel.descriptor_address, 64, false));
    CHECK(inside(kernel.entry_address, kernel.code_size, true));
    for (const auto& argument : kernel.arguments)
      CHECK(uint64_t{argument.offset} + argument.size <= kernel.kernarg_segment_size);
  }
  for (const auto& relocation : object.relocations) CHECK(relocation.address < end);
}

}  // namespace

TEST_CASE("a gfx942 code object") {
  const Bytes bytes = sample("gfx942");
  const auto parsed = codeobject::parse(bytes, "gfx942");
  REQUIRE_MESSAGE(parsed.ok(), refusal(bytes));
  const CodeObject& object = *parsed;
  CHECK(object.arch.text() == "gfx942");
  CHECK(object.version == 5);
  CHECK(object.undefined.empty());
  REQUIRE(object.kernels.size() == 3);
  check_promises(object);

  const auto* add = object.find("add");
  REQUIRE(add != nullptr);
  CHECK(add->symbol == "add.kd");
  CHECK(add->wavefront_size == 64);
  CHECK(add->group_segment_fixed_size == 64 * sizeof(float));
  CHECK(add->kernarg_segment_size == 3 * 8 + 4 + 4);
  CHECK(add->descriptor.kernarg_size == 32);
  CHECK(add->entry_address % 256 == 0);
  const std::vector<codeobject::Argument> expected = {{"global_buffer", 8, 0, ""},
                                                      {"global_buffer", 8, 8, ""},
                                                      {"global_buffer", 8, 16, ""},
                                                      {"by_value", 4, 24, ""},
                                                      {"by_value", 4, 28, ""}};
  CHECK(add->arguments == expected);
  CHECK(add->signature() == expected);

  const auto* nop = object.find("nop");
  REQUIRE(nop != nullptr);
  CHECK(nop->signature().empty());
  CHECK(nop->code_size == 4);
  // s_endpgm is the whole kernel.
  const auto& text = object.segments[1];
  CHECK(text.executable);
  CHECK(load<uint32_t>(text.content, nop->entry_address - text.address) == 0xbf810000u);
  CHECK(object.find("add.kd") == nullptr);
  CHECK(object.find("") == nullptr);
}

TEST_CASE("hidden arguments are listed and are no part of the signature") {
  const Bytes bytes = sample("gfx942");
  const auto object = codeobject::parse(bytes, "gfx942");
  REQUIRE(object.ok());
  const auto* call = object->find("call");
  REQUIRE(call != nullptr);
  CHECK(call->uses_dynamic_stack);
  CHECK(call->arguments.size() > 2);
  CHECK(call->arguments[2].kind == "hidden_block_count_x");
  const std::vector<codeobject::Argument> expected = {{"global_buffer", 8, 0, ""},
                                                      {"by_value", 4, 8, ""}};
  CHECK(call->signature() == expected);
}

TEST_CASE("relocations point a table at its functions") {
  for (const char* name : {"gfx942", "gfx1100", "gfx11-generic"}) {
    const Bytes bytes = sample(name);
    const auto object = codeobject::parse(bytes, name);
    REQUIRE(object.ok());
    const auto symbol = [&](std::string_view wanted) {
      return *std::find_if(object->symbols.begin(), object->symbols.end(),
                           [&](const auto& s) { return s.name == wanted; });
    };
    REQUIRE(object->relocations.size() == 2);
    const auto& relocations = object->relocations;
    CHECK(relocations[0].type == 13);
    CHECK(relocations[0].address == symbol("table").address);
    CHECK(relocations[1].address == symbol("table").address + 8);
    CHECK(relocations[0].addend == static_cast<int64_t>(symbol("_Z5firstf").address));
    CHECK(relocations[1].addend == static_cast<int64_t>(symbol("_Z6secondf").address));
    CHECK(symbol("_Z5firstf").is_function);
    CHECK(symbol("table").size == 16);
  }
}

TEST_CASE("wavefronts of 32 and generic architectures") {
  const Bytes rdna = sample("gfx1100"), generic = sample("gfx11-generic");
  const auto a = codeobject::parse(rdna, "a"), b = codeobject::parse(generic, "b");
  REQUIRE(a.ok());
  REQUIRE(b.ok());
  CHECK(a->arch.text() == "gfx1100");
  CHECK(b->arch.text() == "gfx11-generic");
  CHECK(b->arch.is_generic());
  CHECK(b->version == 6);
  CHECK(a->find("add")->wavefront_size == 32);
  CHECK(a->find("add")->signature() == b->find("add")->signature());
}

TEST_CASE("architecture flags") {
  const auto arch = [](uint32_t flags, uint32_t version) {
    const auto result = codeobject::arch_of_flags(flags, version, "x");
    return result ? result->text() : "refused";
  };
  // Numbers from LLVM's user guide.
  CHECK(arch(0x04c, 5) == "gfx942");
  CHECK(arch(0x03f, 4) == "gfx90a");
  CHECK(arch(0x54c, 5) == "gfx942");  // any xnack, any sramecc
  CHECK(arch(0x03f | 0x200, 5) == "gfx90a:xnack-");
  CHECK(arch(0x03f | 0x300, 5) == "gfx90a:xnack+");
  CHECK(arch(0x03f | 0xe00, 5) == "gfx90a:sramecc+:xnack-");
  CHECK(arch(0x03f | 0xb00, 5) == "gfx90a:sramecc-:xnack+");
  CHECK(arch(0x1000000 | 0x05f, 6) == "gfx9-4-generic");
  CHECK(arch(0x1000000 | 0x059, 6) == "gfx12-generic");
  CHECK(arch(0x1000000 | 0x054, 5) == "refused");  // generic needs version 6
  CHECK(arch(0x054, 6) == "refused");              // generic without a generic version
  CHECK(arch(0x1000000 | 0x041, 6) == "refused");  // a generic version on gfx1100
  CHECK(arch(0x0ff, 5) == "refused");
  CHECK(arch(0x000, 5) == "refused");
  CHECK(arch(0x104c, 5) == "refused");  // reserved bit
  CHECK(codeobject::machine_number("gfx1201") == 0x4e);
  CHECK(!codeobject::machine_number("gfx94"));
}

TEST_CASE("every truncation is damage") {
  const Bytes bytes = sample("gfx1100");
  REQUIRE(!bytes.empty());
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto object = codeobject::parse(ByteView(bytes).first(size), "x");
    REQUIRE_MESSAGE(!object.ok(), size);
    REQUIRE(object.error().code == Code::damaged);
  }
}

TEST_CASE("any changed byte is damage or leaves a code object that keeps the promises") {
  for (const char* name : {"gfx942", "gfx11-generic"}) {
    const Bytes original = sample(name);
    size_t refused = 0;
    const size_t step = test::kSanitized ? 37 : 1;
    for (size_t i = 0; i < original.size(); i += step)
      for (const std::byte change : {std::byte{0x01}, std::byte{0x80}, std::byte{0xff}}) {
        Bytes bytes = original;
        bytes[i] ^= change;
        const auto object = codeobject::parse(bytes, "x");
        if (object)
          check_promises(*object);
        else
          ++refused;
      }
    CHECK(refused > 1000 / step);  // the headers alone have more bytes than that to get wrong
  }
}

TEST_CASE("ELF header rules") {
  const Bytes good = sample("gfx942");
  const auto changed = [&](size_t offset, auto value) {
    Bytes bytes = good;
    store(bytes, offset, value);
    return bytes;
  };
  CHECK_REFUSED(changed(0, uint8_t{0}), "magic");
  CHECK_REFUSED(changed(EI_CLASS, uint8_t{1}), "EI_CLASS");
  CHECK_REFUSED(changed(EI_DATA, uint8_t{2}), "EI_DATA");
  CHECK_REFUSED(changed(EI_OSABI, uint8_t{0}), "EI_OSABI");
  CHECK_UNUSABLE(changed(EI_ABIVERSION, uint8_t{1}),
                 "expected 2, 3 or 4 (code object version 4, 5 or 6), found 1");
  CHECK_UNUSABLE(changed(EI_ABIVERSION, uint8_t{5}), "use a newer hipplan");
  CHECK_UNUSABLE(changed(offsetof(Elf64_Ehdr, e_flags), uint8_t{0xe7}),
                 "expected 0x20 to 0x5f, where assigned, found 0xe7");
  CHECK_UNUSABLE(changed(offsetof(Elf64_Ehdr, e_flags), uint8_t{0xe7}), "use a newer hipplan");
  CHECK_REFUSED(changed(offsetof(Elf64_Ehdr, e_machine), uint16_t{EM_X86_64}), "e_machine");
  CHECK_REFUSED(changed(offsetof(Elf64_Ehdr, e_type), uint16_t{ET_REL}), "e_type");
  CHECK_REFUSED(changed(offsetof(Elf64_Ehdr, e_phentsize), uint16_t{32}), "e_phentsize");
  CHECK_REFUSED(changed(offsetof(Elf64_Ehdr, e_shentsize), uint16_t{40}), "e_shentsize");
  CHECK_REFUSED(changed(offsetof(Elf64_Ehdr, e_phoff), uint64_t{UINT64_MAX - 8}),
                "program headers");
  CHECK_REFUSED(changed(offsetof(Elf64_Ehdr, e_shoff), uint64_t{good.size()}), "section headers");
  CHECK_REFUSED(changed(offsetof(Elf64_Ehdr, e_shstrndx), uint16_t{999}), "e_shstrndx");
  // The same kernels said to be for another GPU: the note still says gfx942.
  CHECK_REFUSED(changed(offsetof(Elf64_Ehdr, e_flags), uint32_t{0x54f}), "expected gfx950");
  CHECK_UNUSABLE(changed(offsetof(Elf64_Ehdr, e_flags), uint32_t{0x00}), "e_flags");
  using codeobject::CodeKind;
  CHECK(codeobject::kind_of(good) == CodeKind::amd);
  CHECK(codeobject::kind_of(changed(0, uint8_t{0})) == CodeKind::none);
  CHECK(codeobject::kind_of(changed(offsetof(Elf64_Ehdr, e_machine), uint16_t{EM_X86_64})) ==
        CodeKind::other_elf);
  CHECK(codeobject::kind_of(ByteView(good).first(16)) == CodeKind::other_elf);
  CHECK(codeobject::kind_of({}) == CodeKind::none);
}

TEST_CASE("segment rules") {
  const Bytes good = sample("gfx942");
  const size_t second = segment_at(good, PT_LOAD, 1);
  const auto changed = [&](size_t segment, size_t field, uint64_t value) {
    Bytes bytes = good;
    store(bytes, segment + field, value);
    return bytes;
  };
  CHECK_REFUSED(changed(second, offsetof(Elf64_Phdr, p_vaddr), 0x100), "overlaps");
  CHECK_REFUSED(changed(second, offsetof(Elf64_Phdr, p_memsz), 8), "p_filesz");
  CHECK_REFUSED(changed(second, offsetof(Elf64_Phdr, p_memsz), uint64_t{1} << 40),
                "too large in memory");
  CHECK_REFUSED(changed(second, offsetof(Elf64_Phdr, p_vaddr), UINT64_MAX - 16),
                "too large in memory");
  CHECK_REFUSED(changed(second, offsetof(Elf64_Phdr, p_offset), good.size()), "outside the file");
  Bytes not_executable = good;
  store(not_executable, second + offsetof(Elf64_Phdr, p_flags), uint32_t{PF_R});
  CHECK_REFUSED(not_executable, "executable segment");
  // The executable segment ends inside a kernel.
  CHECK_REFUSED(changed(second, offsetof(Elf64_Phdr, p_filesz), 0x120), "kernel");
  CHECK_REFUSED(changed(segment_at(good, PT_NOTE), offsetof(Elf64_Phdr, p_offset), good.size() - 4),
                "notes");
  Bytes no_note = good;
  store(no_note, segment_at(good, PT_NOTE), uint32_t{PT_NULL});
  CHECK_REFUSED(no_note, "no AMDGPU metadata note");
}

TEST_CASE("symbol and relocation rules") {
  const Bytes good = sample("gfx942");
  const size_t symbols = section_at(good, SHT_DYNSYM), relocations = section_at(good, SHT_RELA);
  const auto dynsym = fetch<Elf64_Shdr>(good, symbols);
  const size_t first_symbol = dynsym.sh_offset + sizeof(Elf64_Sym);  // add, of 168 bytes
  Bytes bytes = good;
  store(bytes, first_symbol + offsetof(Elf64_Sym, st_name), uint32_t{0xffffff});
  CHECK_REFUSED(bytes, "string table");
  bytes = good;
  store(bytes, first_symbol + offsetof(Elf64_Sym, st_value), uint64_t{0x700000});
  CHECK_REFUSED(bytes, "outside all segments");
  bytes = good;
  store(bytes, first_symbol + offsetof(Elf64_Sym, st_size), UINT64_MAX);
  CHECK_REFUSED(bytes, "outside all segments");
  bytes = good;  // two names alike
  store(bytes, first_symbol + offsetof(Elf64_Sym, st_name),
        fetch<uint32_t>(good, first_symbol + sizeof(Elf64_Sym)));
  CHECK_REFUSED(bytes, "twice");
  bytes = good;  // the code is no function any more
  store(bytes, first_symbol + offsetof(Elf64_Sym, st_info),
        uint8_t{ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT)});
  CHECK_REFUSED(bytes, "function symbol is missing");
  bytes = good;
  store(bytes, symbols + offsetof(Elf64_Shdr, sh_link), uint32_t{1});
  CHECK_REFUSED(bytes, "string table is missing");
  bytes = good;
  store(bytes, symbols + offsetof(Elf64_Shdr, sh_entsize), uint64_t{1});
  CHECK_REFUSED(bytes, "symbol table is wrong");
  const auto table = fetch<Elf64_Shdr>(good, relocations);
  bytes = good;
  store(bytes, table.sh_offset, uint64_t{0x800000});
  CHECK_REFUSED(bytes, "outside all segments");
  bytes = good;
  store(bytes, table.sh_offset + 8, uint64_t{99});
  CHECK_REFUSED(bytes, "unknown relocation type");
  bytes = good;
  store(bytes, table.sh_offset + 8, uint64_t{77} << 32 | 3);
  CHECK_REFUSED(bytes, "no such symbol");
  bytes = good;  // loaders would still see the table through the dynamic section
  store(bytes, relocations + offsetof(Elf64_Shdr, sh_type), uint32_t{SHT_PROGBITS});
  CHECK_REFUSED(bytes, "DT_RELASZ");
}

TEST_CASE("an undefined symbol is reported by name") {
  Bytes bytes = sample("gfx942");
  const auto dynsym = fetch<Elf64_Shdr>(bytes, section_at(bytes, SHT_DYNSYM));
  const size_t last = dynsym.sh_offset + dynsym.sh_size - sizeof(Elf64_Sym);  // __hip_cuid_
  store(bytes, last + offsetof(Elf64_Sym, st_shndx), uint16_t{SHN_UNDEF});
  const auto object = codeobject::parse(bytes, "x");
  REQUIRE_MESSAGE(object.ok(), refusal(bytes));
  CHECK(object->undefined == std::vector<std::string>{"__hip_cuid_"});
}

TEST_CASE("the kernel descriptor agrees with the metadata") {
  const Bytes good = sample("gfx942");
  const size_t at = descriptor_at(good);
  const auto changed = [&](size_t offset, auto value) {
    Bytes bytes = good;
    store(bytes, at + offset, value);
    return bytes;
  };
  CHECK_REFUSED(changed(0, uint32_t{257}), "group_segment_fixed_size: the kernel descriptor");
  CHECK_REFUSED(changed(4, uint32_t{16}), "private_segment_fixed_size");
  CHECK_REFUSED(changed(8, uint32_t{40}), "kernarg_size");
  CHECK_REFUSED(changed(16, int64_t{0x100}), "entry");
  CHECK_REFUSED(changed(12, uint8_t{1}), "byte 12");
  CHECK_REFUSED(changed(43, uint8_t{1}), "byte 43");
  CHECK_REFUSED(changed(63, uint8_t{1}), "byte 63");
  CHECK_REFUSED(changed(56, static_cast<uint16_t>(fetch<uint16_t>(good, at + 56) | 1u << 10)),
                "wavefront_size");
}

TEST_CASE("metadata rules") {
  const Bytes good = sample("gfx942");
  const auto with_text = [&](std::string_view old_text, std::string_view new_text,
                             size_t from = 0) {
    REQUIRE(old_text.size() == new_text.size());
    Bytes bytes = good;
    std::memcpy(bytes.data() + text_at(good, old_text, from), new_text.data(), new_text.size());
    return bytes;
  };
  CHECK_REFUSED(with_text("amdhsa--gfx942", "amdhsa--gfx940"), "amdhsa.target");
  CHECK_REFUSED(with_text(".kernarg_segment_size", ".kernarg_segment_sizo"), "the key is missing");
  CHECK_REFUSED(with_text("amdhsa.version", "amdhsa.versiox"), "amdhsa.version");
  CHECK_REFUSED(with_text("\xa6"
                          "add.kd",
                          "\xa6"
                          "adx.kd"),
                ".symbol");
  CHECK_REFUSED(with_text("\xa3"
                          "add",
                          "\xa3"
                          "nox"),
                ".symbol");
  // amdhsa.version [1, 2] -> [2, 2]
  const size_t version = text_at(good, "amdhsa.version") + 14;
  Bytes bytes = good;
  REQUIRE(bytes[version] == std::byte{0x92});
  bytes[version + 1] = std::byte{2};
  CHECK_UNUSABLE(bytes, "metadata version cannot be read; expected 1.x, found 2.2");
  // .offset of the second argument of `add` is 8; 4 overlaps the first, a byte length of 255 leaves
  // the segment.
  const size_t offset = text_at(good, ".offset", text_at(good, ".offset") + 1) + 7;
  bytes = good;
  REQUIRE(bytes[offset] == std::byte{8});
  bytes[offset] = std::byte{4};
  CHECK_REFUSED(bytes, "overlaps the one before it");
  bytes[offset] = std::byte{0x7f};
  CHECK_REFUSED(bytes, "outside the kernarg segment");
  bytes[offset] = std::byte{0xff};  // -1
  CHECK_REFUSED(bytes, "out of range");
  bytes[offset] = std::byte{0xc3};  // true
  CHECK_REFUSED(bytes, "wrong type");
}

TEST_CASE("printed forms name kernels, registers, LDS and arguments") {
  const Bytes bytes = sample("gfx942");
  const auto object = codeobject::parse(bytes, "x");
  REQUIRE(object.ok());
  const std::string text = codeobject::print(*object);
  CHECK(contains(text, "code object version 5 for gfx942: 3 kernels, 4 segments, 2 relocations"));
  CHECK(contains(text,
                 "kernel add\n  wavefront 64, workgroup up to 1024, VGPRs 6, AGPRs 0, SGPRs 16"));
  CHECK(contains(text, "LDS 256 bytes"));
  CHECK(contains(text, "    24: by_value, 4 bytes\n"));
  json::Writer writer;
  codeobject::write_json(*object, writer);
  const auto value = json::parse(writer.text(), "json");
  REQUIRE(value.ok());
  const auto* kernels = value->find("kernels");
  REQUIRE(kernels != nullptr);
  REQUIRE(kernels->items.size() == 3);
  CHECK(kernels->items[0].find("arguments")->items.size() == 5);
  CHECK(kernels->items[0].find("group_segment_fixed_size")->integer == 256);
}
