// Reading PTX as far as loaders need it: target, kernels, parameters, shared memory.
#include <array>
#include <charconv>
#include <set>

#include "codeobject/architectures.h"
#include "codeobject/cubin.h"
#include "target/nvidia.h"

namespace hipplan::codeobject {
namespace {

constexpr size_t kMaxPtxKernels = 1u << 12;
constexpr uint64_t kMaxPtxBytes = 64u << 20;

Error bad_ptx(const std::string& where, std::string what, std::string expected = "",
              std::string found = "") {
  return Error{Code::damaged,    "ptx", where, std::move(what), std::move(expected),
               std::move(found), ""};
}

/// What a character is to the words of PTX, by its number: texts are long and read while a plan
/// loads.
enum class Letter : uint8_t { word, blank, mark, end };
constexpr std::array<Letter, 256> letters() {
  std::array<Letter, 256> out{};
  for (const char c : {' ', '\t', '\n', '\r'}) out[static_cast<unsigned char>(c)] = Letter::blank;
  for (const char c : std::string_view("(){}[],;<>"))
    out[static_cast<unsigned char>(c)] = Letter::mark;
  for (const char c : {'"', '/'}) out[static_cast<unsigned char>(c)] = Letter::end;
  return out;
}
constexpr std::array<Letter, 256> kLetters = letters();
Letter letter(char c) {
  return kLetters[static_cast<unsigned char>(c)];
}

/// Words and single punctuation marks of PTX, without comments. Empty at the end.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) {}
  std::string_view next() {
    skip();
    if (text_.empty()) return {};
    size_t length = 1;
    if (text_.front() == '"') {
      const size_t end = text_.find('"', 1);
      length = end == std::string_view::npos ? text_.size() : end + 1;
    } else if (letter(text_.front()) != Letter::mark) {
      while (length < text_.size() && letter(text_[length]) == Letter::word) ++length;
    }
    const std::string_view token = text_.substr(0, length);
    text_.remove_prefix(length);
    return token;
  }

 private:
  void skip() {
    for (;;) {
      size_t first = 0;
      while (first < text_.size() && letter(text_[first]) == Letter::blank) ++first;
      text_.remove_prefix(first);
      const bool line = text_.starts_with("//"), block = text_.starts_with("/*");
      if (!line && !block) return;
      const size_t end = line ? text_.find('\n') : text_.find("*/", 2);
      if (end == std::string_view::npos)
        text_ = {};
      else
        text_.remove_prefix(end + (line ? 1 : 2));
    }
  }
  std::string_view text_;
};

std::optional<uint32_t> number_of(std::string_view text) {
  uint32_t out = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

/// Bytes of ".u64", ".b8" and the like, or 0.
uint32_t type_bytes(std::string_view type) {
  if (type.size() < 3 || type[0] != '.' ||
      std::string_view("busf").find(type[1]) == std::string_view::npos)
    return 0;
  const auto bits = number_of(type.substr(2));
  return bits && (*bits == 8 || *bits == 16 || *bits == 32 || *bits == 64) ? *bits / 8 : 0;
}

/// A declared variable: ".align 8 .b8 name[320]" after its state space.
struct Declared {
  uint64_t bytes = 0;
  uint32_t align = 1;
  std::string_view end;  ///< the mark behind it
};

Result<Declared> read_declared(Tokens& in, const std::string& where) {
  Declared out;
  uint32_t element = 0;
  bool aligned = false, pointee = false;
  for (;;) {
    const std::string_view token = in.next();
    if (token == ".align") {
      const auto value = number_of(in.next());
      if (!value || *value == 0 || (*value & (*value - 1)) != 0 || *value > 4096)
        return bad_ptx(where, "an alignment that is none", "a power of two up to 4096");
      if (!pointee) out.align = *value, aligned = true;
    } else if (token == ".ptr") {
      pointee = true;  // what follows describes what it points to
    } else if (const uint32_t size = type_bytes(token)) {
      element = size;
    } else if (token == "[") {
      const auto count = number_of(in.next());
      if (!count || in.next() != "]") return bad_ptx(where, "an array without a size");
      out.bytes = (out.bytes == 0 ? uint64_t{element} : out.bytes) * *count;
      if (out.bytes > UINT32_MAX) return bad_ptx(where, "a variable is impossibly large");
    } else if (token == "," || token == ")" || token == ";" || token.empty()) {
      out.end = token;
      break;
    }
  }
  if (element == 0) return bad_ptx(where, "a variable without a type");
  if (out.bytes == 0) out.bytes = element;
  if (!aligned) out.align = element;
  return out;
}

Result<void> read_parameters(Tokens& in, Kernel& kernel, const std::string& where) {
  for (std::string_view token = in.next(); token != ")"; token = in.next()) {
    if (token != ".param")
      return bad_ptx(where, "the parameters are not understood", ".param",
                     std::string(token.substr(0, 40)));
    HIPPLAN_TRY_ASSIGN(const Declared parameter, read_declared(in, where));
    const uint64_t offset = (kernel.kernarg_segment_size + uint64_t{parameter.align} - 1) /
                            parameter.align * parameter.align;
    if (offset + parameter.bytes > UINT16_MAX)
      return bad_ptx(where, "the parameters are impossibly large");
    kernel.arguments.push_back(
        {"", static_cast<uint32_t>(parameter.bytes), static_cast<uint32_t>(offset), ""});
    kernel.kernarg_segment_size = static_cast<uint32_t>(offset + parameter.bytes);
    if (parameter.end == ")") break;
    if (parameter.end != ",") return bad_ptx(where, "the parameters do not end");
  }
  return finish_arguments(kernel, where);
}

/// The work-items of ".maxntid 16, 16, 1": up to three numbers, those left out are 1.
Result<uint32_t> read_workgroup(Tokens& in, const std::string& where) {
  constexpr uint64_t kMost = 1024;
  uint64_t items = 1;
  for (int dimension = 0; dimension < 3; ++dimension) {
    const auto number = number_of(in.next());
    const auto product = number ? checked_mul(items, uint64_t{*number}) : std::nullopt;
    if (!product || *product == 0 || *product > kMost)
      return bad_ptx(where, "the largest workgroup is impossible", "1 to 1024 work-items");
    items = *product;
    Tokens ahead = in;
    if (ahead.next() != ",") break;
    in = ahead;
  }
  return static_cast<uint32_t>(items);
}

/// Directives between the parameters and the body, and the body itself up to its end.
Result<void> read_body(Tokens& in, Kernel& kernel, const std::string& where) {
  int depth = 0;
  for (;;) {
    const std::string_view token = in.next();
    if (token.empty()) return bad_ptx(where, "the kernel does not end");
    if (token == "{") ++depth;
    if (token == "}" && --depth == 0) return {};
    if (token == ";" && depth == 0) return {};  // a declaration
    if (depth == 0 && (token == ".maxntid" || token == ".reqntid")) {
      HIPPLAN_TRY_ASSIGN(kernel.max_flat_workgroup_size, read_workgroup(in, where));
    }
    if (token == ".shared" && depth > 0) {
      HIPPLAN_TRY_ASSIGN(const Declared variable, read_declared(in, where));
      const uint64_t at = (kernel.group_segment_fixed_size + uint64_t{variable.align} - 1) /
                          variable.align * variable.align;
      if (at + variable.bytes > UINT32_MAX)
        return bad_ptx(where, "shared memory is impossibly large");
      kernel.group_segment_fixed_size = static_cast<uint32_t>(at + variable.bytes);
    }
  }
}

/// An sm_ with a number that is not known here came later; anything else is no architecture.
Error bad_target(std::string_view name, const std::string& where) {
  Error error = bad_ptx(where + ": .target", "no architecture of an NVIDIA GPU known here",
                        "for instance sm_80", std::string(name.substr(0, 40)));
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (!name.starts_with("sm_") || name.size() < 5 || !is_digit(name[3]) || !is_digit(name[4]))
    return error;
  error.code = Code::unusable;
  error.reason = "code-object-version";
  error.advice = kNewerReader;
  return error;
}

Result<Kernel> read_entry(Tokens& in, const std::string& where) {
  Kernel kernel;
  kernel.name = kernel.symbol = std::string(in.next());
  const std::string place = where + ": kernel " + kernel.name.substr(0, 200);
  if (kernel.name.empty() || kernel.name.front() == '.') return bad_ptx(place, "has no name");
  kernel.wavefront_size = 32;
  kernel.kernarg_segment_align = 8;
  kernel.max_flat_workgroup_size = 1024;
  if (in.next() != "(") return bad_ptx(place, "has no parameter list");
  HIPPLAN_TRY(read_parameters(in, kernel, place));
  HIPPLAN_TRY(read_body(in, kernel, place));
  return kernel;
}

}  // namespace

bool is_ptx(ByteView bytes) {
  return Tokens(as_text(bytes)).next() == ".version";
}

Result<CodeObject> parse_ptx(ByteView bytes, const std::string& where) {
  if (bytes.size() > kMaxPtxBytes)
    return bad_ptx(where, "is too large", cat("at most ", kMaxPtxBytes, " bytes"),
                   cat(bytes.size()));
  std::string_view text = as_text(bytes);
  // Compilers end PTX with a zero byte where drivers want one.
  if (text.ends_with('\0')) text.remove_suffix(1);
  if (text.find('\0') != std::string_view::npos) return bad_ptx(where, "holds a zero byte");
  Tokens in(text);
  CodeObject object;
  std::set<std::string> names;
  for (std::string_view token = in.next(); !token.empty(); token = in.next()) {
    if (token == ".target" && object.arch.base.empty()) {
      const std::string_view name = in.next();
      object.arch.base = cat("compute_", name.substr(name.starts_with("sm_") ? 3 : 0, 16));
      if (!target::parse_nvidia(object.arch.base)) return bad_target(name, where);
    } else if (token == ".version" && object.version == 0) {
      const std::string_view version = in.next();
      object.version = number_of(version.substr(0, version.find('.'))).value_or(0);
    } else if (token == ".entry") {
      HIPPLAN_TRY_ASSIGN(Kernel kernel, read_entry(in, where));
      if (!names.insert(kernel.name).second)
        return bad_ptx(where + ": kernel " + kernel.name.substr(0, 200), "stands twice");
      if (names.size() > kMaxPtxKernels) return bad_ptx(where, "too many kernels");
      object.kernels.push_back(std::move(kernel));
    }
  }
  if (object.version == 0 || object.arch.base.empty())
    return bad_ptx(where, "there is no .version or no .target");
  return object;
}

}  // namespace hipplan::codeobject
