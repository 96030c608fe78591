// Launches derived from values: grids, bindings, patches, and rules between values.
#include <doctest/doctest.h>

#include "engine/batchnorm_inference/dispatch.h"
#include "engine/dispatch.h"
#include "engine/pointwise/dispatch.h"
#include "example_values.h"
#include "hipplan_arguments.h"

using namespace hipplan;
using namespace hipplan::engine;
using namespace hipplan::test;

namespace {

PreparedKernel prepare(const char* alias, const LaunchValues& values) {
  const auto* handler = find_by_alias(alias);
  REQUIRE(handler != nullptr);
  const auto checked = check_values(*handler, values);
  REQUIRE_MESSAGE(checked.ok(), (checked.ok() ? "" : checked.error().text()));
  const auto prepared = handler->prepare(values);
  REQUIRE_MESSAGE(prepared.ok(), (prepared.ok() ? "" : prepared.error().text()));
  return *prepared;
}

void refused(const char* alias, const LaunchValues& values, const std::string& part) {
  const auto* handler = find_by_alias(alias);
  const auto checked = check_values(*handler, values);
  REQUIRE_MESSAGE(checked.ok(), (checked.ok() ? "" : checked.error().text()));
  const auto prepared = handler->prepare(values);
  REQUIRE(!prepared.ok());
  CHECK(prepared.error().code == Code::unusable);
  CHECK(prepared.error().reason == "launch-values");
  CHECK_MESSAGE(prepared.error().text().find(part) != std::string::npos, prepared.error().text());
}

template <class Block>
Block block_of(const PreparedLaunch& launch, size_t pointers) {
  return *load<Block>(launch.arguments, pointers * 8);
}

constexpr const char* kPointwise = "hipplan.pointwise.dispatch.v1";
constexpr const char* kConv = "hipplan.conv_fwd.dispatch.v1";
constexpr const char* kMatmul = "hipplan.matmul.dispatch.v1";
constexpr const char* kBatchnorm = "hipplan.batchnorm_inference.dispatch.v1";
constexpr const char* kSdpa = "hipplan.sdpa_fwd.dispatch.v1";

}  // namespace

TEST_CASE("arguments have the size that the signature states") {
  for (const auto& example : examples()) {
    const auto prepared = prepare(example.alias, example.values);
    const auto signature = find_by_alias(example.alias)->signature("");
    REQUIRE(prepared.launches.size() == 1);
    const auto& launch = prepared.launches[0];
    CHECK(launch.launch_name.empty());
    CHECK(launch.dynamic_lds_bytes == 0);
    CHECK(launch.arguments.size() == signature.back().offset + signature.back().size);
    CHECK(prepared.workspace_bytes == 0);
    for (const auto& patch : launch.patches) {
      REQUIRE(patch.binding < prepared.bindings.size());
      CHECK(patch.offset % 8 == 0);
      CHECK(patch.offset < signature.back().offset);
      CHECK(*load<uint64_t>(launch.arguments, patch.offset) == 0);
    }
  }
}

TEST_CASE("pointwise launches") {
  const auto prepared = prepare(kPointwise, pointwise_example());
  const auto& launch = prepared.launches[0];
  CHECK(launch.grid == device::Dim3{1, 1, 1});  // 240 elements, 256 a workgroup
  CHECK(launch.block == device::Dim3{64, 1, 1});
  REQUIRE(prepared.bindings.size() == 3);
  CHECK(prepared.bindings[0].uid == 9);
  CHECK(prepared.bindings[0].written);
  CHECK(prepared.bindings[0].min_bytes == 480);
  CHECK(prepared.bindings[0].min_alignment == 8);
  CHECK(prepared.bindings[2].uid == 2);
  CHECK(!prepared.bindings[2].written);
  CHECK(prepared.bindings[2].min_bytes == 2);
  const auto block = block_of<hipplan_args::Pointwise>(launch, 4);
  CHECK(block.count == 240);
  CHECK(block.scalar_inputs == 2);
  CHECK(block.settings.operation == hipplan_args::kAdd);

  // 2^40 elements: the grid is bounded and workgroups take several rounds.
  auto huge = with(pointwise_example(), "dims", List{1, 1, int64_t{1} << 40});
  const auto bounded = prepare(kPointwise, huge).launches[0];
  CHECK(bounded.grid.x == 65536);
  CHECK(block_of<hipplan_args::Pointwise>(bounded, 4).step == uint64_t{65536} * 256);

  refused(kPointwise, with(pointwise_example(), "inputs", List{1}), "does not fit operation add");
  refused(kPointwise, with(pointwise_example(), "in_strides", List{1, 2}), "'in_strides'");
  refused(kPointwise, with(pointwise_example(), "out_strides", List{1}), "'out_strides'");
  refused(kPointwise, with(pointwise_example(), "axis", int64_t{3}), "'axis'");
  refused(kPointwise, with(pointwise_example(), "block_size", int64_t{100}), "multiple of 64");
  refused(kPointwise, with(pointwise_example(), "out_strides", List{240, 80, 2}),
          "layout contiguous");
  refused(kPointwise, with(pointwise_example(), "dims", List(3, int64_t{1} << 40)), "2^63");
  const auto strided = with(pointwise_example(), "layout", std::string("strided"));
  CHECK(prepare(kPointwise, with(strided, "out_strides", List{240, 80, 2})).launches[0].grid.x ==
        4);
}

TEST_CASE("which strides the contiguous layout serves") {
  using pointwise::contiguous_serves;
  CHECK(contiguous_serves({2, 3}, {3, 1}, {3, 1, 0, 0}, "add"));
  CHECK(contiguous_serves({2, 3}, {1, 2}, {1, 2, 1, 2}, "add"));
  CHECK(!contiguous_serves({2, 3}, {3, 1}, {1, 2, 3, 1}, "add"));
  CHECK(!contiguous_serves({2, 3}, {3, 1}, {0, 1, 3, 1}, "add"));
  CHECK(!contiguous_serves({2, 3}, {4, 1}, {4, 1}, "abs"));
  CHECK(!contiguous_serves({2, 3}, {3, 1}, {}, "gen_index"));
  CHECK(!contiguous_serves({2, 3}, {3}, {3, 1}, "abs"));
  // Every operation has one number of its own.
  std::vector<bool> seen(100, false);
  for (const auto& operation : pointwise::operations()) {
    CHECK(!seen[operation.kernel_number]);
    seen[operation.kernel_number] = true;
    CHECK(pointwise::find_operation(operation.name) == &operation);
  }
  CHECK(pointwise::operations().size() == 47);
  CHECK(pointwise::find_operation("unset") == nullptr);
}

TEST_CASE("conv_fwd launches") {
  const auto prepared = prepare(kConv, conv_fwd_example());
  const auto& launch = prepared.launches[0];
  CHECK(launch.grid == device::Dim3{2, 4, 1});  // 72 positions by 64; 5 outputs by 4, 2 groups
  const auto block = block_of<hipplan_args::ConvFwd>(launch, 4);
  CHECK(block.positions == 72);
  CHECK(block.reduction == 18);
  CHECK(block.outputs == 5);
  CHECK(block.in[0] == 1);
  CHECK(block.in[2] == 8);
  CHECK(prepared.bindings.size() == 3);
  CHECK(prepared.bindings[2].written);

  // Mirrored taps: from the last tap backwards.
  const auto mirrored =
      prepare(kConv, with(conv_fwd_example(), "conv_mode", std::string("CONVOLUTION"))).launches[0];
  CHECK(mirrored.patches[1].add == (2 * 2 + 1 * 1) * 4);
  CHECK(block_of<hipplan_args::ConvFwd>(mirrored, 4).w_strides[3] == -2);

  auto biased = with(conv_fwd_example(), "bias", List{8});
  refused(kConv, biased, "'bias_strides'");
  biased = with(biased, "bias_strides", List{0, 1, 0, 0});
  const auto with_bias = prepare(kConv, biased);
  REQUIRE(with_bias.bindings.size() == 4);
  CHECK(with_bias.bindings[2].uid == 8);
  CHECK(with_bias.bindings[2].min_bytes == 40);

  refused(kConv, with(conv_fwd_example(), "y_dims", List{2, 10, 8, 4}), "does not follow");
  refused(kConv, with(conv_fwd_example(), "groups", int64_t{3}), "groups");
  refused(kConv, with(conv_fwd_example(), "w_dims", List{11, 3, 3, 2}), "output channels");
  refused(kConv, with(conv_fwd_example(), "x_dims", List{3, 6, 9, 8}), "batches");
  refused(kConv, with(conv_fwd_example(), "stride", List{1}), "'stride'");
  refused(kConv, with(conv_fwd_example(), "tile_m", int64_t{2}), "no kernel was built");
  refused(kConv, with(conv_fwd_example(), "block_size", int64_t{256}), "no kernel was built");
}

TEST_CASE("matmul launches") {
  const auto prepared = prepare(kMatmul, matmul_example());
  const auto& launch = prepared.launches[0];
  CHECK(launch.grid == device::Dim3{2, 2, 12});
  CHECK(launch.block == device::Dim3{256, 1, 1});
  CHECK(prepared.bindings[1].min_bytes == 2 * 1300 * 3);
  const auto block = block_of<hipplan_args::Matmul>(launch, 3);
  CHECK(block.batch_rank == 2);  // b broadcasts the first batch dim
  CHECK(block.a_along_k == 1);
  refused(kMatmul, with(matmul_example(), "a_strides", List{20, 1}), "does not fit 'batch_dims'");
  refused(kMatmul, with(matmul_example(), "math", std::string("mfma")), "no kernel was built");
  refused(kMatmul,
          with(with(matmul_example(), "dtype", std::string("float")), "math", std::string("wmma")),
          "wmma has no kernel");
  refused(kMatmul, with(matmul_example(), "batch_dims", List{int64_t{1} << 20, int64_t{1} << 20}),
          "2^31");
  refused(kMatmul, with(matmul_example(), "m", int64_t{64} * 70000), "grid");
}

TEST_CASE("batchnorm_inference launches") {
  const auto prepared = prepare(kBatchnorm, batchnorm_inference_example());
  CHECK(prepared.launches[0].grid == device::Dim3{1, 3, 2});
  REQUIRE(prepared.bindings.size() == 6);
  CHECK(prepared.bindings[0].uid == 6);
  CHECK(prepared.bindings[0].written);
  CHECK(prepared.bindings[0].min_alignment == 8);
  CHECK(prepared.bindings[4].min_bytes == 20);  // scale: three channels two apart
  refused(kBatchnorm, with(batchnorm_inference_example(), "x_strides", List{99, 33, 8, 1}),
          "layout planes");
  refused(kBatchnorm, with(batchnorm_inference_example(), "y_strides", List{96, 32}),
          "differ in length");
  CHECK(!batchnorm_inference::planes_serves({2, 3, 5}, {15, 5, 1}, {15, 5, 1}));
  CHECK(batchnorm_inference::planes_serves({1, 1, 8}, {9, 9, 1}, {8, 8, 1}));
}

TEST_CASE("sdpa_fwd launches") {
  const auto prepared = prepare(kSdpa, sdpa_fwd_example());
  CHECK(prepared.launches[0].grid == device::Dim3{2, 8, 2});
  REQUIRE(prepared.bindings.size() == 5);
  CHECK(prepared.bindings[3].uid == 4);
  CHECK(prepared.bindings[3].min_alignment == 8);
  CHECK(prepared.bindings[4].uid == 7);
  CHECK(prepared.bindings[4].written);
  CHECK(prepared.bindings[4].min_bytes == 6400);
  const auto block = block_of<hipplan_args::SdpaFwd>(prepared.launches[0], 8);
  CHECK(block.k_group.divisor == 4);
  CHECK(block.v_group.divisor == 2);
  CHECK(block.right_bound == 0);
  CHECK(block.left_bound == hipplan_args::SdpaFwd::kNoBound);
  CHECK(block.flags == (hipplan_args::kVectorQk | hipplan_args::kVectorV | hipplan_args::kVectorO |
                        hipplan_args::kStats));
  refused(kSdpa, with(sdpa_fwd_example(), "heads_k", int64_t{3}), "do not divide");
  refused(kSdpa, with(sdpa_fwd_example(), "head_size_qk", int64_t{65}), "passes 'max_head_size'");
  refused(kSdpa, with(sdpa_fwd_example(), "max_head_size", int64_t{96}), "64, 128 or 256");
  refused(kSdpa, with(sdpa_fwd_example(), "tile_q", int64_t{32}), "no kernel was built");
  refused(kSdpa, with(sdpa_fwd_example(), "mask", List{5}), "'mask_strides'");
  refused(kSdpa, with(sdpa_fwd_example(), "stats", List{}), "'stats_strides'");
  refused(kSdpa, with(sdpa_fwd_example(), "mask_dtype", std::string("bfloat16")), "'mask_dtype'");
}
