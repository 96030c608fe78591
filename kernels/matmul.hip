// Batched matrix product c = a * b with any strides. HIPPLAN_MATH_MFMA or HIPPLAN_MATH_WMMA chooses
// the matrix instructions, neither the vector unit; HIPPLAN_TILE_M and HIPPLAN_TILE_N are the
// results of a workgroup, HIPPLAN_DTYPE_… is the element type (float without).
#include "hipplan_tile.h"

using namespace hipplan_device;
using namespace hipplan_args;

namespace {

constexpr int kTileM = HIPPLAN_TILE_M;
constexpr int kTileN = HIPPLAN_TILE_N;

/// Where the matrices of one batch entry start.
struct Matrices {
  const Element* a;
  const Element* b;
  Element* c;
};
HP_DEVICE Matrices matrices_of(const Element* a, const Element* b, Element* c, u32 batch,
                               const Matmul& args) {
  i64 offset[3] = {};
  u32 rest = batch;
#pragma clang loop unroll(disable)
  for (u32 d = 0; d < args.batch_rank; ++d) {
    const u32 next = divide(rest, args.batch_extents[d]);
    const u32 place = rest - next * args.batch_extents[d].divisor;
    for (int t = 0; t < 3; ++t) offset[t] += args.batch_strides[t][d] * place;
    rest = next;
  }
  return {a + offset[0], b + offset[1], c + offset[2]};
}

/// The share of one work-item in loading a panel of Width rows (of a) or columns (of b), Depth
/// steps of the reduction at a time. Lanes run along whichever dim is closer in memory, so that a
/// work-item's places lie a fixed step apart.
template <int Width, int Depth, int Threads>
struct PanelLoader {
  static constexpr u32 kLoads = Width * Depth / Threads;
  const Element* base;     // its first place in the panel at reduction step 0
  i64 step, stride_along;  // elements from one of its places to the next, from one step to the next
  u32 across, along;       // its first place: row or column, step
  u32 across_step, along_step;
  u32 lines;  // rows or columns of the matrix from the panel's first on

  HP_DEVICE PanelLoader(const Element* matrix, u32 first, u32 extent, i64 across_stride,
                        i64 along_stride, bool lanes_along, u32 thread) {
    across = lanes_along ? thread / Depth : thread % Width;
    along = lanes_along ? thread % Depth : thread / Width;
    across_step = lanes_along ? Threads / Depth : 0;
    along_step = lanes_along ? 0 : Threads / Width;
    stride_along = along_stride;
    step = across_stride * across_step + along_stride * along_step;
    base = matrix + (across_stride * (first + across) + along_stride * along);
    lines = extent - first;
  }
  /// Elements from step `first` on; zero outside the matrix.
  HP_DEVICE void load(u32 first, u32 depth, Element (&to)[kLoads]) const {
    const Element* from = base + stride_along * first;
    if (lines >= Width && first + Depth <= depth) {
      for (u32 i = 0; i < kLoads; ++i, from += step) to[i] = *from;
      return;
    }
    for (u32 i = 0; i < kLoads; ++i, from += step) {
      const bool inside =
          across + i * across_step < lines && first + along + i * along_step < depth;
      to[i] = inside ? *from : Element{};
    }
  }
  /// Calls put(row or column, step, element) for each place.
  template <class Put>
  HP_DEVICE void spread(const Element (&from)[kLoads], const Put& put) const {
    for (u32 i = 0; i < kLoads; ++i) put(across + i * across_step, along + i * along_step, from[i]);
  }
};

}  // namespace

#if !defined(HIPPLAN_MATH_MFMA) && !defined(HIPPLAN_MATH_WMMA)

namespace {
constexpr int kThreads = kTileM * kTileN / (kBlock * kBlock);
}

HP_KERNEL(kThreads, kThreads)
matmul_vector(const Element* __restrict__ a, const Element* __restrict__ b, Element* __restrict__ c,
              Matmul args) {
  __shared__ Tile<kTileM> left;
  __shared__ Tile<kTileN> right;
  const u32 thread = thread_x();
  const u32 first_m = block_y() * kTileM, first_n = block_x() * kTileN;
  const u32 row = thread / (kTileN / kBlock) * kBlock, col = thread % (kTileN / kBlock) * kBlock;
  for (u32 batch = block_z(); batch < args.batches; batch += args.batch_step) {
    const Matrices at = matrices_of(a, b, c, batch, args);
    const PanelLoader<kTileM, kTileK, kThreads> load_a(
        at.a, first_m, args.m, args.a_strides[0], args.a_strides[1], args.a_along_k != 0, thread);
    const PanelLoader<kTileN, kTileK, kThreads> load_b(
        at.b, first_n, args.n, args.b_strides[1], args.b_strides[0], args.b_along_n == 0, thread);
    Element next_a[load_a.kLoads], next_b[load_b.kLoads];
    load_a.load(0, args.k, next_a);
    load_b.load(0, args.k, next_b);
    float sum[kBlock][kBlock] = {};
    for (u32 first = 0; first < args.k; first += kTileK) {
      load_a.spread(next_a,
                    [&](u32 m, u32 k, Element value) { left.value[k][m] = to_float(value); });
      load_b.spread(next_b,
                    [&](u32 n, u32 k, Element value) { right.value[k][n] = to_float(value); });
      barrier();
      if (first + kTileK < args.k) {
        load_a.load(first + kTileK, args.k, next_a);
        load_b.load(first + kTileK, args.k, next_b);
      }
      multiply_tiles(left, right, row, col, sum);
      barrier();
    }
    for (u32 i = 0; i < kBlock; ++i) {
      for (u32 j = 0; j < kBlock; ++j) {
        const u32 m = first_m + row + i, n = first_n + col + j;
        if (m < args.m && n < args.n) {
          at.c[args.c_strides[0] * m + args.c_strides[1] * n] = Convert<Element>::from(sum[i][j]);
        }
      }
    }
  }
}

#else

// Matrix instructions: each wavefront makes 32 x 32 results from panels in LDS, whose rows run
// along the reduction.
namespace {

constexpr int kWave = 32;                       // results of a wavefront, rows and columns
constexpr int kDepth = kTileM >= 64 ? 32 : 16;  // reduction steps in LDS at a time
constexpr int kWaves = kTileM / kWave * (kTileN / kWave);

/// Rows keep the alignment that fragments are read with; the pad spreads them over the banks.
template <int Width>
struct Panel {
  static constexpr int kPitch = kDepth + 16 / static_cast<int>(sizeof(Element));
  alignas(16) Element value[Width][kPitch];
};

typedef float Float4 __attribute__((ext_vector_type(4)));
typedef float Float8 __attribute__((ext_vector_type(8)));
typedef float Float16 __attribute__((ext_vector_type(16)));
typedef _Float16 Half4 __attribute__((ext_vector_type(4)));
typedef _Float16 Half8 __attribute__((ext_vector_type(8)));
typedef _Float16 Half16 __attribute__((ext_vector_type(16)));
typedef short Short4 __attribute__((ext_vector_type(4)));
typedef short Short8 __attribute__((ext_vector_type(8)));
typedef short Short16 __attribute__((ext_vector_type(16)));
typedef __bf16 Bfloat8 __attribute__((ext_vector_type(8)));

/// N neighbouring elements of a panel row as the vector type that an instruction wants.
template <class Vector>
HP_DEVICE Vector fragment(const Element* from) {
  return bits_as<Vector>(
      *reinterpret_cast<const Pack<Element, sizeof(Vector) / sizeof(Element)>*>(from));
}

#if defined(HIPPLAN_MATH_MFMA)

constexpr int kLanes = 64;

/// The 32 x 32 results of a wavefront of 64: lane l holds column l % 32, its register r row
/// 8 * (r / 4) + 4 * (l / 32) + r % 4.
struct WaveResults {
  Float16 sum = {};

#if defined(HIPPLAN_DTYPE_HALF) || defined(HIPPLAN_DTYPE_BFLOAT16)
  // An instruction takes 8 steps: lane l gives row (column) l % 32 and steps 4 * (l / 32) to + 3.
  HP_DEVICE void multiply(const Element* a, const Element* b, int pitch, u32 lane) {
    const u32 at = lane % 32 * pitch + lane / 32 * 4;
    for (int k = 0; k < kDepth; k += 8) {
#if defined(HIPPLAN_DTYPE_HALF)
      sum = __builtin_amdgcn_mfma_f32_32x32x8f16(fragment<Half4>(a + at + k),
                                                 fragment<Half4>(b + at + k), sum, 0, 0, 0);
#else
      sum = __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(fragment<Short4>(a + at + k),
                                                     fragment<Short4>(b + at + k), sum, 0, 0, 0);
#endif
    }
  }
#else
  // An instruction takes 2 steps: lane l gives row (column) l % 32 of step l / 32.
  HP_DEVICE void multiply(const Element* a, const Element* b, int pitch, u32 lane) {
    const u32 at = lane % 32 * pitch + lane / 32;
    for (int k = 0; k < kDepth; k += 2) {
      sum = __builtin_amdgcn_mfma_f32_32x32x2f32(a[at + k], b[at + k], sum, 0, 0, 0);
    }
  }
#endif
  template <class Store>
  HP_DEVICE void for_each(u32 lane, const Store& store) const {
    for (u32 r = 0; r < 16; ++r) store(8 * (r / 4) + 4 * (lane / 32) + r % 4, lane % 32, sum[r]);
  }
};

#else

constexpr int kLanes = 32;

/// The 32 x 32 results of a wavefront of 32, in four parts of 16 x 16: lane l holds column l % 16;
/// its register r row 2 * r + l / 16 on gfx11 and 8 * (l / 16) + r on gfx12.
struct WaveResults {
  Float8 sum[2][2] = {};

  HP_DEVICE void multiply(const Element* a, const Element* b, int pitch, u32 lane) {
    for (int k = 0; k < kDepth; k += 16) {
#if defined(__GFX12__)
      // Lane l gives row (column) l % 16 and steps 8 * (l / 16) to + 7.
      const u32 at = lane % 16 * pitch + lane / 16 * 8 + k;
#if defined(HIPPLAN_DTYPE_HALF)
      typedef Half8 Fragment;
#else
      typedef Short8 Fragment;
#endif
#else
      // Lane l gives row (column) l % 16 and all 16 steps; the upper lanes repeat the lower.
      const u32 at = lane % 16 * pitch + k;
#if defined(HIPPLAN_DTYPE_HALF)
      typedef Half16 Fragment;
#else
      typedef Short16 Fragment;
#endif
#endif
      Fragment left[2], right[2];
      for (int i = 0; i < 2; ++i) {
        left[i] = fragment<Fragment>(a + at + i * 16 * pitch);
        right[i] = fragment<Fragment>(b + at + i * 16 * pitch);
      }
      for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) sum[i][j] = step(left[i], right[j], sum[i][j]);
      }
    }
  }
#if defined(__GFX12__)
  static HP_DEVICE Float8 step(Half8 a, Half8 b, Float8 c) {
    return __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(a, b, c);
  }
  static HP_DEVICE Float8 step(Short8 a, Short8 b, Float8 c) {
    return __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32_gfx12(a, b, c);
  }
  static HP_DEVICE u32 row(u32 lane, u32 r) { return 8 * (lane / 16) + r; }
#else
  static HP_DEVICE Float8 step(Half16 a, Half16 b, Float8 c) {
    return __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, b, c);
  }
  static HP_DEVICE Float8 step(Short16 a, Short16 b, Float8 c) {
    return __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(a, b, c);
  }
  static HP_DEVICE u32 row(u32 lane, u32 r) { return 2 * r + lane / 16; }
#endif
  template <class Store>
  HP_DEVICE void for_each(u32 lane, const Store& store) const {
    for (u32 i = 0; i < 2; ++i) {
      for (u32 j = 0; j < 2; ++j) {
        for (u32 r = 0; r < 8; ++r) store(16 * i + row(lane, r), 16 * j + lane % 16, sum[i][j][r]);
      }
    }
  }
};

#endif

constexpr int kThreads = kWaves * kLanes;

}  // namespace

HP_KERNEL(kThreads, kThreads)
matmul_matrix(const Element* __restrict__ a, const Element* __restrict__ b, Element* __restrict__ c,
              Matmul args) {
  __shared__ Panel<kTileM> left;
  __shared__ Panel<kTileN> right;
  constexpr int kPitch = Panel<kTileM>::kPitch;
  const u32 thread = thread_x(), lane = thread % kLanes, wave = uniform(thread / kLanes);
  const u32 first_m = block_y() * kTileM, first_n = block_x() * kTileN;
  const u32 wave_m = wave / (kTileN / kWave) * kWave, wave_n = wave % (kTileN / kWave) * kWave;
  for (u32 batch = block_z(); batch < args.batches; batch += args.batch_step) {
    const Matrices at = matrices_of(a, b, c, batch, args);
    const PanelLoader<kTileM, kDepth, kThreads> load_a(
        at.a, first_m, args.m, args.a_strides[0], args.a_strides[1], args.a_along_k != 0, thread);
    const PanelLoader<kTileN, kDepth, kThreads> load_b(
        at.b, first_n, args.n, args.b_strides[1], args.b_strides[0], args.b_along_n == 0, thread);
    Element next_a[load_a.kLoads], next_b[load_b.kLoads];
    load_a.load(0, args.k, next_a);
    load_b.load(0, args.k, next_b);
    WaveResults results;
    for (u32 first = 0; first < args.k; first += kDepth) {
      load_a.spread(next_a, [&](u32 m, u32 k, Element value) { left.value[m][k] = value; });
      load_b.spread(next_b, [&](u32 n, u32 k, Element value) { right.value[n][k] = value; });
      barrier();
      if (first + kDepth < args.k) {
        load_a.load(first + kDepth, args.k, next_a);
        load_b.load(first + kDepth, args.k, next_b);
      }
      results.multiply(left.value[wave_m], right.value[wave_n], kPitch, lane);
      barrier();
    }
    results.for_each(lane, [&](u32 row, u32 column, float value) {
      const u32 m = first_m + wave_m + row, n = first_n + wave_n + column;
      if (m < args.m && n < args.n) {
        at.c[args.c_strides[0] * m + args.c_strides[1] * n] = Convert<Element>::from(value);
      }
    });
  }
}

#endif
