#include "codeobject/codeobject.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/hex.h"
#include "codeobject/architectures.h"
#include "codeobject/cubin.h"
#include "codeobject/elf_file.h"
#include "codeobject/image.h"
#include "codeobject/kernel_descriptor.h"
#include "codeobject/metadata.h"

namespace hipplan::codeobject {
namespace {

constexpr uint16_t kMachineAmdgpu = 224, kMachineCuda = 190;  // of ELF headers
constexpr uint8_t kOsAbiAmdgpuHsa = 64;
constexpr uint32_t kNoteMetadata = 32;
constexpr std::string_view kNoteOwner = "AMDGPU";

Error damaged(const std::string& where, std::string what, std::string expected = "",
              std::string found = "") {
  return Error{Code::damaged,       "code-object",    where, std::move(what),
               std::move(expected), std::move(found), ""};
}

/// The bytes are right as far as can be told, and newer (or older) than this reader.
Error other_version(const std::string& where, std::string what, std::string expected,
                    std::string found, std::string advice) {
  Error error = damaged(where, std::move(what), std::move(expected), std::move(found));
  error.code = Code::unusable;
  error.reason = "code-object-version";
  error.advice = std::move(advice);
  return error;
}

Result<void> read_identity(CodeObject& object, const ElfFile& file, const std::string& where) {
  const std::string place = where + ": ELF header";
  if (file.header.e_machine != kMachineAmdgpu)
    return damaged(place + ", e_machine", "not a code object for a GPU", cat(kMachineAmdgpu),
                   cat(file.header.e_machine));
  if (file.header.e_ident[EI_OSABI] != kOsAbiAmdgpuHsa)
    return damaged(place + ", EI_OSABI", "not a code object for the HSA runtime",
                   cat(int{kOsAbiAmdgpuHsa}), cat(int{file.header.e_ident[EI_OSABI]}));
  const unsigned abi = file.header.e_ident[EI_ABIVERSION];
  if (abi < 2 || abi > 4)
    return other_version(place + ", EI_ABIVERSION", "this code object version cannot be read",
                         "2, 3 or 4 (code object version 4, 5 or 6)", cat(abi),
                         abi > 4 ? kNewerReader : "");
  if (file.header.e_type != ET_DYN)
    return damaged(place + ", e_type", "not a linked code object", "3 (shared object)",
                   cat(file.header.e_type));
  object.version = abi + 2;
  object.e_flags = file.header.e_flags;
  HIPPLAN_TRY_ASSIGN(object.arch, arch_of_flags(object.e_flags, object.version, where));
  return {};
}

/// The description of the one NT_AMDGPU_METADATA note in a PT_NOTE segment's bytes, if it is there.
Result<std::optional<ByteView>> find_metadata(ByteView notes, const std::string& where) {
  uint64_t at = 0;
  while (at < notes.size()) {
    const auto header = load<Elf64_Nhdr>(notes, at);
    if (!header) return damaged(where, "the note header is cut off", "", cat("offset ", at));
    const auto padded = [](uint64_t size) { return (size + 3) & ~uint64_t{3}; };
    const uint64_t name_at = at + sizeof(Elf64_Nhdr);
    const uint64_t content_at = name_at + padded(header->n_namesz);
    const auto name = slice(notes, name_at, header->n_namesz);
    const auto content = slice(notes, content_at, header->n_descsz);
    if (!name || !content)
      return damaged(where, "the note reaches outside its segment",
                     cat("at most ", notes.size(), " bytes"), cat("offset ", at));
    std::string_view owner = as_text(*name);
    if (!owner.empty() && owner.back() == '\0') owner.remove_suffix(1);
    if (header->n_type == kNoteMetadata && owner == kNoteOwner) return content;
    at = content_at + padded(header->n_descsz);
  }
  return std::optional<ByteView>();
}

Result<Metadata> read_note(const ElfFile& file, ByteView bytes, const std::string& where) {
  uint64_t left = bytes.size();  // notes that overlap would be read again and again
  for (size_t i = 0; i < file.segments.size(); ++i) {
    const Elf64_Phdr& segment = file.segments[i];
    if (segment.p_type != PT_NOTE) continue;
    const std::string place = cat(where, ": segment ", i, " (notes)");
    const auto notes = slice(bytes, segment.p_offset, segment.p_filesz);
    if (!notes) return damaged(place, "the segment reaches outside the file");
    if (notes->size() > left) return damaged(place, "the segments of notes overlap");
    left -= notes->size();
    HIPPLAN_TRY_ASSIGN(const auto content, find_metadata(*notes, place));
    if (content) return read_metadata(*content, where + ": metadata note");
  }
  return damaged(where + ": notes", "there is no AMDGPU metadata note");
}

Result<void> check_target(const Metadata& metadata, const CodeObject& object,
                          const std::string& where) {
  const std::string place = where + ": metadata note, amdhsa.target";
  std::string_view text = metadata.target;
  for (const std::string_view prefix : {"amdgcn-amd-amdhsa--", "amdgcn-amd-amdhsa-unknown-"})
    if (text.starts_with(prefix)) {
      text.remove_prefix(prefix.size());
      break;
    }
  const auto arch = target::Arch::parse(text);
  if (!arch || !(*arch == object.arch))
    return damaged(place, "the target is not that of the ELF flags", object.arch.text(),
                   metadata.target);
  return {};
}

/// Joins metadata with what the symbol table says: the descriptor and the code of one kernel.
Result<void> place_kernel(Kernel& kernel, const CodeObject& object, const SymbolTable& symbols,
                          const std::string& where) {
  const std::string place = cat(where, ": kernel ", kernel.name);
  const Symbol* descriptor = symbols.find(kernel.symbol);
  const Symbol* code = symbols.find(kernel.name);
  if (descriptor == nullptr || descriptor->size != kKernelDescriptorBytes ||
      descriptor->is_function)
    return damaged(place, "the kernel descriptor symbol is missing or wrong",
                   cat("object ", kernel.symbol, " of ", kKernelDescriptorBytes, " bytes"));
  if (code == nullptr || !code->is_function)
    return damaged(place, "the function symbol is missing", "function " + kernel.name);
  const auto bytes =
      file_bytes(object.segments, descriptor->address, kKernelDescriptorBytes, false);
  if (!bytes || descriptor->address % kKernelDescriptorBytes != 0)
    return damaged(place, "the kernel descriptor does not lie aligned inside a segment", "",
                   cat("address ", descriptor->address));
  HIPPLAN_TRY_ASSIGN(kernel.descriptor, read_kernel_descriptor(*bytes, place));
  HIPPLAN_TRY(check_descriptor(kernel, place));
  kernel.descriptor_address = descriptor->address;
  kernel.entry_address =
      descriptor->address + static_cast<uint64_t>(kernel.descriptor.code_entry_byte_offset);
  if (kernel.entry_address != code->address)
    return damaged(place, "the descriptor's entry is not the function symbol's address",
                   cat(code->address), cat(kernel.entry_address));
  kernel.code_size = code->size;
  if (code->size == 0 || code->address % 256 != 0 ||
      !file_bytes(object.segments, code->address, code->size, true))
    return damaged(place, "the code does not lie aligned to 256 bytes inside an executable segment",
                   "", cat(code->size, " bytes at address ", code->address));
  return {};
}

/// A descriptor in the symbol table that the metadata does not know would be code nobody can check.
Result<void> check_no_other_kernels(const CodeObject& object, const std::string& where) {
  std::set<std::string_view> known;
  for (const Kernel& kernel : object.kernels) known.insert(kernel.symbol);
  for (const Symbol& symbol : object.symbols)
    if (symbol.name.ends_with(".kd") && !known.contains(symbol.name))
      return damaged(where + ": symbol " + symbol.name,
                     "the metadata note does not list this kernel");
  return {};
}

}  // namespace

std::vector<Argument> Kernel::signature() const {
  std::vector<Argument> out;
  for (const Argument& argument : arguments)
    if (!argument.kind.starts_with("hidden_")) out.push_back(argument);
  return out;
}

const Kernel* CodeObject::find(std::string_view name) const {
  const auto found =
      std::find_if(kernels.begin(), kernels.end(), [&](const Kernel& k) { return k.name == name; });
  return found == kernels.end() ? nullptr : &*found;
}

CodeKind kind_of(ByteView bytes) {
  const auto magic = slice(bytes, 0, SELFMAG);
  if (!magic || as_text(*magic) != ELFMAG) return is_ptx(bytes) ? CodeKind::ptx : CodeKind::none;
  const auto machine = load<uint16_t>(bytes, offsetof(Elf64_Ehdr, e_machine));
  if (machine == kMachineAmdgpu) return CodeKind::amd;
  return machine == kMachineCuda ? CodeKind::cubin : CodeKind::other_elf;
}

Result<ByteView> code_at(const CodeObject& object, uint64_t address, uint64_t size) {
  if (const auto code = file_bytes(object.segments, address, size, true)) return *code;
  return Error{.code = Code::damaged,
               .reason = "kernel-code",
               .what = "the code is not inside an executable segment",
               .found = cat(size, " bytes at address ", hex(address))};
}

Result<CodeObject> parse(ByteView bytes, const std::string& where) {
  const CodeKind kind = kind_of(bytes);
  if (kind == CodeKind::ptx) return parse_ptx(bytes, where);
  HIPPLAN_TRY_ASSIGN(const ElfFile file, read_elf(bytes, where));
  if (kind == CodeKind::cubin) return parse_cubin(file, where);
  CodeObject object;
  HIPPLAN_TRY(read_identity(object, file, where));
  HIPPLAN_TRY_ASSIGN(object.segments, read_segments(file, bytes, where));
  HIPPLAN_TRY_ASSIGN(const SymbolTable symbols, SymbolTable::read(file, object.segments, where));
  object.symbols = symbols.defined();
  object.undefined = symbols.undefined();
  HIPPLAN_TRY_ASSIGN(object.relocations,
                     read_relocations(file, bytes, symbols, object.segments, where));
  HIPPLAN_TRY_ASSIGN(Metadata metadata, read_note(file, bytes, where));
  HIPPLAN_TRY(check_target(metadata, object, where));
  object.kernels = std::move(metadata.kernels);
  for (Kernel& kernel : object.kernels) HIPPLAN_TRY(place_kernel(kernel, object, symbols, where));
  HIPPLAN_TRY(check_no_other_kernels(object, where));
  return object;
}

}  // namespace hipplan::codeobject
