#include "engine/matmul/dispatch.h"

#include <algorithm>

#include "engine/dispatch_support.h"
#include "hipplan_arguments.h"

namespace hipplan::engine::matmul {

namespace {

using Block = hipplan_args::Matmul;

constexpr std::string_view kAlias = "hipplan.matmul.dispatch.v1";
constexpr size_t kPointers = 3;
constexpr size_t kBatchDims = Block::kBatchDims;
constexpr int64_t kMaxExtentMnk = INT32_MAX - 1024;  // room for a tile above in 32-bit indices
static_assert(sizeof(Block) == 320, "the block's layout is part of the contract");

struct Built {
  std::string_view math;
  int64_t block_size, tile_m, tile_n, tile_k;
};
constexpr Built kBuilt[] = {
    {"vector", 256, 64, 64, 16}, {"vector", 64, 32, 32, 16}, {"mfma", 256, 64, 64, 32},
    {"mfma", 64, 32, 32, 16},    {"wmma", 128, 64, 64, 32},  {"wmma", 32, 32, 32, 16},
};

/// One matrix of the three: its uid, batch strides, row and column strides.
struct Matrix {
  int64_t uid = 0;
  std::vector<int64_t> strides;
  int64_t rows = 0, columns = 0;
};

struct Shape {
  std::vector<int64_t> batch_dims;
  Matrix a, b, c;
  int64_t m = 0, n = 0, k = 0;
  uint32_t bytes = 0;
  size_t batch_rank() const { return batch_dims.size(); }
};

Result<Shape> read_shape(const LaunchValues& values) {
  Shape shape;
  shape.batch_dims = list(values, "batch_dims");
  shape.m = integer(values, "m");
  shape.n = integer(values, "n");
  shape.k = integer(values, "k");
  shape.bytes = element_bytes(text(values, "dtype"));
  shape.a = {integer(values, "a.uid"), list(values, "a_strides"), shape.m, shape.k};
  shape.b = {integer(values, "b.uid"), list(values, "b_strides"), shape.k, shape.n};
  shape.c = {integer(values, "c.uid"), list(values, "c_strides"), shape.m, shape.n};
  for (const auto* matrix : {&shape.a, &shape.b, &shape.c}) {
    if (matrix->strides.size() == shape.batch_rank() + 2) continue;
    return launch_error(kAlias, "a list of strides does not fit 'batch_dims'",
                        cat(shape.batch_rank() + 2, " entries"), cat(matrix->strides.size()));
  }
  if (text(values, "math") == "wmma" && text(values, "dtype") == "float") {
    return launch_error(kAlias, "wmma has no kernel for float", "half or bfloat16", "float");
  }
  return shape;
}

Result<const Built*> find_built(const LaunchValues& values) {
  const Built wanted{text(values, "math"), integer(values, "block_size"), integer(values, "tile_m"),
                     integer(values, "tile_n"), integer(values, "tile_k")};
  for (const auto& built : kBuilt) {
    if (built.math == wanted.math && built.block_size == wanted.block_size &&
        built.tile_m == wanted.tile_m && built.tile_n == wanted.tile_n &&
        built.tile_k == wanted.tile_k) {
      return &built;
    }
  }
  return launch_error(kAlias, "no kernel was built with this block size and these tiles",
                      "a row of the contract's table",
                      cat(wanted.math, " ", wanted.block_size, ", ", wanted.tile_m, " x ",
                          wanted.tile_n, " x ", wanted.tile_k));
}

Result<Block> block_of(const Shape& shape) {
  const size_t rank = shape.batch_rank();
  const auto batch_strides = [&](const Matrix& matrix) {
    return std::vector<int64_t>(matrix.strides.begin(),
                                matrix.strides.begin() + static_cast<std::ptrdiff_t>(rank));
  };
  const auto batches = product(shape.batch_dims);
  if (!batches || *batches > INT32_MAX)
    return launch_error(kAlias, "'batch_dims' multiply to 2^31 or more");
  const auto views = collapse(
      {shape.batch_dims, {batch_strides(shape.a), batch_strides(shape.b), batch_strides(shape.c)}},
      true);
  Block args{};
  args.m = static_cast<uint32_t>(shape.m);
  args.n = static_cast<uint32_t>(shape.n);
  args.k = static_cast<uint32_t>(shape.k);
  args.batches = static_cast<uint32_t>(*batches);
  args.batch_step = static_cast<uint32_t>(std::min<uint64_t>(args.batches, kMaxGridYZ));
  args.batch_rank = *batches == 1 ? 0 : static_cast<uint32_t>(views.dims.size());
  for (size_t i = 0; i < args.batch_rank; ++i) {
    const size_t dim = args.batch_rank - 1 - i;
    const auto by = fast_divisor(static_cast<uint32_t>(views.dims[dim]));
    args.batch_extents[i] = {by.divisor, by.multiplier, by.shift, 0};
    for (size_t v = 0; v < 3; ++v) args.batch_strides[v][i] = views.strides[v][dim];
  }
  for (size_t i = 0; i < 2; ++i) {
    args.a_strides[i] = shape.a.strides[rank + i];
    args.b_strides[i] = shape.b.strides[rank + i];
    args.c_strides[i] = shape.c.strides[rank + i];
  }
  args.a_along_k = args.a_strides[1] <= args.a_strides[0] ? 1 : 0;
  args.b_along_n = args.b_strides[1] <= args.b_strides[0] ? 1 : 0;
  return args;
}

Result<std::vector<Binding>> bindings_of(const Shape& shape) {
  std::vector<Binding> bindings;
  for (const auto* matrix : {&shape.a, &shape.b, &shape.c}) {
    auto dims = shape.batch_dims;
    dims.push_back(matrix->rows);
    dims.push_back(matrix->columns);
    const auto bytes = span_bytes(dims, matrix->strides, shape.bytes);
    if (!bytes) return launch_error(kAlias, cat("tensor ", matrix->uid, " spans too many bytes"));
    bindings.push_back({matrix->uid, matrix == &shape.c, shape.bytes, *bytes});
  }
  return bindings;
}

class Handler final : public DispatchHandler {
 public:
  std::string_view name() const override { return "hipplan.matmul.dispatch"; }
  std::string_view alias() const override { return kAlias; }
  const std::vector<ValueRule>& contract() const override {
    static const std::vector<ValueRule> rules = {dtype_rule(),
                                                 text_rule("math", {"vector", "mfma", "wmma"}),
                                                 uid_rule("a.uid"),
                                                 uid_rule("b.uid"),
                                                 uid_rule("c.uid"),
                                                 extents_rule("batch_dims", 0, kBatchDims),
                                                 integer_rule("m", 1, kMaxExtentMnk),
                                                 integer_rule("n", 1, kMaxExtentMnk),
                                                 integer_rule("k", 1, kMaxExtentMnk),
                                                 strides_rule("a_strides", 2, kBatchDims + 2),
                                                 strides_rule("b_strides", 2, kBatchDims + 2),
                                                 strides_rule("c_strides", 2, kBatchDims + 2),
                                                 integer_rule("block_size", 1, 1024),
                                                 integer_rule("tile_m", 1, 1024),
                                                 integer_rule("tile_n", 1, 1024),
                                                 integer_rule("tile_k", 1, 1024)};
    return rules;
  }
  std::vector<codeobject::Argument> signature(std::string_view) const override {
    return argument_signature(kPointers, sizeof(Block));
  }
  Result<PreparedKernel> prepare(const LaunchValues& values) const override {
    HIPPLAN_TRY_ASSIGN(const auto shape, read_shape(values));
    HIPPLAN_TRY_ASSIGN(const Built* built, find_built(values));
    HIPPLAN_TRY_ASSIGN(const auto args, block_of(shape));
    const uint64_t columns = divide_up(args.n, static_cast<uint64_t>(built->tile_n));
    const uint64_t rows = divide_up(args.m, static_cast<uint64_t>(built->tile_m));
    const auto block_size = static_cast<uint32_t>(built->block_size);
    if (columns > max_grid_x(block_size) || rows > kMaxGridYZ) {
      return launch_error(kAlias, "the grid passes the limits of launches",
                          cat("at most ", kMaxGridYZ, " tiles of rows"), cat(rows));
    }
    PreparedKernel out;
    HIPPLAN_TRY_ASSIGN(out.bindings, bindings_of(shape));
    PreparedLaunch launch;
    launch.grid = {static_cast<uint32_t>(columns), static_cast<uint32_t>(rows), args.batch_step};
    launch.block = {block_size, 1, 1};
    launch.arguments = argument_bytes(kPointers, args);
    launch.patches = pointer_patches(kPointers);
    out.launches.push_back(std::move(launch));
    return out;
  }
};

}  // namespace

const DispatchHandler& dispatch_handler() {
  static const Handler handler;
  return handler;
}

}  // namespace hipplan::engine::matmul
