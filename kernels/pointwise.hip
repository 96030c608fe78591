// Pointwise operations: out = f(in_0, in_1, in_2), element by element, computed in float.
// HIPPLAN_LAYOUT_STRIDED chooses the kernel, HIPPLAN_DTYPE_HALF or HIPPLAN_DTYPE_BFLOAT16 the
// element type (float without). Backward operations take the incoming gradient as in_0 and the
// input of the forward operation as in_1.
#include "hipplan_math.h"

using namespace hipplan_device;
using namespace hipplan_args;

namespace {

HP_DEVICE float truth(bool value) {
  return value ? 1.0f : 0.0f;
}

HP_DEVICE float relu(float x, const PointwiseSettings& s) {
  if (x <= s.lower_clip) return fused(s.lower_slope, x - s.lower_clip, s.lower_clip);
  return s.has_upper_clip != 0 && x >= s.upper_clip ? s.upper_clip : x;
}
HP_DEVICE float relu_slope(float x, const PointwiseSettings& s) {
  if (x <= s.lower_clip) return s.lower_slope;
  return s.has_upper_clip != 0 && x >= s.upper_clip ? 0.0f : 1.0f;
}

// x in sqrt(2/pi) * (x + 0.044715 x^3), doubled: the argument of the logistic function that equals
// half of 1 + tanh.
HP_DEVICE float gelu_argument(float x) {
  return 1.5957691216057308f * x * fused(0.044715f * x, x, 1.0f);
}

/// The operations that cost tens of instructions.
HP_DEVICE float long_operation(u32 operation, float a, float b, const PointwiseSettings& s) {
  switch (operation) {
    case kEluBwd:
      return b > 0.0f ? a : a * s.elu_alpha * exponential(b);
    case kEluFwd:
      return a > 0.0f ? a : s.elu_alpha * exponential_minus_1(a);
    case kErf:
      return error_function(a);
    case kExp:
      return exponential(a);
    case kGeluApproxTanhBwd: {
      const float argument = gelu_argument(b);
      const float slope = 1.5957691216057308f * fused(0.134145f * b, b, 1.0f);
      const float bend = logistic_slope(argument);
      return a * (logistic(argument) + (bend == 0.0f ? 0.0f : b * bend * slope));
    }
    case kGeluApproxTanhFwd: {
      const float gate = logistic(gelu_argument(a));
      return gate == 0.0f ? -0.0f : a * gate;
    }
    case kGeluBwd: {
      const float density = 0.39894228040143268f * negative_square_exponential(b, 0.5f);
      return a * (normal_integral(b) + (density == 0.0f ? 0.0f : b * density));
    }
    case kGeluFwd: {
      const float gate = normal_integral(a);
      return gate == 0.0f ? -0.0f : a * gate;
    }
    case kLog:
      return logarithm(a);
    case kSigmoidBwd:
      return a * logistic_slope(b);
    case kSigmoidFwd:
      return logistic(a);
    case kSin:
      return sine(a);
    case kSoftplusBwd:
      return a * logistic(s.softplus_beta * b);
    case kSoftplusFwd: {
      const float z = s.softplus_beta * a;
      return (maximum(z, 0.0f) + logarithm_1_plus(exponential(-absolute(z)))) / s.softplus_beta +
             (a != a ? a : 0.0f);
    }
    case kSwishBwd: {
      const float z = s.swish_beta * b;
      const float bend = logistic_slope(z);
      return a * (logistic(z) + (bend == 0.0f ? 0.0f : z * bend));
    }
    case kSwishFwd: {
      const float gate = logistic(s.swish_beta * a);
      return gate == 0.0f ? -0.0f : a * gate;
    }
    case kTan:
      return tangent(a);
    case kTanhBwd: {
      const float slope = 4.0f * logistic_slope(2.0f * b);
      return a * slope;
    }
    default:
      return hyperbolic_tangent(a);  // kTanhFwd
  }
}

/// The others, N elements with one look at the operation.
template <int N>
HP_DEVICE void short_operation(u32 operation, float (&a)[N], const float (&b)[N],
                               const float (&c)[N], const PointwiseSettings& s) {
#define HP_CASE(name, expression)                    \
  case name:                                         \
    for (int i = 0; i < N; ++i) a[i] = (expression); \
    return;
  switch (operation) {
    HP_CASE(kAbs, absolute(a[i]))
    HP_CASE(kAdd, a[i] + b[i])
    HP_CASE(kAddSquare, fused(b[i], b[i], a[i]))
    HP_CASE(kBinarySelect, c[i] != 0.0f ? a[i] : b[i])
    HP_CASE(kCeil, round_up(a[i]))
    HP_CASE(kCmpEq, truth(a[i] == b[i]))
    HP_CASE(kCmpGe, truth(a[i] >= b[i]))
    HP_CASE(kCmpGt, truth(a[i] > b[i]))
    HP_CASE(kCmpLe, truth(a[i] <= b[i]))
    HP_CASE(kCmpLt, truth(a[i] < b[i]))
    HP_CASE(kCmpNeq, truth(a[i] != b[i]))
    HP_CASE(kDiv, a[i] / b[i])
    HP_CASE(kFloor, round_down(a[i]))
    HP_CASE(kLogicalAnd, truth(a[i] != 0.0f && b[i] != 0.0f))
    HP_CASE(kLogicalNot, truth(a[i] == 0.0f))
    HP_CASE(kLogicalOr, truth(a[i] != 0.0f || b[i] != 0.0f))
    HP_CASE(kMax, maximum(a[i], b[i]))
    HP_CASE(kMin, minimum(a[i], b[i]))
    HP_CASE(kMul, a[i] * b[i])
    HP_CASE(kNeg, -a[i])
    HP_CASE(kReluBwd, a[i] * relu_slope(b[i], s))
    HP_CASE(kReluFwd, relu(a[i], s))
    HP_CASE(kSqrt, square_root(a[i]))
    HP_CASE(kSub, a[i] - b[i])
    HP_CASE(kReciprocal, 1.0f / a[i])
    HP_CASE(kRsqrt, reciprocal_root(a[i]))
    default:
      return;  // kIdentity; kGenIndex puts its number into a
  }
#undef HP_CASE
}

/// a = f(a, b, c) for N elements. Long operations stand in the code once: the elements are passed
/// through one place in turn.
template <int N>
HP_DEVICE void apply(float (&a)[N], float (&b)[N], const float (&c)[N],
                     const PointwiseSettings& s) {
  if (s.operation < kFirstLong) {
    short_operation(s.operation, a, b, c, s);
    return;
  }
#pragma clang loop unroll(disable)
  for (int turn = 0; turn < N; ++turn) {
    const float value = long_operation(s.operation, a[0], b[0], s);
    const float first_b = b[0];
    for (int i = 0; i + 1 < N; ++i) {
      a[i] = a[i + 1];
      b[i] = b[i + 1];
    }
    a[N - 1] = value;
    b[N - 1] = first_b;
  }
}

constexpr int kVector = 4;  // elements that a work-item takes at once

/// Elements at `at` and after it, `left` of them (all, or fewer at the very end).
HP_DEVICE void load_vector(const Element* from, u64 at, u32 left, bool scalar,
                           float (&to)[kVector]) {
  if (from == nullptr) return;
  if (scalar) {
    for (int i = 0; i < kVector; ++i) to[i] = to_float(from[0]);
  } else if (left >= kVector) {
    const Pack<Element, kVector> pack = load_pack<kVector>(from + at);
    for (int i = 0; i < kVector; ++i) to[i] = to_float(pack.item[i]);
  } else {
    for (u32 i = 0; i < kVector; ++i) to[i] = i < left ? to_float(from[at + i]) : 0.0f;
  }
}
HP_DEVICE void store_vector(Element* to, u64 at, u32 left, const float (&from)[kVector]) {
  Pack<Element, kVector> pack;
  for (int i = 0; i < kVector; ++i) pack.item[i] = Convert<Element>::from(from[i]);
  if (left >= kVector) {
    *reinterpret_cast<Pack<Element, kVector>*>(to + at) = pack;
  } else {
    for (u32 i = 0; i < kVector; ++i) {
      if (i < left) to[at + i] = pack.item[i];
    }
  }
}

}  // namespace

#if !defined(HIPPLAN_LAYOUT_STRIDED)

HP_KERNEL(64, 256)
pointwise_contiguous(Element* out, const Element* in_0, const Element* in_1, const Element* in_2,
                     Pointwise args) {
  u64 at = (static_cast<u64>(block_x()) * args.block_size + thread_x()) * kVector;
  for (; at < args.count; at += args.step) {
    const u32 left = args.count - at < kVector ? static_cast<u32>(args.count - at) : kVector;
    float a[kVector] = {}, b[kVector] = {}, c[kVector] = {};
    load_vector(in_0, at, left, (args.scalar_inputs & 1u) != 0, a);
    load_vector(in_1, at, left, (args.scalar_inputs & 2u) != 0, b);
    load_vector(in_2, at, left, (args.scalar_inputs & 4u) != 0, c);
    apply(a, b, c, args.settings);
    store_vector(out, at, left, a);
  }
}

#else

HP_KERNEL(64, 256)
pointwise_strided(Element* out, const Element* in_0, const Element* in_1, const Element* in_2,
                  Pointwise args) {
  constexpr int kOuter = Pointwise::kDims;
  const u32 count = static_cast<u32>(args.count), step = static_cast<u32>(args.step);
  for (u32 outer = block_y(); outer < args.outer_count; outer += args.outer_step) {
    for (u32 at = block_x() * args.block_size + thread_x(); at < count; at += step) {
      i64 offset[4];
      for (int t = 0; t < 4; ++t) offset[t] = args.strides[t][kOuter] * outer;
      u32 rest = at, index = args.index_dim == kOuter ? outer : 0;
#pragma clang loop unroll(disable)
      for (u32 d = 0; d < args.rank; ++d) {
        const u32 next = divide(rest, args.extents[d]);
        const u32 place = rest - next * args.extents[d].divisor;
        for (int t = 0; t < 4; ++t) offset[t] += args.strides[t][d] * place;
        if (d == args.index_dim) index = place;
        rest = next;
      }
      float a[1] = {static_cast<float>(index)}, b[1] = {}, c[1] = {};
      if (in_0 != nullptr) a[0] = to_float(in_0[offset[1]]);
      if (in_1 != nullptr) b[0] = to_float(in_1[offset[2]]);
      if (in_2 != nullptr) c[0] = to_float(in_2[offset[3]]);
      apply(a, b, c, args.settings);
      out[offset[0]] = Convert<Element>::from(a[0]);
    }
  }
}

#endif
