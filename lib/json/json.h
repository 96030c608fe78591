// JSON text to a value tree that knows line and column. The only module that names the JSON
// library.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace hipplan::json {

enum class Kind : uint8_t { null, boolean, integer, number, string, array, object };
[[nodiscard]] const char* kind_name(Kind kind);

/// A parsed value. Objects keep the order of the text; duplicate keys are refused while parsing.
struct Value {
  Kind kind = Kind::null;
  uint32_t line = 0,
           column = 0;  ///< where the value starts, from 1 (MessagePack: 0 and the offset)
  bool boolean = false;
  int64_t integer = 0;
  double number = 0;  ///< also set for integers
  std::string string;
  std::vector<Value> items;                            ///< of an array
  std::vector<std::pair<std::string, Value>> members;  ///< of an object

  // Declared here and defaulted below, where pair<string, Value> is a complete type.
  Value();
  Value(const Value&);
  Value(Value&&) noexcept;
  Value& operator=(const Value&);
  Value& operator=(Value&&) noexcept;
  ~Value();

  [[nodiscard]] const Value* find(std::string_view key) const;
  [[nodiscard]] bool is_null() const { return kind == Kind::null; }
};

inline Value::Value() = default;
inline Value::Value(const Value&) = default;
inline Value::Value(Value&&) noexcept = default;
inline Value& Value::operator=(const Value&) = default;
inline Value& Value::operator=(Value&&) noexcept = default;
inline Value::~Value() = default;

struct Limits {
  uint64_t max_bytes = 64ull << 20;
  uint32_t max_depth = 64;
  bool comments = false;             ///< accept // and /* */
  uint64_t max_values = 4ull << 20;  ///< of the whole tree; a value takes over 100 bytes of memory
};

/// Fails with bad_input, `where` "file:line:column". UTF-8 is checked; integers outside int64 are
/// refused; NaN and infinities are not JSON.
Result<Value> parse(std::string_view text, const std::string& where, const Limits& limits = {});

/// "file:line:column" of a value, columns in bytes; "file: offset N" of a MessagePack value.
[[nodiscard]] std::string place(const std::string& where, const Value& value);

/// Writes JSON text. Keys come out in the order given; doubles in the shortest form that reads
/// back.
class Writer {
 public:
  explicit Writer(int indent = 2) : indent_(indent) {}  ///< negative: compact, one line
  Writer& begin_object();
  Writer& end_object();
  Writer& begin_array();
  Writer& end_array();
  Writer& key(std::string_view name);
  Writer& value(std::string_view text);
  Writer& value(const char* text) { return value(std::string_view(text)); }
  Writer& value(const std::string& text) { return value(std::string_view(text)); }
  Writer& value(bool flag);
  Writer& value(int64_t number);
  Writer& value(uint64_t number);
  Writer& value(int number) { return value(static_cast<int64_t>(number)); }
  Writer& value(unsigned number) { return value(static_cast<uint64_t>(number)); }
  Writer& value(double number);
  Writer& null();
  /// Inserts text that is JSON already.
  Writer& raw(std::string_view json_text);
  template <class T>
  Writer& member(std::string_view name, const T& v) {
    return key(name).value(v);
  }
  [[nodiscard]] const std::string& text() const { return out_; }

 private:
  void before_value();
  void new_line();
  int indent_;
  std::string out_;
  std::vector<bool> has_items_;
  bool after_key_ = false;
};

/// The same value again as canonical text: compact, keys in their order.
[[nodiscard]] std::string print(const Value& value, int indent = -1);

}  // namespace hipplan::json
