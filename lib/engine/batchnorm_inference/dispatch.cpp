#include "engine/batchnorm_inference/dispatch.h"

#include <algorithm>

#include "engine/dispatch_support.h"
#include "hipplan_arguments.h"

namespace hipplan::engine::batchnorm_inference {

namespace {

using Block = hipplan_args::BatchnormInference;

constexpr std::string_view kAlias = "hipplan.batchnorm_inference.dispatch.v1";
constexpr int64_t kVector = 4;            // elements a work-item of the planes kernel takes at once
constexpr uint64_t kMaxGroups = 1 << 16;  // beyond it workgroups take several rounds
constexpr size_t kPointers = 6;
static_assert(sizeof(Block) == 376, "the block's layout is part of the contract");

/// What the values say, read once.
struct Shape {
  std::vector<int64_t> dims, x_strides, y_strides, param_strides;
  uint32_t bytes = 0, param_bytes = 0, block_size = 0;
};

Result<Shape> read_shape(const LaunchValues& values) {
  Shape shape{list(values, "dims"),
              list(values, "x_strides"),
              list(values, "y_strides"),
              list(values, "param_strides"),
              element_bytes(text(values, "dtype")),
              element_bytes(text(values, "param_dtype")),
              static_cast<uint32_t>(integer(values, "block_size"))};
  for (const auto* strides : {&shape.x_strides, &shape.y_strides}) {
    if (strides->size() == shape.dims.size()) continue;
    return launch_error(kAlias, "'x_strides', 'y_strides' and 'dims' differ in length",
                        cat(shape.dims.size()), cat(strides->size()));
  }
  if (shape.block_size % 64 != 0) {
    return launch_error(kAlias, "'block_size' is not a multiple of 64", {}, cat(shape.block_size));
  }
  if (!product(shape.dims)) return launch_error(kAlias, "'dims' multiply to more than 2^63");
  return shape;
}

/// The dims after the channel, joined, as y (view 0) and x (view 1) walk them.
StridedViews plane_of(const std::vector<int64_t>& dims, const std::vector<int64_t>& x_strides,
                      const std::vector<int64_t>& y_strides) {
  const auto tail = [](const std::vector<int64_t>& all) {
    return std::vector<int64_t>(all.begin() + 2, all.end());
  };
  return collapse({tail(dims), {tail(y_strides), tail(x_strides)}});
}

/// Bindings in the order of the pointers: y, x, mean, inv_variance, scale, bias.
Result<std::vector<Binding>> bindings_of(const LaunchValues& values, const Shape& shape,
                                         uint32_t alignment) {
  std::vector<Binding> bindings;
  const auto add = [&](const char* uid, bool written, uint32_t align,
                       const std::vector<int64_t>& dims, const std::vector<int64_t>& strides,
                       uint32_t bytes) -> Result<void> {
    const auto span = span_bytes(dims, strides, bytes);
    if (!span) return launch_error(kAlias, cat("the tensor of '", uid, "' spans too many bytes"));
    bindings.push_back({integer(values, uid), written, align, *span});
    return {};
  };
  HIPPLAN_TRY(add("y.uid", true, alignment, shape.dims, shape.y_strides, shape.bytes));
  HIPPLAN_TRY(add("x.uid", false, alignment, shape.dims, shape.x_strides, shape.bytes));
  constexpr const char* kParameters[] = {"mean.uid", "inv_variance.uid", "scale.uid", "bias.uid"};
  for (size_t i = 0; i < 4; ++i) {
    HIPPLAN_TRY(add(kParameters[i], false, shape.param_bytes, {shape.dims[1]},
                    {shape.param_strides[i]}, shape.param_bytes));
  }
  return bindings;
}

Result<PreparedKernel> finish(const LaunchValues& values, const Shape& shape, uint32_t alignment,
                              Block args, device::Dim3 grid) {
  args.block_size = shape.block_size;
  std::copy(shape.param_strides.begin(), shape.param_strides.end(), args.parameter_strides);
  PreparedKernel out;
  HIPPLAN_TRY_ASSIGN(out.bindings, bindings_of(values, shape, alignment));
  PreparedLaunch launch;
  launch.grid = grid;
  launch.block = {shape.block_size, 1, 1};
  launch.arguments = argument_bytes(kPointers, args);
  launch.patches = pointer_patches(kPointers);
  out.launches.push_back(std::move(launch));
  return out;
}

Result<PreparedKernel> prepare_planes(const LaunchValues& values, const Shape& shape) {
  if (!planes_serves(shape.dims, shape.x_strides, shape.y_strides)) {
    return launch_error(kAlias, "layout planes does not serve these strides", "layout strided");
  }
  if (shape.dims[0] > INT32_MAX || shape.dims[1] > INT32_MAX) {
    return launch_error(kAlias, "batch or channels pass 2^31-1");
  }
  Block args{};
  args.count =
      static_cast<uint64_t>(plane_of(shape.dims, shape.x_strides, shape.y_strides).dims[0]);
  args.outer_count = static_cast<uint32_t>(shape.dims[0]);
  args.channels = static_cast<uint32_t>(shape.dims[1]);
  for (size_t i = 0; i < 2; ++i) {
    args.strides[0][i] = shape.y_strides[i];
    args.strides[1][i] = shape.x_strides[i];
  }
  const uint64_t per_group = static_cast<uint64_t>(shape.block_size) * kVector;
  const uint64_t groups = std::min(divide_up(args.count, per_group), kMaxGroups);
  args.step = groups * per_group;
  args.channel_step = static_cast<uint32_t>(std::min<uint64_t>(args.channels, kMaxGridYZ));
  args.outer_step = static_cast<uint32_t>(std::min<uint64_t>(args.outer_count, kMaxGridYZ));
  return finish(values, shape, static_cast<uint32_t>(kVector) * shape.bytes, args,
                {static_cast<uint32_t>(groups), args.channel_step, args.outer_step});
}

Result<PreparedKernel> prepare_strided(const LaunchValues& values, const Shape& shape) {
  // The third view counts channels, so the channel dim stays apart from the others.
  std::vector<int64_t> channel(shape.dims.size(), 0);
  channel[1] = 1;
  const auto walk = plan_walk(collapse({shape.dims, {shape.y_strides, shape.x_strides, channel}}));
  if (!walk) {
    return launch_error(kAlias, "y has too many elements for layout strided",
                        "all dims but the outermost to hold fewer than 2^31 together");
  }
  Block args{};
  args.count = walk->count;
  args.outer_count = walk->outer_count;
  args.rank = walk->rank;
  for (size_t i = 0; i < walk->rank; ++i) {
    const auto& by = walk->extents[i];
    args.extents[i] = {by.divisor, by.multiplier, by.shift, 0};
  }
  for (size_t v = 0; v < 3; ++v) {
    std::copy(walk->strides[v].begin(), walk->strides[v].end(), args.strides[v]);
  }
  const uint64_t groups = std::min(divide_up(args.count, shape.block_size), kMaxGroups);
  args.step = groups * shape.block_size;
  args.outer_step = static_cast<uint32_t>(std::min<uint64_t>(args.outer_count, kMaxGridYZ));
  return finish(values, shape, shape.bytes, args,
                {static_cast<uint32_t>(groups), args.outer_step, 1});
}

class Handler final : public DispatchHandler {
 public:
  std::string_view name() const override { return "hipplan.batchnorm_inference.dispatch"; }
  std::string_view alias() const override { return kAlias; }
  const std::vector<ValueRule>& contract() const override {
    constexpr auto kRank = static_cast<size_t>(kMaxRank);
    static const std::vector<ValueRule> rules = {dtype_rule(),
                                                 dtype_rule("param_dtype"),
                                                 text_rule("layout", {"planes", "strided"}),
                                                 uid_rule("x.uid"),
                                                 uid_rule("mean.uid"),
                                                 uid_rule("inv_variance.uid"),
                                                 uid_rule("scale.uid"),
                                                 uid_rule("bias.uid"),
                                                 uid_rule("y.uid"),
                                                 extents_rule("dims", 2, kRank),
                                                 strides_rule("x_strides", 2, kRank),
                                                 strides_rule("y_strides", 2, kRank),
                                                 strides_rule("param_strides", 4, 4),
                                                 integer_rule("block_size", 64, 256)};
    return rules;
  }
  std::vector<codeobject::Argument> signature(std::string_view) const override {
    return argument_signature(kPointers, sizeof(Block));
  }
  Result<PreparedKernel> prepare(const LaunchValues& values) const override {
    HIPPLAN_TRY_ASSIGN(const auto shape, read_shape(values));
    return text(values, "layout") == "planes" ? prepare_planes(values, shape)
                                              : prepare_strided(values, shape);
  }
};

}  // namespace

bool planes_serves(const std::vector<int64_t>& dims, const std::vector<int64_t>& x_strides,
                   const std::vector<int64_t>& y_strides) {
  if (dims.size() < 2 || x_strides.size() != dims.size() || y_strides.size() != dims.size())
    return false;
  const auto plane = plane_of(dims, x_strides, y_strides);
  if (plane.dims.size() != 1 || plane.dims[0] % kVector != 0) return false;
  if (plane.strides[0][0] != 1 || plane.strides[1][0] != 1) return false;
  for (size_t i = 0; i < 2; ++i) {
    if (dims[i] > 1 && (x_strides[i] % kVector != 0 || y_strides[i] % kVector != 0)) return false;
  }
  return true;
}

const DispatchHandler& dispatch_handler() {
  static const Handler handler;
  return handler;
}

}  // namespace hipplan::engine::batchnorm_inference
