// Reading PTX as far as loaders need it: target, kernels, parameters, shared memory.
#include <algorithm>
#include <charconv>
#include <set>

#include "codeobject/architectures.h"
#include "codeobject/cubin.h"
#include "codeobject/ptx_tokens.h"
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

std::optional<uint32_t> number_of(std::string_view text, int base = 10) {
  uint32_t out = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), out, base);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

/// An integer constant of PTX: 16, 0x10, 020 or 0b10000, with or without U behind it.
std::optional<uint32_t> integer_of(std::string_view text) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  if (text.ends_with('U')) text.remove_suffix(1);
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    base = lower(text[1]) == 'x' ? 16 : (lower(text[1]) == 'b' ? 2 : 8);
    text.remove_prefix(base == 8 ? 1 : 2);
  }
  return number_of(text, base);
}

/// Bytes of ".u64", ".b8" and the like, or 0.
uint32_t type_bytes(std::string_view type) {
  if (type.size() < 3 || type[0] != '.' ||
      std::string_view("busf").find(type[1]) == std::string_view::npos)
    return 0;
  const auto bits = number_of(type.substr(2));
  for (const uint32_t known : {8u, 16u, 32u, 64u, type[1] == 'b' ? 128u : 64u})
    if (bits == known) return known / 8;
  return 0;
}

/// A declared variable: ".align 8 .b8 name[320]" after its state space.
struct Declared {
  uint64_t bytes = 0;  ///< 0 for arrays of unknown size ("[]") and of none, which is the same
  uint32_t align = 1;
  std::string_view end;  ///< the mark behind it
  uint32_t element = 0;  ///< bytes of one element
};

/// After a comma the next variable is `like` the one before it, but for its name and size.
Result<Declared> read_declared(PtxTokens& in, const std::string& where, const Declared& like = {}) {
  Declared out;
  uint32_t element = like.element, lanes = 1;
  uint64_t count = 1;
  bool aligned = like.element != 0, pointee = false;
  if (aligned) out.align = like.align;
  for (;;) {
    const std::string_view token = in.next();
    if (token == ".align") {
      const auto value = integer_of(in.next());
      if (!value || *value == 0 || (*value & (*value - 1)) != 0 || *value > 4096)
        return bad_ptx(where, "an alignment that is none", "a power of two up to 4096");
      if (!pointee) out.align = *value, aligned = true;
    } else if (token == ".ptr") {
      pointee = true;  // what follows describes what it points to
    } else if (const uint32_t size = type_bytes(token)) {
      element = size;
    } else if (token == ".v2" || token == ".v4") {
      lanes = token == ".v2" ? 2 : 4;
    } else if (token == "[") {
      const std::string_view text = in.next();
      const auto dimension = text == "]" ? 0 : integer_of(text);
      if (!dimension || (text != "]" && in.next() != "]"))
        return bad_ptx(where, "an array without a size", "[number]",
                       std::string(text.substr(0, 40)));
      count *= *dimension;
      if (count > UINT32_MAX) return bad_ptx(where, "a variable is impossibly large");
    } else if (token == "," || token == ")" || token == ";" || token.empty()) {
      out.end = token;
      break;
    }
  }
  if (element == 0) return bad_ptx(where, "a variable without a type");
  out.element = element * lanes;
  out.bytes = count * out.element;
  if (out.bytes > UINT32_MAX) return bad_ptx(where, "a variable is impossibly large");
  if (!aligned) out.align = out.element;
  return out;
}

Result<void> read_parameters(PtxTokens& in, Kernel& kernel, const std::string& where) {
  for (std::string_view token = in.next(); token != ")"; token = in.next()) {
    if (token != ".param")
      return bad_ptx(where, "the parameters are not understood", ".param",
                     std::string(token.substr(0, 40)));
    HIPPLAN_TRY_ASSIGN(const Declared parameter, read_declared(in, where));
    if (parameter.bytes == 0) return bad_ptx(where, "a parameter is an array of no size");
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
Result<uint32_t> read_workgroup(PtxTokens& in, const std::string& where) {
  constexpr uint64_t kMost = 1024;
  uint64_t items = 1;
  for (int dimension = 0; dimension < 3; ++dimension) {
    const auto number = integer_of(in.next());
    const auto product = number ? checked_mul(items, uint64_t{*number}) : std::nullopt;
    if (!product || *product == 0 || *product > kMost)
      return bad_ptx(where, "the largest workgroup is impossible", "1 to 1024 work-items");
    items = *product;
    PtxTokens ahead = in;
    if (ahead.next() != ",") break;
    in = ahead;
  }
  return static_cast<uint32_t>(items);
}

/// Static shared memory: variables one after the other.
struct Shared {
  uint64_t bytes = 0;
  uint32_t align = 1;

  Result<void> add(const Shared& more, const std::string& where) {
    bytes = (bytes + more.align - 1) / more.align * more.align + more.bytes;
    align = std::max(align, more.align);
    if (bytes > UINT32_MAX) return bad_ptx(where, "shared memory is impossibly large");
    return {};
  }
  /// The variables behind ".shared". An array without a size is the memory that a launch adds; one
  /// with a size counts even behind ".extern", which the driver ignores then.
  Result<void> read(PtxTokens& in, const std::string& where) {
    Declared variable;
    do {
      HIPPLAN_TRY_ASSIGN(variable, read_declared(in, where, variable));
      HIPPLAN_TRY(add({variable.bytes, variable.align}, where));
    } while (variable.end == ",");
    return {};
  }
};

/// Directives between the parameters and the body, and the body itself up to its end.
Result<void> read_body(PtxTokens& in, Kernel& kernel, Shared& shared, const std::string& where) {
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
    if (token == ".shared" && depth > 0) HIPPLAN_TRY(shared.read(in, where));
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

/// The major version of ".version 8.3". One that no number holds came later, too.
Result<uint32_t> read_version(std::string_view version, const std::string& where) {
  const std::string_view major = version.substr(0, version.find('.'));
  const auto number = number_of(major);
  if (number && *number != 0) return *number;
  Error error = bad_ptx(where + ": .version", "no version of PTX", "for instance 8.3",
                        std::string(version.substr(0, 40)));
  if (number || major.empty() || major.find_first_not_of("0123456789") != std::string_view::npos)
    return error;
  error.code = Code::unusable;
  error.reason = "code-object-version";
  error.advice = kNewerReader;
  return error;
}

Result<Kernel> read_entry(PtxTokens& in, Shared& shared, const std::string& where) {
  Kernel kernel;
  kernel.name = kernel.symbol = std::string(in.next());
  const std::string place = where + ": kernel " + kernel.name.substr(0, 200);
  if (kernel.name.empty() || kernel.name.front() == '.') return bad_ptx(place, "has no name");
  kernel.wavefront_size = 32;
  kernel.kernarg_segment_align = 8;
  kernel.max_flat_workgroup_size = 1024;
  if (in.next() != "(") return bad_ptx(place, "has no parameter list");
  HIPPLAN_TRY(read_parameters(in, kernel, place));
  HIPPLAN_TRY(read_body(in, kernel, shared, place));
  return kernel;
}

}  // namespace

bool is_ptx(ByteView bytes) {
  return PtxTokens(as_text(bytes)).next_is(".version");
}

Result<CodeObject> parse_ptx(ByteView bytes, const std::string& where,
                             std::vector<std::string_view>* sources) {
  if (bytes.size() > kMaxPtxBytes)
    return bad_ptx(where, "is too large", cat("at most ", kMaxPtxBytes, " bytes"),
                   cat(bytes.size()));
  std::string_view text = as_text(bytes);
  // Compilers end PTX with a zero byte where drivers want one.
  if (text.ends_with('\0')) text.remove_suffix(1);
  if (text.find('\0') != std::string_view::npos) return bad_ptx(where, "holds a zero byte");
  PtxTokens in(text);
  CodeObject object;
  std::set<std::string> names;
  Shared common;
  std::vector<Shared> own;
  for (std::string_view token = in.next(); !token.empty(); token = in.next()) {
    if (token == ".target" && object.arch.base.empty()) {
      const std::string_view name = in.next();
      object.arch.base = cat("compute_", name.substr(name.starts_with("sm_") ? 3 : 0, 16));
      if (!target::parse_nvidia(object.arch.base)) return bad_target(name, where);
    } else if (token == ".version" && object.version == 0) {
      HIPPLAN_TRY_ASSIGN(object.version, read_version(in.next(), where));
    } else if (token == ".shared") {
      HIPPLAN_TRY(common.read(in, where));
    } else if (token == ".entry") {
      own.emplace_back();
      HIPPLAN_TRY_ASSIGN(Kernel kernel, read_entry(in, own.back(), where));
      if (sources != nullptr)
        sources->emplace_back(token.data(), static_cast<size_t>(in.rest() - token.data()));
      if (!names.insert(kernel.name).second)
        return bad_ptx(where + ": kernel " + kernel.name.substr(0, 200), "stands twice");
      if (names.size() > kMaxPtxKernels) return bad_ptx(where, "too many kernels");
      object.kernels.push_back(std::move(kernel));
    }
  }
  if (object.version == 0 || object.arch.base.empty())
    return bad_ptx(where, "there is no .version or no .target");
  // The driver gives a kernel the variables of the module and of its functions that the kernel
  // reaches. Which ones those are takes reading instructions; all of them is the most it can be.
  for (size_t i = 0; i < own.size(); ++i) {
    Kernel& kernel = object.kernels[i];
    HIPPLAN_TRY(own[i].add(common, cat(where, ": kernel ", kernel.name.substr(0, 200))));
    kernel.group_segment_fixed_size = static_cast<uint32_t>(own[i].bytes);
  }
  return object;
}

}  // namespace hipplan::codeobject
