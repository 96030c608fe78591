#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "json/json.h"

namespace {

using namespace hipplan;

std::string compact(double number) {
  json::Writer writer(-1);
  writer.value(number);
  return writer.text();
}

TEST_CASE("layout with and without indentation") {
  const auto write = [](int indent) {
    json::Writer writer(indent);
    writer.begin_object();
    writer.member("a", 1).member("b", "x").key("c").begin_array().value(true).null().end_array();
    writer.key("d").begin_object().end_object().key("e").begin_array().end_array();
    writer.key("f").raw("[1, 2]").member("g", uint64_t{UINT64_MAX});
    writer.end_object();
    return writer.text();
  };
  CHECK(write(-1) ==
        R"({"a":1,"b":"x","c":[true,null],"d":{},"e":[],"f":[1, 2],"g":18446744073709551615})");
  CHECK(write(2) ==
        "{\n  \"a\": 1,\n  \"b\": \"x\",\n  \"c\": [\n    true,\n    null\n  ],\n  \"d\": {},\n"
        "  \"e\": [],\n  \"f\": [1, 2],\n  \"g\": 18446744073709551615\n}");
}

TEST_CASE("doubles are short, keep their kind and read back to the same bits") {
  CHECK(compact(0.1) == "0.1");
  CHECK(compact(1.0) == "1.0");
  CHECK(compact(-0.0) == "-0.0");
  CHECK(compact(1e300) == "1e+300");
  CHECK(compact(5e-324) == "5e-324");
  CHECK(compact(std::numeric_limits<double>::infinity()) == "null");
  CHECK(compact(std::nan("")) == "null");
  std::mt19937_64 random(3);
  for (int round = 0; round < 20000; ++round) {
    const auto number = std::bit_cast<double>(random());
    if (!std::isfinite(number)) continue;
    const auto value = json::parse(compact(number), "f");
    REQUIRE(value.ok());
    REQUIRE(value->kind == json::Kind::number);
    REQUIRE(std::bit_cast<uint64_t>(value->number) == std::bit_cast<uint64_t>(number));
  }
}

TEST_CASE("any text comes out as JSON that reads back") {
  std::string all;
  for (int c = 1; c < 128; ++c) all += static_cast<char>(c);
  all += "\xC3\xA9\xF0\x9F\x98\x80";
  json::Writer writer(-1);
  writer.value(all);
  const auto value = json::parse(writer.text(), "f");
  REQUIRE(value.ok());
  CHECK(value->string == all);

  json::Writer bad(-1);
  bad.value("a\xFFz\xC3");
  CHECK(bad.text() == "\"a\xEF\xBF\xBDz\xEF\xBF\xBD\"");
}

}  // namespace
