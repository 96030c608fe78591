#include <doctest/doctest.h>

#include <random>

#include "base/file.h"
#include "json/json.h"
#include "positions.h"
#include "shared_data.h"

namespace {

using namespace hipplan;
using json::Kind;

Error refused(std::string_view text, const json::Limits& limits = {}) {
  const auto result = json::parse(text, "f.json", limits);
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().code == Code::bad_input);
  return result.error();
}

TEST_CASE("values of every kind keep what the text says") {
  const auto value = json::parse(
      R"({"n":null,"t":true,"f":false,"i":-7,"d":2.5e3,"s":"a\u00e9\n\ud83d\ude00","a":[1,[]],"o":{}})",
      "f.json");
  REQUIRE(value.ok());
  CHECK(value->find("n")->is_null());
  CHECK(value->find("t")->boolean);
  CHECK(value->find("f")->kind == Kind::boolean);
  CHECK(value->find("i")->integer == -7);
  CHECK(value->find("i")->number == -7.0);
  CHECK(value->find("d")->kind == Kind::number);
  CHECK(value->find("d")->number == 2500.0);
  CHECK(value->find("s")->string == "a\xC3\xA9\n\xF0\x9F\x98\x80");
  CHECK(value->find("a")->items.size() == 2);
  CHECK(value->find("o")->kind == Kind::object);
  CHECK(value->find("x") == nullptr);
  CHECK(value->members.front().first == "n");
  CHECK(value->members.back().first == "o");
}

TEST_CASE("integers keep all 64 bits and refuse one more") {
  const auto value = json::parse("[9223372036854775807,-9223372036854775808,-0]", "f.json");
  REQUIRE(value.ok());
  CHECK(value->items[0].integer == INT64_MAX);
  CHECK(value->items[1].integer == INT64_MIN);
  CHECK(value->items[2].integer == 0);
  for (const char* text : {"9223372036854775808", "18446744073709551615", "18446744073709551616",
                           "-9223372036854775809", "123456789012345678901234567890"}) {
    const Error error = refused(std::string(" [ ") + text + "]");
    CHECK(error.reason == "integer-range");
    CHECK(error.where == "f.json:1:4");
    CHECK(error.found == text);
  }
  CHECK(refused("[" + std::string(5000, '9') + "]").found.find("5000 characters") !=
        std::string::npos);
}

TEST_CASE("lines and columns are those of the value's first byte") {
  const auto value =
      json::parse("{\n  \"a\" : [1,\r\n 22, \"\xC3\xA9\", true],\n\t\"b\": {}\n}", "f");
  REQUIRE(value.ok());
  CHECK(json::place("f", *value) == "f:1:1");
  const auto& a = *value->find("a");
  CHECK(json::place("f", a) == "f:2:9");
  CHECK(json::place("f", a.items[0]) == "f:2:10");
  CHECK(json::place("f", a.items[1]) == "f:3:2");
  CHECK(json::place("f", a.items[2]) == "f:3:6");
  CHECK(json::place("f", a.items[3]) == "f:3:12");
  CHECK(json::place("f", *value->find("b")) == "f:4:7");
}

TEST_CASE("comments only where they are allowed, and places stay right") {
  const std::string text = "// first\n/* two\nlines */ {\"a\" /*x*/ : // y\r [1, /**/ 2]}\n";
  CHECK_FALSE(json::parse(text, "f").ok());
  json::Limits limits;
  limits.comments = true;
  const auto value = json::parse(text, "f", limits);
  REQUIRE(value.ok());
  CHECK(json::place("f", *value) == "f:3:10");
  CHECK(test::first_misplaced(*value, text, test::line_starts(text)) == "");
}

/// A random value as text, with random white space.
std::string random_text(std::mt19937& random, int depth) {
  const auto space = [&] { return std::string(random() % 3, random() % 4 ? ' ' : '\n'); };
  const auto kind = random() % (depth > 0 ? 7 : 5);
  if (kind == 0) return "null";
  if (kind == 1) return random() % 2 ? "true" : "false";
  if (kind == 2) return std::to_string(static_cast<int>(random()));
  if (kind == 3) return "-1.5e" + std::to_string(random() % 20);
  if (kind == 4) return random() % 2 ? R"("a\"b\\")" : R"("plain,{[:")";
  std::string out = kind == 5 ? "[" : "{";
  const auto count = random() % 5;
  for (size_t i = 0; i < count; ++i) {
    out += (i ? "," : "") + space();
    if (kind == 6) out += "\"k" + std::to_string(i) + "\\\"\"" + space() + ":" + space();
    out += random_text(random, depth - 1) + space();
  }
  return out + (kind == 5 ? "]" : "}");
}

TEST_CASE("places are right in random texts, and printing keeps the meaning") {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    const std::string text = random_text(random, 6);
    const auto value = json::parse(text, "f");
    REQUIRE(value.ok());
    REQUIRE(test::first_misplaced(*value, text, test::line_starts(text)) == "");
    const std::string once = json::print(*value);
    const auto again = json::parse(once, "f");
    REQUIRE(again.ok());
    REQUIRE(json::print(*again, 2) == json::print(*value, 2));
  }
}

TEST_CASE("every file that other projects wrote has right places") {
  const auto root = test::upstream_data();
  if (root.empty()) {
    MESSAGE("no upstream data: skipped");
    return;
  }
  json::Limits limits;
  limits.comments = true;
  size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".json") continue;
    const auto bytes = read_file(entry.path());
    REQUIRE(bytes.ok());
    const std::string_view text = as_text(*bytes);
    const auto value = json::parse(text, entry.path().filename().string(), limits);
    REQUIRE(value.ok());
    CHECK(test::first_misplaced(*value, text, test::line_starts(text)) == "");
    ++files;
  }
  CHECK(files > 30);
}

TEST_CASE("a text cut anywhere is refused at its end") {
  const std::string text = R"({"a": [1.5, "x\n", {"b": null}], "c": false})";
  for (size_t length = 0; length < text.size(); ++length) {
    const Error error = refused(text.substr(0, length));
    CHECK_MESSAGE((error.reason == "json-truncated" || error.reason == "json-syntax"), length);
  }
  CHECK(refused(R"({"a": [1)").reason == "json-truncated");
  CHECK(refused("").reason == "json-truncated");
}

TEST_CASE("what is not JSON is refused with its place") {
  for (const char* text : {"{,}",   "[1,]",  "{\"a\":1,}", "[1 2]",       "nul",
                           "NaN",   "[NaN]", "[Infinity]", "[-Infinity]", "[nan]",
                           "01",    "+1",    ".5",         "1.",          "1e",
                           "'a'",   "{a:1}", "[\"a\nb\"]", "[\"\\x\"]",   "[\"\\ud800\"]",
                           "{} {}", "[1]x",  "// c\n1",    "{\"a\" 1}",   "]",
                           "1e999", "-1e999"}) {
    const Error error = refused(text);
    CHECK_MESSAGE(error.reason != "", text);
    CHECK_MESSAGE(error.where.starts_with("f.json:"), text);
    CHECK_FALSE(error.what.empty());
  }
  CHECK(refused("{\n \"a\": nope}").where.starts_with("f.json:2:"));
  CHECK(refused("[0,\n1.5e999]").reason == "number-range");
  CHECK(refused("[0,\n1.5e999]").where == "f.json:2:1");
  CHECK(refused(std::string_view("[1]\0[2]", 7)).where == "f.json:1:4");
}

TEST_CASE("bytes that are not UTF-8 are refused, wherever they stand") {
  for (const char* bad : {"\xFF", "\xC0\x80", "\xC3", "\xE0\x80\x80", "\xED\xA0\x80",
                          "\xF4\x90\x80\x80", "\xF8\x88\x80\x80\x80", "\x80", "\xE2\x82"}) {
    const Error error = refused(std::string("{\n\"abcdefghij\": \"") + bad + "\"}");
    CHECK(error.reason == "not-utf8");
    CHECK(error.where == "f.json:2:16");
  }
  json::Limits limits;
  limits.comments = true;
  CHECK(refused("// \xFF\n1", limits).reason == "not-utf8");
  CHECK(json::parse("\"\xF4\x8F\xBF\xBF\xEE\x80\x80\xED\x9F\xBF\"", "f").ok());
  CHECK(refused("\xEF\xBB\xBF{}").reason == "byte-order-mark");
}

TEST_CASE("duplicate keys are refused in small and large objects, at the second one") {
  const Error error = refused("{\"a\":1,\n \"b\":2, \"a\":3}");
  CHECK(error.reason == "duplicate-key");
  CHECK(error.where == "f.json:2:9");
  CHECK(refused(R"({"a":1,"\u0061":2})").reason == "duplicate-key");
  std::string large = "{";
  for (int i = 0; i < 20000; ++i) large += "\"k" + std::to_string(i) + "\":0,";
  CHECK(json::parse(large + "\"x\":0}", "f").ok());
  CHECK(refused(large + "\"k17\":0}").reason == "duplicate-key");
  CHECK(json::parse(R"([{"a":1},{"a":1},{"b":{"a":1},"a":2}])", "f").ok());
}

TEST_CASE("depth, size and number of values are limited") {
  const std::string deep(1000000, '[');
  const Error error = refused(deep);
  CHECK(error.reason == "json-depth");
  CHECK(error.where == "f.json:1:65");
  CHECK(json::parse(std::string(64, '[') + std::string(64, ']'), "f").ok());
  std::string objects;
  for (int i = 0; i < 100000; ++i) objects += "{\"a\":";
  CHECK(refused(objects).reason == "json-depth");

  json::Limits limits;
  limits.max_bytes = 10;
  CHECK(json::parse("[1,2,3,45]", "f", limits).ok());
  CHECK(refused("[1,2,3,456]", limits).reason == "json-size");
  limits = {};
  limits.max_values = 4;
  CHECK(json::parse("[1,2,3]", "f", limits).ok());
  CHECK(refused("[1,2,3,4]", limits).reason == "json-size");
}

}  // namespace
