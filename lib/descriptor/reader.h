// Reading the keys of one JSON object strictly: every key is known, of the right type, not empty.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "base/hash.h"
#include "base/launch_value.h"
#include "json/json.h"

namespace hipplan::descriptor {

/// Collects the faults of one file. A file with an error is refused as a whole.
struct FileReport {
  std::string file;
  std::vector<Diagnostic> diagnostics;
  bool failed = false;

  void error(const json::Value& at, const char* reason, std::string text);
  void warning(const json::Value& at, const char* reason, std::string text);
};

/// Names a value in messages; put together only when there is something to say.
struct What {
  std::string_view object;      ///< "kernel_source"
  std::string_view key = {};    ///< may be empty
  std::string_view inner = {};  ///< key below `key`, may be empty
  [[nodiscard]] std::string text() const;
};

/// One object. Getters report missing keys, wrong types and empty strings and then return an empty
/// value; finish() reports the keys that nobody asked for.
class Fields {
 public:
  /// `what` names the object in messages ("UED", "kernel_source", …) and must outlive this.
  Fields(const json::Value& object, FileReport& report, std::string_view what);

  const json::Value* optional(std::string_view key);
  const json::Value* optional(std::string_view key, json::Kind kind);
  const json::Value* required(std::string_view key, json::Kind kind);
  std::string text(std::string_view key);
  std::optional<std::string> optional_text(std::string_view key);
  Uuid uuid(std::string_view key);
  std::optional<Uuid> optional_uuid(std::string_view key);
  /// An optional list of different non-empty strings.
  std::vector<std::string> text_list(std::string_view key);
  std::optional<int64_t> optional_integer(std::string_view key);
  void finish();

  FileReport& report() { return report_; }
  const json::Value& object() const { return object_; }
  std::string_view what() const { return what_; }

 private:
  const json::Value* of_kind(const json::Value* value, std::string_view key, json::Kind kind);
  const json::Value& object_;
  FileReport& report_;
  std::string_view what_;
  uint64_t used_ = 0;  ///< bit i: member i was asked for; objects of more than 64 keys are refused
};

// Single values; faults go to the report.
[[nodiscard]] std::string text_of(const json::Value& value, FileReport& report, const What& what);
[[nodiscard]] std::optional<Uuid> uuid_of(const json::Value& value, FileReport& report,
                                          const What& what);
/// A metadata value: bool, int, float, string or list of ints.
[[nodiscard]] std::optional<ValueData> data_of(const json::Value& value, FileReport& report,
                                               const What& what);
/// Sorted base architecture ids ("gfx942", "gfx11-generic"); no features, no duplicates.
[[nodiscard]] std::vector<std::string> arch_list(Fields& fields);
/// `gfx` and then [a-z0-9-_]+.
[[nodiscard]] bool is_base_arch(std::string_view text);

/// Equal as JSON: numbers by type and value, members in any order.
[[nodiscard]] bool same_json(const json::Value& a, const json::Value& b);

}  // namespace hipplan::descriptor
