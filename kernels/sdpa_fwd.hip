// Scaled dot-product attention forward with an online softmax. A workgroup takes HIPPLAN_TILE_Q
// query rows of one head and walks the keys 64 at a time. HIPPLAN_MAX_HEAD_SIZE (64, 128, 256)
// bounds the head sizes, HIPPLAN_DTYPE_… is the type of q, k, v and o (float without).
//
// For each 64 keys: scores = q * k^T in 4 x 4 blocks of registers, out to LDS; four work-items a
// row find maximum and sum there; then o = o * alpha + p * v in blocks of 4 rows. Scores are kept
// times log2(e), so that the exponential is one instruction.
#include "hipplan_tile.h"

using namespace hipplan_device;
using namespace hipplan_args;

namespace {

constexpr int kTileQ = HIPPLAN_TILE_Q;
constexpr int kTileKv = 64;
constexpr int kHead = HIPPLAN_MAX_HEAD_SIZE;
constexpr int kThreads = kTileQ / kBlock * (kTileKv / kBlock);
constexpr int kParts = kThreads / kTileQ;    // work-items that share a row of scores
constexpr int kKeysPart = kTileKv / kParts;  // keys that each of them looks at
constexpr int kColumns = kHead / kTileKv;    // blocks of 4 columns of o a work-item has
constexpr float kLog2E = 1.44269504088896341f, kLn2 = 0.693147180559945309f;

struct Shared {
  Tile<kTileQ> q;
  Tile<kTileKv> k;
  alignas(16) float v[kTileK][kHead + 4];
  alignas(16) float scores[kTileKv][kTileQ + 4];  // later the probabilities
  alignas(16) float row_factor[kTileQ];
  float partial[kParts][kTileQ];
};

/// One (batch, head): where its rows start and which keys its rows may see.
struct Head {
  const Element* q;
  const Element* k;
  const Element* v;
  Element* o;
  i32 seq_q, seq_kv;  // lengths of this batch entry
  i32 shift;          // of the diagonal
};

/// Four elements at `column` of a row, zero outside the row or when `valid` is false.
HP_DEVICE void load_four(const Element* row, i64 stride, i32 column, i32 width, bool vector,
                         bool valid, float (&to)[4]) {
  for (int i = 0; i < 4; ++i) to[i] = 0.0f;
  if (!valid) return;
  if (vector) {
    if (column >= width) return;
    const Pack<Element, 4> pack = load_pack<4>(row + column);
    for (int i = 0; i < 4; ++i) to[i] = to_float(pack.item[i]);
    return;
  }
  for (int i = 0; i < 4; ++i) {
    if (column + i < width) to[i] = to_float(row[stride * (column + i)]);
  }
}

/// Rows first..first+Width-1 and head elements column..column+15 into a tile, rows as its columns.
template <int Width>
HP_DEVICE void load_rows(Tile<Width>& tile, const Element* from, const i64 (&strides)[4], i32 first,
                         i32 rows, i32 column, const SdpaFwd& args) {
  constexpr int kLoads = Width * kTileK / 4 / kThreads;
  const bool vector = (args.flags & kVectorQk) != 0;
  for (int load = 0; load < kLoads; ++load) {
    const i32 index = load * kThreads + static_cast<i32>(thread_x());
    const i32 row = index / (kTileK / 4), part = index % (kTileK / 4) * 4;
    float four[4];
    load_four(from + strides[2] * (first + row), strides[3], column + part, args.head_size_qk,
              vector, first + row < rows, four);
    for (int i = 0; i < 4; ++i) tile.value[part + i][row] = four[i];
  }
}

HP_DEVICE void load_values(Shared& shared, const Head& head, i32 first, const SdpaFwd& args) {
  constexpr int kLoads = kTileK * kHead / 4 / kThreads;
  const bool vector = (args.flags & kVectorV) != 0;
  for (int load = 0; load < kLoads; ++load) {
    const i32 index = load * kThreads + static_cast<i32>(thread_x());
    const i32 row = index / (kHead / 4), column = index % (kHead / 4) * 4;
    float four[4];
    load_four(head.v + args.v_strides[2] * (first + row), args.v_strides[3], column,
              args.head_size_v, vector, first + row < head.seq_kv, four);
    Pack<float, 4> pack;
    for (int i = 0; i < 4; ++i) pack.item[i] = four[i];
    *reinterpret_cast<Pack<float, 4>*>(&shared.v[row][column]) = pack;
  }
}

HP_DEVICE i32 length_of(const i32* lengths, i64 at, bool given, i32 extent) {
  return given ? larger(0, smaller(lengths[at], extent)) : extent;
}

HP_DEVICE float mask_value(const Element* mask, i64 at, const SdpaFwd& args) {
  return (args.flags & kMaskFloat) != 0 ? reinterpret_cast<const float*>(mask)[at]
                                        : to_float(mask[at]);
}

}  // namespace

HP_KERNEL(kThreads, kThreads)
sdpa_fwd_tiled(const Element* __restrict__ q, const Element* __restrict__ k,
               const Element* __restrict__ v, const Element* __restrict__ mask,
               const i32* __restrict__ seq_len_q, const i32* __restrict__ seq_len_kv,
               Element* __restrict__ o, float* __restrict__ stats, SdpaFwd args) {
  __shared__ Shared shared;
  const i32 thread = static_cast<i32>(thread_x());
  const i32 row = thread / (kTileKv / kBlock) * kBlock;  // of this work-item's blocks in the tile
  const i32 column = thread % (kTileKv / kBlock) * kBlock;  // of its scores; of o, plus 64 a block
  const i32 own_row = thread % kTileQ, part = thread / kTileQ;
  const i32 first_q = static_cast<i32>(block_x()) * kTileQ;
  const u32 head_q = block_y();

  for (u32 batch = block_z(); batch < args.batches; batch += args.batch_step) {
    Head head;
    head.q = q + (args.q_strides[0] * batch + args.q_strides[1] * head_q);
    head.k = k + (args.k_strides[0] * batch + args.k_strides[1] * divide(head_q, args.k_group));
    head.v = v + (args.v_strides[0] * batch + args.v_strides[1] * divide(head_q, args.v_group));
    head.o = o + (args.o_strides[0] * batch + args.o_strides[1] * head_q);
    head.seq_q =
        length_of(seq_len_q, args.seq_q_stride * batch, (args.flags & kSeqQ) != 0, args.seq_q);
    head.seq_kv =
        length_of(seq_len_kv, args.seq_kv_stride * batch, (args.flags & kSeqKv) != 0, args.seq_kv);
    head.shift = args.bottom_right != 0 ? head.seq_kv - head.seq_q : 0;
    const i64 mask_head = args.mask_strides[0] * batch + args.mask_strides[1] * head_q;

    // Keys that any row of the tile may see, and those of this work-item's rows.
    const i32 last_q = smaller(first_q + kTileQ, head.seq_q) - 1;
    const i32 end = smaller(head.seq_kv, last_q + head.shift + args.right_bound + 1);
    const i32 begin = larger(0, first_q + head.shift - args.left_bound + 1) / kTileKv * kTileKv;
    i32 lowest[kBlock], highest[kBlock];
    for (int i = 0; i < kBlock; ++i) {
      const i32 at = first_q + row + i;
      lowest[i] = at + head.shift - args.left_bound + 1;
      highest[i] =
          at < head.seq_q ? smaller(head.seq_kv - 1, at + head.shift + args.right_bound) : -1;
    }

    float out[kBlock][kColumns][kBlock] = {};
    float row_max = -infinity(), row_sum = 0.0f;  // of own_row; the sum only over this part's keys
    for (i32 first_kv = begin; first_q < head.seq_q && first_kv < end; first_kv += kTileKv) {
      float score[kBlock][kBlock] = {};
      for (i32 d = 0; d < args.head_size_qk; d += kTileK) {
        load_rows(shared.q, head.q, args.q_strides, first_q, head.seq_q, d, args);
        load_rows(shared.k, head.k, args.k_strides, first_kv, head.seq_kv, d, args);
        barrier();
        multiply_tiles(shared.q, shared.k, row, column, score);
        barrier();
      }
      for (int j = 0; j < kBlock; ++j) {
        const i32 key = first_kv + column + j;
        Pack<float, kBlock> pack;
        for (int i = 0; i < kBlock; ++i) {
          const bool allowed = key >= lowest[i] && key <= highest[i];
          float value = score[i][j] * args.scale;
          if ((args.flags & kMask) != 0 && allowed) {
            const i64 at =
                mask_head + args.mask_strides[2] * (first_q + row + i) + args.mask_strides[3] * key;
            value = fused(mask_value(mask, at, args), kLog2E, value);
          }
          pack.item[i] = allowed ? value : -infinity();
        }
        *reinterpret_cast<Pack<float, kBlock>*>(&shared.scores[column + j][row]) = pack;
      }
      barrier();

      float part_max = -infinity();
      for (int i = 0; i < kKeysPart; ++i) {
        part_max = maximum(part_max, shared.scores[part * kKeysPart + i][own_row]);
      }
      shared.partial[part][own_row] = part_max;
      barrier();
      float new_max = row_max;
      for (int i = 0; i < kParts; ++i) new_max = maximum(new_max, shared.partial[i][own_row]);
      const float base =
          new_max == -infinity() ? 0.0f : new_max;  // no key yet: -inf - base is -inf
      const float alpha = quick_exp2(row_max - base);
      row_max = new_max;
      row_sum *= alpha;
      for (int i = 0; i < kKeysPart; ++i) {
        float& place = shared.scores[part * kKeysPart + i][own_row];
        const float p = quick_exp2(place - base);
        place = p;
        row_sum += p;
      }
      if (part == 0) shared.row_factor[own_row] = alpha;
      barrier();

      const Pack<float, kBlock> factor = load_pack<kBlock>(&shared.row_factor[row]);
      for (int i = 0; i < kBlock; ++i) {
        for (int c = 0; c < kColumns; ++c) {
          for (int j = 0; j < kBlock; ++j) out[i][c][j] *= factor.item[i];
        }
      }
#pragma clang loop unroll(disable)
      for (i32 first = 0; first < kTileKv; first += kTileK) {
        load_values(shared, head, first_kv + first, args);
        barrier();
#pragma clang loop unroll_count(2)
        for (int key = 0; key < kTileK; ++key) {
          const Pack<float, kBlock> p = load_pack<kBlock>(&shared.scores[first + key][row]);
          for (int c = 0; c < kColumns; ++c) {
            const Pack<float, kBlock> value =
                load_pack<kBlock>(&shared.v[key][c * kTileKv + column]);
            for (int i = 0; i < kBlock; ++i) {
              for (int j = 0; j < kBlock; ++j) {
                out[i][c][j] = fused(p.item[i], value.item[j], out[i][c][j]);
              }
            }
          }
        }
        barrier();
      }
    }

    shared.partial[part][own_row] = row_sum;
    barrier();
    if (part == 0) {
      float sum = 0.0f;
      for (int i = 0; i < kParts; ++i) sum += shared.partial[i][own_row];
      shared.row_factor[own_row] = sum == 0.0f ? 0.0f : 1.0f / sum;
      const i32 at = first_q + own_row;
      if ((args.flags & kStats) != 0 && at < args.seq_q) {
        stats[args.stats_strides[0] * batch + args.stats_strides[1] * head_q +
              args.stats_strides[2] * at] =
            sum == 0.0f ? -infinity() : fused(row_max, kLn2, logarithm(sum));
      }
    }
    barrier();
    const Pack<float, kBlock> factor = load_pack<kBlock>(&shared.row_factor[row]);
    for (int i = 0; i < kBlock; ++i) {
      const i32 at = first_q + row + i;
      if (at >= args.seq_q) break;
      Element* to = head.o + args.o_strides[2] * at;
      for (int c = 0; c < kColumns; ++c) {
        const i32 first = c * kTileKv + column;
        Pack<Element, kBlock> pack;
        for (int j = 0; j < kBlock; ++j) {
          pack.item[j] = Convert<Element>::from(out[i][c][j] * factor.item[i]);
        }
        if ((args.flags & kVectorO) != 0) {
          if (first < args.head_size_v)
            *reinterpret_cast<Pack<Element, kBlock>*>(to + first) = pack;
          continue;
        }
        for (int j = 0; j < kBlock; ++j) {
          if (first + j < args.head_size_v) to[args.o_strides[3] * (first + j)] = pack.item[j];
        }
      }
    }
    barrier();
  }
}
