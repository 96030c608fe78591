#include <doctest/doctest.h>

#include <atomic>
#include <set>

#include "../reference/graph_builder.h"
#include "base/hash.h"
#include "run/inputs.h"

using namespace hipplan;
using namespace hipplan::test;

namespace {

GraphBuilder adding(DataType type, const Dims& dims, const Dims& strides = {}) {
  GraphBuilder b;
  const auto x = b.tensor(type, dims, strides), y = b.tensor(type, dims);
  const auto out = b.tensor(type, dims);
  b.node(NodeType::pointwise, {{"in_0", x}, {"in_1", y}}, {{"out_0", out}},
         {{"operation", std::string("add")}});
  return b;
}
Numbers numbers(const graph::Tensor& t, const run::Buffers& all) {
  return reference::unpack(t, all.at(t.uid).data());
}

}  // namespace

TEST_CASE("the same seed gives the same bytes whatever the threads; another seed or uid does not") {
  auto b = adding(DataType::float32, {3, 50, 70});
  const auto one = run::random_inputs(b.graph, 7, 1), four = run::random_inputs(b.graph, 7, 4);
  REQUIRE(one.ok());
  CHECK(*one == *four);
  CHECK(one->size() == 2);
  CHECK(one->at(1) != one->at(2));
  CHECK(run::random_inputs(b.graph, 8)->at(1) != one->at(1));
}

TEST_CASE("random inputs are these bytes on every machine") {
  auto b = adding(DataType::float32, {4, 8});
  const auto all = run::random_inputs(b.graph, 1);
  const Numbers x = numbers(b.graph.tensors[0], *all);
  // The generator written out for element 0 of tensor 1.
  const auto mix = [](uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  };
  const uint64_t step = 0x9e3779b97f4a7c15ull, key = mix(mix(1 + step) ^ 1), word = mix(key + step);
  const double magnitude =
      1.0 / 64 + static_cast<double>(word / (1ull << 40)) / 16777216.0 * (63.0 / 64);
  CHECK(static_cast<float>(x[0]) == static_cast<float>(word % 2 == 1 ? -magnitude : magnitude));
}

TEST_CASE("values do not depend on strides, and gaps are 0") {
  auto dense = adding(DataType::half, {5, 6}), strided = adding(DataType::half, {5, 6}, {1, 7});
  const auto a = run::random_inputs(dense.graph, 3), b = run::random_inputs(strided.graph, 3);
  CHECK(numbers(dense.graph.tensors[0], *a) == numbers(strided.graph.tensors[0], *b));
  CHECK(b->at(1).size() == 80);
  CHECK(*load<uint16_t>(b->at(1), 10) == 0);
}

TEST_CASE("floats are spread over both signs, never small, in every type") {
  for (const DataType type : {DataType::float32, DataType::half, DataType::bfloat16,
                              DataType::float64, DataType::fp8_e4m3, DataType::fp8_e5m2}) {
    CAPTURE(graph::data_type_name(type));
    auto b = adding(type, {4000});
    const auto all = run::random_inputs(b.graph, 5);
    double sum = 0, largest = 0, least = 9;
    for (const double v : numbers(b.graph.tensors[0], *all)) {
      sum += v;
      largest = std::fmax(largest, std::fabs(v));
      least = std::fmin(least, std::fabs(v));
    }
    CHECK(std::fabs(sum / 4000) < 0.05);
    CHECK(largest <= 1);
    CHECK(largest > 0.9);
    CHECK(least >= 0x1p-6 * 0.98);
  }
}

TEST_CASE("tensors get values that have a meaning in their place") {
  GraphBuilder b;
  const auto q = b.tensor(DataType::half, {3, 2, 9, 8});
  const auto k = b.tensor(DataType::half, {12, 2, 4, 8}),
             v = b.tensor(DataType::half, {12, 2, 4, 8});
  const auto lq = b.tensor(DataType::int32, {3, 1, 1, 1}),
             lk = b.tensor(DataType::int32, {3, 1, 1, 1});
  const auto table = b.tensor(DataType::int32, {3, 1, 4, 1}),
             o = b.tensor(DataType::half, {3, 2, 9, 8});
  b.node(NodeType::sdpa,
         {{"q", q},
          {"k", k},
          {"v", v},
          {"seq_len_q", lq},
          {"seq_len_kv", lk},
          {"page_table_k", table},
          {"page_table_v", table}},
         {{"o", o}}, {{"max_seq_len_kv", int64_t{14}}});
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const auto all = run::random_inputs(b.graph, seed);
    REQUIRE(all.ok());
    for (const double n : numbers(b.at(lq), *all)) CHECK((n >= 1 && n <= 9));
    for (const double n : numbers(b.at(lk), *all)) CHECK((n >= 1 && n <= 14));
    const Numbers pages = numbers(b.at(table), *all);
    CHECK(std::set<double>(pages.begin(), pages.end()).size() == 12);  // no page twice
    CHECK(reference::evaluate(b.graph, run::views(*all)).ok());
  }
}

TEST_CASE("denominators, roots and variances stay away from zero") {
  for (const char* operation : {"log", "sqrt", "rsqrt", "reciprocal"}) {
    GraphBuilder b;
    const auto x = b.tensor(DataType::float32, {500}), y = b.tensor(DataType::float32, {500});
    b.node(NodeType::pointwise, {{"in_0", x}}, {{"out_0", y}},
           {{"operation", std::string(operation)}});
    for (const double n : numbers(b.at(x), *run::random_inputs(b.graph, 2)))
      REQUIRE((n >= 0.25 && n <= 2));
  }
  auto b = adding(DataType::int32, {500});
  for (auto& a : b.graph.nodes[0].attributes) a.value = std::string("div");
  bool zero = false;
  const auto all = run::random_inputs(b.graph, 2);
  for (const double n : numbers(b.graph.tensors[0], *all)) zero = zero || n == 0;
  CHECK(zero);
  for (const double n : numbers(b.graph.tensors[1], *all)) REQUIRE(n >= 1);
}

TEST_CASE("given tensors are taken as they are; constants and intermediates need none") {
  auto b = adding(DataType::float32, {2});
  b.graph.tensors[1].value = 2.0;
  run::Buffers given{{1, Bytes(8, std::byte{1})}};
  const auto all = run::random_inputs(b.graph, 1, 1, &given);
  CHECK(all->size() == 1);
  CHECK(all->at(1) == Bytes(8, std::byte{1}));
}

TEST_CASE("poison reads as NaN and a touched gap is found") {
  for (const DataType type : {DataType::float32, DataType::half, DataType::bfloat16,
                              DataType::float64, DataType::fp8_e4m3, DataType::fp8_e5m2}) {
    auto b = adding(type, {3});
    const auto outputs = run::poisoned_outputs(b.graph);
    REQUIRE(outputs->size() == 1);
    for (const double v : numbers(b.graph.tensors[2], *outputs)) CHECK(std::isnan(v));
  }
  GraphBuilder b;
  const auto& t = b.at(b.tensor(DataType::half, {2, 3}, {5, 1}));
  Bytes bytes(16, run::kPoison);
  reference::pack(t, {1, 2, 3, 4, 5, 6}, bytes.data());
  CHECK(!run::touched_gap(t, bytes, run::kPoison));
  bytes[9] = std::byte{0};
  CHECK(run::touched_gap(t, bytes, run::kPoison) == 9);
  bytes[9] = run::kPoison;
  bytes[10] = std::byte{0};  // an element: not a gap
  CHECK(!run::touched_gap(t, bytes, run::kPoison));
}

TEST_CASE("a touched gap is found between few elements far apart") {
  GraphBuilder b;
  const auto& t = b.at(b.tensor(DataType::half, {3, 2}, {1, 1000}));
  Bytes bytes(2 * 1003 + 4, run::kPoison);
  reference::pack(t, {1, 2, 3, 4, 5, 6}, bytes.data());
  CHECK(!run::touched_gap(t, bytes, run::kPoison));
  for (const size_t at : {6u, 7u, 1000u, 1999u, 2006u, 2009u}) {
    bytes[at] = std::byte{0};
    CHECK(run::touched_gap(t, bytes, run::kPoison) == at);
    bytes[at] = run::kPoison;
  }
  for (const size_t at : {0u, 5u, 2000u, 2005u}) bytes[at] = std::byte{0};  // elements
  CHECK(!run::touched_gap(t, bytes, run::kPoison));
}

TEST_CASE("sizes that no machine has are refused") {
  auto b = adding(DataType::float32, {2, 2}, {int64_t{1} << 39, 1});
  CHECK(run::random_inputs(b.graph, 1).error().reason == "too-large");
}

TEST_CASE("filling stops soon when it is asked to, whatever the threads") {
  auto b = adding(DataType::float32, {1, 4096 * 64});
  for (const unsigned jobs : {1u, 4u}) {
    std::atomic<int> asked{0};
    const auto stopped = run::random_inputs(b.graph, 1, jobs, nullptr, [&]() -> Result<void> {
      if (++asked < 5) return {};
      return Error{.code = Code::interrupted, .reason = "interrupted"};
    });
    REQUIRE_FALSE(stopped.ok());
    CHECK(stopped.error().code == Code::interrupted);
    CHECK(asked >= 5);
    CHECK(asked < 5 + 4);  // of more than 100 pieces: one for each thread that was at work
  }
}
