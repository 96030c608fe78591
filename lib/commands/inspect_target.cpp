// inspect target: a device in this machine as a target file, for machines without it.
#include "base/file.h"
#include "base/harmless.h"
#include "commands/inspect_parts.h"
#include "commands/plans.h"
#include "commands/targets.h"

namespace hipplan::commands {
namespace {

/// What the driver tells, over what the target file of the architecture says.
target::Description described(const device::Facts& facts, const target::Description& known,
                              const std::string& device) {
  auto out = device::with_facts(known, facts);
  out.source = cat("read from ", device, ", driver ", facts.driver_version, ", runtime ",
                   facts.runtime_version, facts.bus_id.empty() ? "" : ", bus " + facts.bus_id,
                   "; bandwidth and rates: ", out.source);
  return out;
}

void print_facts(Inspection& in, const std::string& device, const device::Facts& facts) {
  const auto line = [&in](const char* what, const std::string& value) {
    if (!value.empty() && value != "0") in.io.line(cat(what, harmless(value)));
  };
  line("device                   ", device);
  line("name                     ", facts.name);
  line("architecture             ", facts.arch.text());
  line("driver                   ", facts.driver_version);
  line("runtime                  ", facts.runtime_version);
  line("bus                      ", facts.bus_id);
  line("memory bytes             ", cat(facts.memory_bytes));
  line("free memory bytes        ", cat(facts.free_memory_bytes));
  line("cache bytes              ", cat(facts.last_level_cache_bytes));
  line("wavefront size           ", cat(facts.wavefront_size));
  line("compute units            ", cat(facts.compute_units));
  line("workgroup size, most     ", cat(facts.max_workgroup_size));
  line("LDS bytes per workgroup  ", cat(facts.lds_bytes_per_workgroup));
  line("registers per workgroup  ", cat(facts.registers_per_workgroup));
  line("clock kHz                ", cat(facts.clock_khz));
  line("memory clock kHz         ", cat(facts.memory_clock_khz));
  line("memory bus bits          ", cat(facts.memory_bus_bits));
}

void write_facts(json::Writer& out, const device::Facts& facts) {
  out.begin_object().member("name", facts.name).member("arch", facts.arch.text());
  out.member("driver_version", facts.driver_version);
  out.member("runtime_version", facts.runtime_version).member("bus_id", facts.bus_id);
  out.member("memory_bytes", facts.memory_bytes);
  out.member("free_memory_bytes", facts.free_memory_bytes);
  out.member("last_level_cache_bytes", facts.last_level_cache_bytes);
  out.member("wavefront_size", facts.wavefront_size).member("compute_units", facts.compute_units);
  out.member("max_workgroup_size", facts.max_workgroup_size);
  out.member("lds_bytes_per_workgroup", facts.lds_bytes_per_workgroup);
  out.member("registers_per_workgroup", facts.registers_per_workgroup);
  out.member("clock_khz", facts.clock_khz).member("memory_clock_khz", facts.memory_clock_khz);
  out.member("memory_bus_bits", facts.memory_bus_bits).end_object();
}

}  // namespace

Result<void> describe_target(Inspection& in) {
  if (!in.arguments.empty())
    return usage_error({.where = "target",
                        .what = "takes no file",
                        .expected = "--device DEVICE [-o FILE]",
                        .found = in.arguments.front().substr(0, 80)});
  if (in.device.empty())
    return usage_error(
        {.where = "target", .what = "no device named", .expected = "--device DEVICE"});
  if (in.io.json() && in.output == "-")
    return usage_error({.where = "target",
                        .what = "standard output cannot take the target and a report",
                        .advice = "write the target to a file, or leave out --json"});
  HIPPLAN_TRY(refuse_other_name(in.output, ".json"));
  HIPPLAN_TRY_ASSIGN(const auto device, open_device({in.device, "", {}, {}}, in.io));
  HIPPLAN_TRY_ASSIGN(const auto facts, device->facts());
  const std::string text =
      target::print_description(described(facts, device->description(), device->name()));
  const bool to_stdout = in.output == "-" || (in.output.empty() && !in.io.json());
  if (to_stdout) in.io.result(text);
  if (!in.output.empty() && in.output != "-") HIPPLAN_TRY(write_file(in.output, as_bytes(text)));
  if (in.io.json()) {
    json::Writer out;
    out.begin_object().member("schema", "hipplan.target/1").member("device", device->name());
    out.member("output", in.output).key("facts");
    write_facts(out, facts);
    out.key("target").raw(text).end_object();
    in.io.line(out.text());
  } else if (!to_stdout) {
    print_facts(in, device->name(), facts);
  }
  return {};
}

}  // namespace hipplan::commands
