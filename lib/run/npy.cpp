#include "run/npy.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

namespace hipplan::run {
namespace {

using graph::DataType;

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr uint64_t kLargestHeader = 1 << 16;
constexpr size_t kLargestRank = 32;

Error npy_error(const std::string& where, const std::string& what, const std::string& expected = "",
                const std::string& found = "", const std::string& advice = "") {
  return {Code::bad_input, "npy", where, what, expected, found, advice};
}

/// Reads the header's Python dictionary literal: three known keys, each once, nothing else.
class HeaderReader {
 public:
  HeaderReader(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  Result<void> read(Npy& out) {
    if (!take('{')) return bad("a dictionary");
    while (!take('}')) {
      HIPPLAN_TRY_ASSIGN(const auto key, quoted());
      if (!take(':')) return bad("':'");
      HIPPLAN_TRY(value(key, out));
      if (!take(',') && peek() != '}') return bad("',' or '}'");
    }
    skip_spaces();
    if (at_ + 1 != text_.size() || text_[at_] != '\n')
      return bad("spaces and a newline at the end");
    if (seen_ != 7) return bad("all of 'descr', 'fortran_order' and 'shape'");
    return {};
  }

 private:
  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  char peek() {
    skip_spaces();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }
  bool take_word(std::string_view word) {
    skip_spaces();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  [[nodiscard]] Error bad(const std::string& expected) const {
    const std::string found = at_ < text_.size() ? shown(text_[at_]) : "the end of the header";
    return npy_error(cat(where_, ": header character ", at_),
                     "the header is not as NumPy writes it", expected, found);
  }
  /// The character between quotes, or its number where a terminal would not show it.
  static std::string shown(char c) {
    if (c >= ' ' && c <= '~') return cat("'", c, "'");
    return cat("character number ", static_cast<unsigned>(static_cast<unsigned char>(c)));
  }
  Result<std::string> quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') return bad("a quoted string");
    const size_t end = text_.find(quote, ++at_);
    if (end == std::string_view::npos || end - at_ > 64) return bad("a short quoted string");
    std::string out(text_.substr(at_, end - at_));
    at_ = end + 1;
    return out;
  }
  Result<void> once(unsigned bit) {
    if ((seen_ & bit) != 0) return bad("each key once");
    seen_ |= bit;
    return {};
  }
  Result<void> value(const std::string& key, Npy& out) {
    if (key == "descr") {
      HIPPLAN_TRY(once(1));
      if (peek() == '[') return bad("a plain type code, not a structured type");
      HIPPLAN_TRY_ASSIGN(out.descr, quoted());
      return {};
    }
    if (key == "fortran_order") {
      HIPPLAN_TRY(once(2));
      out.fortran_order = take_word("True");
      if (!out.fortran_order && !take_word("False")) return bad("True or False");
      return {};
    }
    if (key == "shape") {
      HIPPLAN_TRY(once(4));
      return shape(out.shape);
    }
    return bad("the keys 'descr', 'fortran_order' and 'shape' only");
  }
  Result<void> shape(std::vector<int64_t>& out) {
    if (!take('(')) return bad("a tuple of whole numbers");
    bool comma = true;
    while (!take(')')) {
      if (!comma) return bad("',' or ')'");
      skip_spaces();
      int64_t number = 0;
      const char* first = text_.data() + at_;
      const auto [end, error] = std::from_chars(first, text_.data() + text_.size(), number);
      if (error != std::errc() || number < 0) return bad("a whole number of at most 63 bits");
      if (out.size() == kLargestRank) return bad(cat("at most ", kLargestRank, " dims"));
      at_ += static_cast<size_t>(end - first);
      out.push_back(number);
      comma = take(',');
    }
    if (out.size() == 1 && !comma) return bad("a comma in a tuple of one");
    return {};
  }

  std::string_view text_;
  const std::string& where_;
  size_t at_ = 0;
  unsigned seen_ = 0;  ///< one bit a key
};

struct TypeCode {
  std::string_view code;  ///< without the byte order
  uint64_t bytes;
};
constexpr TypeCode kCodes[] = {{"f2", 2}, {"f4", 4}, {"f8", 8}, {"i1", 1}, {"u1", 1}, {"u2", 2},
                               {"i4", 4}, {"i8", 8}, {"b1", 1}, {"V1", 1}, {"V2", 2}};

Result<uint64_t> element_bytes(const std::string& descr, const std::string& where) {
  const std::string_view text = descr;
  const std::string legal = "f2 f4 f8 i1 u1 u2 i4 i8 b1 V1 V2, little-endian";
  for (const auto& [code, bytes] : kCodes) {
    if (text.size() != 3 || text.substr(1) != code) continue;
    if (text[0] == '<' || text[0] == '|' || (text[0] == '>' && bytes == 1)) return bytes;
    if (text[0] == '>')
      return npy_error(where, "the numbers are big-endian", legal, "'" + descr + "'",
                       "convert with array.astype(array.dtype.newbyteorder('<'))");
  }
  return npy_error(where, "unknown type code", legal, "'" + descr + "'");
}

std::optional<uint64_t> bytes_of_shape(const std::vector<int64_t>& shape, uint64_t width) {
  uint64_t total = width;
  bool empty = false;
  for (const int64_t dim : shape) {
    if (dim == 0) empty = true;
    const auto next = checked_mul(total, static_cast<uint64_t>(std::max<int64_t>(dim, 1)));
    if (!next) return std::nullopt;
    total = *next;
  }
  return empty ? 0 : total;
}

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string out = "(";
  for (const int64_t dim : shape) out += std::to_string(dim) + (shape.size() == 1 ? "," : ", ");
  if (shape.size() > 1) out.resize(out.size() - 2);
  return out + ")";
}

/// Whether a shape holds one element; () does.
bool single(const std::vector<int64_t>& dims) {
  return std::all_of(dims.begin(), dims.end(), [](int64_t d) { return d == 1; });
}

std::string tensor_place(const graph::Tensor& tensor) {
  return cat("tensor ", tensor.uid, " '", tensor.name, "'");
}

/// Calls copy(offset in the tensor's buffer, offset in the file), both in elements, for each
/// element.
template <class Copy>
void for_each_element(const graph::Tensor& tensor, bool fortran_order, const Copy& copy) {
  const size_t rank = tensor.dims.size();
  std::vector<int64_t> file_strides(rank), index(rank, 0);
  int64_t stride = 1;
  for (size_t n = 0; n < rank; ++n) {
    const size_t d = fortran_order ? n : rank - 1 - n;
    file_strides[d] = stride;
    stride *= tensor.dims[d];
  }
  for (int64_t n = tensor.element_count(); n-- > 0;) {
    int64_t in_tensor = 0, in_file = 0;
    for (size_t d = 0; d < rank; ++d) {
      in_tensor += index[d] * tensor.strides[d];
      in_file += index[d] * file_strides[d];
    }
    copy(in_tensor, in_file);
    for (size_t d = rank; d-- > 0;) {
      if (++index[d] < tensor.dims[d]) break;
      index[d] = 0;
    }
  }
}

bool type_fits(DataType type, const std::string& descr) {
  const std::string wanted = npy_descr(type);
  if (wanted.empty() || descr.size() != 3) return false;
  if (descr.substr(1) == wanted.substr(1)) return true;
  const std::string_view code = std::string_view(descr).substr(1);
  return (wanted == "<V2" && code == "u2") || (wanted == "|V1" && code == "u1");
}

}  // namespace

Result<Npy> read_npy(ByteView file, const std::string& where) {
  if (file.size() < 10 || as_text(file.subspan(0, 6)) != kMagic)
    return npy_error(where, "not a .npy file", "the magic \\x93NUMPY");
  const auto major = static_cast<unsigned>(file[6]), minor = static_cast<unsigned>(file[7]);
  if (major < 1 || major > 3 || minor != 0)
    return npy_error(where, "unknown .npy version", "1.0, 2.0 or 3.0", cat(major, ".", minor));
  const uint64_t start = major == 1 ? 10 : 12;
  const auto long_length = load<uint32_t>(file, 8);
  const auto short_length = load<uint16_t>(file, 8);
  if (major != 1 && !long_length) return npy_error(where, "the file ends inside its header");
  const uint64_t length = major == 1 ? *short_length : *long_length;
  if (length > kLargestHeader)
    return npy_error(where, "the header is too long", cat("at most ", kLargestHeader, " bytes"),
                     cat(length, " bytes"));
  const auto header = slice(file, start, length);
  if (!header) return npy_error(where, "the file ends inside its header");
  Npy out;
  HIPPLAN_TRY(HeaderReader(as_text(*header), where).read(out));
  HIPPLAN_TRY_ASSIGN(const uint64_t width, element_bytes(out.descr, where));
  const auto size = bytes_of_shape(out.shape, width);
  if (!size) return npy_error(where, "the shape overflows", "", shape_text(out.shape));
  out.data = file.subspan(static_cast<size_t>(start + length));
  if (out.data.size() != *size)
    return npy_error(where, "the data does not have the size that type and shape say",
                     cat(*size, " bytes"), cat(out.data.size(), " bytes"));
  return out;
}

Bytes write_npy(const std::string& descr, const std::vector<int64_t>& shape, ByteView data) {
  std::string header =
      "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape_text(shape) + ", }";
  constexpr size_t kPrefix = 10, kAlignment = 64;
  const size_t unpadded = kPrefix + header.size() + 1;
  header.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
  header += '\n';
  Bytes out;
  out.reserve(kPrefix + header.size() + data.size());
  append(out, as_bytes(kMagic));
  append(out, uint8_t{1});
  append(out, uint8_t{0});
  append(out, static_cast<uint16_t>(header.size()));
  append(out, as_bytes(header));
  append(out, data);
  return out;
}

std::string npy_descr(DataType type) {
  switch (type) {
    case DataType::float32:
      return "<f4";
    case DataType::half:
      return "<f2";
    case DataType::bfloat16:
      return "<V2";
    case DataType::float64:
      return "<f8";
    case DataType::uint8:
      return "|u1";
    case DataType::int8:
      return "|i1";
    case DataType::int32:
      return "<i4";
    case DataType::int64:
      return "<i8";
    case DataType::boolean:
      return "|b1";
    case DataType::fp8_e4m3:
    case DataType::fp8_e5m2:
    case DataType::fp8_e8m0:
      return "|V1";
    default:
      return "";
  }
}

Result<Bytes> tensor_from_npy(const graph::Tensor& tensor, const Npy& npy,
                              const std::string& where) {
  const std::string place = where + ", for " + tensor_place(tensor);
  if (!type_fits(tensor.type, npy.descr)) {
    const std::string wanted = npy_descr(tensor.type);
    return Error{Code::bad_input,
                 "npy-type",
                 place,
                 "the file's type is not the tensor's",
                 wanted.empty()
                     ? cat("no .npy type stands for ", graph::data_type_name(tensor.type))
                     : cat("'", wanted, "' (", graph::data_type_name(tensor.type), ")"),
                 "'" + npy.descr + "'",
                 ""};
  }
  const bool one = single(tensor.dims) && single(npy.shape);
  if (npy.shape != tensor.dims && !one)
    return Error{Code::bad_input,
                 "npy-shape",
                 place,
                 "the file's shape is not the tensor's",
                 shape_text(tensor.dims),
                 shape_text(npy.shape),
                 ""};
  const size_t width = graph::bits_of(tensor.type) / 8;
  if (npy.data.size() < static_cast<uint64_t>(tensor.element_count()) * width)
    return npy_error(place, "the data is too short for the shape");
  Bytes out(static_cast<size_t>(tensor.span_bytes()));
  for_each_element(tensor, npy.fortran_order, [&](int64_t to, int64_t from) {
    std::memcpy(out.data() + static_cast<size_t>(to) * width,
                npy.data.data() + static_cast<size_t>(from) * width, width);
  });
  return out;
}

Result<Bytes> tensor_to_npy(const graph::Tensor& tensor, ByteView bytes) {
  const std::string descr = npy_descr(tensor.type);
  if (descr.empty())
    return Error{Code::bad_input,
                 "npy-type",
                 tensor_place(tensor),
                 cat("no .npy type stands for ", graph::data_type_name(tensor.type)),
                 "",
                 "",
                 ""};
  const auto needed = static_cast<uint64_t>(tensor.span_bytes());
  if (bytes.size() < needed)
    return Error{Code::bad_input,
                 "input-size",
                 tensor_place(tensor),
                 "the buffer is too short",
                 cat(needed, " bytes"),
                 cat(bytes.size(), " bytes"),
                 ""};
  const size_t width = graph::bits_of(tensor.type) / 8;
  Bytes data(static_cast<size_t>(tensor.element_count()) * width);
  for_each_element(tensor, false, [&](int64_t from, int64_t to) {
    std::memcpy(data.data() + static_cast<size_t>(to) * width,
                bytes.data() + static_cast<size_t>(from) * width, width);
  });
  return write_npy(descr, tensor.dims, data);
}

}  // namespace hipplan::run
