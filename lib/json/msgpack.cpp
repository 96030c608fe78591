#include "json/msgpack.h"

#include <bit>
#include <cmath>
#include <unordered_set>

#include "json/text.h"

namespace hipplan::json {
namespace {

/// Reads with a stack of open containers instead of recursion.
class Reader {
 public:
  Reader(ByteView bytes, const std::string& where, const Limits& limits)
      : bytes_(bytes), where_(where), limits_(limits) {}

  Result<Value> read() {
    if (bytes_.size() > limits_.max_bytes || bytes_.size() > UINT32_MAX)
      return fail(0, "msgpack-size", "MessagePack data is too large");
    Value root;
    HIPPLAN_TRY(read_value(root));
    while (!open_.empty()) HIPPLAN_TRY(read_next());
    if (at_ != bytes_.size())
      return fail(at_, "msgpack-trailing", cat(bytes_.size() - at_, " bytes after the value"));
    return root;
  }

 private:
  struct Open {
    Value* value;
    uint64_t left;
    std::unordered_set<std::string> keys;
  };

  Error fail(uint64_t offset, std::string reason, std::string what) const {
    Error error;
    error.code = Code::bad_input;
    error.reason = std::move(reason);
    error.where = cat(where_, ": offset ", offset);
    error.what = std::move(what);
    return error;
  }
  Error truncated(uint64_t needed) const {
    Error error = fail(at_, "msgpack-truncated", "MessagePack data ends inside a value");
    error.expected = cat("at least ", needed, " more bytes");
    error.found = cat(bytes_.size() - at_);
    return error;
  }

  Result<void> read_next() {
    Open& open = open_.back();
    if (open.left == 0) {
      open_.pop_back();
      return {};
    }
    --open.left;
    if (open.value->kind == Kind::array) return read_value(open.value->items.emplace_back());
    const uint64_t offset = at_;
    Value key;
    HIPPLAN_TRY(read_value(key));
    if (key.kind != Kind::string)
      return fail(offset, "msgpack-key",
                  cat("map key is a ", kind_name(key.kind), ", not a string"));
    if (!open.keys.insert(key.string).second)
      return fail(offset, "duplicate-key", cat("key \"", key.string, "\" stands twice in one map"));
    return read_value(open.value->members.emplace_back(std::move(key.string), Value{}).second);
  }

  /// Big-endian unsigned number of `size` bytes.
  Result<uint64_t> read_number(unsigned size) {
    if (bytes_.size() - at_ < size) return truncated(size);
    uint64_t number = 0;
    for (unsigned i = 0; i < size; ++i)
      number = number << 8 | std::to_integer<uint64_t>(bytes_[at_ + i]);
    at_ += size;
    return number;
  }

  Result<void> read_value(Value& value) {
    const uint64_t offset = at_;
    value.column = static_cast<uint32_t>(offset);
    if (++values_ > limits_.max_values)
      return fail(offset, "msgpack-size", cat("more than ", limits_.max_values, " values"));
    HIPPLAN_TRY_ASSIGN(const uint64_t tag, read_number(1));
    if (tag <= 0x7f) return set_integer(value, static_cast<int64_t>(tag));
    if (tag <= 0x8f) return open_container(value, Kind::object, tag & 0x0f, offset);
    if (tag <= 0x9f) return open_container(value, Kind::array, tag & 0x0f, offset);
    if (tag <= 0xbf) return read_string(value, tag & 0x1f, true);
    if (tag >= 0xe0) return set_integer(value, static_cast<int64_t>(tag) - 256);
    return read_tagged(value, static_cast<unsigned>(tag), offset);
  }

  Result<void> read_tagged(Value& value, unsigned tag, uint64_t offset) {
    if (tag == 0xc0) return {};
    if (tag == 0xc2 || tag == 0xc3) {
      value.kind = Kind::boolean;
      value.boolean = tag == 0xc3;
      return {};
    }
    if (tag >= 0xc4 && tag <= 0xc6) return read_sized_string(value, 1u << (tag - 0xc4), false);
    if (tag == 0xca || tag == 0xcb) return read_float(value, tag == 0xca, offset);
    if (tag >= 0xcc && tag <= 0xcf) return read_unsigned(value, 1u << (tag - 0xcc), offset);
    if (tag >= 0xd0 && tag <= 0xd3) return read_signed(value, 1u << (tag - 0xd0));
    if (tag >= 0xd9 && tag <= 0xdb) return read_sized_string(value, 1u << (tag - 0xd9), true);
    if (tag >= 0xdc && tag <= 0xdf) {
      HIPPLAN_TRY_ASSIGN(const uint64_t count, read_number(tag & 1 ? 4 : 2));
      return open_container(value, tag <= 0xdd ? Kind::array : Kind::object, count, offset);
    }
    return fail(offset, "msgpack-type",
                tag == 0xc1 ? "byte 0xc1 starts no MessagePack value"
                            : "MessagePack extension types are not accepted");
  }

  static Result<void> set_integer(Value& value, int64_t number) {
    value.kind = Kind::integer;
    value.integer = number;
    value.number = static_cast<double>(number);
    return {};
  }
  Result<void> read_unsigned(Value& value, unsigned size, uint64_t offset) {
    HIPPLAN_TRY_ASSIGN(const uint64_t number, read_number(size));
    if (number > static_cast<uint64_t>(INT64_MAX)) {
      Error error = fail(offset, "integer-range", "integer outside the 64-bit signed range");
      error.found = cat(number);
      return error;
    }
    return set_integer(value, static_cast<int64_t>(number));
  }
  Result<void> read_signed(Value& value, unsigned size) {
    HIPPLAN_TRY_ASSIGN(const uint64_t number, read_number(size));
    const unsigned unused = 64 - 8 * size;
    return set_integer(value, static_cast<int64_t>(number << unused) >> unused);
  }
  Result<void> read_float(Value& value, bool is_single, uint64_t offset) {
    HIPPLAN_TRY_ASSIGN(const uint64_t bits, read_number(is_single ? 4 : 8));
    value.kind = Kind::number;
    value.number = is_single
                       ? static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits)))
                       : std::bit_cast<double>(bits);
    if (!std::isfinite(value.number))
      return fail(offset, "not-finite", "number is infinite or not a number");
    return {};
  }
  Result<void> read_sized_string(Value& value, unsigned size_bytes, bool is_text) {
    HIPPLAN_TRY_ASSIGN(const uint64_t size, read_number(size_bytes));
    return read_string(value, size, is_text);
  }
  Result<void> read_string(Value& value, uint64_t size, bool is_text) {
    const auto part = slice(bytes_, at_, size);
    if (!part) return truncated(size);
    const std::string_view text = as_text(*part);
    if (const size_t bad = detail::first_bad_utf8(text); is_text && bad != text.size())
      return fail(at_ + bad, "not-utf8", "string is not UTF-8");
    value.kind = Kind::string;
    value.string.assign(text);
    at_ += size;
    return {};
  }
  Result<void> open_container(Value& value, Kind kind, uint64_t count, uint64_t offset) {
    if (open_.size() >= limits_.max_depth)
      return fail(offset, "msgpack-depth",
                  cat("nested deeper than ", limits_.max_depth, " levels"));
    const uint64_t least = kind == Kind::object ? 2 * count : count;
    if (least > bytes_.size() - at_) return truncated(least);
    value.kind = kind;
    open_.push_back({&value, count, {}});
    return {};
  }

  ByteView bytes_;
  const std::string& where_;
  const Limits& limits_;
  uint64_t at_ = 0, values_ = 0;
  std::vector<Open> open_;
};

void put(Bytes& out, unsigned tag) {
  out.push_back(static_cast<std::byte>(tag));
}

void put_number(Bytes& out, unsigned tag, uint64_t number, unsigned size) {
  put(out, tag);
  for (unsigned i = size; i-- > 0;) put(out, static_cast<unsigned>(number >> (8 * i) & 0xff));
}

/// One length with its tags: `small` up to `small_limit`, then 8 (0: has none), 16 and 32 bits.
struct LengthTags {
  unsigned small, small_limit, tag8, tag16, tag32;
};

void put_length(Bytes& out, const LengthTags& tags, uint64_t length) {
  if (length < tags.small_limit)
    put(out, tags.small | static_cast<unsigned>(length));
  else if (tags.tag8 != 0 && length <= UINT8_MAX)
    put_number(out, tags.tag8, length, 1);
  else if (length <= UINT16_MAX)
    put_number(out, tags.tag16, length, 2);
  else
    put_number(out, tags.tag32, length, 4);
}

constexpr LengthTags kString{0xa0, 32, 0xd9, 0xda, 0xdb};
constexpr LengthTags kArray{0x90, 16, 0, 0xdc, 0xdd};
constexpr LengthTags kMap{0x80, 16, 0, 0xde, 0xdf};

void put_integer(Bytes& out, int64_t number) {
  const auto bits = static_cast<uint64_t>(number);
  if (number >= -32 && number <= 127) return put(out, static_cast<unsigned>(bits & 0xff));
  unsigned log_size = 3;
  if (number >= 0) {
    while (log_size > 0 && bits >> (4u << log_size) == 0) --log_size;
    return put_number(out, 0xcc + log_size, bits, 1u << log_size);
  }
  while (log_size > 0 && number >= -(int64_t{1} << ((4u << log_size) - 1))) --log_size;
  put_number(out, 0xd0 + log_size, bits, 1u << log_size);
}

void put_string(Bytes& out, const std::string& text) {
  put_length(out, kString, text.size());
  append(out, as_bytes(text));
}

void write(Bytes& out, const Value& value) {
  switch (value.kind) {
    case Kind::null:
      return put(out, 0xc0);
    case Kind::boolean:
      return put(out, value.boolean ? 0xc3 : 0xc2);
    case Kind::integer:
      return put_integer(out, value.integer);
    case Kind::number:
      return put_number(out, 0xcb, std::bit_cast<uint64_t>(value.number), 8);
    case Kind::string:
      return put_string(out, value.string);
    case Kind::array:
      put_length(out, kArray, value.items.size());
      for (const Value& item : value.items) write(out, item);
      return;
    case Kind::object:
      put_length(out, kMap, value.members.size());
      for (const auto& [key, member] : value.members) {
        put_string(out, key);
        write(out, member);
      }
      return;
  }
}

}  // namespace

Result<Value> parse_msgpack(ByteView bytes, const std::string& where, const Limits& limits) {
  return Reader(bytes, where, limits).read();
}

Bytes write_msgpack(const Value& value) {
  Bytes out;
  write(out, value);
  return out;
}

}  // namespace hipplan::json
