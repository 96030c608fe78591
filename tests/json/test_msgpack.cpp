#include "json/msgpack.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <random>

#include "base/file.h"
#include "shared_data.h"

namespace {

using namespace hipplan;
using json::Kind;

Bytes bytes_of(std::initializer_list<unsigned> list) {
  Bytes out;
  for (const unsigned byte : list) out.push_back(static_cast<std::byte>(byte));
  return out;
}

json::Value read(std::initializer_list<unsigned> list) {
  auto result = json::parse_msgpack(bytes_of(list), "f");
  REQUIRE(result.ok());
  return std::move(*result);
}

Error refused(const Bytes& bytes, const json::Limits& limits = {}) {
  const auto result = json::parse_msgpack(bytes, "f", limits);
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().code == Code::bad_input);
  CHECK(result.error().where.starts_with("f: offset "));
  return result.error();
}

TEST_CASE("each encoding of the specification reads to its value") {
  CHECK(read({0x7f}).integer == 127);
  CHECK(read({0xe0}).integer == -32);
  CHECK(read({0xff}).integer == -1);
  CHECK(read({0xcc, 0xff}).integer == 255);
  CHECK(read({0xcd, 0x01, 0x02}).integer == 258);
  CHECK(read({0xce, 0xff, 0, 0, 0}).integer == 4278190080);
  CHECK(read({0xcf, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}).integer == INT64_MAX);
  CHECK(read({0xd0, 0x80}).integer == -128);
  CHECK(read({0xd1, 0x80, 0}).integer == -32768);
  CHECK(read({0xd2, 0x80, 0, 0, 0}).integer == INT32_MIN);
  CHECK(read({0xd3, 0x80, 0, 0, 0, 0, 0, 0, 0}).integer == INT64_MIN);
  CHECK(read({0xca, 0x3f, 0xc0, 0, 0}).number == 1.5);
  CHECK(read({0xcb, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0}).number == 1.5);
  CHECK(read({0xc0}).is_null());
  CHECK(read({0xc3}).boolean);
  CHECK_FALSE(read({0xc2}).boolean);
  CHECK(read({0xa2, 'h', 'i'}).string == "hi");
  CHECK(read({0xd9, 2, 'h', 'i'}).string == "hi");
  CHECK(read({0xda, 0, 1, 'h'}).string == "h");
  CHECK(read({0xdb, 0, 0, 0, 1, 'h'}).string == "h");
  CHECK(read({0xc4, 2, 0xff, 0}).string == std::string("\xff\0", 2));
  CHECK(read({0xdc, 0, 1, 5}).items[0].integer == 5);
  CHECK(read({0xdd, 0, 0, 0, 1, 5}).items[0].integer == 5);
  CHECK(read({0xde, 0, 1, 0xa1, 'k', 5}).find("k")->integer == 5);
  CHECK(read({0xdf, 0, 0, 0, 1, 0xa1, 'k', 5}).find("k")->integer == 5);
}

TEST_CASE("offsets are those of the value") {
  const auto value = read({0x82, 0xa1, 'a', 0x92, 1, 0xa1, 'x', 0xa1, 'b', 0xc0});
  CHECK(json::place("f", *value.find("a")) == "f: offset 3");
  CHECK(json::place("f", value.find("a")->items[1]) == "f: offset 5");
  CHECK(json::place("f", *value.find("b")) == "f: offset 9");
}

TEST_CASE("what is not allowed is refused with its reason") {
  CHECK(refused({}).reason == "msgpack-truncated");
  CHECK(refused(bytes_of({0xcf, 0x80, 0, 0, 0, 0, 0, 0, 0})).reason == "integer-range");
  CHECK(refused(bytes_of({0xca, 0x7f, 0x80, 0, 0})).reason == "not-finite");
  CHECK(refused(bytes_of({0xcb, 0x7f, 0xf8, 0, 0, 0, 0, 0, 0})).reason == "not-finite");
  CHECK(refused(bytes_of({0x81, 1, 2})).reason == "msgpack-key");
  CHECK(refused(bytes_of({0x82, 0xa1, 'a', 1, 0xa1, 'a', 2})).reason == "duplicate-key");
  CHECK(refused(bytes_of({0xa1, 0xff})).reason == "not-utf8");
  CHECK(refused(bytes_of({0xc1})).reason == "msgpack-type");
  CHECK(refused(bytes_of({0xd4, 1, 2})).reason == "msgpack-type");
  CHECK(refused(bytes_of({0xc7, 0, 1})).reason == "msgpack-type");
  CHECK(refused(bytes_of({1, 2})).reason == "msgpack-trailing");
  CHECK(refused(bytes_of({0x91, 0xa5, 'a'})).where == "f: offset 2");
}

TEST_CASE("lengths beyond the data are refused before memory is taken") {
  for (const unsigned tag : {0xc6u, 0xdbu, 0xddu, 0xdfu})
    CHECK(refused(bytes_of({tag, 0xff, 0xff, 0xff, 0xff, 1})).reason == "msgpack-truncated");
}

TEST_CASE("depth, size and number of values are limited") {
  CHECK(refused(Bytes(1000000, std::byte{0x91})).reason == "msgpack-depth");
  json::Limits limits;
  limits.max_bytes = 3;
  CHECK(refused(bytes_of({0x93, 1, 2, 3}), limits).reason == "msgpack-size");
  limits = {};
  limits.max_values = 3;
  CHECK(refused(bytes_of({0x93, 1, 2, 3}), limits).reason == "msgpack-size");
}

bool equal(const json::Value& a, const json::Value& b) {
  if (a.kind != b.kind || a.boolean != b.boolean || a.integer != b.integer ||
      a.string != b.string || a.items.size() != b.items.size() ||
      a.members.size() != b.members.size() ||
      std::bit_cast<uint64_t>(a.number) != std::bit_cast<uint64_t>(b.number))
    return false;
  for (size_t i = 0; i < a.items.size(); ++i)
    if (!equal(a.items[i], b.items[i])) return false;
  for (size_t i = 0; i < a.members.size(); ++i)
    if (a.members[i].first != b.members[i].first ||
        !equal(a.members[i].second, b.members[i].second))
      return false;
  return true;
}

json::Value random_value(std::mt19937_64& random, int depth) {
  json::Value value;
  value.kind = static_cast<Kind>(random() % (depth > 0 ? 7 : 5));
  switch (value.kind) {
    case Kind::boolean:
      value.boolean = random() % 2;
      break;
    case Kind::integer:
      value.integer = static_cast<int64_t>(random() >> (random() % 64)) * (random() % 2 ? 1 : -1);
      value.number = static_cast<double>(value.integer);
      break;
    case Kind::number:
      value.number =
          std::ldexp(1.0 + static_cast<double>(random() % 1000), static_cast<int>(random() % 100));
      break;
    case Kind::string:
      value.string.assign(random() % 4 ? random() % 40 : random() % 70000, 'x');
      break;
    case Kind::array:
      for (size_t i = random() % 20; i > 0; --i)
        value.items.push_back(random_value(random, depth - 1));
      break;
    case Kind::object:
      for (size_t i = random() % 20; i > 0; --i)
        value.members.emplace_back("k" + std::to_string(i), random_value(random, depth - 1));
      break;
    default:
      break;
  }
  return value;
}

TEST_CASE("random trees survive writing and reading") {
  std::mt19937_64 random(11);
  for (int round = 0; round < 300; ++round) {
    const auto value = random_value(random, 3);
    const auto again = json::parse_msgpack(json::write_msgpack(value), "f");
    REQUIRE(again.ok());
    REQUIRE(equal(value, *again));
  }
}

TEST_CASE("each integer takes its shortest encoding") {
  const std::pair<int64_t, size_t> sizes[] = {
      {0, 1},         {127, 1},        {128, 2},
      {255, 2},       {256, 3},        {65535, 3},
      {65536, 5},     {UINT32_MAX, 5}, {1ll << 32, 9},
      {-1, 1},        {-32, 1},        {-33, 2},
      {-128, 2},      {-129, 3},       {-32768, 3},
      {-32769, 5},    {INT32_MIN, 5},  {-(1ll << 31) - 1, 9},
      {INT64_MIN, 9}, {INT64_MAX, 9}};
  for (const auto& [number, size] : sizes) {
    json::Value value;
    value.kind = Kind::integer;
    value.integer = number;
    const Bytes bytes = json::write_msgpack(value);
    CHECK(bytes.size() == size);
    const auto again = json::parse_msgpack(bytes, "f");
    REQUIRE(again.ok());
    CHECK(again->integer == number);
  }
}

TEST_CASE("manifests that other projects wrote read and write to the same bytes") {
  const auto root = test::upstream_data();
  if (root.empty()) {
    MESSAGE("no upstream data: skipped");
    return;
  }
  for (const char* name : {"test_noop.kpm", "test_zstd.kpm"}) {
    const auto bytes = read_file(root / "rocm-kpack/runtime/tests/test_assets" / name);
    REQUIRE(bytes.ok());
    const auto value = json::parse_msgpack(*bytes, name);
    REQUIRE(value.ok());
    CHECK(value->find("kpack_files")->kind == Kind::object);
    CHECK(json::write_msgpack(*value) == *bytes);
  }
}

}  // namespace
