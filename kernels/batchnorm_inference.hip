// Batch normalisation for inference: y = (x - mean) * inv_variance * scale + bias, per channel.
// HIPPLAN_LAYOUT_STRIDED chooses the kernel, HIPPLAN_DTYPE_… the type of x and y and
// HIPPLAN_PARAM_DTYPE_… that of the parameters (float without).
#include "hipplan_math.h"

using namespace hipplan_device;
using namespace hipplan_args;

namespace {

#if defined(HIPPLAN_PARAM_DTYPE_HALF)
typedef half Parameter;
#elif defined(HIPPLAN_PARAM_DTYPE_BFLOAT16)
typedef bfloat16 Parameter;
#else
typedef float Parameter;
#endif

struct Channel {
  float mean, factor, bias;
  HP_DEVICE Element normalise(Element x) const {
    return Convert<Element>::from(fused(to_float(x) - mean, factor, bias));
  }
};

HP_DEVICE Channel read_channel(const Parameter* mean, const Parameter* inv_variance,
                               const Parameter* scale, const Parameter* bias, i64 channel,
                               const i64 (&strides)[4]) {
  return {to_float(mean[channel * strides[0]]),
          to_float(inv_variance[channel * strides[1]]) * to_float(scale[channel * strides[2]]),
          to_float(bias[channel * strides[3]])};
}

}  // namespace

#if !defined(HIPPLAN_LAYOUT_STRIDED)

// A row of workgroups takes one plane (batch entry and channel); grid y walks channels, z the
// batch.
HP_KERNEL(64, 256)
batchnorm_inference_planes(Element* __restrict__ y, const Element* __restrict__ x,
                           const Parameter* __restrict__ mean,
                           const Parameter* __restrict__ inv_variance,
                           const Parameter* __restrict__ scale, const Parameter* __restrict__ bias,
                           BatchnormInference args) {
  constexpr int kVector = 4;
  const u64 first = (static_cast<u64>(block_x()) * args.block_size + thread_x()) * kVector;
  for (u32 channel = block_y(); channel < args.channels; channel += args.channel_step) {
    const Channel c =
        read_channel(mean, inv_variance, scale, bias, channel, args.parameter_strides);
    for (u32 batch = block_z(); batch < args.outer_count; batch += args.outer_step) {
      Element* to = y + (args.strides[0][0] * batch + args.strides[0][1] * channel);
      const Element* from = x + (args.strides[1][0] * batch + args.strides[1][1] * channel);
      for (u64 at = first; at < args.count; at += args.step) {
        Pack<Element, kVector> pack = load_pack<kVector>(from + at);
        for (int i = 0; i < kVector; ++i) pack.item[i] = c.normalise(pack.item[i]);
        *reinterpret_cast<Pack<Element, kVector>*>(to + at) = pack;
      }
    }
  }
}

#else

HP_KERNEL(64, 256)
batchnorm_inference_strided(Element* __restrict__ y, const Element* __restrict__ x,
                            const Parameter* __restrict__ mean,
                            const Parameter* __restrict__ inv_variance,
                            const Parameter* __restrict__ scale, const Parameter* __restrict__ bias,
                            BatchnormInference args) {
  constexpr int kOuter = BatchnormInference::kDims;
  const u32 count = static_cast<u32>(args.count), step = static_cast<u32>(args.step);
  for (u32 outer = block_y(); outer < args.outer_count; outer += args.outer_step) {
    for (u32 at = block_x() * args.block_size + thread_x(); at < count; at += step) {
      i64 offset[3];
      for (int t = 0; t < 3; ++t) offset[t] = args.strides[t][kOuter] * outer;
      u32 rest = at;
#pragma clang loop unroll(disable)
      for (u32 d = 0; d < args.rank; ++d) {
        const u32 next = divide(rest, args.extents[d]);
        const u32 place = rest - next * args.extents[d].divisor;
        for (int t = 0; t < 3; ++t) offset[t] += args.strides[t][d] * place;
        rest = next;
      }
      const Channel c =
          read_channel(mean, inv_variance, scale, bias, offset[2], args.parameter_strides);
      y[offset[0]] = c.normalise(x[offset[1]]);
    }
  }
}

#endif
