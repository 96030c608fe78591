// One run of hipplan-verify, and the part of it that executes plans.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "commands/io.h"
#include "commands/long_work.h"
#include "commands/plans.h"
#include "commands/verify_report.h"
#include "target/target.h"

namespace hipplan::commands {

struct Verification {
  const hipplan_verify_options& options;
  Io& io;
  std::vector<target::Arch> targets;
  std::vector<target::Description> described;
  std::vector<FileVerdict> files;
  std::optional<Trust> trust;             ///< given: files must be signed
  std::optional<target::Arch> device;     ///< given: only plans that run there are executed
  uint64_t executed = 0, to_execute = 0;  ///< plans of the current file
  bool noted = false;                     ///< a plan's code was said to be slow to load
  struct Absence {
    Error error;
    std::set<std::string> targets;  ///< of plans that were not executed for it
  };
  std::map<std::string, Absence> absent{};  ///< by the text of the error
  uint64_t ran = 0;                         ///< plans that were executed, of all files
  LongWork long_work{io};
};

/// Runs the plan twice with seeded inputs and compares with the CPU reference. That its device is
/// not there, or not described, says nothing about the plan: it is left out then. So is a plan that
/// carries no graph to compute a reference from, and so is one for another device than the one that
/// was named.
Result<void> execute_plan(const plan::Plan& plan, const std::string& file, PlanVerdict& verdict,
                          Verification& v);
/// Tells why plans were left out: each reason once, with the targets of all of its plans. That is
/// no fault as long as any plan was executed; when none was, the files' statuses and the whole say
/// so.
void judge_left_out(Verification& v);

}  // namespace hipplan::commands
