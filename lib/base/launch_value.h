// Launch inputs as plans store them: named, typed values.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace hipplan {

using ValueData = std::variant<bool, int64_t, double, std::string, std::vector<int64_t>>;

/// Word for a value's type in messages: "bool", "int", "float", "string", "int_list".
[[nodiscard]] inline const char* value_type_name(const ValueData& data) {
  constexpr const char* kNames[] = {"bool", "int", "float", "string", "int_list"};
  return kNames[data.index()];
}

struct LaunchValue {
  std::string name;
  ValueData data;
  friend bool operator==(const LaunchValue&, const LaunchValue&) = default;
};

/// Launch inputs in the order of the handler's contract.
using LaunchValues = std::vector<LaunchValue>;

}  // namespace hipplan
