#include "commands/run_emulator.h"

#include <charconv>
#include <cstdio>

#include "base/harmless.h"

namespace hipplan::commands {
namespace {

template <class T>
bool whole(std::string_view text, T& value, int base = 10) {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return failure == std::errc() && end == text.data() + text.size();
}

/// "WORKGROUP:WAVEFRONT", or "WORKGROUP".
Result<void> read_place(std::string_view text, device::Trace& trace) {
  const size_t colon = text.find(':');
  const bool good =
      whole(text.substr(0, colon), trace.workgroup) &&
      (colon == std::string_view::npos || whole(text.substr(colon + 1), trace.wavefront));
  if (good) return {};
  return usage_error({.where = cat("--trace ", text), .what = "is not WORKGROUP[:WAVEFRONT]"});
}

/// An address without its 0x, which may be left out.
std::string_view hexadecimal_digits(std::string_view text) {
  return text.starts_with("0x") ? text.substr(2) : text;
}

Result<void> read_pc(std::string_view text, device::Trace& trace) {
  const std::string_view digits = hexadecimal_digits(text);
  if (whole(digits, trace.break_pc, 16)) return {};
  return usage_error({.where = cat("--break ", text), .what = "is not a hexadecimal address"});
}

std::string number(double value, const char* format) {
  char text[64];
  std::snprintf(text, sizeof(text), format, value);
  return text;
}
std::string percent(uint64_t part, uint64_t whole) {
  if (whole == 0) return "-";
  return number(100.0 * static_cast<double>(part) / static_cast<double>(whole), "%.1f %%");
}

void print_one(Io& io, const device::Profile& p, const target::Description& description) {
  io.line(cat("launch of ", harmless(p.kernel), ": ", p.workgroups, " workgroups, ", p.wavefronts,
              " wavefronts"));
  for (size_t i = 0; i < device::kInstructionClasses; ++i)
    if (p.instructions[i] != 0)
      io.line(cat("  ", device::kInstructionClassNames[i], " instructions: ", p.instructions[i]));
  io.line(cat("  active lanes: ", percent(p.active_lanes, p.lane_slots)));
  io.line(cat("  global: ", p.global_bytes_read, " bytes read, ", p.global_bytes_written,
              " written, ", p.global_transactions, " cache lines in ", p.global_accesses,
              " accesses, footprint ", p.footprint_bytes, " bytes"));
  io.line(cat("  scalar: ", p.scalar_bytes_read, " bytes read"));
  io.line(cat("  LDS: ", p.lds_bytes_read, " bytes read, ", p.lds_bytes_written, " written, ",
              p.lds_accesses, " accesses, ", p.lds_conflict_cycles, " cycles of bank conflicts"));
  io.line(cat("  private: ", p.private_bytes_read, " bytes read, ", p.private_bytes_written,
              " written"));
  for (const auto& [key, count] : p.operations) io.line(cat("  ", key, " operations: ", count));
  io.line(cat("  occupancy: ", p.waves_per_simd, " of ", p.max_waves_per_simd,
              " wavefronts per SIMD, limited by ", p.occupancy_limit, " (", p.vgprs, " VGPRs, ",
              p.lds_bytes, " bytes of LDS)"));
  const Roofline estimate = roofline(p, description);
  if (!estimate.bound.empty())
    io.line(cat("  estimate: at least ", number(1e6 * estimate.seconds, "%.3g"),
                " us on the device by the target's rates, bound by ", estimate.bound));
}

}  // namespace

Result<device::OpenOptions> emulator_options(const hipplan_run_options& options, Io& io,
                                             Watch& watch) {
  device::OpenOptions out;
  out.check_races = options.check_races != 0;
  out.check_uninitialized = options.check_uninitialized != 0;
  out.schedule_seed = options.schedule_seed;
  out.instruction_budget = options.instruction_budget;
  out.profile = options.counters != 0;
  const std::string trace = text_or_empty(options.trace), pc = text_or_empty(options.break_pc);
  if (trace.empty() && pc.empty()) return out;
  if (io.json())
    return usage_error(
        {.where = "--trace, --break", .what = "print text, which --json has no place for"});
  out.trace.instructions = !trace.empty() && pc.empty();
  if (!trace.empty()) HIPPLAN_TRY(read_place(trace, out.trace));
  if (!pc.empty()) HIPPLAN_TRY(read_pc(pc, out.trace));
  out.trace.line = [&io, &watch](std::string_view line) {
    if (!watch.on) return;
    watch.seen = true;
    io.line(line);
  };
  return out;
}

void note_unseen(const hipplan_run_options& options, const Watch& watch, Io& io) {
  if (watch.seen) return;
  const std::string trace = text_or_empty(options.trace), pc = text_or_empty(options.break_pc);
  const std::string place = trace.empty() ? "0:0" : trace;
  if (!pc.empty())
    io.note(cat("--break 0x", hexadecimal_digits(pc), ": wavefront ", place,
                " did not get there, or there is none"));
  else if (!trace.empty())
    io.note(cat("--trace ", place, ": no launch has such a wavefront"));
}

Roofline roofline(const device::Profile& profile, const target::Description& description) {
  Roofline out;
  const auto consider = [&](double seconds, const std::string& bound) {
    if (seconds > out.seconds) out = {seconds, bound};
  };
  if (description.memory_bandwidth_gb_per_s > 0)
    consider(static_cast<double>(profile.footprint_bytes) /
                 (description.memory_bandwidth_gb_per_s * 1e9),
             "memory");
  for (const auto& [key, count] : profile.operations) {
    auto rate = description.peak_tflops.find(key);
    // Vector units do halves in pairs, at twice the rate of floats.
    const bool paired = rate == description.peak_tflops.end() && key == "half";
    if (paired) rate = description.peak_tflops.find("float");
    if (rate == description.peak_tflops.end() || rate->second <= 0) continue;
    consider(static_cast<double>(count) / (rate->second * (paired ? 2e12 : 1e12)), key);
  }
  return out;
}

void print_profiles(Io& io, const std::vector<device::Profile>& profiles,
                    const target::Description& description) {
  for (const auto& profile : profiles) print_one(io, profile, description);
}

void write_profiles(json::Writer& out, const std::vector<device::Profile>& profiles,
                    const target::Description& description) {
  out.begin_array();
  for (const auto& p : profiles) {
    out.begin_object().member("kernel", p.kernel).member("workgroups", p.workgroups);
    out.member("wavefronts", p.wavefronts).key("instructions").begin_object();
    for (size_t i = 0; i < device::kInstructionClasses; ++i)
      out.member(device::kInstructionClassNames[i], p.instructions[i]);
    out.end_object().member("active_lanes", p.active_lanes).member("lane_slots", p.lane_slots);
    out.member("global_bytes_read", p.global_bytes_read);
    out.member("global_bytes_written", p.global_bytes_written);
    out.member("global_accesses", p.global_accesses);
    out.member("global_transactions", p.global_transactions);
    out.member("footprint_bytes", p.footprint_bytes);
    out.member("scalar_bytes_read", p.scalar_bytes_read);
    out.member("lds_bytes_read", p.lds_bytes_read).member("lds_bytes_written", p.lds_bytes_written);
    out.member("lds_accesses", p.lds_accesses);
    out.member("lds_conflict_cycles", p.lds_conflict_cycles);
    out.member("private_bytes_read", p.private_bytes_read);
    out.member("private_bytes_written", p.private_bytes_written);
    out.key("operations").begin_object();
    for (const auto& [key, count] : p.operations) out.member(key, count);
    out.end_object().member("vgprs", p.vgprs).member("lds_bytes", p.lds_bytes);
    out.member("waves_per_simd", p.waves_per_simd);
    out.member("max_waves_per_simd", p.max_waves_per_simd);
    out.member("occupancy_limit", p.occupancy_limit);
    const Roofline estimate = roofline(p, description);
    out.key("estimate").begin_object().member("seconds", estimate.seconds);
    out.member("bound", estimate.bound).end_object().end_object();
  }
  out.end_array();
}

}  // namespace hipplan::commands
