// What hipplan-run prints about its run: text, JSON, and the line that repeats it.
#include <array>
#include <charconv>

#include "base/harmless.h"
#include "base/hash.h"
#include "commands/run_session.h"

namespace hipplan::commands {
namespace {

void write_comparison(json::Writer& out, const Session::Compared& compared) {
  const auto& c = compared.result;
  out.begin_object().member("uid", compared.uid).member("against", compared.against);
  out.member("pass", c.pass).member("elements", c.elements).member("failed", c.failed);
  out.member("not_finite", c.not_finite);
  out.member("max_abs_error", c.max_abs_error).member("rms_error", c.rms_error);
  out.key("worst_index").begin_array();
  for (const int64_t i : c.worst.index) out.value(i);
  out.end_array();
  out.member("worst_expected", c.worst.expected).member("worst_got", c.worst.got);
  out.member("worst_bound", c.worst.bound).member("worst_ratio", c.worst.ratio);
  out.end_object();
}

/// A word as a shell reads it back.
std::string shell_word(const std::string& text) {
  const bool plain = text.find_first_not_of(
                         "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                         "0123456789_-./:=,+@") == std::string::npos;
  if (plain && !text.empty()) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// The shortest decimal that reads back as `value`.
std::string shortest(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

}  // namespace

std::string Session::subject() const {
  return cat(text_or_empty(options.file), ": ", plan.graph_key.hex().substr(0, 16), "/",
             plan.target, graph.name.empty() ? "" : " (" + graph.name + ")", " on ",
             device->name());
}

void print_json(Session& session, const std::optional<Error>& failure) {
  json::Writer out;
  out.begin_object()
      .member("schema", "hipplan.run/1")
      .member("file", text_or_empty(session.options.file));
  if (session.executable) {
    out.member("device", session.device->name()).member("target", session.plan.target);
    out.member("engine", session.plan.payload.engine_name);
    out.member("kernel", session.plan.payload.kernel_name);
    out.member("graph_key", session.plan.graph_key.hex()).member("seed", session.options.seed);
  }
  out.key("outputs").begin_array();
  for (const auto& [uid, bytes] : session.outputs)
    out.begin_object().member("uid", uid).member("sha256", sha256(bytes).hex()).end_object();
  out.end_array();
  out.key("comparisons").begin_array();
  for (const auto& compared : session.comparisons) write_comparison(out, compared);
  out.end_array();
  write_measurements(session, out);
  if (session.options.counters != 0 && session.device) {
    out.key("launches");
    write_profiles(out, session.profiles, session.device->description());
  }
  if (failure) {
    out.key("error");
    write_error(out, *failure);
  }
  out.member("status", session.io.status()).end_object();
  session.io.line(out.text());
}

std::string repeat_line(const Session& session) {
  const auto& options = session.options;
  std::string out = cat("hipplan-run ", shell_word(text_or_empty(options.file)), " --device ",
                        session.device->name(), " --graph-key ",
                        session.plan.graph_key.hex().substr(0, 16), " --seed ", options.seed);
  const auto add = [&](const char* flag, const std::string& value) {
    out += cat(" ", flag, " ", shell_word(value));
  };
  const auto add_given = [&](const char* flag, const std::string& value) {
    if (!value.empty()) add(flag, value);
  };
  add_given("--data", session.io.given_data_folder());
  add_given("--modules", session.io.module_folder());
  add_given("--hip-library", session.io.hip_library());
  add_given("--cuda-library", session.io.cuda_library());
  if (options.require_signed != 0) out += " --require-signed";
  add_given("--trust", text_or_empty(options.trust));
  if (options.check != 0) out += " --check";
  add_given("--target", session.target);
  if (options.graph_file != nullptr) add("--graph", options.graph_file);
  if (options.target_file != nullptr) add("--target-file", options.target_file);
  for (const auto& input : items(options.inputs)) add("--input", input);
  for (const auto& expect : items(options.expects)) add("--expect", expect);
  if (options.check_races != 0) out += " --check-races";
  if (options.check_uninitialized != 0) out += " --check-uninitialized";
  if (options.schedule_seed != 0) add("--schedule-seed", cat(options.schedule_seed));
  if (options.instruction_budget != 0) add("--instruction-budget", cat(options.instruction_budget));
  if (options.absolute_tolerance >= 0) add("--atol", shortest(options.absolute_tolerance));
  if (options.relative_tolerance >= 0) add("--rtol", shortest(options.relative_tolerance));
  return out;
}

void print_text(Session& session) {
  auto& io = session.io;
  const auto& payload = session.plan.payload;
  const auto& arch = session.device->description().arch;
  const bool literal = session.plan.target == arch.text() || session.plan.target == arch.base;
  io.line(cat(harmless(payload.engine_name), ", kernel ", harmless(payload.kernel_name), " on ",
              session.device->name(), literal ? "" : ", the plan for " + session.plan.target));
  for (const auto& [uid, bytes] : session.outputs)
    io.line(cat("output ", uid, ": ", bytes.size(), " bytes, sha256 ",
                sha256(bytes).hex().substr(0, 16)));
  for (const auto& compared : session.comparisons)
    io.line(cat(compared.result.pass ? "pass" : "FAIL", ": output ", compared.uid, " against ",
                compared.against, ": ", compared.result.text()));
  print_measurements(session);
  print_profiles(io, session.profiles, session.device->description());
}

}  // namespace hipplan::commands
