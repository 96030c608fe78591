// One run of hipplan-verify, and the part of it that executes plans.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "commands/io.h"
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
};

/// Runs the plan twice with seeded inputs and compares with the CPU reference. That its device is
/// not there, or not described, says nothing about the plan: it is left out then. So is a plan that
/// carries no graph to compute a reference from, and that is no failure at all.
Result<void> execute_plan(const plan::Plan& plan, PlanVerdict& verdict, Verification& v);
/// Tells why plans were left out: each fault once, with the targets of all of its plans.
void tell_absent(Verification& v);

}  // namespace hipplan::commands
