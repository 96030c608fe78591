// The exported tool functions: argument checks and the exception fence.
#include <new>

#include "api/options.h"
#include "base/interruption.h"
#include "commands/commands.h"
#include "hipplan/tools.h"

namespace {

using hipplan::Code;
using hipplan::Error;
using hipplan::commands::Io;

template <class Options>
void run_command(int (*command)(const Options&, Io&), const Options* options, Io& io) {
  try {
    const auto own = hipplan::api::taken(options, "options");
    if (!own) {
      io.fail(own.error());
      return;
    }
    (void)command(*own, io);
  } catch (const std::bad_alloc&) {
    io.fail({.code = Code::machine, .reason = "out-of-memory", .what = "out of memory"});
  } catch (const std::exception& fault) {
    io.fail({.code = Code::internal, .reason = "exception", .what = fault.what()});
  }
}

template <class Options>
int fenced(int (*command)(const Options&, Io&), const Options* options,
           const hipplan_tool_io* raw) {
  try {
    // Without callbacks that can be trusted, only hipplan_last_error can tell.
    const auto own = hipplan::api::taken(raw, "io");
    if (!own) return hipplan::api::keep(own.error());
    Io io(*own);
    const hipplan::InterruptionScope scope([&io] { return !io.check_interrupted().ok(); });
    run_command(command, options, io);
    io.finish_json();
    return io.status();
  } catch (...) {
    // Not even the message could be made.
    return HIPPLAN_MACHINE;
  }
}

}  // namespace

extern "C" {

int hipplan_tool_build(const hipplan_build_options* options, const hipplan_tool_io* io) {
  return fenced(hipplan::commands::build, options, io);
}
int hipplan_tool_inspect(const hipplan_inspect_options* options, const hipplan_tool_io* io) {
  return fenced(hipplan::commands::inspect, options, io);
}
int hipplan_tool_verify(const hipplan_verify_options* options, const hipplan_tool_io* io) {
  return fenced(hipplan::commands::verify, options, io);
}
int hipplan_tool_run(const hipplan_run_options* options, const hipplan_tool_io* io) {
  return fenced(hipplan::commands::run, options, io);
}
int hipplan_tool_pack(const hipplan_pack_options* options, const hipplan_tool_io* io) {
  return fenced(hipplan::commands::pack, options, io);
}
}
