// The inspect commands that need more than plan files.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "commands/io.h"

namespace hipplan::commands {

/// The arguments of one inspect call.
struct Inspection {
  Io& io;
  std::string command;
  std::vector<std::string> arguments;
  std::string graph_key;
  std::vector<std::string> targets;
  std::string part, output;
};

/// list engines | kernels | targets | devices | handlers
Result<void> list_things(Inspection& in);
/// Machine code of a plan's kernels, or of a bare code object, as text.
Result<void> disasm(Inspection& in);

}  // namespace hipplan::commands
