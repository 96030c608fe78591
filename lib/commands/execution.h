// Running one plan on a device with given inputs.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "graph/graph.h"
#include "plan/plan.h"
#include "restore/restore.h"
#include "run/inputs.h"
#include "run/judge.h"

namespace hipplan::commands {

/// Device memory of one plan's tensors; released when it goes.
class DeviceTensors {
 public:
  explicit DeviceTensors(device::Device& device) : device_(device) {}
  ~DeviceTensors();
  DeviceTensors(const DeviceTensors&) = delete;
  DeviceTensors& operator=(const DeviceTensors&) = delete;

  /// Allocates and fills one tensor's memory, and remembers it by uid.
  Result<void> add(int64_t uid, ByteView content);
  Result<void> add_workspace(uint64_t bytes);
  [[nodiscard]] bool has(int64_t uid) const { return sizes_.count(uid) != 0; }
  /// Says that the content is a poison that no kernel should read.
  Result<void> mark_undefined(int64_t uid);
  Result<Bytes> read(int64_t uid) const;
  [[nodiscard]] const std::vector<restore::TensorAddress>& addresses() const { return addresses_; }
  [[nodiscard]] device::Address workspace() const { return workspace_; }

 private:
  device::Device& device_;
  std::vector<restore::TensorAddress> addresses_;
  std::map<int64_t, uint64_t> sizes_;
  device::Address workspace_ = 0;
};

/// How results are judged, and who hears of the steps. Every function may be empty; an error of one
/// ends the work with it.
struct Judging {
  bool twice = true;      ///< run again over another poison: both must agree
  bool reference = true;  ///< compare with the CPU reference
  run::Tolerance tolerance{};
  unsigned jobs = 0;
  /// Before each run and the comparison, with its name: "first run".
  std::function<Result<void>(const char*)> next_step{};
  std::function<Result<void>(const run::Buffers&)> ran_once{};  ///< outputs of the first run
  std::function<Result<void>()> judged{};  ///< all runs are done, nothing is compared yet
};
/// Runs a plan over poisoned outputs and judges what it gives: the one way of hipplan-run --check
/// and hipplan-verify --execute. Returns the comparisons with the reference, in order of uid.
Result<std::vector<run::OutputComparison>> execute_and_judge(device::Device& device,
                                                             const restore::Executable& executable,
                                                             const graph::Graph& graph,
                                                             const run::Buffers& inputs,
                                                             const Judging& judging);

/// What to tell of a result that agrees and is NaN or infinite in places, which says little about
/// the kernel: "output 3: 128 of 128 elements are NaN or infinite; a pass against CPU reference
/// says little about the kernel". `against` is "CPU reference" or a file's name.
std::optional<std::string> warning_on_not_finite(int64_t uid, const run::Comparison& result,
                                                 const std::string& against);

/// What to tell before a plan is loaded: that its code is PTX, which the driver compiles while the
/// user waits, and how to have machine code instead. Nothing where no driver compiles.
std::optional<std::string> note_on_loading(const plan::Plan& plan, const device::Device& device);

/// What `restore` needs besides the plan: the graph parsed again, checked to be the plan's own.
Result<graph::Graph> graph_of(const plan::Plan& plan, const std::string& graph_file);

/// Fills device memory with what a plan takes: its inputs, its poisoned outputs, its workspace.
/// Fails with damaged, reason "graph-plan", where the graph's tensors are not the plan's.
Result<void> add_tensors(DeviceTensors& tensors, const restore::Executable& executable,
                         const run::Buffers& inputs, const run::Buffers& poisoned);

/// Runs `executable` once: inputs in, outputs poisoned, launch, outputs out.
Result<run::Buffers> run_once(device::Device& device, const restore::Executable& executable,
                              const run::Buffers& inputs, const run::Buffers& poisoned);

}  // namespace hipplan::commands
