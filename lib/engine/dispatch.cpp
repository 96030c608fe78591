#include "engine/dispatch.h"

#include <algorithm>
#include <cmath>

#include "engine/batchnorm_inference/dispatch.h"
#include "engine/conv_fwd/dispatch.h"
#include "engine/dispatch_support.h"
#include "engine/matmul/dispatch.h"
#include "engine/pointwise/dispatch.h"
#include "engine/sdpa_fwd/dispatch.h"

namespace hipplan::engine {

namespace {

const LaunchValue* find_value(const LaunchValues& values, std::string_view name) {
  for (const auto& value : values) {
    if (value.name == name) return &value;
  }
  return nullptr;
}

const char* type_word(ValueRule::Type type) {
  switch (type) {
    case ValueRule::Type::boolean:
      return "bool";
    case ValueRule::Type::integer:
      return "int";
    case ValueRule::Type::number:
      return "float";
    case ValueRule::Type::text:
      return "string";
    case ValueRule::Type::integer_list:
      return "int_list";
  }
  return "";
}

bool in_range(const ValueRule& rule, int64_t value) {
  return value >= rule.min && value <= rule.max;
}
std::string range_text(const ValueRule& rule) {
  return cat("[", rule.min, ", ", rule.max, "]");
}

/// Bounds one name in messages that quote what an untrusted file said.
std::string in_quotes(std::string_view text) {
  constexpr size_t kLongest = 80;
  return cat("'", text.substr(0, kLongest), text.size() > kLongest ? "…'" : "'");
}

Result<void> check_integer(std::string_view alias, const ValueRule& rule, int64_t value) {
  if (in_range(rule, value)) return {};
  return launch_error(alias, cat("launch value '", rule.name, "' is out of range"),
                      range_text(rule), cat(value));
}

Result<void> check_number(std::string_view alias, const ValueRule& rule, double value) {
  if (!std::isfinite(value)) {
    return launch_error(alias, cat("launch value '", rule.name, "' is not finite"), "a number",
                        cat(value));
  }
  if (rule.min_number < rule.max_number && (value < rule.min_number || value > rule.max_number)) {
    return launch_error(alias, cat("launch value '", rule.name, "' is out of range"),
                        cat("[", rule.min_number, ", ", rule.max_number, "]"), cat(value));
  }
  // The comparison with the largest float comes first: converting a larger double is undefined.
  constexpr double kLargestFloat = 3.4028234663852886e38;
  if (rule.exact_float32 && (std::fabs(value) > kLargestFloat ||
                             static_cast<double>(static_cast<float>(value)) != value)) {
    return launch_error(alias, cat("launch value '", rule.name, "' is not a float32 value"),
                        "a number that float32 holds exactly", cat(value));
  }
  return {};
}

Result<void> check_text(std::string_view alias, const ValueRule& rule, const std::string& value) {
  if (rule.choices.empty() ||
      std::find(rule.choices.begin(), rule.choices.end(), value) != rule.choices.end()) {
    return {};
  }
  std::string legal;
  for (const auto& choice : rule.choices) legal += (legal.empty() ? "" : ", ") + choice;
  return launch_error(alias, cat("launch value '", rule.name, "' has an unknown word"),
                      "one of " + legal, in_quotes(value));
}

Result<void> check_list(std::string_view alias, const ValueRule& rule,
                        const std::vector<int64_t>& value) {
  if (value.size() < rule.min_length || value.size() > rule.max_length) {
    return launch_error(alias, cat("launch value '", rule.name, "' has the wrong length"),
                        cat(rule.min_length, " to ", rule.max_length, " entries"),
                        cat(value.size()));
  }
  for (size_t i = 0; i < value.size(); ++i) {
    if (in_range(rule, value[i])) continue;
    return launch_error(alias, cat("launch value '", rule.name, "' entry ", i, " is out of range"),
                        range_text(rule), cat(value[i]));
  }
  return {};
}

Result<void> check_value(std::string_view alias, const ValueRule& rule, const ValueData& data) {
  if (data.index() != static_cast<size_t>(rule.type)) {
    return launch_error(alias, cat("launch value '", rule.name, "' has the wrong type"),
                        type_word(rule.type), value_type_name(data));
  }
  switch (rule.type) {
    case ValueRule::Type::boolean:
      return {};
    case ValueRule::Type::integer:
      return check_integer(alias, rule, std::get<int64_t>(data));
    case ValueRule::Type::number:
      return check_number(alias, rule, std::get<double>(data));
    case ValueRule::Type::text:
      return check_text(alias, rule, std::get<std::string>(data));
    case ValueRule::Type::integer_list:
      return check_list(alias, rule, std::get<std::vector<int64_t>>(data));
  }
  return {};
}

template <class T>
const T& get(const LaunchValues& values, std::string_view name) {
  static const T kNothing{};  // only reached by a caller that skipped check_values()
  const auto* value = find_value(values, name);
  const T* data = value ? std::get_if<T>(&value->data) : nullptr;
  return data ? *data : kNothing;
}

}  // namespace

const std::vector<const DispatchHandler*>& handlers() {
  static const std::vector<const DispatchHandler*> all = {
      &batchnorm_inference::dispatch_handler(), &conv_fwd::dispatch_handler(),
      &matmul::dispatch_handler(), &pointwise::dispatch_handler(), &sdpa_fwd::dispatch_handler()};
  return all;
}

const DispatchHandler* find_by_alias(std::string_view alias) {
  for (const auto* handler : handlers()) {
    if (handler->alias() == alias) return handler;
  }
  return nullptr;
}

const DispatchHandler* find_by_name(std::string_view name) {
  for (const auto* handler : handlers()) {
    if (handler->name() == name) return handler;
  }
  return nullptr;
}

Result<void> check_values(const DispatchHandler& handler, const LaunchValues& values) {
  const auto& contract = handler.contract();
  const auto alias = handler.alias();
  for (size_t i = 0; i < values.size(); ++i) {
    const auto& name = values[i].name;
    const auto known = std::find_if(contract.begin(), contract.end(),
                                    [&](const ValueRule& rule) { return rule.name == name; });
    if (known == contract.end()) {
      return launch_error(alias,
                          cat("launch value ", in_quotes(name), " is not part of the contract"));
    }
    if (find_value(values, name) != &values[i]) {
      return launch_error(alias, cat("launch value '", name, "' is given twice"));
    }
  }
  for (const auto& rule : contract) {
    const auto* value = find_value(values, rule.name);
    if (!value) {
      return launch_error(alias, cat("launch value '", rule.name, "' is missing"),
                          type_word(rule.type), "nothing");
    }
    HIPPLAN_TRY(check_value(alias, rule, value->data));
  }
  return {};
}

int64_t integer(const LaunchValues& values, std::string_view name) {
  return get<int64_t>(values, name);
}
double number(const LaunchValues& values, std::string_view name) {
  return get<double>(values, name);
}
bool flag(const LaunchValues& values, std::string_view name) {
  return get<bool>(values, name);
}
const std::string& text(const LaunchValues& values, std::string_view name) {
  return get<std::string>(values, name);
}
const std::vector<int64_t>& list(const LaunchValues& values, std::string_view name) {
  return get<std::vector<int64_t>>(values, name);
}

}  // namespace hipplan::engine
