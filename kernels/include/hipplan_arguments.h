// Argument blocks of the kernels: what a launch passes by value after its pointers. Kernels and
// dispatch handlers include this one text. Little-endian, no padding that is not named, sizes are
// multiples of 8; docs/dispatch-contracts.md lists the offsets. Plain C++ without any include,
// because kernels are compiled without a standard library.
#pragma once

namespace hipplan_args {

typedef int i32;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;

/// q = (mulhi(n, multiplier) + n) >> shift is n / divisor for n < 2^31.
struct Divisor {
  u32 divisor, multiplier, shift, reserved;
};

/// Settings of the pointwise functions.
struct PointwiseSettings {
  float lower_clip, upper_clip, lower_slope, elu_alpha, swish_beta, softplus_beta;
  u32 has_upper_clip;
  u32 operation;  ///< PointwiseOperation
};

struct Pointwise {
  static constexpr int kDims = 7;  ///< of the inner index; one more is the outer index
  u64 count;                       ///< elements; with strides: inner elements, below 2^31
  u64 step;                        ///< elements that one row of workgroups takes in one round
  u32 scalar_inputs;               ///< contiguous only; bit i: input i is a single element
  u32 rank;                        ///< inner dims, 1..7; this and all below for strides only
  u32 outer_count, outer_step;
  u32 index_dim;              ///< gen_index: 0..6 inner dim from the fastest, 7 the outer index
  u32 block_size;             ///< work-items of a workgroup
  Divisor extents[kDims];     ///< from the fastest
  i64 strides[4][kDims + 1];  ///< out, in_0, in_1, in_2; elements; last is the outer index
  PointwiseSettings settings;
};

/// The numbers by which kernels know the operations. Plans store names, never these.
enum PointwiseOperation : u32 {
  kAbs,
  kAdd,
  kAddSquare,
  kBinarySelect,
  kCeil,
  kCmpEq,
  kCmpGe,
  kCmpGt,
  kCmpLe,
  kCmpLt,
  kCmpNeq,
  kDiv,
  kFloor,
  kIdentity,
  kLogicalAnd,
  kLogicalNot,
  kLogicalOr,
  kMax,
  kMin,
  kMul,
  kNeg,
  kReluBwd,
  kReluFwd,
  kSqrt,
  kSub,
  kReciprocal,
  kRsqrt,
  kGenIndex,
  // From here on an element costs tens of instructions.
  kFirstLong,
  kEluBwd = kFirstLong,
  kEluFwd,
  kErf,
  kExp,
  kGeluApproxTanhBwd,
  kGeluApproxTanhFwd,
  kGeluBwd,
  kGeluFwd,
  kLog,
  kSigmoidBwd,
  kSigmoidFwd,
  kSin,
  kSoftplusBwd,
  kSoftplusFwd,
  kSwishBwd,
  kSwishFwd,
  kTan,
  kTanhBwd,
  kTanhFwd,
};

/// y = (x - mean) * inv_variance * scale + bias, per channel.
struct BatchnormInference {
  static constexpr int kDims = 7;  ///< as in Pointwise
  u64 count;  ///< planes: elements of one plane; strided: inner elements, below 2^31
  u64 step;   ///< elements that one row of workgroups takes in one round
  u32 outer_count, outer_step;  ///< planes: batch (grid z); strided: outer index (grid y)
  u32 channels, channel_step;   ///< planes only, grid y
  u32 block_size;
  u32 rank;                ///< strided: inner dims, 1..7
  Divisor extents[kDims];  ///< strided: from the fastest
  i64 strides[3]
             [kDims + 1];  ///< strided: y, x, channel number; planes: [view][0] batch, [1] channel
  i64 parameter_strides[4];  ///< mean, inv_variance, scale, bias
};

/// Spatial triples are (depth, height, width) with 1 (or stride 0) in front for fewer dims; stride
/// lists are (batch, channel, depth, height, width), for w (output channel, channel, taps).
struct ConvFwd {
  i32 in[3], out[3], taps[3], stride[3], dilation[3], padding[3];
  u32 channels, outputs;   ///< input and output channels of one group
  u32 positions;           ///< batch * output positions
  u32 reduction;           ///< channels * taps
  Divisor out_divisor[3];  ///< by out width, out height, out depth
  Divisor tap_divisor[3];  ///< by channels, taps width, taps height
  Divisor row_divisor;     ///< by tiles of output channels in a group: grid y -> group
  u32 block_size, has_bias;
  i64 x_strides[5], w_strides[5], y_strides[5], bias_strides[5];
};

struct Matmul {
  static constexpr int kBatchDims = 6;
  u32 m, n, k;
  u32 batches, batch_step;            ///< batch_step: workgroups along z
  u32 batch_rank;                     ///< 0..6
  u32 a_along_k, b_along_n;           ///< 1: neighbours along that dim lie closest in memory
  Divisor batch_extents[kBatchDims];  ///< from the fastest
  i64 batch_strides[3][kBatchDims];   ///< a, b, c
  i64 a_strides[2], b_strides[2], c_strides[2];  ///< row, column
};

struct SdpaFwd {
  static constexpr i32 kNoBound = 1 << 29;  ///< sequences are shorter
  i32 seq_q, seq_kv, head_size_qk, head_size_v;
  u32 batches, batch_step;      ///< batch_step: workgroups along z
  Divisor k_group, v_group;     ///< query heads for one head of k, v
  float scale;                  ///< times log2(e)
  i32 left_bound, right_bound;  ///< at most kNoBound, which limits nothing
  u32 bottom_right;
  u32 flags;  ///< kVectorQk, kVectorV, kMask, kMaskFloat, kSeqQ, kSeqKv, kStats
  u32 reserved;
  i64 q_strides[4], k_strides[4], v_strides[4], o_strides[4];  ///< batch, head, row, element
  i64 mask_strides[4], stats_strides[3];
  i64 seq_q_stride, seq_kv_stride;
};
enum SdpaFlags : u32 {
  kVectorQk = 1,  ///< rows of q and k can be read four elements at a time
  kVectorV = 2,   ///< the same for v
  kMask = 4,
  kMaskFloat = 8,  ///< the mask is float, whatever the other tensors are
  kSeqQ = 16,
  kSeqKv = 32,
  kStats = 64,
  kVectorO = 128,  ///< as kVectorV for o
};

}  // namespace hipplan_args
