// hipplan-build: graphs and targets -> one file or many.
#include <algorithm>
#include <atomic>
#include <map>
#include <set>

#include "base/file.h"
#include "base/parallel.h"
#include "commands/baking.h"
#include "commands/build_parts.h"
#include "commands/commands.h"
#include "commands/plans.h"
#include "commands/targets.h"

namespace hipplan::commands {
namespace {

/// Keeps what one thread's work says, so that the order of messages does not depend on threads.
DiagnosticSink collect(std::vector<Diagnostic>& notes) {
  return [&notes](const Diagnostic& diagnostic) { notes.push_back(diagnostic); };
}

void tell(const std::vector<Diagnostic>& notes, Io& io) {
  const DiagnosticSink sink = io.sink();
  for (const auto& note : notes) sink(note);
}

Result<std::string> read_text(const std::string& path) {
  HIPPLAN_TRY_ASSIGN(const auto file, FileView::open(path, 64ull << 20));
  return std::string(as_text(file.view()));
}

/// Whether JSON text has the two lists that make a graph; sound JSON without them is something
/// else, for instance a descriptor.
bool is_other_json(const std::string& text, const std::string& where) {
  const auto value = json::parse(text, where, {.comments = true});
  if (!value) return false;
  return value->find("nodes") == nullptr && value->find("tensors") == nullptr;
}

Result<graph::Graph> read_source(const std::string& path, bool allow_unknown,
                                 const DiagnosticSink& sink) {
  HIPPLAN_TRY_ASSIGN(const auto text, read_text(path));
  graph::ReadOptions options;
  options.allow_unknown_keys = allow_unknown;
  const std::string where = path == "-" ? "standard input" : path;
  auto graph = graph::read_graph(text, where, options, sink);
  if (!graph && is_other_json(text, where))
    return Error{.code = Code::bad_input,
                 .reason = "not-a-graph",
                 .where = where,
                 .what = "not a graph",
                 .expected = "JSON with tensors and nodes"};
  return graph;
}

Result<void> check_options(const hipplan_build_options& options, bool json) {
  const auto missing = [](const char* what, const char* advice) {
    return usage_error({.what = what, .advice = advice});
  };
  if (options.graphs.count == 0)
    return missing("no graph given", "name at least one JSON graph file");
  if (options.benchmark != 0) {
    if (options.device == nullptr)
      return missing("--benchmark needs a GPU to measure on", "pass --device hip:0 or cuda:0");
    if (options.targets.count != 0 || options.target_files.count != 0)
      return missing("--benchmark bakes for the GPU that it measures on", "leave out --target");
    if (options.check_reproducible != 0)
      return missing("a choice by measured times cannot be made twice",
                     "leave out --check-reproducible");
  } else if (options.device != nullptr) {
    return missing("--device goes with --benchmark", "pass --benchmark, or --target to bake");
  } else if (options.targets.count == 0 && options.target_files.count == 0)
    return missing("no target given", "pass --target, for instance --target gfx942,gfx1100");
  if (output_of(options).empty() && options.dry_run == 0)
    return missing("no output given", "pass -o FILE.hplan, -o FOLDER/ or --dry-run");
  if (output_of(options) == "-" && (json || options.why != 0))
    return missing("standard output cannot take the plan and a report",
                   "write the plan to a file, or leave out --json and --why");
  return {};
}

Result<void> prepare(Bake& bake) {
  const auto& options = bake.options;
  HIPPLAN_TRY(check_options(options, bake.io.json()));
  HIPPLAN_TRY_ASSIGN(bake.targets, resolve_targets(options.targets, options.target_files, bake.io));
  if (options.benchmark != 0) {
    HIPPLAN_TRY_ASSIGN(bake.benchmark, Benchmark::open(options.device, bake.io));
    bake.targets.push_back(bake.benchmark->description());
  }
  if (bake.targets.empty())
    return usage_error({.what = "no target named",
                        .advice = "pass --target, for instance --target gfx942,gfx1100"});
  if (options.sign_key != nullptr) {
    HIPPLAN_TRY_ASSIGN(bake.key, plan::PrivateKey::read(options.sign_key));
  }
  bake.request.engine = text_or_empty(options.engine);
  for (const auto& text : items(options.knobs)) {
    HIPPLAN_TRY_ASSIGN(auto knob, select::parse_knob(text));
    bake.request.knobs.push_back(std::move(knob));
  }
  HIPPLAN_TRY_ASSIGN(const auto paths, expand_paths(items(options.graphs), {".json"}));
  auto inputs = paths;
  for (const auto& file : items(options.target_files)) inputs.push_back(file);
  inputs.push_back(text_or_empty(options.sign_key));
  HIPPLAN_TRY(refuse_overwrite(output_of(options), inputs));
  HIPPLAN_TRY(refuse_other_name(output_of(options), ".hplan"));
  for (const auto& path : paths) bake.sources.push_back({path, std::nullopt, {}});
  const std::string output = output_of(options);
  // A folder or a pattern asks for many graphs even where it holds one.
  const bool many = paths.size() > 1 || paths != items(options.graphs);
  bake.to_folder = to_folder(output, many);
  if (bake.to_folder && !to_folder(output, false) && options.dry_run == 0)
    bake.io.note(cat(output, " is taken for a folder, since ",
                     paths.size() > 1 ? "several graphs are" : "a folder or pattern of graphs is",
                     " baked and the name has no extension; -o ", output,
                     ".hplan writes one file"));
  return {};
}

/// Parses every graph; a graph that cannot be read is reported and takes part no further.
Result<void> read_all(Bake& bake) {
  std::atomic<size_t> done{0};
  parallel_for(bake.sources.size(), bake.io.jobs(), [&](size_t i) {
    if (!bake.io.check_interrupted()) return;
    bake.sources[i].graph.emplace(read_source(bake.sources[i].path,
                                              bake.options.allow_unknown_keys != 0,
                                              collect(bake.sources[i].notes)));
    bake.io.progress("reading graphs", ++done, bake.sources.size());
  });
  HIPPLAN_TRY(bake.io.check_interrupted());
  for (size_t s = 0; s < bake.sources.size(); ++s) {
    tell(bake.sources[s].notes, bake.io);
    if (!bake.sources[s].graph->ok()) {
      bake.io.fail(hint_at_list(bake.sources[s].graph->error(), bake.sources[s].path,
                                bake.options.targets, bake.io));
      continue;
    }
    for (size_t t = 0; t < bake.targets.size(); ++t)
      bake.jobs.push_back({s, t, {}, {}, {}, {}, {}});
  }
  return {};
}

Result<void> bake_all(Bake& bake) {
  pipeline::Catalog catalog(kernels_folder(bake.io), bake.io.jobs());
  capture::Capturer capturer;
  const pipeline::BakeOptions options = bake_options(bake.request, bake.options.plan_only == 0);
  // What is wrong with descriptors is told here and not by the thread that happens to come first.
  if (!bake.jobs.empty())
    for (const auto& target : bake.targets) (void)catalog.descriptors(target.arch, bake.io.sink());
  std::atomic<size_t> done{0};
  // Nothing else runs while a GPU is being timed.
  parallel_for(bake.jobs.size(), bake.benchmark ? 1 : bake.io.jobs(), [&](size_t i) {
    if (!bake.io.check_interrupted()) return;
    Job& job = bake.jobs[i];
    const graph::Graph& graph = bake.sources[job.source].graph->value();
    const bool explain = bake.options.why != 0;
    std::string* const told = explain ? &job.explanation : nullptr;
    if (bake.benchmark)
      job.baked.emplace(
          bake.benchmark->bake(graph, catalog, capturer, options, collect(job.notes), told));
    else
      job.baked.emplace(pipeline::bake(graph, bake.targets[job.target], catalog, capturer, options,
                                       collect(job.notes), told));
    if (job.baked->ok()) {
      job.graph_key = job.baked->value().plan.graph_key;
      job.plan_digest = plan::plan_digest(job.baked->value().plan);
    }
    bake.io.progress("baking plans", ++done, bake.jobs.size());
  });
  HIPPLAN_TRY(bake.io.check_interrupted());
  bool not_served = false;
  for (const Job& job : bake.jobs) {
    tell(job.notes, bake.io);
    if (job.baked->ok()) continue;
    Error error = job.baked->error();
    not_served = not_served || error.reason == "not-served";
    // --why tells every reason as a result; once is enough.
    if (!job.explanation.empty() && !bake.io.json()) error.details.clear();
    bake.io.fail(error.within(bake.sources[job.source].path + " for " +
                              bake.targets[job.target].arch.text()));
  }
  if (not_served && bake.options.why == 0) bake.io.note("--why tells every reason of a refusal");
  return {};
}

/// Of two graphs that differ in names only, the first one's are kept.
void note_lost_names(const Source& kept, const Source& lost, Io& io) {
  const std::string &stays = kept.graph->value().name, &goes = lost.graph->value().name;
  const auto quoted = [](const std::string& name) {
    return name.empty() ? std::string("no name") : "'" + name + "'";
  };
  io.note(cat(lost.path, ": is the same graph as ", kept.path,
              " but for names; the file holds it once, with the names in ", kept.path,
              stays == goes ? "" : cat(" (", quoted(stays), ", not ", quoted(goes), ")"),
              "; a folder (-o FOLDER/) takes both"));
}

/// A file holds one plan of a graph for a target. Graphs that differ in names and tensor uids only
/// have one key: when their plans differ, the first stays and the others are refused.
void refuse_twins(Bake& bake) {
  std::map<std::pair<Digest, std::string>, const Job*> first;
  std::set<size_t> told;
  for (Job& job : bake.jobs) {
    if (!job.baked->ok()) continue;
    const auto& plan = job.baked->value().plan;
    const auto [it, fresh] = first.emplace(std::pair(job.graph_key, plan.target), &job);
    if (fresh) continue;
    const auto& other = it->second->baked->value().plan;
    if (it->second->plan_digest == job.plan_digest) {
      if (other.graph != plan.graph && told.insert(job.source).second)
        note_lost_names(bake.sources[it->second->source], bake.sources[job.source], bake.io);
      continue;
    }
    const bool uids = other.envelope.tensor_uids != plan.envelope.tensor_uids;
    Error error{.code = Code::bad_input,
                .reason = "duplicate-plan",
                .where = bake.sources[job.source].path + " for " + plan.target,
                .what = cat("is the same graph as ", bake.sources[it->second->source].path,
                            uids ? " but for its tensor uids" : " with other decisions"),
                .expected = "one plan of a graph for a target in a file",
                .found = "two",
                .advice = "leave one out, give both the same uids, or write a folder (-o FOLDER/)"};
    bake.io.fail(error);
    job.baked.emplace(std::move(error));
  }
}

Result<void> run(Bake& bake) {
  HIPPLAN_TRY(prepare(bake));
  HIPPLAN_TRY(read_all(bake));
  HIPPLAN_TRY(bake_all(bake));
  const std::string output = output_of(bake.options);
  if (bake.to_folder)
    refuse_same_names(bake);
  else if (!output.empty())
    refuse_twins(bake);
  const bool any = std::any_of(bake.jobs.begin(), bake.jobs.end(),
                               [](const Job& job) { return job.baked->ok(); });
  const bool good = bake.io.status() == 0 || (bake.options.keep_going != 0 && any);
  if (good && bake.options.check_reproducible != 0) HIPPLAN_TRY(check_reproducible(bake));
  if (good && bake.options.dry_run == 0) {
    HIPPLAN_TRY(write_baked(bake));
    bake.written = true;
  }
  bake.keep_going_helps = !good && any;
  return {};
}

/// Where an output was asked for and not made, that is said.
void tell_unwritten(const Bake& bake) {
  const bool asked = bake.options.dry_run == 0 && !output_of(bake.options).empty();
  if (!asked || bake.written || bake.io.status() >= HIPPLAN_INTERRUPTED) return;
  bake.io.note(
      std::string("nothing was written") +
      (bake.keep_going_helps ? "; --keep-going writes the plans that could be baked" : ""));
}

}  // namespace

int build(const hipplan_build_options& options, Io& io) {
  Bake bake{options, io, {}, {}, {}, {}, false, false, false, {}};
  const Result<void> done = run(bake);
  if (!done) io.fail(done.error());
  tell_unwritten(bake);
  const bool all_known = std::all_of(bake.jobs.begin(), bake.jobs.end(),
                                     [](const Job& job) { return job.baked.has_value(); });
  if (io.status() >= HIPPLAN_INTERRUPTED || !all_known) return io.status();
  if (io.json())
    print_baked_json(bake, done);
  else if (done)
    print_baked(bake);
  return io.status();
}

}  // namespace hipplan::commands
