#include "device/emulator/lanes.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace hipplan::emulator {
namespace {

/// Row of a vector register, moved by s_set_gpr_idx when that is on. `which` is 0..2 for sources, 3
/// for the destination.
uint32_t* row_of(Wave& wave, unsigned index, unsigned which) {
  if (wave.direct) return wave.rows[index].lane;
  const unsigned moved = index + wave.row_offset[which < 4 ? which : 2];
  if (wave.row_offset[which < 4 ? which : 2] != 0 && moved >= wave.vector_limit) {
    wave.fail({.reason = "register-index",
               .what = "an indexed register is not the kernel's",
               .expected = cat("below v", wave.vector_limit),
               .found = cat("v", moved)});
    return wave.rows[0].lane;
  }
  return wave.rows[moved].lane;
}

/// The lane that `lane` reads under DPP, or -1 when there is none.
int dpp_lane(const Dpp& dpp, int lane, int lanes) {
  const int n = static_cast<int>(dpp.control), row = lane & ~15, place = lane & 15;
  switch (dpp.kind) {
    case Dpp::Kind::quad_perm:
      return (lane & ~3) + ((n >> (2 * (lane & 3))) & 3);
    case Dpp::Kind::row_shl:
      return place + n < 16 ? lane + n : -1;
    case Dpp::Kind::row_shr:
      return place >= n ? lane - n : -1;
    case Dpp::Kind::row_ror:
      return row + ((place + 16 - n) & 15);
    case Dpp::Kind::wave_shl:
      return lane + 1 < lanes ? lane + 1 : -1;
    case Dpp::Kind::wave_rol:
      return (lane + 1) % lanes;
    case Dpp::Kind::wave_shr:
      return lane - 1;
    case Dpp::Kind::wave_ror:
      return (lane + lanes - 1) % lanes;
    case Dpp::Kind::row_mirror:
      return row + 15 - place;
    case Dpp::Kind::row_half_mirror:
      return (lane & ~7) + 7 - (lane & 7);
    case Dpp::Kind::row_bcast15:
      return row - 1;
    case Dpp::Kind::row_bcast31:
      return lane >= 32 ? 31 : -1;
    case Dpp::Kind::row_share:
    case Dpp::Kind::row_newbcast:
      return row + n;
    case Dpp::Kind::row_xmask:
      return row + (place ^ n);
    case Dpp::Kind::dpp8:
      return (lane & ~7) + ((n >> (3 * (lane & 7))) & 7);
    case Dpp::Kind::none:
      break;
  }
  return lane;
}

bool dpp_reads(const Wave& wave, const Dpp& dpp, int from) {
  return from >= 0 && (dpp.fetch_inactive || ((wave.exec() >> from) & 1) != 0);
}

void shuffle(const Wave& wave, const Dpp& dpp, const uint32_t* row, uint32_t* out) {
  for (int lane = 0; lane < wave.lanes; ++lane) {
    const int from = dpp_lane(dpp, lane, wave.lanes);
    out[lane] = dpp_reads(wave, dpp, from) ? row[from] : 0;
  }
}

uint32_t take_part(uint32_t value, Part part, bool sign_extend) {
  switch (part) {
    case Part::dword:
      return value;
    case Part::word0:
    case Part::word1: {
      const uint32_t word = part == Part::word1 ? value >> 16 : value & 0xffffu;
      return sign_extend ? static_cast<uint32_t>(static_cast<int16_t>(word)) : word;
    }
    default: {
      const unsigned shift = 8 * (static_cast<unsigned>(part) - static_cast<unsigned>(Part::byte0));
      const uint32_t byte = (value >> shift) & 0xffu;
      return sign_extend ? static_cast<uint32_t>(static_cast<int8_t>(byte)) : byte;
    }
  }
}

uint32_t put_part(uint32_t old, uint32_t value, const Destination& to) {
  if (to.part == Part::dword) return value;
  unsigned shift = 0, width = 16;
  if (to.part == Part::word1) shift = 16;
  if (to.part >= Part::byte0) {
    width = 8;
    shift = 8 * (static_cast<unsigned>(to.part) - static_cast<unsigned>(Part::byte0));
  }
  const uint32_t field = (width == 16 ? 0xffffu : 0xffu) << shift;
  const uint32_t inside = (value << shift) & field;
  switch (to.rest) {
    case Destination::Rest::keep:
      return (old & ~field) | inside;
    case Destination::Rest::zero:
      return inside;
    case Destination::Rest::sign:
      break;
  }
  const bool negative = ((value >> (width - 1)) & 1u) != 0;
  const uint64_t above = ~((uint64_t{1} << (shift + width)) - 1);
  return inside | (negative ? static_cast<uint32_t>(above) : 0u);
}

uint32_t flush32(uint32_t bits) {
  return (bits & 0x7f800000u) == 0 ? bits & 0x80000000u : bits;
}
uint16_t flush16(uint16_t bits) {
  return (bits & 0x7c00u) == 0 ? static_cast<uint16_t>(bits & 0x8000u) : bits;
}
uint64_t flush64(uint64_t bits) {
  return (bits & 0x7ff0000000000000ull) == 0 ? bits & 0x8000000000000000ull : bits;
}

/// A vector register's dwords after DPP, before parts and modifiers.
const uint32_t* raw_row(Wave& wave, const Op& op, const Source& source, unsigned k, unsigned word,
                        uint32_t* scratch) {
  const uint32_t* row = row_of(wave, source.index + word, k);
  if (!source.dpp) return row;
  shuffle(wave, op.dpp, row, scratch);
  return scratch;
}

void change32(const Wave& wave, const Source& source, const uint32_t* in, uint32_t* out) {
  const auto keep = static_cast<uint32_t>(source.keep), flip = static_cast<uint32_t>(source.flip);
  if (source.part == Part::dword) {
    for (unsigned i = 0; i < wave.lanes; ++i) out[i] = (in[i] & keep) ^ flip;
  } else {
    for (unsigned i = 0; i < wave.lanes; ++i)
      out[i] = (take_part(in[i], source.part, source.sign_extend) & keep) ^ flip;
  }
  if (source.type == Type::f32 && wave.mode.flush_in32())
    for (unsigned i = 0; i < wave.lanes; ++i) out[i] = flush32(out[i]);
}

template <class T>
T scaled(T value, const Op& op) {
  switch (op.output_scale) {
    case 1:
      value *= 2;
      break;
    case 2:
      value *= 4;
      break;
    case 3:
      value /= 2;
      break;
    default:
      break;
  }
  if (!op.clamp) return value;
  return value > 0 ? (value < 1 ? value : T{1}) : T{0};  // NaN becomes 0, as DX10_CLAMP asks
}

}  // namespace

void Wave::set_mode(uint32_t bits) {
  mode.bits = bits;
  direct = (bits & 0xf0) == 0xf0 && row_offset == std::array<uint16_t, 4>{};
  const bool now = (bits & 0xfu) != 0;
  if (now && !rounds && state == State::running) state = State::paused;
  rounds = now;
}

uint64_t read_scalar(const Wave& wave, const Source& source) {
  switch (source.place) {
    case Place::sgpr: {
      if (source.words == 1) return wave.scalars[source.index];
      uint64_t value;
      std::memcpy(&value, wave.scalars + source.index, 8);
      return value;
    }
    case Place::constant:
      return source.constant;
    case Place::scc:
      return wave.scc ? 1 : 0;
    case Place::vccz: {
      uint64_t vcc;
      std::memcpy(&vcc, wave.scalars + scalar::kVcc, 8);
      return (wave.lanes == 64 ? vcc : vcc & 0xffffffffull) == 0 ? 1 : 0;
    }
    case Place::execz:
      return wave.exec() == 0 ? 1 : 0;
    default:
      return 0;
  }
}

void write_scalar(Wave& wave, const Destination& to, uint64_t value) {
  if (to.place != Place::sgpr) return;
  wave.scalars[to.index] = static_cast<uint32_t>(value);
  if (to.words == 2) wave.scalars[to.index + 1] = static_cast<uint32_t>(value >> 32);
  if (wave.lanes == 32) wave.scalars[scalar::kExec + 1] = 0;
}

void write_mask(Wave& wave, const Destination& to, uint64_t value) {
  write_scalar(wave, to, value);
}

void expand_mask(uint64_t mask, uint32_t* lanes) {
  const auto low = static_cast<uint32_t>(mask), high = static_cast<uint32_t>(mask >> 32);
  for (unsigned i = 0; i < 32; ++i) lanes[i] = (low >> i) & 1u;
  for (unsigned i = 0; i < 32; ++i) lanes[32 + i] = (high >> i) & 1u;
}

uint64_t pack_mask(const uint32_t* lanes) {
  uint64_t mask = 0;
#if defined(__AVX2__)
  for (unsigned i = 0; i < kMaxLanes; i += 8) {
    const __m256i eight = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(lanes + i));
    const __m256i zero = _mm256_cmpeq_epi32(eight, _mm256_setzero_si256());
    const auto bits = static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(zero)));
    mask |= static_cast<uint64_t>(~bits & 0xffu) << i;
  }
#else
  for (unsigned i = 0; i < kMaxLanes; ++i) mask |= static_cast<uint64_t>(lanes[i] != 0) << i;
#endif
  return mask;
}

uint64_t dpp_mask(const Wave& wave, const Op& op) {
  uint64_t mask = 0;
  for (int lane = 0; lane < wave.lanes; ++lane) {
    const bool on = ((op.dpp.row_mask >> (lane / 16)) & 1) != 0 &&
                    ((op.dpp.bank_mask >> ((lane % 16) / 4)) & 1) != 0;
    const int from = dpp_lane(op.dpp, lane, wave.lanes);
    const bool valid = op.dpp.bound_zero || dpp_reads(wave, op.dpp, from);
    mask |= static_cast<uint64_t>(on && valid) << lane;
  }
  return mask;
}

const uint32_t* fetch_any(Wave& wave, const Op& op, unsigned k, uint32_t* scratch) {
  const Source& source = op.from[k];
  if (source.type == Type::mask) {
    expand_mask(read_mask(wave, source), scratch);
    return scratch;
  }
  if (source.place == Place::vgpr) {
    Row shuffled;
    change32(wave, source, raw_row(wave, op, source, k, 0, shuffled.lane), scratch);
    return scratch;
  }
  auto value = static_cast<uint32_t>(read_scalar(wave, source));
  value = take_part(value, source.part, source.sign_extend);
  value = (value & static_cast<uint32_t>(source.keep)) ^ static_cast<uint32_t>(source.flip);
  if (source.type == Type::f32 && wave.mode.flush_in32()) value = flush32(value);
  for (unsigned i = 0; i < wave.lanes; ++i) scratch[i] = value;
  return scratch;
}

const uint64_t* fetch(Wave& wave, const Op& op, unsigned k, uint64_t* scratch) {
  const Source& source = op.from[k];
  const bool flush = source.type == Type::f64 && wave.mode.flush_in16_64();
  if (source.place == Place::vgpr) {
    Row low_part, high_part;
    const uint32_t* low = raw_row(wave, op, source, k, 0, low_part.lane);
    const uint32_t* high = raw_row(wave, op, source, k, 1, high_part.lane);
    for (unsigned i = 0; i < wave.lanes; ++i)
      scratch[i] = ((low[i] | static_cast<uint64_t>(high[i]) << 32) & source.keep) ^ source.flip;
  } else {
    const uint64_t value = (read_scalar(wave, source) & source.keep) ^ source.flip;
    for (unsigned i = 0; i < wave.lanes; ++i) scratch[i] = value;
  }
  if (flush)
    for (unsigned i = 0; i < wave.lanes; ++i) scratch[i] = flush64(scratch[i]);
  return scratch;
}

const uint16_t* fetch(Wave& wave, const Op& op, unsigned k, uint16_t* scratch) {
  const Source& source = op.from[k];
  const auto keep = static_cast<uint16_t>(source.keep), flip = static_cast<uint16_t>(source.flip);
  if (source.place == Place::vgpr) {
    Row shuffled;
    const uint32_t* row = raw_row(wave, op, source, k, 0, shuffled.lane);
    if (source.part == Part::word0) {
      for (unsigned i = 0; i < wave.lanes; ++i)
        scratch[i] = static_cast<uint16_t>((static_cast<uint16_t>(row[i]) & keep) ^ flip);
    } else {
      for (unsigned i = 0; i < wave.lanes; ++i)
        scratch[i] = static_cast<uint16_t>(
            (take_part(row[i], source.part, source.sign_extend) & keep) ^ flip);
    }
  } else {
    const uint32_t part = take_part(static_cast<uint32_t>(read_scalar(wave, source)), source.part,
                                    source.sign_extend);
    for (unsigned i = 0; i < wave.lanes; ++i)
      scratch[i] = static_cast<uint16_t>((part & keep) ^ flip);
  }
  if (source.type == Type::f16 && wave.mode.flush_in16_64())
    for (unsigned i = 0; i < wave.lanes; ++i) scratch[i] = flush16(scratch[i]);
  return scratch;
}

void copy_lanes(uint32_t* row, const uint32_t* lanes, uint64_t mask) {
  for (unsigned half = 0; half < 2; ++half) {
    const auto bits = static_cast<uint32_t>(mask >> (32 * half));
    if (bits == 0) continue;
    uint32_t* to = row + 32 * half;
    const uint32_t* from = lanes + 32 * half;
    HIPPLAN_INDEPENDENT_LANES
    for (unsigned i = 0; i < 32; ++i) to[i] = ((bits >> i) & 1u) != 0 ? from[i] : to[i];
  }
}

void store(Wave& wave, const Op& op, const Destination& to, const uint32_t* lanes, uint64_t mask) {
  if (op.plain && wave.direct) {
    copy_lanes(wave.rows[to.index].lane, lanes, mask);
    return;
  }
  uint32_t* row = row_of(wave, to.index, 3);
  Row result;
  const bool floating = to.type == Type::f32;
  for (unsigned i = 0; i < wave.lanes; ++i) {
    uint32_t value = lanes[i];
    if (floating && (op.clamp || op.output_scale != 0))
      value = std::bit_cast<uint32_t>(scaled(std::bit_cast<float>(value), op));
    if (floating && wave.mode.flush_out32()) value = flush32(value);
    result.lane[i] = put_part(row[i], value, to);
  }
  copy_lanes(row, result.lane, mask);
}

void store(Wave& wave, const Op& op, const Destination& to, const uint64_t* lanes, uint64_t mask) {
  Row low, high;
  const bool floating = to.type == Type::f64;
  if (floating && !(op.plain && wave.direct)) {
    for (unsigned i = 0; i < wave.lanes; ++i) {
      uint64_t value = std::bit_cast<uint64_t>(scaled(std::bit_cast<double>(lanes[i]), op));
      if (wave.mode.flush_out16_64()) value = flush64(value);
      low.lane[i] = static_cast<uint32_t>(value);
      high.lane[i] = static_cast<uint32_t>(value >> 32);
    }
  } else {
    for (unsigned i = 0; i < wave.lanes; ++i) low.lane[i] = static_cast<uint32_t>(lanes[i]);
    for (unsigned i = 0; i < wave.lanes; ++i) high.lane[i] = static_cast<uint32_t>(lanes[i] >> 32);
  }
  copy_lanes(row_of(wave, to.index, 3), low.lane, mask);
  copy_lanes(row_of(wave, to.index + 1u, 3), high.lane, mask);
}

void store(Wave& wave, const Op& op, const Destination& to, const uint16_t* lanes, uint64_t mask) {
  uint32_t* row = row_of(wave, to.index, 3);
  Row result;
  const bool scale = to.type == Type::f16 && (op.clamp || op.output_scale != 0);
  const bool flush = to.type == Type::f16 && wave.mode.flush_out16_64();
  if (!scale && !flush && to.part == Part::word0 && to.rest == Destination::Rest::zero) {
    for (unsigned i = 0; i < kMaxLanes; ++i) result.lane[i] = lanes[i];
  } else {
    for (unsigned i = 0; i < wave.lanes; ++i) {
      uint16_t value = lanes[i];
      if (scale) value = narrow_half(scaled(widen(Half{value}), op)).bits;
      if (flush) value = flush16(value);
      result.lane[i] = put_part(row[i], value, to);
    }
  }
  copy_lanes(row, result.lane, mask);
}

}  // namespace hipplan::emulator
