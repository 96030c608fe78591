// Sparse A of SMFMAC to dense.
#include <algorithm>

#include "device/emulator/matrix.h"

namespace hipplan::emulator {
namespace {

uint32_t element(const Row* rows, unsigned item, unsigned lane, unsigned bits) {
  const uint32_t word = rows[item * bits / 32].lane[lane];
  return (word >> (item * bits % 32)) & ((1u << bits) - 1u);
}

}  // namespace

void spread_sparse(unsigned bits, unsigned registers, const Row* packed, const Row& index,
                   unsigned first_bit, Row* dense) {
  const unsigned items = registers * 32 / bits / 2;  // packed, of one lane
  for (unsigned r = 0; r < registers; ++r) std::fill_n(dense[r].lane, kMatrixLanes, 0u);
  for (unsigned lane = 0; lane < kMatrixLanes; ++lane) {
    for (unsigned item = 0; item < items; ++item) {
      const unsigned where = (index.lane[lane] >> (first_bit + 2 * item)) & 3u;
      const unsigned to = item / 2 * 4 + where;
      dense[to * bits / 32].lane[lane] |= element(packed, item, lane, bits) << (to * bits % 32);
    }
  }
}

}  // namespace hipplan::emulator
