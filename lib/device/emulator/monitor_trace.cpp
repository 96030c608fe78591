#include "device/emulator/monitor_trace.h"

#include <algorithm>
#include <cstring>

namespace hipplan::emulator {
namespace {

std::string scalar_name(unsigned number) {
  if (number == scalar::kVcc) return "vcc_lo";
  if (number == scalar::kVcc + 1) return "vcc_hi";
  if (number == scalar::kExec) return "exec_lo";
  if (number == scalar::kExec + 1) return "exec_hi";
  if (number == scalar::kM0) return "m0";
  if (number >= scalar::kTtmp && number < scalar::kTtmp + 16)
    return cat("ttmp", number - scalar::kTtmp);
  return cat("s", number);
}
bool is_named(unsigned number) {
  return number < scalar::kNull || number == scalar::kExec || number == scalar::kExec + 1;
}
std::string row_name(unsigned number) {
  return number >= kAccRow ? cat("a", number - kAccRow) : cat("v", number);
}

/// "v3 = 0x1" when the lanes agree, else "v3[0,1,5..7] = 0x1 0x2 …" over the lanes asked for.
std::string row_text(unsigned number, const Row& row, uint64_t mask) {
  if (mask == 0) return {};
  const uint32_t first = row.lane[std::countr_zero(mask)];
  bool same = true;
  for (uint64_t left = mask; left != 0; left &= left - 1)
    same = same && row.lane[std::countr_zero(left)] == first;
  const bool several = (mask & (mask - 1)) != 0;
  if (same && several) return cat(row_name(number), "[lanes ", hex(mask), "] = all ", hex(first));
  std::string out = cat(row_name(number), "[lanes ", hex(mask), "] =");
  for (uint64_t left = mask; left != 0; left &= left - 1)
    out += cat(" ", hex(row.lane[std::countr_zero(left)]));
  return out;
}

uint64_t changed_lanes(const Row& before, const Row& after) {
  uint64_t mask = 0;
  for (unsigned i = 0; i < kMaxLanes; ++i)
    mask |= static_cast<uint64_t>(before.lane[i] != after.lane[i]) << i;
  return mask;
}

}  // namespace

Tracer::Tracer(device::Trace options, const Program& program)
    : options_(std::move(options)), program_(program) {
  if (!options_.line) return;
  scalars_.resize(scalar::kCount);
  rows_.resize(kVectorRows);
}

bool Tracer::watches(const Wave& wave) const {
  return options_.line && wave.group->number == options_.workgroup &&
         wave.index == options_.wavefront;
}

bool Tracer::owns(unsigned row) const {
  const Setup& setup = program_.setup;
  return row < setup.vgprs || (row >= kAccRow && row < kAccRow + setup.acc_vgprs);
}

void Tracer::before(const Wave& wave, const Op& op) {
  if (!watches(wave)) return;
  const ProgramLine& line = program_.lines[op.line];
  if (!op.first) return;
  if (line.address == options_.break_pc) {
    options_.line(cat("break at ", hex(line.address), " ", line.text));
    print_all(wave);
  }
  if (!options_.instructions) return;
  std::copy(std::begin(wave.scalars), std::end(wave.scalars), scalars_.begin());
  std::copy(wave.rows, wave.rows + kVectorRows, rows_.begin());
  scc_ = wave.scc;
}

void Tracer::after(const Wave& wave, const Op& op) {
  const bool done = op.last || wave.state == State::faulted;
  if (!done || !watches(wave) || !options_.instructions) return;
  const ProgramLine& line = program_.lines[op.line];
  uint64_t exec = 0;
  std::memcpy(&exec, scalars_.data() + scalar::kExec, 8);
  options_.line(cat(hex(line.address), "  ", line.text, "  exec ", hex(exec)));
  for (unsigned i = 0; i < scalar::kCount; ++i)
    if (is_named(i) && wave.scalars[i] != scalars_[i])
      options_.line(cat("    ", scalar_name(i), " = ", hex(wave.scalars[i])));
  if (wave.scc != scc_) options_.line(cat("    scc = ", wave.scc ? 1 : 0));
  for (unsigned r = 0; r < kVectorRows; ++r) {
    if (!owns(r)) continue;
    const uint64_t mask = changed_lanes(rows_[r], wave.rows[r]);
    if (mask != 0) options_.line(cat("    ", row_text(r, wave.rows[r], mask)));
  }
}

void Tracer::print_all(const Wave& wave) const {
  for (unsigned i = 0; i < scalar::kCount; ++i)
    if (is_named(i) && wave.scalars[i] != 0)
      options_.line(cat("    ", scalar_name(i), " = ", hex(wave.scalars[i])));
  options_.line(cat("    scc = ", wave.scc ? 1 : 0));
  for (unsigned r = 0; r < kVectorRows; ++r)
    if (owns(r)) options_.line(cat("    ", row_text(r, wave.rows[r], wave.all())));
}

}  // namespace hipplan::emulator
