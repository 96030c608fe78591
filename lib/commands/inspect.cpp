// hipplan-inspect: look at files without a GPU.
#include <filesystem>

#include "base/join.h"
#include "commands/commands.h"
#include "commands/graphs.h"
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

Result<void> refuse_file_name(const std::string& folder) {
  std::error_code ignored;
  if (folder.ends_with('/') || std::filesystem::exists(folder, ignored)) return {};
  const std::string ending = std::filesystem::path(folder).extension().string();
  for (const char* of_file : {".hplan", ".zst", ".tar", ".zip", ".json", ".sig", ".co", ".kpack"})
    if (ending == of_file)
      return Error{.code = Code::bad_input,
                   .reason = "output-name",
                   .where = folder,
                   .what = "is a file's name, and files are written into a folder",
                   .expected = "-o FOLDER/"};
  return {};
}

std::string written_bytes(const std::string& path) {
  std::error_code failed;
  const auto size = std::filesystem::file_size(path, failed);
  return failed ? "" : cat(size, " bytes");
}

void finish_stream(Io& io, json::ArrayStream& out, const Result<void>& done,
                   const std::function<void(json::Writer&)>& rest) {
  if (!done && !out.sent()) return;
  out.finish([&](json::Writer& end) {
    rest(end);
    if (!done) {
      end.key("error");
      write_error(end, done.error());
    }
    end.end_object();
  });
  io.bytes("\n");
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

/// --graph-key may name a plan as tools print it, by key and target.
Result<void> take_plan_name(Inspection& in) {
  std::string target = joined(in.targets);
  HIPPLAN_TRY(split_plan_name(in.graph_key, target));
  if (in.targets.empty() && !target.empty()) in.targets = {target};
  return {};
}

}  // namespace

std::vector<std::string> command_names() {
  std::vector<std::string> out;
  for (const auto& command : kCommands) out.emplace_back(command.name);
  return out;
}

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
                text_or_empty(options.device),
                options.force != 0};
  // What names standard output is written like -, by every command.
  if (is_standard_output(in.output)) in.output = "-";
  auto sound = refuse_twice_stdin(in.arguments);
  if (sound) sound = take_plan_name(in);
  if (!sound) {
    io.fail(sound.error());
    return io.status();
  }
  for (const auto& command : kCommands) {
    if (in.command != command.name && !(in.command.empty() && command.function == show)) continue;
    if (auto done = command.function(in); !done) io.fail(done.error());
    return io.status();
  }
  io.fail(
      inspect_usage("unknown command '" + in.command + "'", "one of " + joined(command_names())));
  return io.status();
}

}  // namespace hipplan::commands
