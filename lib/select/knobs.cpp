#include <algorithm>
#include <charconv>

#include "base/join.h"
#include "select/ranking.h"

namespace hipplan::select {
namespace {

template <class T>
std::optional<T> whole_number(std::string_view text) {
  T out{};
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

ValueData guess_value(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  if (const auto integer = whole_number<int64_t>(text)) return *integer;
  if (const auto number = whole_number<double>(text)) return *number;
  return std::string(text);
}

const ValueData* field_value(const match::Candidate& candidate, std::string_view field) {
  const auto at = candidate.engine->schema->find(field);
  return at ? &candidate.kernel->values[*at] : nullptr;
}

/// Equal, with an int standing for the float of the same value.
bool same_value(const ValueData& given, const ValueData& held) {
  if (given == held) return true;
  const auto* integer = std::get_if<int64_t>(&given);
  const auto* number = std::get_if<double>(&held);
  return integer != nullptr && number != nullptr && static_cast<double>(*integer) == *number;
}

std::string legal_values(const match::EngineMatch& engine, const std::string& knob) {
  std::vector<ValueData> values;
  for (const match::Candidate& candidate : engine.candidates)
    if (const ValueData* value = field_value(candidate, knob)) values.push_back(*value);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  std::string out;
  for (const ValueData& value : values) out += (out.empty() ? "" : ", ") + value_text(value);
  return out;
}

}  // namespace

Result<Knob> parse_knob(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size())
    return Error{.code = Code::bad_input,
                 .reason = "knob-syntax",
                 .where = cat("knob '", text.substr(0, 80), "'"),
                 .what = "is not name=value",
                 .expected = "for instance block_size=256"};
  return Knob{std::string(text.substr(0, equals)), guess_value(text.substr(equals + 1))};
}

std::string value_text(const ValueData& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* integer = std::get_if<int64_t>(&value)) return std::to_string(*integer);
  if (const auto* number = std::get_if<double>(&value)) return cat(*number);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  std::string out;
  for (const int64_t item : std::get<std::vector<int64_t>>(value))
    out += (out.empty() ? "[" : ", ") + std::to_string(item);
  return (out.empty() ? "[" : out) + "]";
}

Result<std::vector<const match::Candidate*>> apply_knobs(const match::EngineMatch& engine,
                                                         const std::vector<Knob>& knobs) {
  std::vector<const match::Candidate*> out;
  for (const match::Candidate& candidate : engine.candidates) out.push_back(&candidate);
  for (const Knob& knob : knobs) {
    const auto& known = engine.engine->knobs;
    if (std::find(known.begin(), known.end(), knob.name) == known.end())
      return Error{.code = Code::bad_input,
                   .reason = "unknown-knob",
                   .where = cat("engine ", engine.engine->name),
                   .what = cat("has no knob '", knob.name, "'"),
                   .expected = known.empty() ? "no knobs" : cat("one of ", joined(known))};
    std::erase_if(out, [&](const match::Candidate* candidate) {
      const ValueData* value = field_value(*candidate, knob.name);
      return value == nullptr || !same_value(knob.value, *value);
    });
    if (out.empty())
      return Error{.code = Code::bad_input,
                   .reason = "knob-value",
                   .where = cat("engine ", engine.engine->name, ", knob ", knob.name),
                   .what = knobs.size() > 1
                               ? "no kernel for this graph has all the values asked for"
                               : "no kernel for this graph has the value asked for",
                   .expected = cat("one of ", legal_values(engine, knob.name)),
                   .found = value_text(knob.value)};
  }
  return out;
}

}  // namespace hipplan::select
