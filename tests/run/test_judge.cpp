#include <doctest/doctest.h>

#include "../reference/graph_builder.h"
#include "run/judge.h"

using namespace hipplan;
using namespace hipplan::test;

namespace {

/// out = x + y over [2, 3]; the output's rows are four elements apart, so it has gaps.
struct Fixture {
  GraphBuilder builder;
  int64_t out = 0;
  run::Buffers inputs;

  Fixture() {
    const Dims dims{2, 3};
    const auto x = builder.tensor(DataType::float32, dims),
               y = builder.tensor(DataType::float32, dims);
    out = builder.tensor(DataType::float32, dims, {4, 1});
    builder.node(NodeType::pointwise, {{"in_0", x}, {"in_1", y}}, {{"out_0", out}},
                 {{"operation", std::string("add")}});
    inputs = run::random_inputs(builder.graph, 3).value();
  }

  /// A perfect kernel, after which `harm` may change the output's elements.
  run::Execute kernel(const std::function<void(float* out)>& harm) const {
    return [this, harm](const run::Buffers& poisoned) -> Result<run::Buffers> {
      run::Buffers buffers = poisoned;
      auto* to = reinterpret_cast<float*>(buffers.at(out).data());
      const auto* a = reinterpret_cast<const float*>(inputs.at(1).data());
      const auto* b = reinterpret_cast<const float*>(inputs.at(2).data());
      const float first = to[0];
      for (int row = 0; row < 2; ++row)
        for (int column = 0; column < 3; ++column)
          to[row * 4 + column] = a[row * 3 + column] + b[row * 3 + column];
      harm(to);
      if (skips_first) to[0] = first;
      return buffers;
    };
  }
  bool skips_first = false;
};

std::string reason(const Result<void>& result) {
  return result ? "" : result.error().reason;
}

}  // namespace

TEST_CASE("a good kernel passes both runs and agrees with the reference") {
  const Fixture f;
  const auto kernel = f.kernel([](float*) {});
  const auto outputs = run::execute_once(f.builder.graph, kernel);
  REQUIRE(outputs.ok());
  CHECK(run::execute_again(f.builder.graph, kernel, *outputs).ok());
  const auto compared = run::compare_with_reference(f.builder.graph, f.inputs, *outputs);
  REQUIRE(compared.ok());
  REQUIRE(compared->size() == 1);
  CHECK(compared->front().uid == f.out);
  CHECK(compared->front().result.pass);
}

TEST_CASE("an element that is not written is found by the second poison") {
  Fixture f;
  f.skips_first = true;
  const auto kernel = f.kernel([](float*) {});
  const auto outputs = run::execute_once(f.builder.graph, kernel);
  REQUIRE(outputs.ok());
  CHECK(reason(run::execute_again(f.builder.graph, kernel, *outputs)) == "unstable-result");
}

TEST_CASE("a write between the elements is found") {
  const Fixture f;
  const auto result =
      run::execute_once(f.builder.graph, f.kernel([](float* out) { out[3] = 1.0f; }));
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().reason == "touched-gap");
}

TEST_CASE("a wrong number fails the comparison; an output that is missing is an error") {
  const Fixture f;
  const auto outputs =
      run::execute_once(f.builder.graph, f.kernel([](float* out) { out[5] += 1.0f; }));
  REQUIRE(outputs.ok());
  const auto compared = run::compare_with_reference(f.builder.graph, f.inputs, *outputs);
  REQUIRE(compared.ok());
  CHECK_FALSE(compared->front().result.pass);
  const auto missing = run::compare_with_reference(f.builder.graph, f.inputs, {});
  REQUIRE_FALSE(missing.ok());
  CHECK(missing.error().reason == "missing-output");
}
