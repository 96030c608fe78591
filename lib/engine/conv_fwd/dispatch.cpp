#include "engine/conv_fwd/dispatch.h"

#include <algorithm>
#include <array>

#include "engine/dispatch_support.h"
#include "hipplan_arguments.h"

namespace hipplan::engine::conv_fwd {

namespace {

using Block = hipplan_args::ConvFwd;

constexpr std::string_view kAlias = "hipplan.conv_fwd.dispatch.v1";
constexpr size_t kPointers = 4;
constexpr size_t kBiasPointer = 2;
constexpr int64_t kMaxIndex =
    INT32_MAX;  // positions, reduction steps and spatial extents stay below
static_assert(sizeof(Block) == 368, "the block's layout is part of the contract");

struct Built {
  std::string_view algorithm;
  int64_t block_size, tile_m, tile_n, tile_k;
};
constexpr Built kBuilt[] = {
    {"direct", 64, 1, 64, 1},           {"direct", 256, 1, 256, 1},
    {"direct", 64, 4, 64, 1},           {"direct", 256, 4, 256, 1},
    {"implicit_gemm", 256, 64, 64, 16}, {"implicit_gemm", 64, 16, 64, 16},
};

/// What the values say, read once.
struct Shape {
  std::vector<int64_t> x_dims, w_dims, y_dims, x_strides, w_strides, y_strides, bias_strides;
  std::vector<int64_t> pre_padding, post_padding, stride, dilation, bias;
  int64_t groups = 1;
  uint32_t bytes = 0;
  size_t rank() const { return y_dims.size(); }
  size_t spatial() const { return rank() - 2; }
};

Error length_error(const char* name, size_t expected, size_t found) {
  return launch_error(kAlias, cat("launch value '", name, "' has the wrong length"), cat(expected),
                      cat(found));
}

Result<Shape> read_shape(const LaunchValues& values) {
  Shape shape;
  shape.y_dims = list(values, "y_dims");
  const size_t rank = shape.rank();
  const auto read = [&](std::vector<int64_t>& to, const char* name, size_t length) -> Result<void> {
    to = list(values, name);
    if (to.size() != length) return length_error(name, length, to.size());
    return {};
  };
  shape.bias = list(values, "bias");
  shape.groups = integer(values, "groups");
  shape.bytes = element_bytes(text(values, "dtype"));
  HIPPLAN_TRY(read(shape.x_dims, "x_dims", rank));
  HIPPLAN_TRY(read(shape.w_dims, "w_dims", rank));
  HIPPLAN_TRY(read(shape.x_strides, "x_strides", rank));
  HIPPLAN_TRY(read(shape.w_strides, "w_strides", rank));
  HIPPLAN_TRY(read(shape.y_strides, "y_strides", rank));
  HIPPLAN_TRY(read(shape.bias_strides, "bias_strides", shape.bias.empty() ? 0 : rank));
  HIPPLAN_TRY(read(shape.pre_padding, "pre_padding", rank - 2));
  HIPPLAN_TRY(read(shape.post_padding, "post_padding", rank - 2));
  HIPPLAN_TRY(read(shape.stride, "stride", rank - 2));
  HIPPLAN_TRY(read(shape.dilation, "dilation", rank - 2));
  return shape;
}

Result<void> check_channels(const Shape& s) {
  const auto channels = checked_mul(s.groups, s.w_dims[1]);
  if (!channels || *channels != s.x_dims[1]) {
    return launch_error(kAlias, "channels of x, channels of w and groups do not fit",
                        "x channels = groups * w channels");
  }
  if (s.w_dims[0] != s.y_dims[1] || s.y_dims[1] % s.groups != 0) {
    return launch_error(kAlias, "output channels of w and y and groups do not fit",
                        "equal, and a multiple of groups");
  }
  if (s.x_dims[0] != s.y_dims[0]) return launch_error(kAlias, "batches of x and y differ");
  return {};
}

Result<void> check_spatial(const Shape& s) {
  for (size_t i = 0; i < s.spatial(); ++i) {
    const auto x = s.x_dims[i + 2], taps = s.w_dims[i + 2], y = s.y_dims[i + 2];
    // All are below 2^31 (contract and the test here), so sums and products of two fit int64.
    if (x > kMaxIndex || taps > kMaxIndex || y > kMaxIndex) {
      return launch_error(kAlias, cat("spatial dim ", i, " passes 2^31-1"));
    }
    const auto reach = s.dilation[i] * (taps - 1) + 1;
    const auto padded = x + s.pre_padding[i] + s.post_padding[i];
    const auto expected = padded < reach ? 0 : (padded - reach) / s.stride[i] + 1;
    if (y != expected) {
      return launch_error(kAlias,
                          cat("spatial dim ", i, " of y does not follow from x, w and settings"),
                          cat(expected), cat(y));
    }
    // The kernels compute input coordinates in 32 bits.
    if (padded > kMaxIndex || reach > kMaxIndex) {
      return launch_error(kAlias, cat("padded extent of spatial dim ", i, " passes 2^31-1"));
    }
  }
  return {};
}

Result<const Built*> find_built(const LaunchValues& values) {
  const Built wanted{text(values, "algorithm"), integer(values, "block_size"),
                     integer(values, "tile_m"), integer(values, "tile_n"),
                     integer(values, "tile_k")};
  for (const auto& built : kBuilt) {
    if (built.algorithm == wanted.algorithm && built.block_size == wanted.block_size &&
        built.tile_m == wanted.tile_m && built.tile_n == wanted.tile_n &&
        built.tile_k == wanted.tile_k) {
      return &built;
    }
  }
  return launch_error(kAlias, "no kernel was built with this block size and these tiles",
                      "a row of the contract's table",
                      cat(wanted.algorithm, " ", wanted.block_size, ", ", wanted.tile_m, " x ",
                          wanted.tile_n, " x ", wanted.tile_k));
}

/// Spatial entries right-aligned in three, the rest `fill`.
void spread(const std::vector<int64_t>& from, size_t first, int32_t fill, int32_t (&to)[3]) {
  std::fill(to, to + 3, fill);
  const size_t count = from.size() - first;
  for (size_t i = 0; i < count; ++i) to[3 - count + i] = static_cast<int32_t>(from[first + i]);
}
void spread_strides(const std::vector<int64_t>& from, long long (&to)[5]) {
  std::fill(to, to + 5, 0);
  if (from.empty()) return;
  to[0] = from[0];
  to[1] = from[1];
  for (size_t i = 2; i < from.size(); ++i) to[5 - from.size() + i] = from[i];
}
hipplan_args::Divisor divisor_of(int64_t by) {
  const auto fast = fast_divisor(static_cast<uint32_t>(by));
  return {fast.divisor, fast.multiplier, fast.shift, 0};
}

/// CONVOLUTION walks the taps backwards: negative strides from the last tap. Returns the element
/// offset of the first tap walked.
int64_t mirror_taps(const Shape& shape, Block& args) {
  int64_t offset = 0;
  for (size_t i = 2; i < shape.rank(); ++i) {
    offset += (shape.w_dims[i] - 1) * shape.w_strides[i];
    args.w_strides[5 - shape.rank() + i] = -shape.w_strides[i];
  }
  return offset;
}

Result<Block> block_of(const Shape& shape, const Built& built) {
  Block args{};
  spread(shape.x_dims, 2, 1, args.in);
  spread(shape.y_dims, 2, 1, args.out);
  spread(shape.w_dims, 2, 1, args.taps);
  spread(shape.stride, 0, 1, args.stride);
  spread(shape.dilation, 0, 1, args.dilation);
  spread(shape.pre_padding, 0, 0, args.padding);
  spread_strides(shape.x_strides, args.x_strides);
  spread_strides(shape.w_strides, args.w_strides);
  spread_strides(shape.y_strides, args.y_strides);
  spread_strides(shape.bias_strides, args.bias_strides);
  const auto positions = product({shape.y_dims[0], args.out[0], args.out[1], args.out[2]});
  const auto reduction = product({shape.w_dims[1], args.taps[0], args.taps[1], args.taps[2]});
  // Room for a whole tile above, as kernels form indices of the last tile before they test them.
  constexpr int64_t kMost = kMaxIndex - 1024;
  if (!positions || *positions > kMost || !reduction || *reduction > kMost ||
      shape.y_dims[1] > kMost || shape.x_dims[1] > kMost) {
    return launch_error(kAlias, "positions, channels or reduction steps pass 2^31");
  }
  args.channels = static_cast<uint32_t>(shape.w_dims[1]);
  args.outputs = static_cast<uint32_t>(shape.y_dims[1] / shape.groups);
  args.positions = static_cast<uint32_t>(*positions);
  args.reduction = static_cast<uint32_t>(*reduction);
  for (size_t i = 0; i < 3; ++i) args.out_divisor[i] = divisor_of(args.out[2 - i]);
  args.tap_divisor[0] = divisor_of(args.channels);
  args.tap_divisor[1] = divisor_of(args.taps[2]);
  args.tap_divisor[2] = divisor_of(args.taps[1]);
  args.row_divisor = divisor_of(
      static_cast<int64_t>(divide_up(args.outputs, static_cast<uint64_t>(built.tile_m))));
  args.block_size = static_cast<uint32_t>(built.block_size);
  args.has_bias = shape.bias.empty() ? 0 : 1;
  return args;
}

/// Bindings and patches in the order of the pointers: x, w, bias, y.
Result<void> bind(const LaunchValues& values, const Shape& shape, int64_t first_tap,
                  PreparedKernel& out) {
  auto& launch = out.launches.front();
  const auto add = [&](size_t pointer, int64_t uid, const std::vector<int64_t>& dims,
                       const std::vector<int64_t>& strides, uint64_t offset) -> Result<void> {
    const auto span = span_bytes(dims, strides, shape.bytes);
    if (!span) return launch_error(kAlias, cat("tensor ", uid, " spans too many bytes"));
    launch.patches.push_back({static_cast<uint32_t>(pointer * 8), out.bindings.size(), offset});
    out.bindings.push_back({uid, pointer == kPointers - 1, shape.bytes, *span});
    return {};
  };
  HIPPLAN_TRY(add(0, integer(values, "x.uid"), shape.x_dims, shape.x_strides, 0));
  HIPPLAN_TRY(add(1, integer(values, "w.uid"), shape.w_dims, shape.w_strides,
                  static_cast<uint64_t>(first_tap) * shape.bytes));
  if (!shape.bias.empty()) {
    HIPPLAN_TRY(add(kBiasPointer, shape.bias[0], shape.y_dims, shape.bias_strides, 0));
  }
  return add(3, integer(values, "y.uid"), shape.y_dims, shape.y_strides, 0);
}

std::vector<ValueRule> make_contract() {
  constexpr int64_t kMost = INT32_MAX;
  const auto settings = [](const char* name, int64_t min) {
    auto rule = extents_rule(name, 1, 3);
    rule.min = min;
    rule.max = kMost;
    return rule;
  };
  return {dtype_rule(),
          text_rule("algorithm", {"direct", "implicit_gemm"}),
          text_rule("conv_mode", {"CROSS_CORRELATION", "CONVOLUTION"}),
          uid_rule("x.uid"),
          uid_rule("w.uid"),
          uid_rule("y.uid"),
          uids_rule("bias", 0, 1),
          extents_rule("x_dims", 3, 5),
          extents_rule("w_dims", 3, 5),
          extents_rule("y_dims", 3, 5),
          strides_rule("x_strides", 3, 5),
          strides_rule("w_strides", 3, 5),
          strides_rule("y_strides", 3, 5),
          strides_rule("bias_strides", 0, 5),
          settings("pre_padding", 0),
          settings("post_padding", 0),
          settings("stride", 1),
          settings("dilation", 1),
          integer_rule("groups", 1, kMost),
          integer_rule("block_size", 1, 1024),
          integer_rule("tile_m", 1, 1024),
          integer_rule("tile_n", 1, 1024),
          integer_rule("tile_k", 1, 1024)};
}

class Handler final : public DispatchHandler {
 public:
  std::string_view name() const override { return "hipplan.conv_fwd.dispatch"; }
  std::string_view alias() const override { return kAlias; }
  const std::vector<ValueRule>& contract() const override {
    static const std::vector<ValueRule> rules = make_contract();
    return rules;
  }
  std::vector<codeobject::Argument> signature(std::string_view) const override {
    return argument_signature(kPointers, sizeof(Block));
  }
  Result<PreparedKernel> prepare(const LaunchValues& values) const override {
    HIPPLAN_TRY_ASSIGN(const auto shape, read_shape(values));
    HIPPLAN_TRY_ASSIGN(const Built* built, find_built(values));
    HIPPLAN_TRY(check_channels(shape));
    HIPPLAN_TRY(check_spatial(shape));
    if (!span_bytes(shape.w_dims, shape.w_strides, shape.bytes)) {
      return launch_error(kAlias, "w spans too many bytes");
    }
    HIPPLAN_TRY_ASSIGN(auto args, block_of(shape, *built));
    const bool mirrored = text(values, "conv_mode") == "CONVOLUTION";
    const int64_t first_tap = mirrored ? mirror_taps(shape, args) : 0;
    const uint64_t columns = divide_up(args.positions, static_cast<uint64_t>(built->tile_n));
    const uint64_t rows =
        static_cast<uint64_t>(args.row_divisor.divisor) * static_cast<uint64_t>(shape.groups);
    if (columns > max_grid_x(args.block_size) || rows > kMaxGridYZ) {
      return launch_error(kAlias, "the grid passes the limits of launches",
                          cat("at most ", kMaxGridYZ, " tiles of output channels"), cat(rows));
    }
    PreparedKernel out;
    auto& launch = out.launches.emplace_back();
    launch.grid = {static_cast<uint32_t>(columns), static_cast<uint32_t>(rows), 1};
    launch.block = {args.block_size, 1, 1};
    launch.arguments = argument_bytes(kPointers, args);
    HIPPLAN_TRY(bind(values, shape, first_tap, out));
    return out;
  }
};

}  // namespace

const DispatchHandler& dispatch_handler() {
  static const Handler handler;
  return handler;
}

}  // namespace hipplan::engine::conv_fwd
