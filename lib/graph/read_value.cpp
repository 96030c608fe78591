// Reading of single JSON values and of objects, with messages that name place, path and value.
#include <algorithm>
#include <cctype>
#include <cmath>

#include "graph/reader.h"

namespace hipplan::graph::detail {
namespace {

constexpr size_t kShownText = 60;

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) ==
           std::tolower(static_cast<unsigned char>(y));
  });
}

Error unknown_choice(const ReadContext& context, const KeyPath& path, const json::Value& value,
                     const std::vector<std::string_view>& choices) {
  std::string legal;
  for (const std::string_view choice : choices)
    legal += (legal.empty() ? "" : ", ") + std::string(choice);
  Error error = fail(context, path, value, "unknown-enum", "unknown value", "one of " + legal,
                     describe(value));
  for (const std::string_view choice : choices)
    if (equal_ignoring_case(choice, value.string)) error.advice = cat("write \"", choice, "\"");
  return error;
}

}  // namespace

std::string KeyPath::text() const {
  std::string out;
  if (!list.empty()) out = cat(list, "[", index, "]");
  for (const std::string_view part : {object, key})
    if (!part.empty()) out += (out.empty() ? "" : ".") + std::string(part);
  return out;
}

std::string describe(const json::Value& value) {
  switch (value.kind) {
    case json::Kind::boolean:
      return value.boolean ? "true" : "false";
    case json::Kind::integer:
      return cat("integer ", value.integer);
    case json::Kind::number:
      return cat("number ", json::print(value));
    case json::Kind::string: {
      size_t shown = std::min(value.string.size(), kShownText);
      while (shown < value.string.size() && shown > 0 &&
             (static_cast<unsigned char>(value.string[shown]) & 0xC0u) == 0x80u)
        --shown;
      return cat("string \"", value.string.substr(0, shown),
                 shown < value.string.size() ? "…\"" : "\"");
    }
    case json::Kind::array:
      return cat("array of ", value.items.size());
    default:
      return json::kind_name(value.kind);
  }
}

Error fail(const ReadContext& context, const KeyPath& path, const json::Value& value,
           std::string reason, std::string what, std::string expected, std::string found) {
  Error error;
  error.code = Code::bad_input;
  error.reason = std::move(reason);
  error.where = json::place(context.where, value);
  if (const std::string text = path.text(); !text.empty()) error.where += ": " + text;
  error.what = std::move(what);
  error.expected = std::move(expected);
  error.found = std::move(found);
  return error;
}

void note(const ReadContext& context, const KeyPath& path, const json::Value& value,
          Severity severity, const char* reason, std::string text) {
  if (!context.sink) return;
  context.sink(
      {severity, reason, json::place(context.where, value) + ": " + path.text(), std::move(text)});
}

Result<void> want_kind(const ReadContext& context, const KeyPath& path, const json::Value& value,
                       json::Kind kind) {
  if (value.kind == kind) return {};
  return fail(context, path, value, "wrong-type", "value of the wrong type", json::kind_name(kind),
              describe(value));
}

Result<bool> want_flag(const ReadContext& context, const KeyPath& path, const json::Value& value) {
  HIPPLAN_TRY(want_kind(context, path, value, json::Kind::boolean));
  return value.boolean;
}

Result<int64_t> want_integer(const ReadContext& context, const KeyPath& path,
                             const json::Value& value, int64_t min, int64_t max) {
  HIPPLAN_TRY(want_kind(context, path, value, json::Kind::integer));
  if (value.integer >= min && value.integer <= max) return value.integer;
  const std::string range = max == INT64_MAX ? cat("at least ", min) : cat(min, " to ", max);
  return fail(context, path, value, "out-of-range", "value out of range", range,
              cat(value.integer));
}

Result<double> want_number(const ReadContext& context, const KeyPath& path,
                           const json::Value& value, double largest) {
  if (value.kind != json::Kind::integer)
    HIPPLAN_TRY(want_kind(context, path, value, json::Kind::number));
  if (std::abs(value.number) <= largest) return value.number;
  return fail(context, path, value, "out-of-range", "number out of range",
              cat("magnitude at most ", largest), describe(value));
}

Result<std::string> want_text(const ReadContext& context, const KeyPath& path,
                              const json::Value& value) {
  HIPPLAN_TRY(want_kind(context, path, value, json::Kind::string));
  return value.string;
}

Result<std::vector<int64_t>> want_list(const ReadContext& context, const KeyPath& path,
                                       const json::Value& value, int64_t min, int64_t max) {
  HIPPLAN_TRY(want_kind(context, path, value, json::Kind::array));
  std::vector<int64_t> out;
  out.reserve(value.items.size());
  for (const json::Value& item : value.items) {
    HIPPLAN_TRY_ASSIGN(const int64_t number, want_integer(context, path, item, min, max));
    out.push_back(number);
  }
  return out;
}

Result<DataType> want_data_type(const ReadContext& context, const KeyPath& path,
                                const json::Value& value, bool is_mma_core_mode) {
  HIPPLAN_TRY(want_kind(context, path, value, json::Kind::string));
  if (const auto type = parse_data_type(value.string)) return *type;
  if (value.string == "float16") {
    note(context, path, value, Severity::note, "alias", "\"float16\" is taken for \"half\"");
    return DataType::half;
  }
  if (is_mma_core_mode && value.string == "UNSET") {
    note(context, path, value, Severity::note, "alias", "\"UNSET\" is taken for \"unset\"");
    return DataType::unset;
  }
  std::vector<std::string_view> legal;
  for (int i = 0; i <= static_cast<int>(DataType::boolean); ++i)
    legal.emplace_back(data_type_name(static_cast<DataType>(i)));
  return unknown_choice(context, path, value, legal);
}

Result<std::string> want_choice(const ReadContext& context, const KeyPath& path,
                                const json::Value& value,
                                std::span<const std::string_view> choices) {
  HIPPLAN_TRY(want_kind(context, path, value, json::Kind::string));
  for (const std::string_view choice : choices)
    if (choice == value.string) return value.string;
  return unknown_choice(context, path, value, {choices.begin(), choices.end()});
}

const json::Value* ObjectReader::lookup(std::string_view key) {
  const auto& members = object_.members;
  if (seen_.empty()) seen_.resize(members.size() / 64 + 1);
  // Files mostly keep the keys in one order, so the next member is tried first.
  for (size_t step = 0; step < members.size(); ++step) {
    size_t at = next_ + step;
    if (at >= members.size()) at -= members.size();
    if (members[at].first != key) continue;
    uint64_t& word = seen_[at / 64];
    const uint64_t bit = uint64_t{1} << (at % 64);
    if (!(word & bit)) ++seen_count_;
    word |= bit;
    next_ = at + 1 < members.size() ? at + 1 : 0;
    return &members[at].second;
  }
  return nullptr;
}

const json::Value* ObjectReader::optional(std::string_view key) {
  const json::Value* value = lookup(key);
  return value && !value->is_null() ? value : nullptr;
}

Result<const json::Value*> ObjectReader::required(std::string_view key) {
  const json::Value* value = lookup(key);
  if (!value)
    return fail(context_, path(key), object_, "missing-key",
                cat("required key \"", key, "\" is missing"), "", "");
  if (value->is_null())
    return fail(context_, path(key), *value, "wrong-type", "required key holds null", "a value",
                "null");
  return value;
}

Result<void> ObjectReader::finish() {
  const auto& members = object_.members;
  if (seen_count_ == members.size()) return {};
  if (seen_.empty()) seen_.resize(members.size() / 64 + 1);
  for (size_t i = 0; i < members.size(); ++i) {
    if (seen_[i / 64] >> (i % 64) & 1) continue;
    const auto& [key, value] = members[i];
    if (!context_.options.allow_unknown_keys) {
      Error error =
          fail(context_, path(key), value, "unknown-key", cat("unknown key \"", key, "\""), "", "");
      error.advice = "remove it, or pass --allow-unknown-keys";
      return error;
    }
    note(context_, path(key), value, Severity::warning, "unknown-key",
         cat("unknown key \"", key, "\" is ignored"));
  }
  return {};
}

}  // namespace hipplan::graph::detail
