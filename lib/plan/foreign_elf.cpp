#include "plan/foreign_elf.h"

#include <elf.h>

#include <cstddef>

#include "base/hex.h"
#include "codeobject/cubin.h"
#include "codeobject/elf_file.h"

namespace hipplan::plan {
namespace {

constexpr size_t kMostNames = 4096, kMostLetters = 4096;
constexpr std::string_view kText = ".text.";

void put(ForeignFacts& to, const char* name, FactValue value) {
  to.facts.emplace_back(name, std::move(value));
}

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/// The word behind `directive`, from `at` on; `at` moves behind it.
std::string word_after(std::string_view text, std::string_view directive, size_t& at) {
  for (at = text.find(directive, at); at != std::string_view::npos;
       at = text.find(directive, at + 1)) {
    size_t first = at + directive.size();
    if (first >= text.size() || !is_space(text[first])) continue;
    while (first < text.size() && is_space(text[first])) ++first;
    size_t last = first;
    while (last < text.size() && !is_space(text[last]) && text[last] != '(' && text[last] != ';' &&
           text[last] != ',')
      ++last;
    at = last;
    return std::string(text.substr(first, last - first));
  }
  return {};
}

}  // namespace

void elf_facts(ForeignFacts& to, ByteView bytes) {
  const auto flags = load<uint32_t>(bytes, offsetof(Elf64_Ehdr, e_flags));
  if (!flags || load<uint8_t>(bytes, EI_CLASS) != ELFCLASS64) {
    to.fault = "it is no whole 64-bit ELF header";
    return;
  }
  put(to, "machine", int64_t{*load<uint16_t>(bytes, offsetof(Elf64_Ehdr, e_machine))});
  put(to, "flags", hex(*flags));
  if (to.kind != FileKind::cubin) return;
  const auto file = codeobject::read_elf(bytes, "the file");
  if (!file) {
    to.fault = file.error().text();
    return;
  }
  const auto arch = codeobject::cubin_arch(file->header, "the file");
  if (!arch) {
    to.fault = arch.error().text();
    return;
  }
  put(to, "target", arch->text());
  std::vector<std::string> kernels;
  for (const auto& section : file->sections)
    if (section.name.starts_with(kText) && kernels.size() < kMostNames)
      kernels.emplace_back(section.name.substr(kText.size(), kMostLetters));
  put(to, "sections", static_cast<int64_t>(file->sections.size()));
  put(to, "kernels", std::move(kernels));
}

void ptx_facts(ForeignFacts& to, ByteView bytes) {
  const std::string_view text = as_text(bytes);
  constexpr std::pair<const char*, const char*> kHead[] = {
      {".version", "version"}, {".target", "target"}, {".address_size", "address_size"}};
  for (const auto& [directive, name] : kHead) {
    size_t at = 0;
    put(to, name, word_after(text, directive, at));
  }
  std::vector<std::string> entries;
  size_t at = 0;
  while (entries.size() < kMostNames) {
    auto name = word_after(text, ".entry", at);
    if (at == std::string_view::npos) break;
    entries.push_back(std::move(name));
  }
  put(to, "kernels", std::move(entries));
}

}  // namespace hipplan::plan
