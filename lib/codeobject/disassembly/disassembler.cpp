#include "codeobject/disassembly/disassembler.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>

#include "base/shared_library.h"
#include "llvm/llvm_module.h"

namespace hipplan::disassembly {
namespace {

namespace fs = std::filesystem;
using llvm_module::Interface;

constexpr size_t kLongestText = 512;

/// The module's path: in `folder`, or beside the running code in an installed or a build tree.
fs::path module_path(const std::string& folder) {
  if (!folder.empty()) return fs::path(folder) / llvm_module::kFileName;
  fs::path beside = own_folder() / llvm_module::kFileName;
  std::error_code ignored;
  if (fs::exists(beside, ignored)) return beside;
  fs::path sibling = own_folder() / ".." / "lib" / llvm_module::kFileName;
  return fs::exists(sibling, ignored) ? sibling : beside;
}

Error no_module(const fs::path& path, const std::string& why) {
  return Error{.code = Code::machine,
               .reason = "no-disassembler",
               .where = path.string(),
               .what = "the disassembler module cannot be opened",
               .expected = "the module of this hipplan",
               .found = why,
               .advice =
                   "build hipplan with LLVM (HIPPLAN_LLVM=ON, llvm-22-dev) or give the folder "
                   "that holds it"};
}

std::string raw_word(ByteView bytes) {
  if (const auto word = load<uint32_t>(bytes, 0)) {
    std::array<char, 24> text{};
    std::snprintf(text.data(), text.size(), ".long 0x%08x", *word);
    return text.data();
  }
  std::string out = ".byte";
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::array<char, 8> text{};
    std::snprintf(text.data(), text.size(), "%s0x%02x", i == 0 ? " " : ", ",
                  std::to_integer<unsigned>(bytes[i]));
    out += text.data();
  }
  return out;
}

/// LLVM separates mnemonic and operands with a tab and starts the line with one.
std::string tidy(std::string text) {
  std::replace(text.begin(), text.end(), '\t', ' ');
  const size_t first = text.find_first_not_of(" \n");
  const size_t last = text.find_last_not_of(" \n");
  return first == std::string::npos ? std::string() : text.substr(first, last - first + 1);
}

}  // namespace

struct Disassembler::State {
  SharedLibrary library;
  const Interface* functions = nullptr;
  void* handle = nullptr;

  State(SharedLibrary opened, const Interface* table, void* decoder)
      : library(std::move(opened)), functions(table), handle(decoder) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { functions->destroy(handle); }
};

Result<Disassembler> Disassembler::open(std::string_view arch, const std::string& module_folder,
                                        unsigned wavefront_size) {
  const fs::path path = module_path(module_folder);
  auto library = SharedLibrary::open(path);
  if (!library) return no_module(path, library.error().text());
  auto* const entry = library->function<llvm_module::Entry>(llvm_module::kEntry);
  if (entry == nullptr) return no_module(path, cat("no symbol ", llvm_module::kEntry));
  const Interface* functions = entry();
  if (functions->version != llvm_module::kInterface) {
    return Error{.code = Code::machine,
                 .reason = "disassembler-version",
                 .where = path.string(),
                 .what = "the disassembler module has another interface version",
                 .expected = cat(llvm_module::kInterface),
                 .found = cat(functions->version),
                 .advice = "install the module that was built with this hipplan"};
  }
  const std::string cpu(arch);
  const char* features = wavefront_size == 64 ? "+wavefrontsize64" : "";
  void* handle = cpu.rfind("gfx", 0) == 0 ? functions->create(cpu.c_str(), features) : nullptr;
  if (handle == nullptr) {
    return Error{.code = Code::bad_input,
                 .reason = "unknown-arch",
                 .where = cpu,
                 .what = "the disassembler does not know this architecture",
                 .expected = "an AMDGPU processor such as gfx942",
                 .found = cpu,
                 .advice = cat("LLVM ", functions->llvm_version, " decodes for this hipplan")};
  }
  Disassembler out;
  out.state_ = std::make_shared<State>(std::move(*library), functions, handle);
  out.version_ = functions->llvm_version;
  return out;
}

Result<std::vector<Line>> Disassembler::disassemble(ByteView code, uint64_t base_address) const {
  std::vector<Line> lines;
  lines.reserve(code.size() / 6);
  std::array<char, kLongestText> text{};
  for (size_t offset = 0; offset < code.size(); offset += lines.back().size) {
    const ByteView rest = code.subspan(offset);
    Line line;
    line.address = base_address + offset;
    const size_t size =
        state_->functions->decode(state_->handle, reinterpret_cast<const uint8_t*>(rest.data()),
                                  rest.size(), line.address, text.data(), text.size());
    line.decoded = size != 0;
    line.size = static_cast<uint32_t>(line.decoded ? size : std::min<size_t>(4, rest.size()));
    line.encoding = rest.first(line.size);
    line.text = line.decoded ? tidy(text.data()) : raw_word(line.encoding);
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace hipplan::disassembly
