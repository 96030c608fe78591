// The figures of --bench and --cold, as lines and as JSON.
#include <cstdio>

#include "base/harmless.h"
#include "commands/run_session.h"

namespace hipplan::commands {
namespace {

std::string fixed(double value, const char* format) {
  char text[64];
  std::snprintf(text, sizeof(text), format, value);
  return text;
}
std::string us(double value) {
  return fixed(value, "%.3g us");
}

/// 10^9 bytes and 10^12 operations in a second of one execution.
double gigabytes_per_second(const BenchResult& b) {
  return static_cast<double>(b.timed->bytes) / (b.timed->measured.statistics.median * 1e3);
}
double teraflops(const BenchResult& b) {
  return static_cast<double>(b.flops) / (b.timed->measured.statistics.median * 1e6);
}
/// Parts of the target's rates; nothing where the target has none.
std::optional<double> bandwidth_share(const BenchResult& b, const target::Description& d) {
  if (d.memory_bandwidth_gb_per_s <= 0) return std::nullopt;
  return gigabytes_per_second(b) / d.memory_bandwidth_gb_per_s;
}
std::optional<double> flop_share(const BenchResult& b, const target::Description& d) {
  const auto rate = d.peak_tflops.find(b.rate);
  if (rate == d.peak_tflops.end() || rate->second <= 0) return std::nullopt;
  return teraflops(b) / rate->second;
}
std::string share_text(const std::optional<double>& share, const std::string& of) {
  return share ? cat(", ", fixed(100 * *share, "%.1f"), " % of ", of) : std::string();
}

/// What the device counted in one execution.
void print_counters(Io& io, const device::Counters& counters) {
  io.line(cat("instructions      ", counters.instructions));
  io.line(cat("lane instructions ", counters.lane_instructions));
  io.line(cat("bytes read        ", counters.memory_bytes_read));
  io.line(cat("bytes written     ", counters.memory_bytes_written));
  io.line(cat("matrix FLOP       ", counters.matrix_flops));
  io.line(cat("launches          ", counters.launches));
}

std::string cache_text(const BenchResult& b) {
  if (b.timed->cache == bench::Cache::warm) return "kept warm: one copy of the tensors";
  if (b.timed->stays_cold)
    return cat("kept cold: ", b.timed->copies, " copies of the tensors take turns");
  return cat(b.timed->copies, b.timed->copies == 1 ? " copy" : " copies",
             " of the tensors; they may stay in it from one execution to the next");
}

void print_times(Io& io, const BenchResult& b, const target::Description& description) {
  const auto& m = b.timed->measured;
  const auto& s = m.statistics;
  io.line(cat("time       ", us(s.median), " for one execution on the device (median of ",
              m.microseconds.size(), " samples of ", m.executions_per_sample,
              b.timed->replayed ? " replays" : " executions", ")"));
  io.line(cat("mean       ", us(s.mean), ", without outliers ", us(s.robust_mean)));
  io.line(cat("spread     ", us(s.spread), ", from ", us(s.minimum), " to ", us(s.maximum), ", ",
              s.outliers.size(), s.outliers.size() == 1 ? " outlier" : " outliers"));
  io.line(cat("quantiles  10 % ", us(s.percentile_10), ", 25 % ", us(s.lower_quartile), ", 75 % ",
              us(s.upper_quartile), ", 90 % ", us(s.percentile_90)));
  io.line(cat("bandwidth  ", fixed(gigabytes_per_second(b), "%.4g"), " GB/s for ", b.timed->bytes,
              " bytes", share_text(bandwidth_share(b, description), "the target's")));
  if (b.flops != 0)
    io.line(cat("rate       ", fixed(teraflops(b), "%.4g"), " TFLOP/s for ", b.flops, " FLOP",
                share_text(flop_share(b, description), "the target's " + b.rate)));
  io.line("cache      " + cache_text(b));
  if (m.starts_hidden)
    io.line(cat("host       ", us(m.host_microseconds), " to start one ",
                b.timed->replayed ? "replay" : "execution"));
  const auto& facts = b.timed->facts;
  io.line(cat("device     ", harmless(facts.name), ", ", facts.arch.text(), ", driver ",
              harmless(facts.driver_version), ", runtime ", harmless(facts.runtime_version)));
}

void print_cold(Io& io, const ColdTimes& cold) {
  io.line(cat("open          ", us(cold.open_us)));
  io.line(cat("decode        ", us(cold.decode_us)));
  io.line(cat("check         ", us(cold.check_us)));
  if (cold.load_us) io.line(cat("module load   ", us(*cold.load_us)));
  if (cold.launch_us) io.line(cat("first launch  ", us(*cold.launch_us)));
  io.line(cat("total         ", us(cold.total_us()),
              " from the file to the first result, by the host's clock, without context creation",
              cold.load_us ? "" : ", and without a driver"));
}

void write_counters(json::Writer& out, const device::Counters& c) {
  out.begin_object().member("launches", c.launches).member("instructions", c.instructions);
  out.member("lane_instructions", c.lane_instructions);
  out.member("memory_bytes_read", c.memory_bytes_read);
  out.member("memory_bytes_written", c.memory_bytes_written);
  out.member("matrix_flops", c.matrix_flops).end_object();
}

void write_timing(json::Writer& out, const BenchResult& b, const target::Description& d) {
  out.begin_object().member("clock", bench::clock_name(b.timed->measured.clock));
  out.member("replayed", b.timed->replayed);
  out.member("cache", b.timed->cache == bench::Cache::warm ? "warm" : "cold");
  out.member("copies", b.timed->copies).member("stays_cold", b.timed->stays_cold);
  write_samples(out, b.timed->measured);
  out.member("host_us", b.timed->measured.host_microseconds);
  out.member("bytes", b.timed->bytes).member("flops", b.flops);
  out.member("gb_per_s", gigabytes_per_second(b)).member("tflops", teraflops(b));
  if (const auto share = bandwidth_share(b, d)) out.member("bandwidth_share", *share);
  if (const auto share = flop_share(b, d)) out.member("rate_share", *share);
  out.key("device");
  write_device(out, b.timed->facts);
  out.end_object();
}

void write_cold(json::Writer& out, const ColdTimes& cold) {
  out.begin_object().member("open_us", cold.open_us).member("decode_us", cold.decode_us);
  out.member("check_us", cold.check_us);
  if (cold.load_us) out.member("module_load_us", *cold.load_us);
  if (cold.launch_us) out.member("first_launch_us", *cold.launch_us);
  out.member("total_us", cold.total_us()).end_object();
}

}  // namespace

void print_measurements(Session& session) {
  if (session.cold) print_cold(session.io, *session.cold);
  if (!session.bench) return;
  if (session.bench->timed)
    print_times(session.io, *session.bench, session.device->description());
  else
    print_counters(session.io, session.counters);
}

void write_measurements(Session& session, json::Writer& out) {
  if (session.options.bench != 0 && session.kind == DeviceKind::emulator) {
    out.key("counters");
    write_counters(out, session.counters);
  }
  if (session.bench && session.bench->timed) {
    out.key("timing");
    write_timing(out, *session.bench, session.device->description());
  }
  if (!session.cold) return;
  out.key("cold");
  write_cold(out, *session.cold);
}

}  // namespace hipplan::commands
