// Parsing. The JSON library's SAX parser decides what is JSON; a cursor of our own walks the text
// in step with its events, because the SAX interface does not say where a value starts. Both go
// over the text once, neither recurses.
#include "json/json.h"

#include <nlohmann/json.hpp>
#include <unordered_set>

#include "json/text.h"

namespace hipplan::json {
namespace {

struct Position {
  uint32_t line = 1, column = 1;
};

/// Follows the parser token by token. Columns count bytes.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  /// Goes to the start of the next value, key or closing bracket.
  void skip_to_token() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        ++at_;
        start_line();
      } else if (c == ' ' || c == '\t' || c == '\r' || c == ',' || c == ':') {
        ++at_;
      } else if (c == '/') {
        skip_comment();
      } else {
        return;
      }
    }
  }
  void skip_bracket() { ++at_; }
  void skip_word() {
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
  }
  void skip_string() {
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_)
      if (text_[at_] == '\\') ++at_;
    ++at_;
  }
  [[nodiscard]] Position position() const {
    return {line_, static_cast<uint32_t>(at_ - line_start_ + 1)};
  }

 private:
  static bool is_word(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' ||
           c == '-' || c == '.';
  }
  void start_line() {
    ++line_;
    line_start_ = at_;
  }
  void skip_comment() {
    const bool block = at_ + 1 < text_.size() && text_[at_ + 1] == '*';
    const size_t end = block ? text_.find("*/", at_ + 2) : text_.find_first_of("\r\n", at_);
    const size_t stop = end == std::string_view::npos ? text_.size() : end + (block ? 2 : 0);
    while (at_ < stop)
      if (text_[at_++] == '\n') start_line();
  }

  std::string_view text_;
  size_t at_ = 0, line_start_ = 0;
  uint32_t line_ = 1;
};

Position position_at(std::string_view text, size_t offset) {
  Position out;
  for (size_t i = 0; i < std::min(offset, text.size()); ++i) {
    ++out.column;
    if (text[i] == '\n') out = {out.line + 1, 1};
  }
  return out;
}

Error failure(const std::string& where, Position position, std::string reason, std::string what) {
  Error error;
  error.code = Code::bad_input;
  error.reason = std::move(reason);
  error.where = cat(where, ":", position.line, ":", position.column);
  error.what = std::move(what);
  return error;
}

/// What the JSON library says went wrong, without its own prefix and position.
std::string library_message(const char* text) {
  std::string message = text;
  const size_t column = message.find("column ");
  const size_t colon = message.find(": ", column == std::string::npos ? 0 : column);
  if (colon != std::string::npos) message.erase(0, colon + 2);
  constexpr std::string_view kPrefix = "syntax error while parsing ";
  if (message.compare(0, kPrefix.size(), kPrefix) == 0) message.erase(0, 13);
  return message;
}

/// Room taken for an object at its first key: enough for most, little for hostile texts.
constexpr size_t kExpectedMembers = 4;

/// Builds the value tree from the parser's events.
class Builder : public nlohmann::json::json_sax_t {
 public:
  Builder(std::string_view text, const std::string& where, const Limits& limits)
      : text_(text), where_(where), limits_(limits), cursor_(text) {}

  bool null() override { return word(Kind::null) != nullptr; }
  bool boolean(bool flag) override {
    Value* value = word(Kind::boolean);
    if (value) value->boolean = flag;
    return value != nullptr;
  }
  bool number_integer(number_integer_t number) override {
    Value* value = word(Kind::integer);
    if (!value) return false;
    value->integer = number;
    value->number = static_cast<double>(number);
    return true;
  }
  bool number_unsigned(number_unsigned_t number) override {
    if (number > static_cast<uint64_t>(INT64_MAX)) return refuse_integer(cat(number));
    return number_integer(static_cast<int64_t>(number));
  }
  bool number_float(number_float_t number, const string_t& spelling) override {
    // The lexer falls back to floating point for integers that no 64-bit type holds.
    if (spelling.find_first_of(".eE") == std::string::npos) return refuse_integer(spelling);
    Value* value = word(Kind::number);
    if (value) value->number = number;
    return value != nullptr;
  }
  bool string(string_t& text) override {
    Value* value = open_value(Kind::string);
    if (!value) return false;
    value->string = std::move(text);
    cursor_.skip_string();
    return true;
  }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open_container(Kind::object); }
  bool start_array(std::size_t) override { return open_container(Kind::array); }
  bool end_object() override { return close_container(); }
  bool end_array() override { return close_container(); }

  bool key(string_t& name) override {
    cursor_.skip_to_token();
    Open& open = open_.back();
    if (is_duplicate(open, name)) {
      fail("duplicate-key", cat("key \"", name, "\" stands twice in one object"));
      return false;
    }
    cursor_.skip_string();
    auto& members = open.value->members;
    if (members.empty()) members.reserve(kExpectedMembers);
    members.emplace_back(std::move(name), Value{});
    return true;
  }

  bool parse_error(std::size_t offset, const std::string& token,
                   const nlohmann::detail::exception& ex) override {
    constexpr int kNumberOverflow = 406;
    if (ex.id == kNumberOverflow) return refuse_overflow(token);
    const size_t at = offset == 0 ? 0 : offset - 1;
    if (at >= text_.size())
      error_ = failure(where_, position_at(text_, text_.size()), "json-truncated",
                       "the text ends inside a JSON value");
    else
      error_ = failure(where_, position_at(text_, at), "json-syntax", library_message(ex.what()));
    return false;
  }

  Error& error() { return error_; }
  Value& root() { return root_; }

 private:
  struct Open {
    Value* value;
    std::unordered_set<std::string> keys;  ///< used once an object has many keys
  };

  void fail(std::string reason, std::string what) {
    error_ = failure(where_, cursor_.position(), std::move(reason), std::move(what));
  }
  bool refuse_integer(const std::string& spelling) {
    cursor_.skip_to_token();
    const bool long_text = spelling.size() > 40;
    fail("integer-range", "integer outside the 64-bit signed range");
    error_.expected = "-9223372036854775808 to 9223372036854775807";
    error_.found =
        long_text ? cat(spelling.substr(0, 40), "… (", spelling.size(), " characters)") : spelling;
    return false;
  }
  bool refuse_overflow(const std::string& spelling) {
    if (spelling.find_first_of(".eE") == std::string::npos) return refuse_integer(spelling);
    cursor_.skip_to_token();
    fail("number-range", "number outside the range of 64-bit floating point");
    return false;
  }
  /// Few keys: a walk is cheapest. Many: a set, so that the whole stays linear.
  static bool is_duplicate(Open& open, const std::string& name) {
    constexpr size_t kFew = 24;
    const auto& members = open.value->members;
    if (members.size() < kFew) return open.value->find(name) != nullptr;
    if (open.keys.empty())
      for (const auto& [key, value] : members) open.keys.insert(key);
    return !open.keys.insert(name).second;
  }
  Value* open_value(Kind kind) {
    cursor_.skip_to_token();
    if (++values_ > limits_.max_values) {
      fail("json-size", cat("more than ", limits_.max_values, " values"));
      return nullptr;
    }
    Value* value = &root_;
    if (!open_.empty()) {
      Value& parent = *open_.back().value;
      value =
          parent.kind == Kind::array ? &parent.items.emplace_back() : &parent.members.back().second;
    }
    const Position position = cursor_.position();
    value->kind = kind;
    value->line = position.line;
    value->column = position.column;
    return value;
  }
  Value* word(Kind kind) {
    Value* value = open_value(kind);
    cursor_.skip_word();
    return value;
  }
  bool open_container(Kind kind) {
    Value* value = open_value(kind);
    if (!value) return false;
    if (open_.size() >= limits_.max_depth) {
      fail("json-depth", cat("nested deeper than ", limits_.max_depth, " levels"));
      return false;
    }
    cursor_.skip_bracket();
    open_.push_back({value, {}});
    return true;
  }
  bool close_container() {
    cursor_.skip_to_token();
    cursor_.skip_bracket();
    open_.pop_back();
    return true;
  }

  std::string_view text_;
  const std::string& where_;
  const Limits& limits_;
  Cursor cursor_;
  Value root_;
  std::vector<Open> open_;
  uint64_t values_ = 0;
  Error error_;
};

/// What can be told from the bytes alone.
Result<void> check_bytes(std::string_view text, const std::string& where, const Limits& limits) {
  if (text.size() > limits.max_bytes) {
    Error error = failure(where, {}, "json-size", "JSON text is too large");
    error.expected = cat("at most ", limits.max_bytes, " bytes");
    error.found = cat(text.size(), " bytes");
    return error;
  }
  if (text.substr(0, 3) == "\xEF\xBB\xBF")
    return failure(where, {}, "byte-order-mark", "JSON text starts with a byte order mark");
  if (const size_t bad = detail::first_bad_utf8(text); bad != text.size())
    return failure(where, position_at(text, bad), "not-utf8",
                   cat("byte ", static_cast<unsigned>(static_cast<unsigned char>(text[bad])),
                       " at offset ", bad, " is not UTF-8"));
  // The library's lexer takes a zero byte for the end of the text.
  if (const size_t zero = text.find('\0'); zero != std::string_view::npos)
    return failure(where, position_at(text, zero), "json-syntax",
                   cat("zero byte at offset ", zero));
  return {};
}

}  // namespace

const char* kind_name(Kind kind) {
  constexpr const char* kNames[] = {"null",   "boolean", "integer", "number",
                                    "string", "array",   "object"};
  return kNames[static_cast<size_t>(kind)];
}

const Value* Value::find(std::string_view key) const {
  for (const auto& [name, value] : members)
    if (name == key) return &value;
  return nullptr;
}

Result<Value> parse(std::string_view text, const std::string& where, const Limits& limits) {
  HIPPLAN_TRY(check_bytes(text, where, limits));
  Builder builder(text, where, limits);
  const bool done =
      nlohmann::json::sax_parse(text.data(), text.data() + text.size(), &builder,
                                nlohmann::json::input_format_t::json, true, limits.comments);
  if (!done) return std::move(builder.error());
  return std::move(builder.root());
}

std::string place(const std::string& where, const Value& value) {
  if (value.line == 0) return cat(where, ": offset ", value.column);
  return cat(where, ":", value.line, ":", value.column);
}

}  // namespace hipplan::json
