#include "device/emulator/monitor_registers.h"

#include <algorithm>
#include <bit>

#include "device/emulator/access.h"
#include "device/emulator/lanes.h"

namespace hipplan::emulator {
namespace {

std::string vector_name(unsigned row) {
  return row >= kAccRow ? cat("a", row - kAccRow) : cat("v", row);
}
int first_lane(uint64_t lanes) {
  return std::countr_zero(lanes);
}

}  // namespace

void RegisterCheck::start_wave(const Wave& wave, const Setup& setup) {
  if (waves_.size() <= wave.index) waves_.resize(wave.index + 1u);
  State& state = waves_[wave.index];
  state.undefined.fill(~0ull);
  const unsigned ids = setup.packed_item_ids ? 1 : 3;
  for (unsigned row = 0; row < ids; ++row) state.undefined[row] = ~wave.exec();
  state.scalar_undefined.fill(false);
  const unsigned groups = setup.trap_register_ids
                              ? 0u
                              : (setup.group_id_x ? 1u : 0u) + (setup.group_id_y ? 1u : 0u) +
                                    (setup.group_id_z ? 1u : 0u) + (setup.group_info ? 1u : 0u);
  // One more for the scratch offset of older targets. The numbered registers end at 106.
  const unsigned known = setup.user_sgprs + groups + (setup.private_segment ? 1u : 0u);
  for (unsigned i = known; i < 106; ++i) state.scalar_undefined[i] = true;
  state.written.assign(wave.scratch->size(), 0);
}

uint64_t RegisterCheck::undefined_rows(const State& state, const Wave& wave, const Source& source,
                                       unsigned which, unsigned words) const {
  if (source.place != Place::vgpr) return 0;
  uint64_t lanes = 0;
  const unsigned first = source.index + wave.row_offset[std::min(which, 2u)];
  const unsigned end = first + std::min(unsigned{source.words}, words);
  for (unsigned row = first; row < end && row < kVectorRows; ++row) lanes |= state.undefined[row];
  return lanes;
}

void RegisterCheck::flow_in(const State& state, const Wave& wave, const Op& op,
                            const ProgramLine& line) {
  if (!op.vector || op.dpp.kind != Dpp::Kind::none) return;
  if (op.selects) {
    const uint64_t chosen = read_mask(wave, op.from[2]);
    incoming_ = (undefined_rows(state, wave, op.from[0], 0) & ~chosen) |
                (undefined_rows(state, wave, op.from[1], 1) & chosen);
    return;
  }
  const bool wide = op.to.words > 1;
  for (unsigned i = 0; i < op.source_count; ++i) {
    const uint64_t all = undefined_rows(state, wave, op.from[i], i);
    const uint64_t low = wide ? undefined_rows(state, wave, op.from[i], i, 1) : all;
    // Packed instructions choose among the two registers of a source.
    const bool packed = line.flow == Flow::pairs && op.from[i].words == 2;
    const uint64_t both =
        packed && op.from[i].place == Place::vgpr && op.from[i].index + 1u < kVectorRows
            ? low & state.undefined[op.from[i].index + 1u]
            : 0;
    incoming_ |= packed ? both : low;
    incoming_above_ |= packed ? both : all;
  }
}

std::optional<RegisterCheck::Report> RegisterCheck::before(const Wave& wave, const Op& op,
                                                           const ProgramLine& line) {
  const State& state = waves_[wave.index];
  exec_ = wave.exec();
  incoming_ = incoming_above_ = 0;
  loaded_.fill(0);
  const bool scalar_memory = line.kind == device::InstructionClass::scalar_memory;
  if (op.space == Space::none && !scalar_memory) {
    flow_in(state, wave, op, line);
    return std::nullopt;
  }
  const Source& base = op.from[scalar_memory ? 0u : unsigned{kScalar}];
  if (base.place == Place::sgpr)
    for (unsigned i = base.index; i < base.index + std::max<unsigned>(base.words, 1u); ++i)
      if (i < scalar::kCount && state.scalar_undefined[i])
        return Report{cat("the address comes from s", i, ", which nothing has written"), -1};
  if (scalar_memory) {
    const Source& data = op.from[kScalar];  // of a store
    for (unsigned i = data.index; data.place == Place::sgpr && i < data.index + data.words; ++i)
      if (i < scalar::kCount && state.scalar_undefined[i])
        return Report{cat("the data comes from s", i, ", which nothing has written"), -1};
    return std::nullopt;
  }
  const uint64_t loading = op.halved ? exec_ & 0xffffffffull : exec_;
  const uint64_t wrong = undefined_rows(state, wave, op.from[kAddress], 0) & loading;
  if (wrong == 0) return std::nullopt;
  return Report{cat("the address comes from ", vector_name(op.from[kAddress].index),
                    ", which nothing has written"),
                first_lane(wrong)};
}

void RegisterCheck::private_access(const Wave& wave, const Op& op, const PrivateAccess& access) {
  State& state = waves_[wave.index];
  const int lane = access.lane;
  if (access.offset + op.bytes > state.written.size()) return;
  for (unsigned i = 0; i < op.bytes; ++i) {
    uint8_t& written = state.written[access.offset + i];
    if (!access.write) {
      const unsigned word = access.word + i / 4;
      if (written == 0 && word < loaded_.size()) loaded_[word] |= uint64_t{1} << lane;
      continue;
    }
    const Source& data = op.from[kData];
    const unsigned row = data.index + i / 4;
    const bool known = data.place != Place::vgpr || row >= kVectorRows ||
                       ((state.undefined[row] >> lane) & 1u) == 0;
    written = known ? 1 : 0;
  }
}

std::optional<RegisterCheck::Report> RegisterCheck::stored(const Wave& wave, const Op& op,
                                                           int lane) const {
  const State& state = waves_[wave.index];
  for (unsigned word = 0; op.lds && word < std::max(1u, op.bytes / 4u); ++word)
    if ((loaded_[word] >> lane & 1u) != 0)
      return Report{"the data comes from private memory that nothing has written", lane};
  for (const unsigned which : {unsigned{kData}, unsigned{kData2}}) {
    const Source& data = op.from[which];
    if (data.place != Place::vgpr) continue;
    // Compare-and-swap: of each of the two.
    const unsigned words = op.data_words != 0 ? op.data_words : std::max(1u, op.bytes / 4u);
    for (unsigned row = data.index; row < data.index + words; ++row)
      if (row < kVectorRows && ((state.undefined[row] >> lane) & 1u) != 0)
        return Report{cat("the data comes from ", vector_name(row), ", which nothing has written"),
                      lane};
  }
  return std::nullopt;
}

void RegisterCheck::mark(State& state, unsigned row, uint64_t lanes, uint64_t undefined) const {
  if (row < kVectorRows)
    state.undefined[row] = (state.undefined[row] & ~lanes) | (undefined & lanes);
}

void RegisterCheck::after(const Wave& wave, const Op& op, const ProgramLine& line) {
  State& state = waves_[wave.index];
  for (const Destination* to : {&op.to, &op.also}) {
    if (to->place != Place::sgpr) continue;
    for (unsigned i = to->index; i < to->index + unsigned{to->words} && i < scalar::kCount; ++i)
      state.scalar_undefined[i] = false;
  }
  if (op.to.place != Place::vgpr) return;
  const unsigned first = op.to.index + wave.row_offset[3];
  if (line.flow == Flow::exchanges && op.from[0].place == Place::vgpr) {
    const uint64_t here = state.undefined[first], there = state.undefined[op.from[0].index];
    mark(state, first, exec_, there);
    mark(state, op.from[0].index, exec_, here);
    return;
  }
  if (line.flow <= Flow::pairs) {
    const bool loads = op.space != Space::none;
    for (unsigned word = 0; word < op.to.words; ++word) {
      const uint64_t computed = word == 0 ? incoming_ : incoming_above_;
      mark(state, first + word, exec_,
           loads ? (word < loaded_.size() ? loaded_[word] : 0) : computed);
    }
    return;
  }
  if (line.flow == Flow::blocks) {
    for (uint32_t left = wave.scalars[scalar::kM0]; left != 0; left &= left - 1) {
      const auto word = static_cast<unsigned>(std::countr_zero(left));
      mark(state, first + word, exec_, loaded_[word]);
    }
    return;
  }
  // Registers chosen at run time, and v_permlane*_swap's second one.
  const bool by_number =
      line.text.rfind("v_movrel", 0) == 0 || line.text.rfind("v_swaprel", 0) == 0;
  const unsigned end = by_number ? kVectorRows : first + op.to.words;
  const uint64_t lanes = line.flow == Flow::everywhere ? ~0ull : exec_;
  for (unsigned row = by_number ? std::min<unsigned>(first, op.from[0].index) : first; row < end;
       ++row)
    mark(state, row, lanes, 0);
  if (op.from[0].place == Place::vgpr && line.text.find("swap") != std::string::npos)
    mark(state, op.from[0].index, lanes, 0);
}

}  // namespace hipplan::emulator
