#include "plan/foreign_elf.h"

#include <optional>

#include "base/hex.h"

namespace hipplan::plan {
namespace {

constexpr size_t kMostNames = 4096;

void put(ForeignFacts& to, const char* name, FactValue value) {
  to.facts.emplace_back(name, std::move(value));
}

/// A text that ends with a zero byte inside `table`.
std::string text_at(ByteView table, uint64_t at) {
  if (at >= table.size()) return {};
  const std::string_view rest = as_text(table.subspan(static_cast<size_t>(at)));
  return std::string(rest.substr(0, rest.find('\0')));
}

/// Names of all sections of a 64-bit file; nothing when a header lies outside the file.
std::optional<std::vector<std::string>> section_names(ByteView bytes) {
  const auto offset = load<uint64_t>(bytes, 40);
  const auto size = load<uint16_t>(bytes, 58), count = load<uint16_t>(bytes, 60),
             names = load<uint16_t>(bytes, 62);
  if (!offset || !names || *size != 64 || *names >= *count || *count > kMostNames)
    return std::nullopt;
  const auto headers = slice(bytes, *offset, uint64_t{*count} * 64);
  if (!headers) return std::nullopt;
  const uint64_t texts = uint64_t{*names} * 64;
  const auto table =
      slice(bytes, *load<uint64_t>(*headers, texts + 24), *load<uint64_t>(*headers, texts + 32));
  if (!table) return std::nullopt;
  std::vector<std::string> out;
  for (uint16_t i = 0; i < *count; ++i)
    out.push_back(text_at(*table, *load<uint32_t>(*headers, uint64_t{i} * 64)));
  return out;
}

/// The SM that a cubin is for: the low byte of the flags, in files of ABI 8 and later the second.
uint32_t sm_of(ByteView bytes, uint32_t flags) {
  constexpr uint8_t kShiftedAbi = 8;
  const auto abi = load<uint8_t>(bytes, 8).value_or(0);
  return (abi >= kShiftedAbi ? flags >> 8 : flags) & 0xff;
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
  const auto flags = load<uint32_t>(bytes, 48);
  const auto machine_number = load<uint16_t>(bytes, 18);
  if (!flags || load<uint8_t>(bytes, 4) != 2) {
    to.fault = "it is no whole 64-bit ELF header";
    return;
  }
  put(to, "machine", int64_t{*machine_number});
  put(to, "flags", hex(*flags));
  if (to.kind != FileKind::cubin) return;
  put(to, "target", cat("sm_", sm_of(bytes, *flags)));
  const auto names = section_names(bytes);
  if (!names) {
    to.fault = "its section headers do not lie inside the file";
    return;
  }
  std::vector<std::string> kernels;
  constexpr std::string_view kText = ".text.";
  for (const auto& name : *names)
    if (name.starts_with(kText)) kernels.push_back(name.substr(kText.size()));
  put(to, "sections", static_cast<int64_t>(names->size()));
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
