#include "codeobject/cubin.h"

#include <algorithm>
#include <map>
#include <set>

#include "codeobject/architectures.h"
#include "target/nvidia.h"

namespace hipplan::codeobject {
namespace {

// Attributes of .nv.info sections.
constexpr uint8_t kMaxThreads = 0x05, kFrameSize = 0x11, kParameter = 0x17, kBankBytes = 0x19,
                  kRegisters = 0x2f;
// How an attribute's value is stored: nothing (1), one byte (2), two bytes (3), a size and that
// many bytes (4).
constexpr uint8_t kFormNone = 1, kFormHalf = 3, kFormSized = 4;

constexpr std::string_view kTextPrefix = ".text.", kInfoPrefix = ".nv.info.",
                           kSharedPrefix = ".nv.shared.";
constexpr size_t kMaxKernels = 1u << 16;
constexpr uint32_t kMaxArgumentBytes = 32764;

Error bad_cubin(const std::string& where, std::string what, std::string expected = "",
                std::string found = "") {
  return Error{Code::damaged,       "cubin",          where, std::move(what),
               std::move(expected), std::move(found), ""};
}

struct Attribute {
  uint8_t form = 0, name = 0;
  ByteView value;
};

/// The next attribute at `at`, which moves behind it.
Result<Attribute> next_attribute(ByteView section, uint64_t& at, const std::string& where) {
  const auto head = load<uint32_t>(section, at);
  if (!head) return bad_cubin(where, "an attribute is cut off", "", cat("offset ", at));
  Attribute out{static_cast<uint8_t>(*head & 0xff), static_cast<uint8_t>((*head >> 8) & 0xff), {}};
  if (out.form < kFormNone || out.form > kFormSized)
    return bad_cubin(where, "an attribute of unknown form", "1 to 4", cat(int{out.form}));
  const uint64_t size = out.form == kFormSized ? *head >> 16 : 0;
  const auto value =
      out.form == kFormSized ? slice(section, at + 4, size) : slice(section, at + 2, 2);
  if (!value) return bad_cubin(where, "an attribute is cut off", "", cat("offset ", at));
  out.value = *value;
  at += 4 + size;
  return out;
}

Result<void> read_parameter(ByteView value, std::map<uint32_t, Argument>& found,
                            const std::string& where) {
  // Index, ordinal and offset; size from bit 18 of the last word on.
  const auto ordinal = load<uint16_t>(value, 4), offset = load<uint16_t>(value, 6);
  const auto packed = load<uint32_t>(value, 8);
  if (!packed) return bad_cubin(where, "a parameter is cut off", "12 bytes", cat(value.size()));
  Argument argument{"", *packed >> 18, *offset, ""};
  if (!found.emplace(*ordinal, argument).second)
    return bad_cubin(where, "a parameter stands twice", "", cat("parameter ", *ordinal));
  return {};
}

Result<void> read_kernel_info(ByteView section, Kernel& kernel, const std::string& where) {
  std::map<uint32_t, Argument> parameters;
  uint64_t at = 0;
  while (at < section.size()) {
    HIPPLAN_TRY_ASSIGN(const Attribute attribute, next_attribute(section, at, where));
    if (attribute.name == kParameter && attribute.form == kFormSized)
      HIPPLAN_TRY(read_parameter(attribute.value, parameters, where));
    if (attribute.name == kBankBytes && attribute.form == kFormHalf)
      kernel.kernarg_segment_size = *load<uint16_t>(attribute.value, 0);
    if (attribute.name == kMaxThreads && attribute.form == kFormSized) {
      const auto x = load<uint32_t>(attribute.value, 0), y = load<uint32_t>(attribute.value, 4),
                 z = load<uint32_t>(attribute.value, 8);
      const uint64_t items = z ? uint64_t{*x} * *y : 0;
      if (!z || items == 0 || items > 1024 || *z == 0 || *z > 1024 || items * *z > 1024)
        return bad_cubin(where, "the largest workgroup is impossible", "1 to 1024 work-items");
      kernel.max_flat_workgroup_size = static_cast<uint32_t>(items * *z);
    }
  }
  kernel.arguments.reserve(parameters.size());
  for (const auto& [ordinal, argument] : parameters) {
    if (ordinal != kernel.arguments.size())
      return bad_cubin(where, "a parameter is missing", "",
                       cat("parameter ", kernel.arguments.size()));
    kernel.arguments.push_back(argument);
  }
  return finish_arguments(kernel, where);
}

/// Sections and functions of one file by their names.
struct Names {
  std::map<std::string_view, const ElfSection*> sections;
  std::map<std::string_view, const ElfSymbol*> functions;

  [[nodiscard]] const ElfSection* section(std::string_view prefix, std::string_view name) const {
    const auto found = sections.find(cat(prefix, name));
    return found == sections.end() ? nullptr : found->second;
  }
};

Names names_of(const ElfFile& file, const std::vector<ElfSymbol>& symbols) {
  Names out;
  for (const ElfSection& section : file.sections) out.sections.emplace(section.name, &section);
  for (const ElfSymbol& symbol : symbols)
    if (ELF64_ST_TYPE(symbol.raw.st_info) == STT_FUNC) out.functions.emplace(symbol.name, &symbol);
  return out;
}

/// What .nv.info says about all functions, by symbol number: registers and stack.
Result<void> read_common_info(ByteView section, const std::vector<ElfSymbol>& symbols,
                              std::vector<Kernel>& kernels, const std::string& where) {
  std::map<std::string_view, Kernel*> by_name;
  for (Kernel& kernel : kernels) by_name[kernel.name] = &kernel;
  uint64_t at = 0;
  while (at < section.size()) {
    HIPPLAN_TRY_ASSIGN(const Attribute attribute, next_attribute(section, at, where));
    if (attribute.form != kFormSized ||
        (attribute.name != kRegisters && attribute.name != kFrameSize))
      continue;
    const auto index = load<uint32_t>(attribute.value, 0),
               value = load<uint32_t>(attribute.value, 4);
    if (!value || *index == 0 || *index > symbols.size())
      return bad_cubin(where, "an attribute names no symbol", cat("1 to ", symbols.size()),
                       index ? cat(*index) : "nothing");
    const auto kernel = by_name.find(symbols[*index - 1].name);
    if (kernel == by_name.end()) continue;
    (attribute.name == kRegisters ? kernel->second->vgpr_count
                                  : kernel->second->private_segment_fixed_size) = *value;
  }
  return {};
}

/// A section .text.NAME with its symbol and its attributes.
Result<Kernel> read_kernel(const ElfFile& file, size_t index, const Names& names,
                           const ElfSection& info, const std::string& where) {
  const ElfSection& text = file.sections[index];
  Kernel kernel;
  kernel.name = kernel.symbol = std::string(text.name.substr(kTextPrefix.size()));
  const auto symbol = names.functions.find(kernel.name);
  if (symbol == names.functions.end() || symbol->second->raw.st_shndx != index ||
      symbol->second->raw.st_size == 0 ||
      !slice(text.content, symbol->second->raw.st_value, symbol->second->raw.st_size))
    return bad_cubin(where, "the function symbol is missing or does not lie inside its section",
                     "function " + kernel.name);
  kernel.code_size = symbol->second->raw.st_size;
  kernel.entry_address = symbol->second->raw.st_value;
  kernel.wavefront_size = 32;
  kernel.kernarg_segment_align = 8;
  kernel.max_flat_workgroup_size = 1024;
  if (const ElfSection* shared = names.section(kSharedPrefix, kernel.name)) {
    if (shared->header.sh_size > UINT32_MAX)
      return bad_cubin(where, "shared memory is impossibly large", "", cat(shared->header.sh_size));
    kernel.group_segment_fixed_size = static_cast<uint32_t>(shared->header.sh_size);
  }
  HIPPLAN_TRY(read_kernel_info(info.content, kernel, where));
  return kernel;
}

Result<std::vector<ElfSymbol>> symbols_of(const ElfFile& file, const std::string& where) {
  for (const ElfSection& section : file.sections)
    if (section.header.sh_type == SHT_SYMTAB) return read_symbols(file, section, where);
  return bad_cubin(where, "there is no symbol table");
}

/// The bytes are right as far as can be told, and not of the form that this reader takes.
Error newer_cubin(const std::string& where, std::string what, std::string expected,
                  std::string found) {
  Error error = bad_cubin(where, std::move(what), std::move(expected), std::move(found));
  error.code = Code::unusable;
  error.reason = "code-object-version";
  error.advice = kNewerReader;
  return error;
}

}  // namespace

Result<target::Arch> cubin_arch(const Elf64_Ehdr& header, const std::string& where) {
  const unsigned abi = header.e_ident[EI_ABIVERSION];
  const uint32_t flags = header.e_flags;
  if (abi < 7 || abi > 8)
    return newer_cubin(where + ": ELF header, EI_ABIVERSION", "this cubin version cannot be read",
                       "7 or 8", cat(abi));
  const unsigned number = (abi == 7 ? flags : flags >> 8) & 0xff;
  // Bit 11 (ABI 7) or 3 (ABI 8) marks code for one architecture alone, sm_90a.
  const bool specific = ((abi == 7 ? flags >> 11 : flags >> 3) & 1) != 0;
  const std::string name = cat("sm_", number, specific ? "a" : "");
  if (!target::parse_nvidia(name))
    return newer_cubin(where + ": ELF header, e_flags",
                       "the architecture is of no NVIDIA GPU known here", "for instance sm_90",
                       name);
  return target::Arch{name, {}};
}

Result<void> finish_arguments(Kernel& kernel, const std::string& where) {
  uint64_t end = 0;
  for (size_t i = 0; i < kernel.arguments.size(); ++i) {
    Argument& argument = kernel.arguments[i];
    const std::string place = cat(where, ": parameter ", i);
    if (argument.size == 0) return bad_cubin(place, "has no bytes");
    if (argument.offset < end)
      return bad_cubin(place, "overlaps the one before it", cat("at least ", end),
                       cat(argument.offset));
    end = uint64_t{argument.offset} + argument.size;
    if (end > kMaxArgumentBytes || end > kernel.kernarg_segment_size)
      return bad_cubin(place, "reaches outside the parameters",
                       cat("an end of at most ", kernel.kernarg_segment_size), cat(end));
    argument.kind = argument.size == 8 && argument.offset % 8 == 0 ? "global_buffer" : "by_value";
  }
  if (end != kernel.kernarg_segment_size)
    return bad_cubin(where, "the last parameter does not end where the parameters end",
                     cat(kernel.kernarg_segment_size), cat(end));
  return {};
}

Result<CodeObject> parse_cubin(const ElfFile& file, const std::string& where) {
  CodeObject object;
  if (file.header.e_type == ET_REL) {
    Error error = newer_cubin(where + ": ELF header, e_type", "not a linked cubin",
                              "2 (executable)", cat(file.header.e_type));
    error.advice = "link it, with nvcc -dlink for instance";
    return error;
  }
  if (file.header.e_type != ET_EXEC)
    return bad_cubin(where + ": ELF header, e_type", "not a linked cubin", "2 (executable)",
                     cat(file.header.e_type));
  HIPPLAN_TRY_ASSIGN(object.arch, cubin_arch(file.header, where));
  object.version = file.header.e_ident[EI_ABIVERSION];
  object.e_flags = file.header.e_flags;
  HIPPLAN_TRY_ASSIGN(const auto symbols, symbols_of(file, where));
  const Names names = names_of(file, symbols);
  std::set<std::string_view> seen;
  uint64_t address = 0;
  for (size_t i = 0; i < file.sections.size(); ++i) {
    const ElfSection& text = file.sections[i];
    if (!text.name.starts_with(kTextPrefix) || text.header.sh_type != SHT_PROGBITS) continue;
    // Functions that are no kernels have no section of parameters.
    const std::string_view name = text.name.substr(kTextPrefix.size());
    const ElfSection* info = names.section(kInfoPrefix, name);
    if (info == nullptr) continue;
    const std::string place = cat(where, ": kernel ", name.substr(0, 200));
    if (!seen.insert(name).second) return bad_cubin(place, "two kernels have one name");
    if (seen.size() > kMaxKernels) return bad_cubin(where, "too many kernels");
    HIPPLAN_TRY_ASSIGN(Kernel kernel, read_kernel(file, i, names, *info, place));
    kernel.entry_address += address;
    object.segments.push_back({address, text.content.size(), text.content, false, true});
    object.symbols.push_back({kernel.name, kernel.entry_address, kernel.code_size, true});
    address += text.content.size();
    object.kernels.push_back(std::move(kernel));
  }
  if (const ElfSection* common = names.section(".nv.info", ""))
    HIPPLAN_TRY(read_common_info(common->content, symbols, object.kernels, where + ": .nv.info"));
  return object;
}

}  // namespace hipplan::codeobject
