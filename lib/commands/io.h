// The callbacks of hipplan_tool_io with C++ manners, and what all commands share.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "base/harmless.h"
#include "base/result.h"
#include "hipplan/tools.h"
#include "json/json.h"

namespace hipplan::commands {

/// Worst of two exit statuses by the order 130 6 3 5 4 2 1 0.
[[nodiscard]] int worse(int a, int b);

/// "damaged: …" and "valid but not usable here: …" in front of the texts of those two classes.
[[nodiscard]] std::string message_of(const Error& error);
/// {"class":…, "reason":…, "where":…, "what":…, …}
void write_error(json::Writer& out, const Error& error);

/// A bad_input error, reason "usage", with the other fields of `fields`.
[[nodiscard]] Error usage_error(Error fields);

/// Sends output to the caller; remembers the worst status. Thread-safe.
class Io {
 public:
  explicit Io(const hipplan_tool_io& raw) : raw_(raw) {}

  /// Text. Control characters other than line ends and tabs go out as \xNN, since names and texts
  /// out of files may hold anything; JSON has its own way with them.
  void result(std::string_view text);
  /// One line, whatever the names in it hold: line ends and tabs in it go out as \xNN, too. JSON as
  /// it is.
  void line(std::string_view text);
  /// Bytes as they are.
  void bytes(std::string_view content);
  /// One line each.
  void note(const std::string& text) { message(HIPPLAN_NOTE, harmless(text)); }
  void warn(const std::string& text) { message(HIPPLAN_WARNING, harmless(text)); }
  /// Reports the error and makes the status at least as bad as its class.
  void fail(const Error& error);
  /// Makes the status at least as bad as `status` without a message.
  void fail_quietly(int status);
  void progress(const char* what, uint64_t done, uint64_t total);
  /// An `interrupted` error from the moment when the caller asked to stop.
  Result<void> check_interrupted() const;

  /// With JSON asked for and nothing written yet, writes the first error as the document, schema
  /// hipplan.error/1, so that standard output always is one document.
  void finish_json();

  [[nodiscard]] DiagnosticSink sink();
  [[nodiscard]] bool can_be_interrupted() const { return raw_.interrupted != nullptr; }
  [[nodiscard]] bool json() const { return raw_.json != 0; }
  [[nodiscard]] unsigned jobs() const { return raw_.jobs; }
  /// The exit status so far: 143 instead of 130 when the caller told of SIGTERM.
  [[nodiscard]] int status() const;
  [[nodiscard]] std::string data_folder() const;
  /// What the caller gave for it; may be empty.
  [[nodiscard]] std::string given_data_folder() const;
  [[nodiscard]] std::string module_folder() const;
  [[nodiscard]] std::string hip_library() const;
  [[nodiscard]] std::string cuda_library() const;

 private:
  void message(hipplan_severity severity, const std::string& text);
  const hipplan_tool_io& raw_;
  mutable std::mutex mutex_;
  int status_ = 0;
  bool wrote_ = false;
  mutable int stopped_by_ = 0;  ///< what the caller answered when it asked to stop
  std::optional<Error> first_error_;
};

/// Items of a list; with `commas`, "a,b" and "a, b" count as two.
[[nodiscard]] std::vector<std::string> items(const hipplan_strings& list, bool commas = false);
[[nodiscard]] inline std::string text_or_empty(const char* text) {
  return text ? text : "";
}

/// Refuses "-" given more than once, since standard input can be read only once: bad_input, reason
/// "usage".
Result<void> refuse_twice_stdin(const std::vector<std::string>& arguments);

/// A file that arguments name, or a folder or pattern that gives none and why.
struct NamedPath {
  std::string path;
  std::optional<Error> failure;
};

/// Files named by arguments: files as they are, folders searched recursively for `suffixes` in
/// sorted order, glob patterns expanded, "-" kept, at most once. A folder or pattern that holds
/// nothing (bad_input, reason "open") and a folder below that cannot be read (the same where that
/// is not allowed, else machine, reason "io") stand in their places with their failures. Fails for
/// "-" given twice.
Result<std::vector<NamedPath>> named_paths(const std::vector<std::string>& arguments,
                                           const std::vector<std::string>& suffixes);
/// The same where all must be found: the first failure is that of the whole.
Result<std::vector<std::string>> expand_paths(const std::vector<std::string>& arguments,
                                              const std::vector<std::string>& suffixes);

/// Whether a name to write to is "-" or any other name of standard output: /dev/stdout, or the file
/// that it was sent to. /dev/null keeps nothing apart.
[[nodiscard]] bool is_standard_output(const std::string& output);

/// Refuses to write over one of the files that a command reads: bad_input, reason "output-name".
/// A member of a bundle counts as the bundle; "-" and empty names are no files.
Result<void> refuse_overwrite(const std::string& output, const std::vector<std::string>& inputs);

}  // namespace hipplan::commands
