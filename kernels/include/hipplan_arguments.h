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
  u32 index_dim;   ///< gen_index: 0..6 inner dim from the fastest, 7 the outer index
  u32 block_size;  ///< work-items of a workgroup
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

}  // namespace hipplan_args
