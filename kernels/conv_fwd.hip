// Convolution forward over 1 to 3 spatial dims. HIPPLAN_ALGORITHM_IMPLICIT_GEMM chooses the kernel,
// HIPPLAN_TILE_M its output channels a workgroup, HIPPLAN_DTYPE_… the element type (float without).
// Mirrored taps (mode CONVOLUTION) come as negative strides of w.
#include "hipplan_tile.h"

using namespace hipplan_device;
using namespace hipplan_args;

namespace {

/// Where an output position lies.
struct Position {
  u32 batch;
  i32 at[3];  // depth, height, width
};

HP_DEVICE Position position_of(u32 index, const ConvFwd& args) {
  const u32 rows = divide(index, args.out_divisor[0]);
  const u32 planes = divide(rows, args.out_divisor[1]);
  const u32 batch = divide(planes, args.out_divisor[2]);
  return {batch,
          {static_cast<i32>(planes - batch * args.out_divisor[2].divisor),
           static_cast<i32>(rows - planes * args.out_divisor[1].divisor),
           static_cast<i32>(index - rows * args.out_divisor[0].divisor)}};
}

HP_DEVICE i64 offset_of(const Position& p, const i64 (&strides)[5]) {
  return strides[0] * p.batch + strides[2] * p.at[0] + strides[3] * p.at[1] + strides[4] * p.at[2];
}

/// Writes the sum for one output, with the bias where there is one. `output` counts over all
/// groups.
HP_DEVICE void store(Element* y, const Element* bias, const Position& p, u32 output, float sum,
                     const ConvFwd& args) {
  if (args.has_bias != 0) {
    sum += to_float(bias[offset_of(p, args.bias_strides) + args.bias_strides[1] * output]);
  }
  y[offset_of(p, args.y_strides) + args.y_strides[1] * output] = Convert<Element>::from(sum);
}

HP_DEVICE bool inside(i32 index, i32 extent) {
  return static_cast<u32>(index) < static_cast<u32>(extent);
}

}  // namespace

#if !defined(HIPPLAN_ALGORITHM_IMPLICIT_GEMM)

// One output position a work-item and HIPPLAN_TILE_M output channels of one group. Taps are the
// outer loops, so that edges are looked at once a tap and filter values are the same for all lanes.
HP_KERNEL(64, 256)
conv_fwd_direct(const Element* __restrict__ x, const Element* __restrict__ w,
                const Element* __restrict__ bias, Element* __restrict__ y, ConvFwd args) {
  constexpr u32 kOutputs = HIPPLAN_TILE_M;
  const u32 group = divide(block_y(), args.row_divisor);
  const u32 first_output = (block_y() - group * args.row_divisor.divisor) * kOutputs;
  const u32 index = block_x() * args.block_size + thread_x();
  const Position p = position_of(smaller(index, args.positions - 1), args);

  i64 filter[kOutputs];  // offsets of the filters; past the last one the last again
  for (u32 m = 0; m < kOutputs; ++m) {
    const u32 output = smaller(first_output + m, args.outputs - 1) + group * args.outputs;
    filter[m] = args.w_strides[0] * output;
  }
  float sum[kOutputs] = {};
  const i64 image = args.x_strides[0] * p.batch + args.x_strides[1] * (group * args.channels);
  for (i32 td = 0; td < args.taps[0]; ++td) {
    const i32 d = p.at[0] * args.stride[0] - args.padding[0] + td * args.dilation[0];
    for (i32 th = 0; th < args.taps[1]; ++th) {
      const i32 h = p.at[1] * args.stride[1] - args.padding[1] + th * args.dilation[1];
      for (i32 tw = 0; tw < args.taps[2]; ++tw) {
        const i32 v = p.at[2] * args.stride[2] - args.padding[2] + tw * args.dilation[2];
        if (!inside(d, args.in[0]) || !inside(h, args.in[1]) || !inside(v, args.in[2])) continue;
        const Element* from =
            x + (image + args.x_strides[2] * d + args.x_strides[3] * h + args.x_strides[4] * v);
        const Element* tap =
            w + (args.w_strides[2] * td + args.w_strides[3] * th + args.w_strides[4] * tw);
        for (u32 c = 0; c < args.channels; ++c) {
          const float value = to_float(*from);
          for (u32 m = 0; m < kOutputs; ++m)
            sum[m] = fused(value, to_float(tap[filter[m]]), sum[m]);
          from += args.x_strides[1];
          tap += args.w_strides[1];
        }
      }
    }
  }
  if (index >= args.positions) return;
  for (u32 m = 0; m < kOutputs; ++m) {
    if (first_output + m >= args.outputs) break;
    store(y, bias, p, group * args.outputs + first_output + m, sum[m], args);
  }
}

#else

namespace {

constexpr int kTileM = HIPPLAN_TILE_M;
constexpr int kTileN = 64;
constexpr int kThreads = kTileM * kTileN / (kBlock * kBlock);
constexpr int kLoadsX = kTileK * kTileN / kThreads;
constexpr int kLoadsW = kTileK * kTileM / kThreads;

/// A step of the reduction, channels running fastest.
struct Step {
  i32 channel, tap[3];
};
HP_DEVICE Step step_of(u32 index, const ConvFwd& args) {
  const u32 tap = divide(index, args.tap_divisor[0]);
  const u32 row = divide(tap, args.tap_divisor[1]);
  const u32 plane = divide(row, args.tap_divisor[2]);
  return {static_cast<i32>(index - tap * args.tap_divisor[0].divisor),
          {static_cast<i32>(plane), static_cast<i32>(row - plane * args.tap_divisor[2].divisor),
           static_cast<i32>(tap - row * args.tap_divisor[1].divisor)}};
}

/// What a work-item loads of x: always the same output position, other steps.
struct InputColumn {
  const Element* base;  // for tap 0 and channel 0; may point outside, then no tap there is read
  i32 origin[3];
  HP_DEVICE float load(u32 index, const ConvFwd& args) const {
    const Step s = step_of(index, args);
    i32 moved[3];
    bool hit = index < args.reduction;
    i64 offset = args.x_strides[1] * s.channel;
    for (int i = 0; i < 3; ++i) {
      moved[i] = s.tap[i] * args.dilation[i];
      hit = hit && inside(origin[i] + moved[i], args.in[i]);
      offset += args.x_strides[2 + i] * moved[i];
    }
    return hit ? to_float(base[offset]) : 0.0f;
  }
};

HP_DEVICE float load_filter(const Element* filter, u32 index, const ConvFwd& args) {
  if (index >= args.reduction) return 0.0f;
  const Step s = step_of(index, args);
  return to_float(filter[args.w_strides[1] * s.channel + args.w_strides[2] * s.tap[0] +
                         args.w_strides[3] * s.tap[1] + args.w_strides[4] * s.tap[2]]);
}

}  // namespace

// The convolution as a product: filters (outputs x reduction) times gathered inputs (reduction x
// positions), tile by tile through LDS. The next tiles are loaded while the present ones are used.
HP_KERNEL(kThreads, kThreads)
conv_fwd_implicit_gemm(const Element* __restrict__ x, const Element* __restrict__ w,
                       const Element* __restrict__ bias, Element* __restrict__ y, ConvFwd args) {
  __shared__ Tile<kTileM> filters;
  __shared__ Tile<kTileN> inputs;
  const u32 thread = thread_x();
  const u32 group = divide(block_y(), args.row_divisor);
  const u32 first_output = (block_y() - group * args.row_divisor.divisor) * kTileM;
  const u32 first_position = block_x() * kTileN;

  // Columns of x: neighbouring lanes take neighbouring positions, a wavefront one step.
  const u32 x_column = thread % kTileN, x_row = uniform(thread / kTileN);
  constexpr u32 kRowsX = kThreads / kTileN;
  InputColumn column;
  {
    const Position p = position_of(smaller(first_position + x_column, args.positions - 1), args);
    i64 offset = args.x_strides[0] * p.batch + args.x_strides[1] * (group * args.channels);
    for (int i = 0; i < 3; ++i) {
      column.origin[i] = p.at[i] * args.stride[i] - args.padding[i];
      offset += args.x_strides[2 + i] * column.origin[i];
    }
    column.base = x + offset;
  }
  const u32 w_column = thread % kTileM;
  const u32 w_row = kTileM >= 64 ? uniform(thread / kTileM) : thread / kTileM;
  constexpr u32 kRowsW = kThreads / kTileM;
  const Element* filter =
      w + args.w_strides[0] *
              (group * args.outputs + smaller(first_output + w_column, args.outputs - 1));

  float next_x[kLoadsX], next_w[kLoadsW];
  const auto fetch = [&](u32 first) {
    for (u32 i = 0; i < kLoadsX; ++i) next_x[i] = column.load(first + x_row + i * kRowsX, args);
    for (u32 i = 0; i < kLoadsW; ++i)
      next_w[i] = load_filter(filter, first + w_row + i * kRowsW, args);
  };
  const u32 row = thread / (kTileN / kBlock) * kBlock, col = thread % (kTileN / kBlock) * kBlock;
  float sum[kBlock][kBlock] = {};
  fetch(0);
  for (u32 first = 0; first < args.reduction; first += kTileK) {
    for (u32 i = 0; i < kLoadsX; ++i) inputs.value[x_row + i * kRowsX][x_column] = next_x[i];
    for (u32 i = 0; i < kLoadsW; ++i) filters.value[w_row + i * kRowsW][w_column] = next_w[i];
    barrier();
    if (first + kTileK < args.reduction) fetch(first + kTileK);
    multiply_tiles(filters, inputs, row, col, sum);
    barrier();
  }
  for (u32 j = 0; j < kBlock; ++j) {
    const u32 index = first_position + col + j;
    if (index >= args.positions) break;
    const Position p = position_of(index, args);
    for (u32 i = 0; i < kBlock; ++i) {
      const u32 output = first_output + row + i;
      if (output < args.outputs) store(y, bias, p, group * args.outputs + output, sum[i][j], args);
    }
  }
}

#endif
