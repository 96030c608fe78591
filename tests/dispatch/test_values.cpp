// Contracts: every handler is found by its names, and every way of breaking a contract is refused.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "engine/dispatch.h"
#include "example_values.h"

using namespace hipplan;
using namespace hipplan::engine;
using namespace hipplan::test;

namespace {

void refused(const DispatchHandler& handler, const LaunchValues& values, const std::string& part) {
  const auto checked = check_values(handler, values);
  REQUIRE(!checked.ok());
  CHECK(checked.error().code == Code::unusable);
  CHECK(checked.error().reason == "launch-values");
  CHECK_MESSAGE(checked.error().text().find(part) != std::string::npos, checked.error().text());
}

/// A value of another type than `data`.
ValueData other_type(const ValueData& data) {
  if (std::holds_alternative<std::string>(data)) return int64_t{1};
  return std::string("text");
}

}  // namespace

TEST_CASE("handlers are listed by alias and found by both names") {
  const auto& all = handlers();
  CHECK(all.size() == 5);
  CHECK(std::is_sorted(all.begin(), all.end(),
                       [](auto* a, auto* b) { return a->alias() < b->alias(); }));
  for (const auto* handler : all) {
    CHECK(std::string(handler->alias()) == std::string(handler->name()) + ".v1");
    CHECK(find_by_alias(handler->alias()) == handler);
    CHECK(find_by_name(handler->name()) == handler);
    // The unversioned name names no contract.
    CHECK(find_by_alias(handler->name()) == nullptr);
    CHECK(find_by_name(handler->alias()) == nullptr);
    CHECK(handler->can_save());
    CHECK(handler->launch_names().empty());
  }
}

TEST_CASE("good values pass, incomplete and foreign ones do not") {
  for (const auto& example : examples()) {
    CAPTURE(example.alias);
    const auto* handler = find_by_alias(example.alias);
    REQUIRE(handler != nullptr);
    CHECK(check_values(*handler, example.values).ok());
    CHECK(handler->contract().size() == example.values.size());
    for (size_t i = 0; i < example.values.size(); ++i) {
      CAPTURE(example.values[i].name);
      auto values = example.values;
      values.erase(values.begin() + static_cast<std::ptrdiff_t>(i));
      refused(*handler, values, "'" + example.values[i].name + "' is missing");
      values = example.values;
      values[i].data = other_type(values[i].data);
      refused(*handler, values, "wrong type");
      values = example.values;
      values.push_back(values[i]);
      refused(*handler, values, "given twice");
    }
    auto values = example.values;
    values.push_back({"grid", int64_t{1}});
    refused(*handler, values, "'grid' is not part of the contract");
    values.back().name = std::string(5000, 'x');
    const auto checked = check_values(*handler, values);
    REQUIRE(!checked.ok());
    CHECK(checked.error().text().size() < 400);
  }
}

TEST_CASE("ranges, words, lengths and exactness are checked") {
  const auto* pointwise = find_by_name("hipplan.pointwise.dispatch");
  const auto good = pointwise_example();
  refused(*pointwise, with(good, "operation", std::string("unset")), "unknown word");
  refused(*pointwise, with(good, "dtype", std::string("double")), "float, half, bfloat16");
  refused(*pointwise, with(good, "block_size", int64_t{1024}), "[64, 256]");
  refused(*pointwise, with(good, "dims", List{}), "wrong length");
  refused(*pointwise, with(good, "dims", List(9, 1)), "wrong length");
  refused(*pointwise, with(good, "dims", List{2, 0, 40}), "entry 1 is out of range");
  refused(*pointwise, with(good, "out_strides", List{120, -40, 1}), "entry 1 is out of range");
  refused(*pointwise, with(good, "elu_alpha", 0.1), "not a float32 value");
  refused(*pointwise, with(good, "elu_alpha", 1e39), "not a float32 value");
  refused(*pointwise, with(good, "elu_alpha", std::numeric_limits<double>::infinity()),
          "not finite");
  refused(*pointwise, with(good, "elu_alpha", std::numeric_limits<double>::quiet_NaN()),
          "not finite");
  CHECK(check_values(*pointwise, with(good, "elu_alpha", static_cast<double>(0.1f))).ok());
  const auto* sdpa = find_by_name("hipplan.sdpa_fwd.dispatch");
  CHECK(check_values(*sdpa, with(sdpa_fwd_example(), "scale", 0x1p-64)).ok());
  CHECK(check_values(*sdpa, with(sdpa_fwd_example(), "scale", 16.0)).ok());
  refused(*sdpa, with(sdpa_fwd_example(), "scale", 0x1p-65), "out of range");
  refused(*sdpa, with(sdpa_fwd_example(), "scale", 17.0), "out of range");
  refused(*sdpa, with(sdpa_fwd_example(), "left_bound", List{1, 2}), "wrong length");
  refused(*sdpa, with(sdpa_fwd_example(), "left_bound", List{-1}), "out of range");
}
