// The part of JSON Schema (draft 2020-12) that schemas/ uses, for tests of the tools' JSON output.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "json/json.h"

namespace hipplan::test {

/// The *.schema.json files of one folder; they may refer to each other by file name.
class Schemas {
 public:
  /// Reads every schema and refuses keywords that check() would not look at, requirements without a
  /// property, references to nothing, and objects that leave open whether unknown fields are taken.
  static Result<Schemas> load(const std::string& folder);
  /// The same for texts by file name.
  static Result<Schemas> from(const std::map<std::string, std::string>& texts);

  /// What is wrong with `document`, one line each with its place; empty when it is valid.
  [[nodiscard]] std::vector<std::string> check(const json::Value& document,
                                               const std::string& file) const;
  [[nodiscard]] bool has(const std::string& file) const { return files_.count(file) != 0; }

 private:
  struct Checker;
  Result<void> check_form(const json::Value& schema, const std::string& file,
                          const std::string& place) const;
  Result<void> check_words(const json::Value& schema, const std::string& place) const;
  /// "#/$defs/x", "other.schema.json" or "other.schema.json#/$defs/x"; null when there is no such.
  [[nodiscard]] const json::Value* refer(const std::string& to, std::string& file) const;
  std::map<std::string, json::Value> files_;
};

}  // namespace hipplan::test
