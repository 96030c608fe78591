#include "engine/pointwise/dispatch.h"

#include <algorithm>

#include "engine/dispatch_support.h"
#include "hipplan_arguments.h"

namespace hipplan::engine::pointwise {

namespace {

using hipplan_args::Pointwise;
using hipplan_args::PointwiseSettings;

constexpr std::string_view kAlias = "hipplan.pointwise.dispatch.v1";
constexpr int64_t kVector = 4;  // elements a work-item of the contiguous kernel takes at once
constexpr uint64_t kMaxGroups = 1 << 16;  // beyond it workgroups take several rounds
constexpr size_t kPointers = 4;
static_assert(sizeof(Pointwise) == 440, "the block's layout is part of the contract");

/// What the values say, read once.
struct Shape {
  const Operation* operation = nullptr;
  uint32_t bytes = 0;
  uint32_t block_size = 0;
  std::vector<int64_t> inputs, dims, out_strides, in_strides;
  size_t rank() const { return dims.size(); }
  std::vector<int64_t> input_strides(size_t input) const {
    const auto first = in_strides.begin() + static_cast<std::ptrdiff_t>(input * rank());
    return {first, first + static_cast<std::ptrdiff_t>(rank())};
  }
};

Result<Shape> read_shape(const LaunchValues& values) {
  Shape shape;
  shape.operation = find_operation(text(values, "operation"));
  shape.bytes = element_bytes(text(values, "dtype"));
  shape.block_size = static_cast<uint32_t>(integer(values, "block_size"));
  shape.inputs = list(values, "inputs");
  shape.dims = list(values, "dims");
  shape.out_strides = list(values, "out_strides");
  shape.in_strides = list(values, "in_strides");
  if (shape.inputs.size() != shape.operation->inputs) {
    return launch_error(kAlias, cat("'inputs' does not fit operation ", shape.operation->name),
                        cat(shape.operation->inputs, " uids"), cat(shape.inputs.size()));
  }
  if (shape.out_strides.size() != shape.rank()) {
    return launch_error(kAlias, "'out_strides' and 'dims' differ in length", cat(shape.rank()),
                        cat(shape.out_strides.size()));
  }
  if (shape.in_strides.size() != shape.rank() * shape.inputs.size()) {
    return launch_error(kAlias, "'in_strides' has the wrong length",
                        cat(shape.rank(), " entries for each input"), cat(shape.in_strides.size()));
  }
  if (shape.block_size % 64 != 0) {
    return launch_error(kAlias, "'block_size' is not a multiple of 64", {}, cat(shape.block_size));
  }
  if (integer(values, "axis") >= static_cast<int64_t>(shape.rank())) {
    return launch_error(kAlias, "'axis' is not a dim", cat("less than ", shape.rank()),
                        cat(integer(values, "axis")));
  }
  return shape;
}

/// An input broadcast over a dim touches one element of it; a span with stride 0 says so by itself.
Result<std::vector<Binding>> bindings_of(const Shape& shape, int64_t out_uid, uint32_t alignment) {
  std::vector<Binding> bindings;
  for (size_t i = 0; i <= shape.inputs.size(); ++i) {
    const bool out = i == 0;
    const auto strides = out ? shape.out_strides : shape.input_strides(i - 1);
    const auto bytes = span_bytes(shape.dims, strides, shape.bytes);
    if (!bytes)
      return launch_error(
          kAlias, out ? "the output spans too many bytes" : "an input spans too many bytes");
    bindings.push_back({out ? out_uid : shape.inputs[i - 1], out, alignment, *bytes});
  }
  return bindings;
}

PointwiseSettings settings_of(const LaunchValues& values, const Shape& shape) {
  const auto get = [&](const char* name) { return static_cast<float>(number(values, name)); };
  return {get("relu_lower_clip"),
          get("relu_upper_clip"),
          get("relu_lower_clip_slope"),
          get("elu_alpha"),
          get("swish_beta"),
          get("softplus_beta"),
          flag(values, "relu_has_upper_clip") ? 1u : 0u,
          shape.operation->kernel_number};
}

StridedViews views_of(const Shape& shape) {
  StridedViews views{shape.dims, {shape.out_strides}};
  for (size_t i = 0; i < shape.inputs.size(); ++i) views.strides.push_back(shape.input_strides(i));
  return views;
}

/// True when one dim is left that every view walks element by element or not at all.
bool is_contiguous(const StridedViews& collapsed) {
  if (collapsed.dims.size() != 1) return false;
  if (collapsed.dims[0] == 1) return true;
  for (size_t v = 0; v < collapsed.strides.size(); ++v) {
    const auto stride = collapsed.strides[v][0];
    if (stride != 1 && (v == 0 || stride != 0)) return false;
  }
  return true;
}

Result<PreparedKernel> prepare_contiguous(const LaunchValues& values, const Shape& shape) {
  const auto collapsed = collapse(views_of(shape));
  if (shape.operation->kernel_number == hipplan_args::kGenIndex || !is_contiguous(collapsed)) {
    return launch_error(kAlias, "layout contiguous does not serve these strides", "layout strided");
  }
  const auto count = static_cast<uint64_t>(collapsed.dims[0]);
  const uint64_t per_group = static_cast<uint64_t>(shape.block_size) * kVector;
  const uint64_t groups = std::min(divide_up(count, per_group), kMaxGroups);
  Pointwise args{};
  args.count = count;
  args.step = groups * per_group;
  for (size_t i = 0; i < shape.inputs.size(); ++i) {
    if (collapsed.dims[0] == 1 || collapsed.strides[i + 1][0] == 0) args.scalar_inputs |= 1u << i;
  }
  args.block_size = shape.block_size;
  args.settings = settings_of(values, shape);
  PreparedKernel out;
  HIPPLAN_TRY_ASSIGN(out.bindings,
                     bindings_of(shape, integer(values, "output.uid"), 4 * shape.bytes));
  PreparedLaunch launch;
  launch.grid = {static_cast<uint32_t>(groups), 1, 1};
  launch.block = {shape.block_size, 1, 1};
  launch.arguments = argument_bytes(kPointers, args);
  launch.patches = pointer_patches(out.bindings.size());
  out.launches.push_back(std::move(launch));
  return out;
}

/// Dims for the strided kernel: joined where possible. gen_index keeps its axis apart from the
/// others. `axis` becomes the place of the axis among the new dims, or their number when its extent
/// is 1.
StridedViews strided_dims(const Shape& shape, bool gen_index, size_t& axis) {
  if (!gen_index) return collapse(views_of(shape));
  StridedViews out{{}, {{}}};
  const auto part = [&](size_t from, size_t to) {
    StridedViews piece{{shape.dims.begin() + from, shape.dims.begin() + to},
                       {{shape.out_strides.begin() + from, shape.out_strides.begin() + to}}};
    if (from == to) return;
    piece = collapse(std::move(piece), true);
    out.dims.insert(out.dims.end(), piece.dims.begin(), piece.dims.end());
    out.strides[0].insert(out.strides[0].end(), piece.strides[0].begin(), piece.strides[0].end());
  };
  part(0, axis);
  const size_t place = out.dims.size();
  part(axis, axis + 1);
  part(axis + 1, shape.rank());
  axis = place;
  return out;
}

Result<Pointwise> strided_arguments(const LaunchValues& values, const Shape& shape) {
  const bool gen_index = shape.operation->kernel_number == hipplan_args::kGenIndex;
  auto axis = static_cast<size_t>(integer(values, "axis"));
  const bool axis_counts = gen_index && shape.dims[axis] > 1;
  const auto walk = plan_walk(strided_dims(shape, gen_index, axis));
  if (!walk) {
    return launch_error(kAlias, "the output has too many elements for layout strided",
                        "all dims but the outermost to hold fewer than 2^31 together");
  }
  Pointwise args{};
  args.count = walk->count;
  args.outer_count = walk->outer_count;
  args.rank = walk->rank;
  args.block_size = shape.block_size;
  // With an axis of extent 1 the number is 0 everywhere: an index dim that is never met.
  args.index_dim = axis_counts ? static_cast<uint32_t>(walk->slot_of_dim[axis]) : UINT32_MAX;
  args.settings = settings_of(values, shape);
  for (size_t i = 0; i < walk->rank; ++i) {
    const auto& by = walk->extents[i];
    args.extents[i] = {by.divisor, by.multiplier, by.shift, 0};
  }
  for (size_t v = 0; v < walk->strides.size(); ++v) {
    std::copy(walk->strides[v].begin(), walk->strides[v].end(), args.strides[v]);
  }
  return args;
}

Result<PreparedKernel> prepare_strided(const LaunchValues& values, const Shape& shape) {
  HIPPLAN_TRY_ASSIGN(auto args, strided_arguments(values, shape));
  const uint64_t groups = std::min(divide_up(args.count, shape.block_size), kMaxGroups);
  const uint64_t rows = std::min<uint64_t>(args.outer_count, kMaxGridYZ);
  args.step = groups * shape.block_size;
  args.outer_step = static_cast<uint32_t>(rows);
  PreparedKernel out;
  HIPPLAN_TRY_ASSIGN(out.bindings, bindings_of(shape, integer(values, "output.uid"), shape.bytes));
  PreparedLaunch launch;
  launch.grid = {static_cast<uint32_t>(groups), static_cast<uint32_t>(rows), 1};
  launch.block = {shape.block_size, 1, 1};
  launch.arguments = argument_bytes(kPointers, args);
  launch.patches = pointer_patches(out.bindings.size());
  out.launches.push_back(std::move(launch));
  return out;
}

std::vector<ValueRule> make_contract() {
  std::vector<std::string> names;
  for (const auto& operation : operations()) names.emplace_back(operation.name);
  auto in_strides = strides_rule("in_strides", 0, 3 * static_cast<size_t>(kMaxRank));
  return {text_rule("operation", std::move(names)),
          dtype_rule(),
          text_rule("layout", {"contiguous", "strided"}),
          uid_rule("output.uid"),
          uids_rule("inputs", 0, 3),
          extents_rule("dims", 1, static_cast<size_t>(kMaxRank)),
          strides_rule("out_strides", 1, static_cast<size_t>(kMaxRank)),
          std::move(in_strides),
          integer_rule("axis", 0, kMaxRank - 1),
          float_rule("relu_lower_clip"),
          float_rule("relu_upper_clip"),
          flag_rule("relu_has_upper_clip"),
          float_rule("relu_lower_clip_slope"),
          float_rule("elu_alpha"),
          float_rule("swish_beta"),
          float_rule("softplus_beta"),
          integer_rule("block_size", 64, 256)};
}

class Handler final : public DispatchHandler {
 public:
  std::string_view name() const override { return "hipplan.pointwise.dispatch"; }
  std::string_view alias() const override { return kAlias; }
  const std::vector<ValueRule>& contract() const override {
    static const std::vector<ValueRule> rules = make_contract();
    return rules;
  }
  std::vector<codeobject::Argument> signature(std::string_view) const override {
    return argument_signature(kPointers, sizeof(Pointwise));
  }
  Result<PreparedKernel> prepare(const LaunchValues& values) const override {
    HIPPLAN_TRY_ASSIGN(const auto shape, read_shape(values));
    if (!product(shape.dims)) return launch_error(kAlias, "'dims' multiply to more than 2^63");
    return text(values, "layout") == "contiguous" ? prepare_contiguous(values, shape)
                                                  : prepare_strided(values, shape);
  }
};

}  // namespace

const std::vector<Operation>& operations() {
  using namespace hipplan_args;
  static const std::vector<Operation> all = {
      {"abs", 1, kAbs},
      {"add", 2, kAdd},
      {"add_square", 2, kAddSquare},
      {"binary_select", 3, kBinarySelect},
      {"ceil", 1, kCeil},
      {"cmp_eq", 2, kCmpEq},
      {"cmp_ge", 2, kCmpGe},
      {"cmp_gt", 2, kCmpGt},
      {"cmp_le", 2, kCmpLe},
      {"cmp_lt", 2, kCmpLt},
      {"cmp_neq", 2, kCmpNeq},
      {"div", 2, kDiv},
      {"elu_bwd", 2, kEluBwd},
      {"elu_fwd", 1, kEluFwd},
      {"erf", 1, kErf},
      {"exp", 1, kExp},
      {"floor", 1, kFloor},
      {"gelu_approx_tanh_bwd", 2, kGeluApproxTanhBwd},
      {"gelu_approx_tanh_fwd", 1, kGeluApproxTanhFwd},
      {"gelu_bwd", 2, kGeluBwd},
      {"gelu_fwd", 1, kGeluFwd},
      {"gen_index", 0, kGenIndex},
      {"identity", 1, kIdentity},
      {"log", 1, kLog},
      {"logical_and", 2, kLogicalAnd},
      {"logical_not", 1, kLogicalNot},
      {"logical_or", 2, kLogicalOr},
      {"max_op", 2, kMax},
      {"min_op", 2, kMin},
      {"mul", 2, kMul},
      {"neg", 1, kNeg},
      {"reciprocal", 1, kReciprocal},
      {"relu_bwd", 2, kReluBwd},
      {"relu_fwd", 1, kReluFwd},
      {"rsqrt", 1, kRsqrt},
      {"sigmoid_bwd", 2, kSigmoidBwd},
      {"sigmoid_fwd", 1, kSigmoidFwd},
      {"sin", 1, kSin},
      {"softplus_bwd", 2, kSoftplusBwd},
      {"softplus_fwd", 1, kSoftplusFwd},
      {"sqrt", 1, kSqrt},
      {"sub", 2, kSub},
      {"swish_bwd", 2, kSwishBwd},
      {"swish_fwd", 1, kSwishFwd},
      {"tan", 1, kTan},
      {"tanh_bwd", 2, kTanhBwd},
      {"tanh_fwd", 1, kTanhFwd},
  };
  return all;
}

const Operation* find_operation(std::string_view name) {
  for (const auto& operation : operations()) {
    if (operation.name == name) return &operation;
  }
  return nullptr;
}

bool contiguous_serves(const std::vector<int64_t>& dims, const std::vector<int64_t>& out_strides,
                       const std::vector<int64_t>& in_strides, std::string_view operation) {
  const size_t rank = dims.size();
  if (operation == "gen_index" || rank == 0 || out_strides.size() != rank ||
      in_strides.size() % rank != 0) {
    return false;
  }
  StridedViews views{dims, {out_strides}};
  for (size_t i = 0; i < in_strides.size(); i += rank) {
    const auto first = in_strides.begin() + static_cast<std::ptrdiff_t>(i);
    views.strides.emplace_back(first, first + static_cast<std::ptrdiff_t>(rank));
  }
  return is_contiguous(collapse(std::move(views)));
}

const DispatchHandler& dispatch_handler() {
  static const Handler handler;
  return handler;
}

}  // namespace hipplan::engine::pointwise
