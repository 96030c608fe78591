// hipplan-inspect: look at files without a GPU.
#include "commands/commands.h"
#include "commands/inspect_parts.h"
#include "commands/targets.h"

namespace hipplan::commands {

Result<void> need(const Inspection& in, size_t count, const char* expected) {
  if (in.arguments.size() == count) return {};
  return usage_error({.where = in.command,
                      .what = "wrong number of arguments",
                      .expected = expected,
                      .found = cat(in.arguments.size())});
}

namespace {

struct Command {
  const char* name;
  Result<void> (*function)(Inspection&);
};
constexpr Command kCommands[] = {{"show", show},
                                 {"diff", diff},
                                 {"list", list_things},
                                 {"extract", extract},
                                 {"size", size},
                                 {"disasm", disasm},
                                 {"resolve", resolve_command},
                                 {"why", why},
                                 {"bundle", bundle},
                                 {"unbundle", unbundle},
                                 {"merge", merge},
                                 {"split", split},
                                 {"strip", strip},
                                 {"sign", sign},
                                 {"signatures", list_signatures},
                                 {"sbom", sbom},
                                 {"target", describe_target}};

}  // namespace

int inspect(const hipplan_inspect_options& options, Io& io) {
  auto targets = target_names(options.targets);
  if (!targets) {
    io.fail(targets.error());
    return io.status();
  }
  Inspection in{io,
                text_or_empty(options.command),
                items(options.arguments),
                text_or_empty(options.graph_key),
                *std::move(targets),
                text_or_empty(options.part),
                text_or_empty(options.output),
                text_or_empty(options.key),
                text_or_empty(options.trust),
                text_or_empty(options.format),
                options.detached != 0,
                options.date,
                text_or_empty(options.device)};
  if (const auto once = refuse_twice_stdin(in.arguments); !once) {
    io.fail(once.error());
    return io.status();
  }
  for (const auto& command : kCommands) {
    if (in.command != command.name) continue;
    if (auto done = command.function(in); !done) io.fail(done.error());
    return io.status();
  }
  io.fail(inspect_usage(
      "unknown command '" + in.command + "'",
      "show, diff, list, extract, size, disasm, "
      "resolve, why, bundle, unbundle, merge, split, strip, sign, signatures, sbom or target"));
  return io.status();
}

}  // namespace hipplan::commands
