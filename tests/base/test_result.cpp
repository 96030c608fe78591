#include <doctest/doctest.h>

#include <memory>
#include <set>

#include "base/bytes.h"
#include "base/join.h"
#include "base/launch_value.h"
#include "base/result.h"

using namespace hipplan;

namespace {

Result<int> half_of(int n) {
  if (n % 2 != 0)
    return Error{.code = Code::bad_input, .reason = "odd", .what = "odd number", .found = cat(n)};
  return n / 2;
}
Result<int> quarter_of(int n) {
  HIPPLAN_TRY_ASSIGN(const int half, half_of(n));
  return half_of(half);
}
Result<void> must_be_even(int n) {
  HIPPLAN_TRY(half_of(n));
  return {};
}

}  // namespace

TEST_CASE("an error's text leaves out the parts that are empty") {
  Error e{.code = Code::damaged, .reason = "x", .what = "bad digest"};
  CHECK(e.text() == "bad digest");
  e.found = "ab";
  CHECK(e.text() == "bad digest; found ab");
  e.expected = "cd";
  CHECK(e.text() == "bad digest; expected cd, found ab");
  e.where = "a.hplan";
  e.advice = "copy it again";
  CHECK(e.text() == "a.hplan: bad digest; expected cd, found ab; copy it again");
  CHECK(e.within("/data").text() ==
        "/data: a.hplan: bad digest; expected cd, found ab; copy it again");
  e.details = {"section 3"};
  CHECK(e.text() == "a.hplan: bad digest: section 3; expected cd, found ab; copy it again");
  e.details.emplace_back("section 5");
  CHECK(e.within("b").text() ==
        "b: a.hplan: bad digest; expected cd, found ab; copy it again:\n  section 3\n  section 5");
  e.where.clear();
  CHECK(e.within("b").where == "b");
}

TEST_CASE("words are joined in their order") {
  CHECK(joined(std::vector<std::string>{}).empty());
  CHECK(joined(std::vector<std::string>{"", "a", ""}) == ", a, ");
  CHECK(joined(std::set<std::string>{"b", "a"}, " or ") == "a or b");
}

TEST_CASE("failures travel through HIPPLAN_TRY unchanged") {
  CHECK(*quarter_of(12) == 3);
  CHECK(quarter_of(6).error().found == "3");
  CHECK(quarter_of(5).error().found == "5");
  CHECK(must_be_even(4).ok());
  CHECK(must_be_even(3).error().reason == "odd");
}

TEST_CASE("results carry values that can only be moved") {
  Result<std::unique_ptr<int>> r(std::make_unique<int>(7));
  REQUIRE(r.ok());
  const std::unique_ptr<int> taken = std::move(r).value();
  CHECK(*taken == 7);
}

TEST_CASE("exit codes and names of every class") {
  const std::pair<Code, std::pair<int, std::string>> all[] = {
      {Code::negative, {1, "negative"}},   {Code::bad_input, {2, "bad-input"}},
      {Code::damaged, {3, "damaged"}},     {Code::unusable, {4, "unusable"}},
      {Code::untrusted, {5, "untrusted"}}, {Code::machine, {6, "machine"}},
      {Code::internal, {6, "internal"}}};
  for (const auto& [code, expected] : all) {
    CHECK(exit_code(code) == expected.first);
    CHECK(code_name(code) == expected.second);
  }
}

TEST_CASE("checked arithmetic and slices refuse to leave their range") {
  CHECK(checked_add<uint64_t>(UINT64_MAX, 1) == std::nullopt);
  CHECK(checked_add<uint64_t>(UINT64_MAX - 1, 1) == UINT64_MAX);
  CHECK(checked_add<int64_t>(INT64_MIN, -1) == std::nullopt);
  CHECK(checked_mul<uint64_t>(uint64_t{1} << 32, uint64_t{1} << 32) == std::nullopt);
  CHECK(checked_mul<int64_t>(int64_t{1} << 31, int64_t{1} << 31) == int64_t{1} << 62);
  const Bytes bytes{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}, std::byte{5}};
  CHECK(slice(bytes, 5, 0)->empty());
  CHECK(!slice(bytes, 6, 0));
  CHECK(!slice(bytes, 4, 2));
  CHECK(!slice(bytes, 1, UINT64_MAX));
  CHECK(!slice(bytes, UINT64_MAX, 2));
  CHECK(slice(bytes, 1, 4)->front() == std::byte{2});
  CHECK(load<uint32_t>(bytes, 1) == 0x05040302u);
  CHECK(!load<uint32_t>(bytes, 2));
  CHECK(!load<uint64_t>(bytes, 0));
}

TEST_CASE("append writes little-endian") {
  Bytes out;
  append(out, uint16_t{0x1234});
  append(out, as_bytes("xy"));
  CHECK(as_text(out) == std::string_view("\x34\x12xy"));
}

TEST_CASE("words for the types of launch values") {
  CHECK(value_type_name(ValueData(true)) == std::string("bool"));
  CHECK(value_type_name(ValueData(int64_t{1})) == std::string("int"));
  CHECK(value_type_name(ValueData(1.0)) == std::string("float"));
  CHECK(value_type_name(ValueData(std::string("a"))) == std::string("string"));
  CHECK(value_type_name(ValueData(std::vector<int64_t>{1})) == std::string("int_list"));
}
