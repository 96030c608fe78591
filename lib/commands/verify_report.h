// What hipplan-verify found, and the forms it is printed in.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "commands/io.h"
#include "plan/plan.h"
#include "plan/signature.h"
#include "run/judge.h"

namespace hipplan::commands {

/// One execution and what became of each output.
struct Execution {
  std::string device;
  std::vector<run::OutputComparison> outputs;
};

/// A value that is seldom there, and takes no more room than a pointer when it is not: a file may
/// hold a hundred thousand plans.
template <class T>
class Seldom {
 public:
  Seldom& operator=(T value) {
    value_ = std::make_unique<T>(std::move(value));
    return *this;
  }
  explicit operator bool() const { return value_ != nullptr; }
  const T* operator->() const { return value_.get(); }
  const T& operator*() const { return *value_; }

 private:
  std::unique_ptr<T> value_;
};

/// What is known about one plan after checking.
struct PlanVerdict {
  plan::EntryInfo entry;
  std::string_view engine, kernel;  ///< in the file's names
  Seldom<Error> failure;
  std::vector<std::string> usable_on;  ///< of the targets asked for
  Seldom<Execution> execution;
  Seldom<Error> not_executed;  ///< why a sound plan was not executed
};
/// Whether a plan was not executed because it carries no graph. That is no failure of anything: it
/// was baked so, and everything else about it has been checked.
[[nodiscard]] bool lacks_graph(const PlanVerdict& plan);
/// Whether it was not executed because it is for another device than the one that was named.
[[nodiscard]] bool is_for_others(const PlanVerdict& plan);

/// A graph without a sound plan for a target that was asked for.
struct MissingTarget {
  Digest graph_key;
  std::string target;
};

struct FileVerdict {
  std::string path;
  std::optional<Error> failure;  ///< of the file as a whole; the first one
  std::vector<MissingTarget> missing;
  std::set<std::string> names;  ///< of engines and kernels: few, for any number of plans
  std::vector<PlanVerdict> plans;
  std::vector<plan::Signer> signed_by;  ///< trusted keys, where files must be signed
  int status = 0;
  bool idle = false;  ///< plans were left out, and none of any file was executed: that is a fault
};

/// One line a file, executions below it, and a summary of several.
void print_verdicts(const std::vector<FileVerdict>& files, Io& io);
/// Schema hipplan.verify/1.
void print_verdicts_json(const std::vector<FileVerdict>& files, Io& io);
/// A JUnit report: a suite for each file, a case for each plan and for the file as a whole.
void print_verdicts_junit(const std::vector<FileVerdict>& files, Io& io);
/// SARIF 2.1.0: a rule for each reason met, a result for each failure.
void print_verdicts_sarif(const std::vector<FileVerdict>& files, Io& io);

/// "04151b225e3ac406/gfx942"
[[nodiscard]] std::string short_name(const plan::EntryInfo& entry);
/// What is to be said of a file besides that it is good.
struct Finding {
  Error error;
  bool fault = true;  ///< not so where a plan was not executed and that is no fault
};
/// Every finding of a file in their order: of its plans (those that were not executed too), its
/// missing targets, the file.
[[nodiscard]] std::vector<Finding> findings_of(const FileVerdict& file);
/// No sound plan of a graph runs on a target.
[[nodiscard]] Error missing_error(const MissingTarget& missing);

}  // namespace hipplan::commands
