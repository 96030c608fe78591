// hipplan-run's inputs and outputs: .npy files, random numbers.
#include <charconv>

#include "base/file.h"
#include "commands/run_session.h"
#include "run/inputs.h"
#include "run/judge.h"
#include "run/npy.h"

namespace hipplan::commands {
namespace {

Result<const graph::Tensor*> tensor_of(const graph::Graph& graph, int64_t uid,
                                       const std::vector<size_t>& among, const char* kind) {
  std::string known;
  for (const size_t position : among) {
    if (graph.tensors[position].uid == uid) return &graph.tensors[position];
    known += cat(known.empty() ? "" : ", ", graph.tensors[position].uid);
  }
  return Error{.code = Code::bad_input,
               .reason = "unknown-uid",
               .where = cat("tensor uid ", uid),
               .what = cat("is no ", kind, " of the graph"),
               .expected = "one of " + known};
}

Result<Bytes> load_tensor(const graph::Tensor& tensor, const std::string& path) {
  HIPPLAN_TRY_ASSIGN(const auto file, FileView::open(path));
  HIPPLAN_TRY_ASSIGN(const auto npy, run::read_npy(file.view(), path));
  return run::tensor_from_npy(tensor, npy, path);
}

/// What is read must be there before anything runs or is written.
Result<void> require_files(const Assignments& files) {
  std::error_code failed;
  for (const auto& [uid, path] : files)
    if (path != "-" && !std::filesystem::exists(path, failed))
      return Error{.code = Code::bad_input,
                   .reason = "open",
                   .where = path,
                   .what = "cannot open: " + (failed ? failed.message() : "no such file")};
  return {};
}

/// Two names of one file, which need not exist yet.
bool same_place(const std::string& a, const std::string& b) {
  std::error_code failed_a, failed_b;
  const auto left = std::filesystem::weakly_canonical(std::filesystem::absolute(a), failed_a);
  const auto right = std::filesystem::weakly_canonical(std::filesystem::absolute(b), failed_b);
  return !failed_a && !failed_b && left == right;
}

/// A result that is compared with itself passes whatever it is.
Result<void> refuse_own_expectation(const Assignments& outputs, const Assignments& expects) {
  for (const auto& [uid, output] : outputs)
    for (const auto& [other, expected] : expects)
      if (expected != "-" && same_place(output, expected))
        return Error{.code = Code::bad_input,
                     .reason = "output-name",
                     .where = output,
                     .what = "is both the result and what it is compared with",
                     .advice = "write to another file"};
  return {};
}

}  // namespace

Result<Assignments> assignments(const hipplan_strings& list, const char* option) {
  Assignments out;
  for (const auto& item : items(list)) {
    const size_t equals = item.find('=');
    int64_t uid = 0;
    const char* stop = item.data() + std::min(equals, item.size());
    const auto read = std::from_chars(item.data(), stop, uid);
    const bool good = equals != std::string::npos && read.ec == std::errc() && read.ptr == stop &&
                      equals + 1 < item.size();
    if (!good)
      return usage_error(
          {.where = std::string(option) + " " + item, .what = "is not UID=FILE.npy"});
    if (std::string_view(option) == "--output" && is_standard_output(item.substr(equals + 1)))
      return usage_error({.where = std::string(option) + " " + item,
                          .what = "standard output takes the report and no tensor",
                          .expected = "a file"});
    if (!out.emplace(uid, item.substr(equals + 1)).second)
      return usage_error(
          {.where = std::string(option) + " " + item, .what = cat("uid ", uid, " is given twice")});
  }
  return out;
}

Result<void> make_inputs(Session& session) {
  HIPPLAN_TRY_ASSIGN(const auto files, assignments(session.options.inputs, "--input"));
  run::Buffers given;
  for (const auto& [uid, path] : files) {
    HIPPLAN_TRY_ASSIGN(const auto* tensor,
                       tensor_of(session.graph, uid, session.graph.external_inputs(), "input"));
    HIPPLAN_TRY_ASSIGN(given[uid], load_tensor(*tensor, path));
  }
  HIPPLAN_TRY_ASSIGN(session.inputs,
                     run::random_inputs(session.graph, session.options.seed, session.io.jobs(),
                                        &given, [&] { return session.io.check_interrupted(); }));
  return {};
}

run::Tolerance tolerance_of(const hipplan_run_options& options) {
  run::Tolerance out;
  if (options.absolute_tolerance >= 0) out.atol = options.absolute_tolerance;
  if (options.relative_tolerance >= 0) out.rtol = options.relative_tolerance;
  return out;
}

Result<void> check_files(Session& session, const Assignments& files) {
  for (const auto& [uid, path] : files) {
    HIPPLAN_TRY_ASSIGN(const auto* tensor,
                       tensor_of(session.graph, uid, session.graph.external_outputs(), "output"));
    HIPPLAN_TRY_ASSIGN(const auto expected, load_tensor(*tensor, path));
    HIPPLAN_TRY_ASSIGN(const ByteView got, run::output_of(session.outputs, uid));
    HIPPLAN_TRY_ASSIGN(auto result,
                       run::compare_buffers(*tensor, expected, got, tolerance_of(session.options),
                                            session.io.jobs()));
    session.comparisons.push_back({uid, path, std::move(result)});
  }
  return {};
}

Result<void> write_outputs(const Session& session) {
  HIPPLAN_TRY_ASSIGN(const auto files, assignments(session.options.outputs, "--output"));
  for (const auto& [uid, path] : files) {
    HIPPLAN_TRY_ASSIGN(const auto* tensor,
                       tensor_of(session.graph, uid, session.graph.external_outputs(), "output"));
    HIPPLAN_TRY_ASSIGN(const ByteView got, run::output_of(session.outputs, uid));
    HIPPLAN_TRY_ASSIGN(const auto npy, run::tensor_to_npy(*tensor, got));
    HIPPLAN_TRY(write_file(path, npy));
  }
  return {};
}

Result<void> check_output_names(const hipplan_run_options& options, const Assignments& expects) {
  std::vector<std::string> read = {text_or_empty(options.file), text_or_empty(options.graph_file),
                                   text_or_empty(options.target_file)};
  HIPPLAN_TRY_ASSIGN(const auto inputs, assignments(options.inputs, "--input"));
  for (const auto& [uid, path] : inputs) read.push_back(path);
  for (const auto& [uid, path] : expects) read.push_back(path);
  HIPPLAN_TRY(refuse_twice_stdin(read));
  HIPPLAN_TRY_ASSIGN(const auto outputs, assignments(options.outputs, "--output"));
  for (const auto& [uid, path] : outputs) {
    HIPPLAN_TRY(refuse_overwrite(path, read));
    HIPPLAN_TRY(refuse_other_name(path, ".npy"));
  }
  HIPPLAN_TRY(refuse_own_expectation(outputs, expects));
  HIPPLAN_TRY(require_files(inputs));
  return require_files(expects);
}

}  // namespace hipplan::commands
