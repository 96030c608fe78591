#include <doctest/doctest.h>

#include <cstring>

#include "base/float_types.h"
#include "graph_builder.h"

using namespace hipplan;
using namespace hipplan::test;
using reference::decode;
using reference::encode;
using reference::rounded;

TEST_CASE("every code of the small types survives reading and writing") {
  const std::map<DataType, int> codes{{DataType::fp4_e2m1, 16}, {DataType::int4, 16},
                                      {DataType::fp6_e2m3, 64}, {DataType::fp6_e3m2, 64},
                                      {DataType::uint8, 256},   {DataType::int8, 256},
                                      {DataType::fp8_e8m0, 255}};
  for (const auto& [type, count] : codes) {
    CAPTURE(graph::data_type_name(type));
    const int64_t bits = graph::bits_of(type);
    for (int code = 0; code < count; ++code) {
      // Third element of a packed row: fp6 then crosses a byte border.
      std::byte before[8] = {};
      const uint32_t word = static_cast<uint32_t>(code) << (2 * bits % 8);
      std::memcpy(before + 2 * bits / 8, &word, 4);
      double value = NAN;
      decode(type, before, 2, 1, 1, &value);
      std::byte after[8] = {};
      encode(type, after, 2, 1, 1, &value);
      CAPTURE(code);
      CHECK(std::memcmp(before, after, 8) == 0);
    }
  }
}

TEST_CASE("values of the 4- and 6-bit formats") {
  Numbers fp4(8);
  const std::byte bytes[] = {std::byte{0x10}, std::byte{0x32}, std::byte{0x54}, std::byte{0x76}};
  decode(DataType::fp4_e2m1, bytes, 0, 1, 8, fp4.data());
  CHECK(fp4 == Numbers{0, 0.5, 1, 1.5, 2, 3, 4, 6});
  CHECK(rounded(DataType::fp6_e2m3, 7.4) == 7.5);
  CHECK(rounded(DataType::fp6_e2m3, 100) == 7.5);
  CHECK(rounded(DataType::fp6_e3m2, -100) == -28);
  CHECK(rounded(DataType::fp6_e3m2, 0.0625) == 0.0625);
  CHECK(rounded(DataType::fp4_e2m1, 2.5) == 2);  // tie to the even code
  CHECK(rounded(DataType::fp4_e2m1, 5) == 4);
  CHECK(rounded(DataType::fp4_e2m1, -0.2) == 0);
  CHECK(rounded(DataType::int4, -9) == -8);
  CHECK(rounded(DataType::fp8_e8m0, 3) == 4);
  CHECK(rounded(DataType::fp8_e8m0, 2.9) == 2);
}

TEST_CASE("integers truncate and saturate") {
  CHECK(rounded(DataType::int8, -1.9) == -1);
  CHECK(rounded(DataType::int8, 200) == 127);
  CHECK(rounded(DataType::uint8, -3) == 0);
  CHECK(rounded(DataType::int32, 1e20) == 2147483647.0);
  CHECK(rounded(DataType::int32, NAN) == 0);
  CHECK(rounded(DataType::int64, -1e30) == -0x1p63);
  CHECK(rounded(DataType::boolean, -0.5) == 1);
  CHECK(rounded(DataType::boolean, 0) == 0);
}

TEST_CASE("rounding to 8 bits happens once") {
  // Just above the middle of 1 and 1.125: through float it would become a tie and round down.
  CHECK(rounded(DataType::fp8_e4m3, 1.0625 + 0x1p-40) == 1.125);
  CHECK(rounded(DataType::fp8_e4m3, 1.0625) == 1);
  CHECK(rounded(DataType::fp8_e4m3, 1.1875 - 0x1p-40) == 1.125);
  CHECK(rounded(DataType::fp8_e5m2, 1.125 + 0x1p-40) == 1.25);
  CHECK(rounded(DataType::fp8_e5m2, -1.125) == -1);
  CHECK(rounded(DataType::half, 1 + 0x1p-11 + 0x1p-40) == 1 + 0x1p-10);
  CHECK(rounded(DataType::bfloat16, 1 + 0x1p-8) == 1);
}

TEST_CASE("store_error covers what rounding does to any value within the error") {
  for (const DataType type : {DataType::float32, DataType::half, DataType::bfloat16,
                              DataType::fp8_e4m3, DataType::fp8_e5m2, DataType::fp4_e2m1,
                              DataType::fp6_e2m3, DataType::fp6_e3m2, DataType::int8}) {
    CAPTURE(graph::data_type_name(type));
    for (double v : noise(500, 21)) {
      for (const double scale : {5.0, 0.5, 1e-3, 1e-6}) {
        const double value = v * scale, error = std::fabs(value) * 0.01;
        const double bound = reference::store_error(type, value, error);
        for (const double moved : {value - error, value, value + error})
          CHECK(std::fabs(rounded(type, moved) - value) <= error + bound);
      }
    }
  }
  CHECK(reference::store_error(DataType::half, 0.5, 0) == 0);
  CHECK(reference::store_error(DataType::half, 0.1, 0) > 0);
  CHECK(reference::store_error(DataType::int32, 7, 0) == 0);
}

TEST_CASE("unpack and pack follow strides and leave gaps alone") {
  GraphBuilder b;
  const auto uid = b.tensor(DataType::half, {2, 3}, {1, 4});
  const auto& t = b.at(uid);
  REQUIRE(t.span_elements() == 10);
  Bytes bytes(20, std::byte{0xff});
  const Numbers values{1, 2, 3, 4, 5, 6};
  reference::pack(t, values, bytes.data());
  CHECK(reference::unpack(t, bytes.data()) == values);
  CHECK(half_to_float(*load<uint16_t>(bytes, 2 * 4)) == 2.0f);
  CHECK(*load<uint16_t>(bytes, 2 * 2) == 0xffff);
  CHECK(*load<uint16_t>(bytes, 2 * 6) == 0xffff);
}
