// The inner part of tiled products on the vector unit: two tiles of floats in LDS, a block of 4 x 4
// results in the registers of each work-item.
#pragma once

#include "hipplan_math.h"

namespace hipplan_device {

constexpr int kBlock = 4;   ///< rows and columns of results of one work-item
constexpr int kTileK = 16;  ///< reduction steps held in LDS at a time

/// A tile of `Width` columns, kTileK deep. Rows keep 16-byte alignment; the pad spreads columns
/// over the LDS banks.
template <int Width>
struct Tile {
  static constexpr int kPitch = Width + 4;
  alignas(16) float value[kTileK][kPitch];
};

/// sum += a(:, row..row+3)^T * b(:, column..column+3) over the kTileK steps of the tiles.
template <int M, int N>
HP_DEVICE void multiply_tiles(const Tile<M>& a, const Tile<N>& b, u32 row, u32 column,
                              float (&sum)[kBlock][kBlock]) {
#pragma clang loop unroll_count(4)
  for (int k = 0; k < kTileK; ++k) {
    const Pack<float, 4> left = load_pack<4>(&a.value[k][row]);
    const Pack<float, 4> right = load_pack<4>(&b.value[k][column]);
    for (int i = 0; i < kBlock; ++i) {
      for (int j = 0; j < kBlock; ++j) {
        sum[i][j] = fused(left.item[i], right.item[j], sum[i][j]);
      }
    }
  }
}

}  // namespace hipplan_device
