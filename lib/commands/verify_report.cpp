#include "commands/verify_report.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/counted.h"
#include "base/join.h"
#include "commands/targets.h"

namespace hipplan::commands {
namespace {

constexpr std::string_view kNoGraph = "no-graph", kOtherDevice = "target";

/// Why a plan was not executed, in short: "no such device (the CUDA driver library does not open)".
std::string absence(const Error& error) {
  if (error.reason == kNoGraph || error.reason == kOtherDevice) return error.what;
  if (error.code != Code::machine) return error.where + ": " + error.what;
  return "no such device (" + error.what + ")";
}

/// "  04151b225e3ac406/gfx942: ran on emulator:gfx942; output 4 agrees, …"
void print_executions(const FileVerdict& file, Io& io) {
  for (const auto& plan : file.plans) {
    if (plan.not_executed)
      io.line(cat("  ", short_name(plan.entry), ": not executed: ", absence(*plan.not_executed)));
    if (!plan.execution) continue;
    std::string line = cat("  ", short_name(plan.entry), ": ran on ", plan.execution->device);
    for (const auto& [uid, result] : plan.execution->outputs)
      line += cat("; output ", uid, result.pass ? " agrees" : " DIFFERS", ", largest error ",
                  result.max_abs_error, " in ", result.elements, " elements");
    io.line(line);
  }
}

/// For each target asked for that plans for others serve: "; sm_86 runs what is for sm_80".
std::string served_by_others(const FileVerdict& file) {
  std::map<std::string, std::map<Digest, std::set<std::string>>> usable;
  for (const auto& plan : file.plans)
    for (const auto& target : plan.usable_on)
      usable[target][plan.entry.graph_key].insert(plan.entry.target);
  std::string out;
  for (const auto& [target, graphs] : usable) {
    std::set<std::string> others;
    for (const auto& [key, by] : graphs)
      if (by.count(target) == 0) others.insert(by.begin(), by.end());
    if (!others.empty()) out += cat("; ", target, " runs what is for ", joined(others));
  }
  return out;
}

/// "; signed by me.pem (key 04151b225e3ac406)", where files must be signed.
std::string signers(const FileVerdict& file) {
  std::string out;
  for (const auto& [name, id] : file.signed_by)
    out += cat(out.empty() ? "; signed by " : ", ", name, " (key ", id.hex().substr(0, 16), ")");
  return out;
}

/// What a file of this status is called in the summary.
const char* status_word(int status) {
  switch (status) {
    case HIPPLAN_OK:
      return "good";
    case HIPPLAN_NEGATIVE:
      return "with wrong results";
    case HIPPLAN_BAD_INPUT:
      return "refused";
    case HIPPLAN_DAMAGED:
      return "damaged";
    case HIPPLAN_UNUSABLE:
      return "unusable here";
    case HIPPLAN_UNTRUSTED:
      return "untrusted";
    case HIPPLAN_INTERRUPTED:
      return "interrupted";
    default:
      return "not executed or not read";
  }
}

}  // namespace

std::string short_name(const plan::EntryInfo& entry) {
  return cat(entry.graph_key.hex().substr(0, 16), "/", entry.target);
}

bool lacks_graph(const PlanVerdict& plan) {
  return plan.not_executed && plan.not_executed->reason == kNoGraph;
}

bool is_for_others(const PlanVerdict& plan) {
  return plan.not_executed && plan.not_executed->reason == kOtherDevice;
}

Error missing_error(const MissingTarget& missing) {
  const auto arch = target::Arch::parse(missing.target);
  return {.code = Code::unusable,
          .reason = "target",
          .where = "graph " + missing.graph_key.hex().substr(0, 16),
          .what = "no sound plan in the file runs on " + missing.target,
          .advice = arch ? advice_to_bake(*arch) : ""};
}

std::vector<Finding> findings_of(const FileVerdict& file) {
  std::vector<Finding> out;
  for (const auto& plan : file.plans) {
    const std::string where = "plan " + short_name(plan.entry);
    if (plan.failure) out.push_back({plan.failure->within(where)});
    if (plan.not_executed)
      out.push_back({plan.not_executed->within(where), file.idle && !lacks_graph(plan)});
  }
  for (const auto& missing : file.missing) out.push_back({missing_error(missing)});
  // The first of the missing targets is the failure of the whole file too.
  if (file.failure && file.missing.empty()) out.push_back({*file.failure});
  return out;
}

namespace {

/// What a file is called that is not good; null for a good one. Its plans may be good all the same,
/// and not executed.
const char* verdict_word(const FileVerdict& file) {
  const bool good = !file.failure && file.missing.empty() &&
                    std::none_of(file.plans.begin(), file.plans.end(), [](const PlanVerdict& plan) {
                      return static_cast<bool>(plan.failure);
                    });
  if (good) return nullptr;
  if (file.status == HIPPLAN_DAMAGED) return "damaged";
  if (file.status == HIPPLAN_UNTRUSTED) return "untrusted";
  return file.status == HIPPLAN_INTERRUPTED ? "interrupted" : "refused";
}

}  // namespace

void print_verdicts(const std::vector<FileVerdict>& files, Io& io) {
  std::map<int, size_t> counts;
  for (const auto& file : files) {
    ++counts[file.status];
    const auto left_out = static_cast<size_t>(std::count_if(
        file.plans.begin(), file.plans.end(),
        [](const PlanVerdict& plan) { return static_cast<bool>(plan.not_executed); }));
    if (const char* word = verdict_word(file)) {
      io.line(cat(file.path, ": ", word));
      print_executions(file, io);
      continue;
    }
    std::set<std::string> targets;
    for (const auto& plan : file.plans) targets.insert(plan.entry.target);
    io.line(cat(file.path, ": good, ", counted(file.plans.size(), "plan"),
                targets.empty() ? "" : " for ", joined(targets),
                left_out == 0 ? "" : cat(", ", left_out, " not executed"), served_by_others(file),
                signers(file)));
    print_executions(file, io);
  }
  if (files.size() < 2) return;
  std::string summary;
  for (const auto& [status, count] : counts)
    summary += cat(summary.empty() ? "" : ", ", count, " ", status_word(status));
  io.line(cat(files.size(), " files: ", summary));
}

namespace {

void write_execution(json::Writer& out, const Execution& execution) {
  out.key("execution").begin_object().member("device", execution.device);
  out.key("outputs").begin_array();
  for (const auto& [uid, result] : execution.outputs) {
    out.begin_object().member("uid", uid).member("pass", result.pass);
    out.member("elements", result.elements).member("failed", result.failed);
    out.member("not_finite", result.not_finite);
    out.member("max_abs_error", result.max_abs_error);
    out.member("worst_ratio", result.worst.ratio).end_object();
  }
  out.end_array().end_object();
}

void write_plan(json::Writer& out, const PlanVerdict& plan) {
  out.begin_object().member("graph_key", plan.entry.graph_key.hex());
  out.member("target", plan.entry.target).member("plan_digest", plan.entry.plan_digest.hex());
  out.member("engine", plan.engine).member("kernel", plan.kernel);
  out.key("usable_on").begin_array();
  for (const auto& target : plan.usable_on) out.value(target);
  out.end_array();
  if (plan.execution) write_execution(out, *plan.execution);
  if (plan.failure) {
    out.key("error");
    write_error(out, *plan.failure);
  }
  if (plan.not_executed) {
    out.key("not_executed");
    write_error(out, *plan.not_executed);
  }
  out.end_object();
}

}  // namespace

void print_verdicts_json(const std::vector<FileVerdict>& files, Io& io) {
  json::Writer out;
  out.begin_object().member("schema", "hipplan.verify/1").key("files").begin_array();
  for (const auto& file : files) {
    out.begin_object().member("path", file.path).member("status", file.status);
    if (file.failure) {
      out.key("error");
      write_error(out, *file.failure);
    }
    if (!file.signed_by.empty()) {
      out.key("signed_by").begin_array();
      for (const auto& [name, id] : file.signed_by)
        out.begin_object().member("key", name).member("key_id", id.hex()).end_object();
      out.end_array();
    }
    out.key("missing").begin_array();
    for (const auto& missing : file.missing)
      out.begin_object()
          .member("graph_key", missing.graph_key.hex())
          .member("target", missing.target)
          .end_object();
    out.end_array().key("plans").begin_array();
    for (const auto& plan : file.plans) write_plan(out, plan);
    out.end_array().end_object();
  }
  out.end_array().member("status", io.status()).end_object();
  io.bytes(out.text() + "\n");
}

}  // namespace hipplan::commands
