#include "engine/sdpa_fwd/dispatch.h"

#include <algorithm>

#include "engine/dispatch_support.h"
#include "hipplan_arguments.h"

namespace hipplan::engine::sdpa_fwd {

namespace {

using Block = hipplan_args::SdpaFwd;

constexpr std::string_view kAlias = "hipplan.sdpa_fwd.dispatch.v1";
constexpr size_t kPointers = 8;
constexpr int64_t kMaxSequence = Block::kNoBound - 1024;
constexpr float kLog2E = 1.44269504088896341f;
static_assert(sizeof(Block) == 280, "the block's layout is part of the contract");

/// Built for every max_head_size of 64, 128, 256.
struct Built {
  int64_t block_size, tile_q, tile_kv;
};
constexpr Built kBuilt[] = {{256, 64, 64}, {64, 16, 64}};

/// One tensor of the launch, ready to bind.
struct Operand {
  size_t pointer = 0;
  int64_t uid = 0;
  std::vector<int64_t> dims, strides;
  uint32_t bytes = 0;  ///< of an element
  bool written = false, vector = false;
};

struct Shape {
  int64_t batch = 0, heads_q = 0, heads_k = 0, heads_v = 0, seq_q = 0, seq_kv = 0, head_qk = 0,
          head_v = 0;
  uint32_t bytes = 0;
  std::vector<int64_t> q_strides, k_strides, v_strides, o_strides;
};

Shape read_shape(const LaunchValues& values) {
  const auto get = [&](const char* name) { return integer(values, name); };
  return {get("batch"),
          get("heads_q"),
          get("heads_k"),
          get("heads_v"),
          get("seq_q"),
          get("seq_kv"),
          get("head_size_qk"),
          get("head_size_v"),
          element_bytes(text(values, "dtype")),
          list(values, "q_strides"),
          list(values, "k_strides"),
          list(values, "v_strides"),
          list(values, "o_strides")};
}

Result<void> check_shape(const LaunchValues& values, const Shape& s) {
  if (s.heads_q % s.heads_k != 0 || s.heads_q % s.heads_v != 0) {
    return launch_error(kAlias, "heads of k and v do not divide the heads of q");
  }
  const auto most = integer(values, "max_head_size");
  if (most != 64 && most != 128 && most != 256) {
    return launch_error(kAlias, "no kernel was built for this 'max_head_size'", "64, 128 or 256",
                        cat(most));
  }
  if (s.head_qk > most || s.head_v > most) {
    return launch_error(kAlias, "a head size passes 'max_head_size'", cat("at most ", most),
                        cat(s.head_qk, " and ", s.head_v));
  }
  const Built wanted{integer(values, "block_size"), integer(values, "tile_q"),
                     integer(values, "tile_kv")};
  const bool built = std::any_of(std::begin(kBuilt), std::end(kBuilt), [&](const Built& b) {
    return b.block_size == wanted.block_size && b.tile_q == wanted.tile_q &&
           b.tile_kv == wanted.tile_kv;
  });
  if (!built) {
    return launch_error(kAlias, "no kernel was built with this block size and these tiles",
                        "a row of the contract's table",
                        cat(wanted.block_size, ", ", wanted.tile_q, " x ", wanted.tile_kv));
  }
  const auto& mask_dtype = text(values, "mask_dtype");
  if (mask_dtype != "float" && mask_dtype != text(values, "dtype")) {
    return launch_error(kAlias, "'mask_dtype' is neither float nor 'dtype'", {}, mask_dtype);
  }
  const auto fits = [&](const char* tensor, const char* strides, size_t length) -> Result<void> {
    const size_t expected = list(values, tensor).empty() ? 0 : length;
    if (list(values, strides).size() == expected) return {};
    return launch_error(kAlias, cat("launch value '", strides, "' has the wrong length"),
                        cat(expected), cat(list(values, strides).size()));
  };
  HIPPLAN_TRY(fits("mask", "mask_strides", 4));
  return fits("stats", "stats_strides", 3);
}

/// Whether rows can be moved four elements at a time.
bool vectors(const std::vector<int64_t>& strides, int64_t width) {
  const bool steps = strides[0] % 4 == 0 && strides[1] % 4 == 0 && strides[2] % 4 == 0;
  return strides[3] == 1 && width % 4 == 0 && steps;
}

std::vector<Operand> operands_of(const LaunchValues& values, const Shape& s) {
  const bool vector_qk = vectors(s.q_strides, s.head_qk) && vectors(s.k_strides, s.head_qk);
  std::vector<Operand> out = {{0,
                               integer(values, "q.uid"),
                               {s.batch, s.heads_q, s.seq_q, s.head_qk},
                               s.q_strides,
                               s.bytes,
                               false,
                               vector_qk},
                              {1,
                               integer(values, "k.uid"),
                               {s.batch, s.heads_k, s.seq_kv, s.head_qk},
                               s.k_strides,
                               s.bytes,
                               false,
                               vector_qk},
                              {2,
                               integer(values, "v.uid"),
                               {s.batch, s.heads_v, s.seq_kv, s.head_v},
                               s.v_strides,
                               s.bytes,
                               false,
                               vectors(s.v_strides, s.head_v)}};
  const auto optional = [&](size_t pointer, const char* name, std::vector<int64_t> dims,
                            std::vector<int64_t> strides, uint32_t bytes, bool written) {
    const auto& uids = list(values, name);
    if (!uids.empty()) {
      out.push_back({pointer, uids[0], std::move(dims), std::move(strides), bytes, written, false});
    }
  };
  optional(3, "mask", {s.batch, s.heads_q, s.seq_q, s.seq_kv}, list(values, "mask_strides"),
           element_bytes(text(values, "mask_dtype")), false);
  optional(4, "seq_len_q", {s.batch}, {integer(values, "seq_len_q_stride")}, 4, false);
  optional(5, "seq_len_kv", {s.batch}, {integer(values, "seq_len_kv_stride")}, 4, false);
  out.push_back({6,
                 integer(values, "o.uid"),
                 {s.batch, s.heads_q, s.seq_q, s.head_v},
                 s.o_strides,
                 s.bytes,
                 true,
                 vectors(s.o_strides, s.head_v)});
  optional(7, "stats", {s.batch, s.heads_q, s.seq_q}, list(values, "stats_strides"), 4, true);
  return out;
}

Result<void> bind(const std::vector<Operand>& operands, PreparedKernel& out) {
  for (const auto& operand : operands) {
    const auto bytes = span_bytes(operand.dims, operand.strides, operand.bytes);
    if (!bytes) return launch_error(kAlias, cat("tensor ", operand.uid, " spans too many bytes"));
    out.launches.front().patches.push_back(
        {static_cast<uint32_t>(operand.pointer * 8), out.bindings.size(), 0});
    const uint32_t alignment = operand.bytes * (operand.vector ? 4 : 1);
    out.bindings.push_back({operand.uid, operand.written, alignment, *bytes});
  }
  return {};
}

uint32_t flags_of(const LaunchValues& values, const std::vector<Operand>& operands) {
  using namespace hipplan_args;
  constexpr uint32_t kPresent[kPointers] = {0, 0, 0, kMask, kSeqQ, kSeqKv, 0, kStats};
  constexpr uint32_t kVector[kPointers] = {kVectorQk, kVectorQk, kVectorV, 0, 0, 0, kVectorO, 0};
  uint32_t flags = text(values, "mask_dtype") == "float" ? static_cast<uint32_t>(kMaskFloat) : 0;
  for (const auto& operand : operands) {
    flags |= kPresent[operand.pointer];
    if (operand.vector) flags |= kVector[operand.pointer];
  }
  return flags;
}

hipplan_args::Divisor divisor_of(int64_t by) {
  const auto fast = fast_divisor(static_cast<uint32_t>(by));
  return {fast.divisor, fast.multiplier, fast.shift, 0};
}

int32_t bound_of(const std::vector<int64_t>& bound) {
  return bound.empty() ? Block::kNoBound
                       : static_cast<int32_t>(std::min<int64_t>(bound[0], Block::kNoBound));
}

Block block_of(const LaunchValues& values, const Shape& s, uint32_t flags) {
  Block args{};
  args.seq_q = static_cast<int32_t>(s.seq_q);
  args.seq_kv = static_cast<int32_t>(s.seq_kv);
  args.head_size_qk = static_cast<int32_t>(s.head_qk);
  args.head_size_v = static_cast<int32_t>(s.head_v);
  args.batches = static_cast<uint32_t>(s.batch);
  args.batch_step = static_cast<uint32_t>(std::min<uint64_t>(args.batches, kMaxGridYZ));
  args.k_group = divisor_of(s.heads_q / s.heads_k);
  args.v_group = divisor_of(s.heads_q / s.heads_v);
  args.scale = static_cast<float>(number(values, "scale")) * kLog2E;
  args.left_bound = bound_of(list(values, "left_bound"));
  args.right_bound = bound_of(list(values, "right_bound"));
  args.bottom_right = text(values, "diagonal_alignment") == "BOTTOM_RIGHT" ? 1 : 0;
  args.flags = flags;
  const auto copy = [](const std::vector<int64_t>& from, long long* to) {
    std::copy(from.begin(), from.end(), to);
  };
  copy(s.q_strides, args.q_strides);
  copy(s.k_strides, args.k_strides);
  copy(s.v_strides, args.v_strides);
  copy(s.o_strides, args.o_strides);
  copy(list(values, "mask_strides"), args.mask_strides);
  copy(list(values, "stats_strides"), args.stats_strides);
  args.seq_q_stride = integer(values, "seq_len_q_stride");
  args.seq_kv_stride = integer(values, "seq_len_kv_stride");
  return args;
}

std::vector<ValueRule> make_contract() {
  const auto bound = [](const char* name) {
    auto rule = uids_rule(name, 0, 1);
    rule.min = 0;
    rule.max = INT32_MAX;
    return rule;
  };
  auto scale = float_rule("scale");
  scale.min_number = 0x1p-64;
  scale.max_number = 0x1p4;
  return {dtype_rule(),
          uid_rule("q.uid"),
          uid_rule("k.uid"),
          uid_rule("v.uid"),
          uid_rule("o.uid"),
          integer_rule("batch", 1, INT32_MAX),
          integer_rule("heads_q", 1, static_cast<int64_t>(kMaxGridYZ)),
          integer_rule("heads_k", 1, static_cast<int64_t>(kMaxGridYZ)),
          integer_rule("heads_v", 1, static_cast<int64_t>(kMaxGridYZ)),
          integer_rule("seq_q", 1, kMaxSequence),
          integer_rule("seq_kv", 1, kMaxSequence),
          integer_rule("head_size_qk", 1, 256),
          integer_rule("head_size_v", 1, 256),
          strides_rule("q_strides", 4, 4),
          strides_rule("k_strides", 4, 4),
          strides_rule("v_strides", 4, 4),
          strides_rule("o_strides", 4, 4),
          uids_rule("mask", 0, 1),
          dtype_rule("mask_dtype"),
          strides_rule("mask_strides", 0, 4),
          uids_rule("seq_len_q", 0, 1),
          uids_rule("seq_len_kv", 0, 1),
          integer_rule("seq_len_q_stride", 0, kMaxStride),
          integer_rule("seq_len_kv_stride", 0, kMaxStride),
          uids_rule("stats", 0, 1),
          strides_rule("stats_strides", 0, 3),
          scale,
          bound("left_bound"),
          bound("right_bound"),
          text_rule("diagonal_alignment", {"TOP_LEFT", "BOTTOM_RIGHT"}),
          integer_rule("block_size", 1, 1024),
          integer_rule("tile_q", 1, 1024),
          integer_rule("tile_kv", 1, 1024),
          integer_rule("max_head_size", 1, 256)};
}

class Handler final : public DispatchHandler {
 public:
  std::string_view name() const override { return "hipplan.sdpa_fwd.dispatch"; }
  std::string_view alias() const override { return kAlias; }
  const std::vector<ValueRule>& contract() const override {
    static const std::vector<ValueRule> rules = make_contract();
    return rules;
  }
  std::vector<codeobject::Argument> signature(std::string_view) const override {
    return argument_signature(kPointers, sizeof(Block));
  }
  Result<PreparedKernel> prepare(const LaunchValues& values) const override {
    const auto shape = read_shape(values);
    HIPPLAN_TRY(check_shape(values, shape));
    const auto operands = operands_of(values, shape);
    const auto args = block_of(values, shape, flags_of(values, operands));
    const auto block_size = static_cast<uint32_t>(integer(values, "block_size"));
    const auto tiles = divide_up(static_cast<uint64_t>(shape.seq_q),
                                 static_cast<uint64_t>(integer(values, "tile_q")));
    if (tiles > max_grid_x(block_size)) {
      return launch_error(kAlias, "the grid passes the limits of launches",
                          cat("at most ", max_grid_x(block_size)), cat(tiles));
    }
    PreparedKernel out;
    auto& launch = out.launches.emplace_back();
    launch.grid = {static_cast<uint32_t>(tiles), static_cast<uint32_t>(shape.heads_q),
                   args.batch_step};
    launch.block = {block_size, 1, 1};
    launch.arguments = argument_bytes(kPointers, args);
    HIPPLAN_TRY(bind(operands, out));
    return out;
  }
};

}  // namespace

const DispatchHandler& dispatch_handler() {
  static const Handler handler;
  return handler;
}

}  // namespace hipplan::engine::sdpa_fwd
