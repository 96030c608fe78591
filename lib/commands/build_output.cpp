// hipplan-build: files, the check of their bytes, and reports.
#include <filesystem>
#include <map>
#include <set>

#include "base/file.h"
#include "base/harmless.h"
#include "commands/baking.h"
#include "commands/build_parts.h"
#include "commands/replaced.h"
#include "commands/targets.h"
#include "plan/diff.h"
#include "plan/folder_output.h"
#include "plan/plan.h"

namespace hipplan::commands {
namespace fs = std::filesystem;
namespace {

Result<void> write_one(const Bake& bake, const std::string& path,
                       const std::vector<const Job*>& jobs) {
  plan::WriteOptions options;
  options.compress_code = bake.options.plain_code == 0;
  if (bake.key) options.sign = plan::signer(*bake.key);
  plan::Writer writer{options};
  for (const Job* job : jobs) {
    auto added = writer.add(job->baked->value().plan);
    if (!added) return added.error().within(bake.sources[job->source].path);
  }
  if (path != "-") return writer.write(path);
  HIPPLAN_TRY_ASSIGN(const auto bytes, writer.to_bytes());
  bake.io.bytes(as_text(bytes));
  return {};
}

/// The file in an output folder that takes a graph's plans: named after the graph's file.
fs::path file_in_folder(const Source& source) {
  fs::path name = source.path == "-" ? fs::path("stdin") : fs::path(source.path).stem();
  name += ".hplan";
  return name;
}

/// One file per graph.
Result<void> write_folder(const Bake& bake, const fs::path& folder) {
  std::map<fs::path, std::vector<const Job*>> files;
  for (const Job& job : bake.jobs)
    if (job.baked->ok()) files[file_in_folder(bake.sources[job.source])].push_back(&job);
  HIPPLAN_TRY_ASSIGN(auto out, plan::FolderOutput::create(folder));
  std::vector<std::string> notes;
  uint64_t done = 0;
  for (const auto& [name, jobs] : files) {
    HIPPLAN_TRY(bake.io.check_interrupted());
    if (auto note = note_on_signature((folder / name).string(), bake.key.has_value()))
      notes.push_back(*std::move(note));
    HIPPLAN_TRY(
        out.add(name, [&](const fs::path& path) { return write_one(bake, path.string(), jobs); }));
    bake.io.progress("writing files", ++done, files.size());
  }
  HIPPLAN_TRY(out.commit());
  for (const auto& note : notes) bake.io.note(note);
  return {};
}

}  // namespace

Result<void> write_baked(const Bake& bake) {
  const std::string output = output_of(bake.options);
  if (bake.to_folder) return write_folder(bake, output);
  std::vector<const Job*> good;
  for (const Job& job : bake.jobs)
    if (job.baked->ok()) good.push_back(&job);
  const auto note = note_on_signature(output, bake.key.has_value());
  HIPPLAN_TRY(write_one(bake, output, good));
  if (note) bake.io.note(*note);
  return {};
}

void refuse_same_names(Bake& bake) {
  std::map<fs::path, size_t> owner;
  std::set<size_t> told;
  for (Job& job : bake.jobs) {
    if (!job.baked->ok()) continue;
    const Source& source = bake.sources[job.source];
    const fs::path name = file_in_folder(source);
    const size_t first = owner.emplace(name, job.source).first->second;
    if (first == job.source) continue;
    Error error{.code = Code::bad_input,
                .reason = "output-name",
                .where = source.path,
                .what = cat("would be written to ", name.string(), ", as ",
                            bake.sources[first].path, " is"),
                .advice = "rename one, or write them to one file with -o FILE.hplan"};
    if (told.insert(job.source).second) bake.io.fail(error);
    job.baked.emplace(std::move(error));
  }
}

namespace {

Result<void> compare_bytes(const Bytes& a, const Bytes& b, const char* what) {
  if (a == b) return {};
  return Error{.code = Code::negative,
               .reason = "not-reproducible",
               .what = what,
               .expected = "identical bytes",
               .found = plan::first_difference(a, b)};
}

}  // namespace

std::string output_of(const hipplan_build_options& options) {
  const std::string output = text_or_empty(options.output);
  return is_standard_output(output) ? "-" : output;
}

bool to_folder(const std::string& output, bool many) {
  std::error_code ignored;
  if (output.empty() || output == "-") return false;
  if (output.back() == '/' || fs::is_directory(output, ignored)) return true;
  return many && !fs::path(output).has_extension() && !fs::exists(output, ignored);
}

Result<void> check_reproducible(const Bake& bake) {
  plan::Writer first{plan::WriteOptions{}}, second{plan::WriteOptions{}};
  pipeline::Catalog catalog(kernels_folder(bake.io), 1);
  capture::Capturer capturer;
  const pipeline::BakeOptions options = bake_options(bake.request, bake.options.plan_only == 0);
  for (size_t i = bake.jobs.size(); i-- > 0;) {
    const Job& job = bake.jobs[i];
    if (!job.baked->ok()) continue;
    HIPPLAN_TRY(first.add(job.baked->value().plan));
    HIPPLAN_TRY_ASSIGN(auto again, pipeline::bake(bake.sources[job.source].graph->value(),
                                                  bake.targets[job.target], catalog, capturer,
                                                  options, {}, nullptr));
    HIPPLAN_TRY(second.add(std::move(again.plan)));
  }
  HIPPLAN_TRY_ASSIGN(const auto a, first.to_bytes());
  HIPPLAN_TRY_ASSIGN(const auto b, second.to_bytes());
  HIPPLAN_TRY(compare_bytes(a, b, "two bakes of the same graphs differ"));
  const std::string other = text_or_empty(bake.options.reproduced);
  if (other.empty()) return {};
  const auto theirs = read_file(other);
  if (!theirs)
    return Error{.code = Code::negative,
                 .reason = "not-reproducible",
                 .what = "the same graphs could not be baked by another process"};
  return compare_bytes(a, *theirs, "another process bakes the same graphs to something else");
}

void print_baked(const Bake& bake) {
  const char* const fate = bake.written || bake.options.dry_run != 0 ? "" : " (not written)";
  for (const Job& job : bake.jobs) {
    const std::string head =
        bake.sources[job.source].path + " for " + bake.targets[job.target].arch.text();
    if (job.baked->ok() && output_of(bake.options) != "-") {
      const auto& baked = job.baked->value();
      const std::string& name = bake.sources[job.source].graph->value().name;
      bake.io.line(cat(head, ": ", baked.engine, ", kernel ", baked.kernel, ", graph key ",
                       job.graph_key.hex().substr(0, 16), name.empty() ? "" : " (" + name + ")",
                       fate));
    }
    if (job.explanation.empty()) continue;
    bake.io.result(cat(job.baked->ok() ? "" : harmless(head) + ": ", job.explanation, "\n"));
  }
}

void print_baked_json(const Bake& bake, const Result<void>& done) {
  json::Writer out;
  out.begin_object().member("schema", "hipplan.build/1");
  out.member("output", output_of(bake.options));
  out.member("written", bake.written);
  out.key("plans").begin_array();
  for (const Job& job : bake.jobs) {
    out.begin_object().member("graph", bake.sources[job.source].path);
    out.member("target", bake.targets[job.target].arch.text());
    if (job.baked->ok()) {
      out.member("engine", job.baked->value().engine).member("kernel", job.baked->value().kernel);
      out.member("graph_key", job.graph_key.hex());
      const std::string& name = bake.sources[job.source].graph->value().name;
      out.key("graph_name");
      name.empty() ? out.null() : out.value(name);
      out.member("plan_digest", job.plan_digest.hex());
      if (bake.options.why != 0) out.key("reasons").raw(job.baked->value().plan.reasons);
    } else {
      out.key("error");
      write_error(out, job.baked->error());
    }
    out.end_object();
  }
  out.end_array();
  out.key("unreadable").begin_array();
  for (const Source& source : bake.sources)
    if (source.graph && !source.graph->ok()) write_error(out, source.graph->error());
  out.end_array();
  if (!done) {
    out.key("error");
    write_error(out, done.error());
  }
  out.member("status", bake.io.status()).end_object();
  bake.io.line(out.text());
}

}  // namespace hipplan::commands
