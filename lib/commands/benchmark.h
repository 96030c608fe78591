// hipplan-build --benchmark: kernels chosen by times measured on a GPU (docs/selection.md).
#pragma once

#include <memory>

#include "commands/io.h"
#include "pipeline/pipeline.h"

namespace hipplan::commands {

/// An opened GPU that bakes plans by measuring. One graph at a time.
class Benchmark {
 public:
  /// Fails with bad_input for devices that have no time to measure (an emulator, the null device),
  /// and with what opening the device fails with.
  static Result<std::unique_ptr<Benchmark>> open(const std::string& device, Io& io);
  ~Benchmark();
  Benchmark(const Benchmark&) = delete;
  Benchmark& operator=(const Benchmark&) = delete;

  [[nodiscard]] const target::Description& description() const;

  /// As pipeline::bake for this device's own architecture, but every kernel that the request leaves
  /// is restored, judged by two runs over differently poisoned outputs, and timed. One that fails
  /// is dropped and its reason recorded; the fastest of the others is taken, and all times go into
  /// the plan's measurements. When none is left the error lists each with its reason.
  Result<pipeline::Baked> bake(const graph::Graph& graph, pipeline::Catalog& catalog,
                               capture::Capturer& capturer, const pipeline::BakeOptions& options,
                               const DiagnosticSink& sink, std::string* explanation);

 private:
  struct State;
  explicit Benchmark(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace hipplan::commands
