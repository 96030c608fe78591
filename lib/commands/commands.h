// The tools' commands. Each reports through `io` and returns the exit status.
#pragma once

#include "commands/io.h"

namespace hipplan::commands {

int build(const hipplan_build_options& options, Io& io);
int inspect(const hipplan_inspect_options& options, Io& io);
int verify(const hipplan_verify_options& options, Io& io);
int run(const hipplan_run_options& options, Io& io);
int pack(const hipplan_pack_options& options, Io& io);

}  // namespace hipplan::commands
