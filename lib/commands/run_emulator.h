// What only an emulated device offers hipplan-run: checks, seeded order, counters, traces.
#pragma once

#include "commands/io.h"
#include "device/device.h"

namespace hipplan::commands {

/// A trace's lines go out while it is on.
struct Watch {
  bool on = false;
  bool seen = false;  ///< whether there was a line
};

/// Device options from the tool's. Trace lines go out as results; `watch` must outlive the device.
/// Fails with bad_input, reason "usage".
Result<device::OpenOptions> emulator_options(const hipplan_run_options& options, Io& io,
                                             Watch& watch);
/// Says so when a trace was asked for and nothing came.
void note_unseen(const hipplan_run_options& options, const Watch& watch, Io& io);

/// The least time that a launch can take by the target's rates, and what it is bound by.
struct Roofline {
  double seconds = 0;
  std::string bound;  ///< "memory", or a key of the target's peak_tflops; empty: no rate is known
};
[[nodiscard]] Roofline roofline(const device::Profile& profile,
                                const target::Description& description);

void print_profiles(Io& io, const std::vector<device::Profile>& profiles,
                    const target::Description& description);
/// An array, one object per launch.
void write_profiles(json::Writer& out, const std::vector<device::Profile>& profiles,
                    const target::Description& description);

}  // namespace hipplan::commands
