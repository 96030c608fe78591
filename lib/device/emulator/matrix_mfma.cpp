#include <algorithm>
#include <array>
#include <bit>
#include <type_traits>

#include "device/emulator/matrix.h"

namespace hipplan::emulator {
namespace {

constexpr unsigned kMostInputs = 2048;   // 64 lanes times 32 bytes of i8
constexpr unsigned kMostOutputs = 2048;  // 64 lanes times 32 registers
constexpr unsigned kMostInputRows = 8;   // registers of A or B

/// The numbers of the layout formulas.
struct MfmaLayout {
  unsigned per_lane;      ///< consecutive k in one lane of A and B
  unsigned h;             ///< consecutive rows of D in one lane
  unsigned block_groups;  ///< blocks of D beside each other in the lanes
  unsigned row_groups;    ///< groups of h rows beside each other in the lanes
  unsigned items;         ///< groups of h rows above each other in the registers of a block
};

MfmaLayout layout_of(const MatrixShape& shape) {
  MfmaLayout out{};
  out.per_lane = shape.k / (kMatrixLanes / (shape.m * shape.blocks));
  out.h = shape.c == Accumulator::f64 ? 1 : 4;
  const unsigned lanes_of_block = shape.n * (shape.m / out.h);
  out.block_groups = std::max(1u, kMatrixLanes / lanes_of_block);
  out.row_groups = kMatrixLanes / out.block_groups / shape.n;
  out.items = shape.m / (out.h * out.row_groups);
  return out;
}

/// First lane and item of row i of block b in C and D.
struct RowPlace {
  unsigned lane, item;
};
RowPlace output_row(const MatrixShape& shape, const MfmaLayout& layout, unsigned i, unsigned b) {
  const unsigned group = i / layout.h;
  return {shape.n * (group % layout.row_groups + layout.row_groups * (b % layout.block_groups)),
          i % layout.h +
              layout.h * (group / layout.row_groups + layout.items * (b / layout.block_groups))};
}

/// The lane of B that `lane` gets under the lane group pattern.
unsigned pattern_lane(unsigned blgp, unsigned lane) {
  switch (blgp) {
    case 1:
      return lane % 32;  // lower half to both
    case 2:
      return 32 + lane % 32;  // upper half to both
    case 3:
      return (lane + 16) % kMatrixLanes;  // rotated by a quarter
    case 4:
    case 5:
    case 6:
    case 7:
      return 16 * (blgp - 4) + lane % 16;  // one quarter to all
    default:
      return lane;
  }
}

/// A or B of all blocks: element (block, k, index) at (block * K + k) * size + index.
template <class Work>
void gather(const ElementReader& reader, unsigned size, const MatrixShape& shape, unsigned per_lane,
            Work* out) {
  for (unsigned b = 0; b < shape.blocks; ++b) {
    for (unsigned k = 0; k < shape.k; ++k) {
      const unsigned lane = size * (b + shape.blocks * (k / per_lane));
      reader.line(k % per_lane, lane, size, out + (b * shape.k + k) * size);
    }
  }
}

template <class Sum>
Sum read_sum(const MfmaOperands& operands, const RowPlace& at, unsigned j) {
  if (operands.c == nullptr) {
    if constexpr (sizeof(Sum) == 8)
      return std::bit_cast<Sum>(operands.constant);
    else
      return std::bit_cast<Sum>(static_cast<uint32_t>(operands.constant));
  }
  if constexpr (sizeof(Sum) == 8) {
    const uint64_t low = operands.c[2 * at.item].lane[at.lane + j];
    const uint64_t high = operands.c[2 * at.item + 1].lane[at.lane + j];
    return std::bit_cast<Sum>(low | high << 32);
  } else {
    return std::bit_cast<Sum>(operands.c[at.item].lane[at.lane + j]);
  }
}

template <class Sum>
void write_sum(Row* d, const RowPlace& at, unsigned j, Sum value) {
  if constexpr (sizeof(Sum) == 8) {
    const auto bits = std::bit_cast<uint64_t>(value);
    d[2 * at.item].lane[at.lane + j] = static_cast<uint32_t>(bits);
    d[2 * at.item + 1].lane[at.lane + j] = static_cast<uint32_t>(bits >> 32);
  } else {
    d[at.item].lane[at.lane + j] = std::bit_cast<uint32_t>(value);
  }
}

/// sum += a * row of B, with the rounding that matrix.h promises.
template <class Work, class Sum, unsigned N>
void add_products(Work a, const Work* __restrict b, Sum* __restrict sum) {
  for (unsigned j = 0; j < N; ++j) {
    if constexpr (std::is_same_v<Sum, int32_t>) {
      sum[j] =
          static_cast<int32_t>(static_cast<uint32_t>(a * b[j]) + static_cast<uint32_t>(sum[j]));
    } else {
      sum[j] = static_cast<Sum>(a * b[j] + static_cast<Work>(sum[j]));
    }
  }
}

template <class Work, class Sum, unsigned N>
void multiply(const MatrixShape& shape, const MfmaLayout& layout, const MfmaOperands& operands,
              const Work* a, const Work* b) {
  std::array<Sum, kMostOutputs> sums;
  const unsigned group = 1u << operands.cbsz;
  const bool negate_c = shape.c == Accumulator::f64 && (operands.blgp & 4) != 0;
  for (unsigned block = 0; block < shape.blocks; ++block) {
    const unsigned a_block = operands.cbsz == 0 ? block : block / group * group + operands.abid;
    for (unsigned i = 0; i < shape.m; ++i) {
      Sum* sum = sums.data() + (block * shape.m + i) * N;
      const RowPlace at = output_row(shape, layout, i, block);
      for (unsigned j = 0; j < N; ++j) {
        sum[j] = read_sum<Sum>(operands, at, j);
        if (negate_c) sum[j] = -sum[j];
      }
      for (unsigned k = 0; k < shape.k; ++k) {
        add_products<Work, Sum, N>(a[(a_block * shape.k + k) * shape.m + i],
                                   b + (block * shape.k + k) * N, sum);
      }
    }
  }
  for (unsigned block = 0; block < shape.blocks; ++block) {
    for (unsigned i = 0; i < shape.m; ++i) {
      const RowPlace at = output_row(shape, layout, i, block);
      const Sum* sum = sums.data() + (block * shape.m + i) * N;
      for (unsigned j = 0; j < N; ++j) write_sum(operands.d, at, j, sum[j]);
    }
  }
}

template <class Work, class Sum>
void run(const MatrixShape& shape, const MfmaOperands& operands) {
  const MfmaLayout layout = layout_of(shape);
  std::array<Work, kMostInputs> a, b;
  std::array<Row, kMostInputRows> permuted;
  const bool is_f64 = shape.c == Accumulator::f64;
  const Row* b_rows = operands.b;
  if (operands.blgp != 0 && !is_f64) {
    for (unsigned row = 0; row < mfma_registers(shape).b; ++row) {
      for (unsigned lane = 0; lane < kMatrixLanes; ++lane) {
        permuted[row].lane[lane] = operands.b[row].lane[pattern_lane(operands.blgp, lane)];
      }
    }
    b_rows = permuted.data();
  }
  gather(ElementReader{operands.a, shape.a, operands.fp8}, shape.m, shape, layout.per_lane,
         a.data());
  gather(ElementReader{b_rows, shape.b, operands.fp8}, shape.n, shape, layout.per_lane, b.data());
  if (is_f64 && (operands.blgp & 3) != 0) {
    const Work sign = ((operands.blgp ^ operands.blgp >> 1) & 1) != 0 ? Work{-1} : Work{1};
    for (unsigned e = 0; e < unsigned{shape.m} * shape.k * shape.blocks; ++e) a[e] *= sign;
  }
  if (shape.n == 32) return multiply<Work, Sum, 32>(shape, layout, operands, a.data(), b.data());
  if (shape.n == 16) return multiply<Work, Sum, 16>(shape, layout, operands, a.data(), b.data());
  multiply<Work, Sum, 4>(shape, layout, operands, a.data(), b.data());
}

}  // namespace

void multiply_gathered(const MatrixShape& shape, const MfmaOperands& operands, const double* a,
                       const double* b) {
  if (shape.n == 32) return multiply<double, float, 32>(shape, layout_of(shape), operands, a, b);
  multiply<double, float, 16>(shape, layout_of(shape), operands, a, b);
}

RegisterCounts mfma_registers(const MatrixShape& shape) {
  const unsigned sum_words = shape.c == Accumulator::f64 ? 2 : 1;
  const auto inputs = [&](unsigned size, Element element) {
    const unsigned elements = size * shape.k * shape.blocks / kMatrixLanes;
    return std::max(1u, elements * element_bits(element) / 32);
  };
  return {inputs(shape.m, shape.a), inputs(shape.n, shape.b),
          shape.m * shape.n * shape.blocks / kMatrixLanes * sum_words};
}

void run_mfma(const MatrixShape& shape, const MfmaOperands& operands) {
  switch (shape.c) {
    case Accumulator::f64:
      return run<double, double>(shape, operands);
    case Accumulator::i32:
      return run<int32_t, int32_t>(shape, operands);
    default:
      break;
  }
  if (shape.a == Element::f32) return run<double, float>(shape, operands);
  run<float, float>(shape, operands);
}

}  // namespace hipplan::emulator
