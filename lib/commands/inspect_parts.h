// The inspect commands that need more than plan files.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "commands/io.h"
#include "json/array_stream.h"
#include "plan/plan.h"
#include "target/target.h"

namespace hipplan::commands {

/// The arguments of one inspect call.
struct Inspection {
  Io& io;
  std::string command;  ///< empty: none named, which shows files
  std::vector<std::string> arguments;
  std::string graph_key;
  std::vector<std::string> targets;
  std::string part, output;
  std::string key, trust, format;
  bool detached = false;
  int64_t date = -1;  ///< seconds since 1970; negative: now
  std::string device{};
  bool force = false;  ///< unbundle: over files that are not the bundle's
};

[[nodiscard]] inline Error inspect_usage(const std::string& what, const std::string& expected) {
  return usage_error({.what = what, .expected = expected});
}
/// Refuses another number of arguments: bad_input, reason "usage".
Result<void> need(const Inspection& in, size_t count, const char* expected);

/// Refuses the name of a file for a folder that files are written into, unless it is one or ends in
/// '/': bad_input, reason "output-name".
Result<void> refuse_file_name(const std::string& folder);
/// "1234 bytes" of a file that was written; empty for pipes and devices.
[[nodiscard]] std::string written_bytes(const std::string& path);

/// The names of all commands.
[[nodiscard]] std::vector<std::string> command_names();

/// What files hold, foreign ones too; a folder of plans as one file and back.
Result<void> show(Inspection& in);
Result<void> show_bundle(Inspection& in, ByteView bytes, const std::string& path);
Result<void> bundle(Inspection& in);
Result<void> unbundle(Inspection& in);
/// What differs; what takes space; which plan a target gets; how a plan was chosen; one part.
Result<void> diff(Inspection& in);
Result<void> size(Inspection& in);
Result<void> resolve_command(Inspection& in);
Result<void> why(Inspection& in);
Result<void> extract(Inspection& in);

/// The architecture that --target names: an architecture, a target's name or its product's.
Result<target::Arch> target_arch(const Inspection& in);
/// The plan a command means: by key alone, or by key and what --target resolves to.
Result<plan::EntryInfo> chosen_entry(const Inspection& in, const plan::File& file);
/// list engines | kernels | targets | devices | handlers | instructions | plans FILE
Result<void> list_things(Inspection& in);
Result<void> list_plans(Inspection& in, const std::string& path);
/// Ends a document whose array was sent in pieces: with `rest` behind the array, and with the error
/// as a member where `done` failed after a part had gone out. Where nothing has, nothing goes.
void finish_stream(Io& io, json::ArrayStream& out, const Result<void>& done,
                   const std::function<void(json::Writer&)>& rest);
/// Several files' plans into one; one file's plans into files; the plans of some targets.
Result<void> merge(Inspection& in);
Result<void> split(Inspection& in);
Result<void> strip(Inspection& in);
/// Signing a file, and what its signatures are worth.
Result<void> sign(Inspection& in);
Result<void> list_signatures(Inspection& in);
/// Bill of materials of a file, SPDX or CycloneDX.
Result<void> sbom(Inspection& in);
/// A GPU of this machine as a target file.
Result<void> describe_target(Inspection& in);
/// Machine code of a plan's kernels, or of a bare code object, as text.
Result<void> disasm(Inspection& in);

}  // namespace hipplan::commands
