// The check itself: every keyword takes what fits and refuses what does not.
#include <doctest/doctest.h>

#include "json_schema.h"

using hipplan::test::Schemas;

namespace {

std::vector<std::string> check(const std::string& schema, const std::string& document) {
  const auto schemas = Schemas::from({{"a", schema}, {"b", R"({"$defs":{"n":{"const":7}}})"}});
  REQUIRE(schemas.ok());
  return schemas->check(*hipplan::json::parse(document, "document"), "a");
}
bool good(const std::string& schema, const std::string& document) {
  return check(schema, document).empty();
}

}  // namespace

TEST_CASE("each keyword decides") {
  CHECK(good(R"({"type":"integer"})", "1"));
  CHECK_FALSE(good(R"({"type":"integer"})", "1.5"));
  CHECK(good(R"({"type":"number"})", "1"));
  CHECK(good(R"({"type":["string","null"]})", "null"));
  CHECK_FALSE(good(R"({"type":["string","null"]})", "1"));
  CHECK_FALSE(good(R"({"const":"x"})", R"("y")"));
  CHECK(good(R"({"enum":["x","y"]})", R"("y")"));
  CHECK_FALSE(good(R"({"enum":["x","y"]})", R"("z")"));
  CHECK_FALSE(good(R"({"minimum":0})", "-1"));
  CHECK_FALSE(good(R"({"pattern":"^[0-9]+$"})", R"("a1")"));
  CHECK_FALSE(good(R"({"items":{"type":"boolean"}})", "[true,0]"));
  CHECK_FALSE(good(R"({"minItems":1})", "[]"));
  CHECK(good(R"({"oneOf":[{"type":"string"},{"const":1}]})", "1"));
  CHECK_FALSE(good(R"({"oneOf":[{"type":"integer"},{"const":1}]})", "1"));
  CHECK(good(R"({"anyOf":[{"type":"integer"},{"const":1}]})", "1"));
  CHECK_FALSE(good(R"({"anyOf":[{"type":"string"},{"const":1}]})", "2"));
  CHECK(good(R"({"$ref":"b#/$defs/n"})", "7"));
  CHECK_FALSE(good(R"({"$ref":"b#/$defs/n"})", "8"));
  CHECK_FALSE(good(R"({"$ref":"#/$defs/s","$defs":{"s":{"type":"string"}}})", "8"));
}

TEST_CASE("fields: required, known, others") {
  const std::string closed =
      R"({"required":["x"],"properties":{"x":{"type":"integer"}},"additionalProperties":false})";
  CHECK(good(closed, R"({"x":1})"));
  CHECK(check(closed, "{}") == std::vector<std::string>{"document: has no field 'x'"});
  CHECK(check(closed, R"({"x":1,"y":2})") ==
        std::vector<std::string>{"y: is a field that the schema does not know"});
  CHECK_FALSE(good(R"({"additionalProperties":{"type":"string"}})", R"({"any":1})"));
}

TEST_CASE("schemas that would check less than they say are refused") {
  const auto refused = [](const char* schema) { return !Schemas::from({{"a", schema}}).ok(); };
  CHECK(refused(R"({"maximum":1})"));
  CHECK(refused(R"({"properties":{}})"));
  CHECK(refused(R"({"properties":{},"required":["x"],"additionalProperties":false})"));
  CHECK(refused(R"({"$ref":"#/$defs/x"})"));
  CHECK(refused(R"({"items":{"maximum":1}})"));
  CHECK_FALSE(refused(R"({"type":"string"})"));
}
