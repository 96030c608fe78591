#include <charconv>
#include <cmath>

#include "json/json.h"
#include "json/text.h"

namespace hipplan::json {
namespace {

/// Short escapes where JSON has them; bytes that are not UTF-8 become U+FFFD, so that what comes
/// out is always JSON.
void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) {
      const size_t length = detail::utf8_sequence(text, at);
      if (length == 0)
        out += "\xEF\xBF\xBD";
      else
        out += text.substr(at, length);
      at += length == 0 ? 1 : length;
      continue;
    }
    ++at;
    constexpr std::string_view kNamed = "\"\\\b\f\n\r\t";
    constexpr std::string_view kLetters = "\"\\bfnrt";
    if (const size_t found = kNamed.find(c); found != std::string_view::npos) {
      out += '\\';
      out += kLetters[found];
    } else if (byte < 0x20) {
      constexpr char kHex[] = "0123456789abcdef";
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

template <class T>
void append_number(std::string& out, T number) {
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, number).ptr;
  out.append(buffer, end);
}

void write(Writer& writer, const Value& value) {
  switch (value.kind) {
    case Kind::null:
      writer.null();
      break;
    case Kind::boolean:
      writer.value(value.boolean);
      break;
    case Kind::integer:
      writer.value(value.integer);
      break;
    case Kind::number:
      writer.value(value.number);
      break;
    case Kind::string:
      writer.value(value.string);
      break;
    case Kind::array:
      writer.begin_array();
      for (const Value& item : value.items) write(writer, item);
      writer.end_array();
      break;
    case Kind::object:
      writer.begin_object();
      for (const auto& [key, member] : value.members) write(writer.key(key), member);
      writer.end_object();
      break;
  }
}

}  // namespace

void Writer::new_line() {
  if (indent_ < 0) return;
  out_ += '\n';
  out_.append(has_items_.size() * static_cast<size_t>(indent_), ' ');
}

void Writer::before_value() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (has_items_.empty()) return;
  if (has_items_.back()) out_ += ',';
  has_items_.back() = true;
  new_line();
}

Writer& Writer::begin_object() {
  before_value();
  out_ += '{';
  has_items_.push_back(false);
  return *this;
}

Writer& Writer::begin_array() {
  before_value();
  out_ += '[';
  has_items_.push_back(false);
  return *this;
}

Writer& Writer::end_object() {
  const bool had_items = has_items_.back();
  has_items_.pop_back();
  if (had_items) new_line();
  out_ += '}';
  return *this;
}

Writer& Writer::end_array() {
  const bool had_items = has_items_.back();
  has_items_.pop_back();
  if (had_items) new_line();
  out_ += ']';
  return *this;
}

Writer& Writer::key(std::string_view name) {
  before_value();
  append_quoted(out_, name);
  out_ += indent_ < 0 ? ":" : ": ";
  after_key_ = true;
  return *this;
}

Writer& Writer::value(std::string_view text) {
  before_value();
  append_quoted(out_, text);
  return *this;
}

Writer& Writer::value(bool flag) {
  return raw(flag ? "true" : "false");
}
Writer& Writer::null() {
  return raw("null");
}

Writer& Writer::value(int64_t number) {
  before_value();
  append_number(out_, number);
  return *this;
}

Writer& Writer::value(uint64_t number) {
  before_value();
  append_number(out_, number);
  return *this;
}

Writer& Writer::value(double number) {
  if (!std::isfinite(number)) return null();
  before_value();
  const size_t start = out_.size();
  append_number(out_, number);
  // A whole number keeps its point, so that it is read back as a floating-point number.
  if (out_.find_first_of(".e", start) == std::string::npos) out_ += ".0";
  return *this;
}

Writer& Writer::raw(std::string_view json_text) {
  before_value();
  out_ += json_text;
  return *this;
}

std::string print(const Value& value, int indent) {
  Writer writer(indent);
  write(writer, value);
  return writer.text();
}

}  // namespace hipplan::json
