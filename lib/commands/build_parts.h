// What hipplan-build is about: graphs, targets, what became of each pair, and where it goes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "commands/benchmark.h"
#include "commands/io.h"
#include "graph/graph.h"
#include "pipeline/pipeline.h"
#include "plan/signature.h"

namespace hipplan::commands {

/// One graph file after reading.
struct Source {
  std::string path;
  std::optional<Result<graph::Graph>> graph;
  std::vector<Diagnostic> notes;  ///< told when all are done, in the order of the arguments
};

/// One (graph, target) pair and what became of it.
struct Job {
  size_t source = 0, target = 0;
  std::optional<Result<pipeline::Baked>> baked;
  std::string explanation;
  Digest graph_key, plan_digest;
  std::vector<Diagnostic> notes;
};

/// One call of hipplan-build.
struct Bake {
  const hipplan_build_options& options;
  Io& io;
  std::vector<target::Description> targets;
  select::Request request;
  std::vector<Source> sources;
  std::vector<Job> jobs;
  bool to_folder = false;  ///< one file for each graph
  bool written = false;
  bool keep_going_helps = false;
  std::optional<plan::PrivateKey> key;             ///< signs what is written
  std::unique_ptr<Benchmark> benchmark = nullptr;  ///< measures, with --benchmark
};

/// The output as it was asked for; a file that is standard output is "-".
[[nodiscard]] std::string output_of(const hipplan_build_options& options);
/// Whether an output means a folder: it ends in a slash or is one. Where nothing is yet, a name
/// without extension is one too when `many` graphs were asked for.
[[nodiscard]] bool to_folder(const std::string& output, bool many);
/// Refuses graphs whose files in the output folder would be called like an earlier one's.
void refuse_same_names(Bake& bake);
/// Writes what was baked: one file, or one for each graph into a folder, all of them or none. A
/// note tells of signatures that are written over.
Result<void> write_baked(const Bake& bake);
/// Bakes again with nothing cached, one thread and the plans in reverse, and compares the bytes;
/// what another process has baked is compared too. Fails with negative, reason "not-reproducible".
Result<void> check_reproducible(const Bake& bake);
void print_baked(const Bake& bake);
/// Schema hipplan.build/1; `done` is what stopped the call as a whole.
void print_baked_json(const Bake& bake, const Result<void>& done);

}  // namespace hipplan::commands
