#include "commands/io.h"

#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>

#include "base/error_fields.h"
#include "base/folder.h"
#include "base/harmless.h"
#include "base/interruption.h"
#include "base/shared_library.h"
#include "commands/plans.h"

namespace hipplan::commands {
namespace fs = std::filesystem;

int worse(int a, int b) {
  constexpr std::array kOrder = {130, 6, 3, 5, 4, 2, 1, 0};
  for (const int status : kOrder)
    if (a == status || b == status) return status;
  return HIPPLAN_MACHINE;
}

std::string message_of(const Error& error) {
  switch (error.code) {
    case Code::damaged:
      return "damaged: " + error.text();
    case Code::unusable:
      return "valid but not usable here: " + error.text();
    case Code::internal:
      return "internal fault, please report: " + error.text();
    default:
      return error.text();
  }
}

void write_error(json::Writer& out, const Error& error) {
  out.begin_object();
  for_each_field(error,
                 [&](std::string_view name, std::string_view text) { out.member(name, text); });
  if (!error.details.empty()) {
    out.key("details").begin_array();
    for (const auto& detail : error.details) out.value(detail);
    out.end_array();
  }
  out.end_object();
}

Error usage_error(Error fields) {
  fields.code = Code::bad_input;
  fields.reason = "usage";
  return fields;
}

bool is_standard_output(const std::string& output) {
  if (output == "-") return true;
  struct stat named{}, standard{}, null{};
  const auto same = [](const struct stat& a, const struct stat& b) {
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
  };
  if (::stat(output.c_str(), &named) != 0 || ::stat("/dev/stdout", &standard) != 0 ||
      !same(named, standard))
    return false;
  return ::stat("/dev/null", &null) != 0 || !same(named, null);
}

Result<void> refuse_overwrite(const std::string& output, const std::vector<std::string>& inputs) {
  if (output.empty() || output == "-") return {};
  for (const auto& input : inputs) {
    std::error_code ignored;
    const auto inside = member_path(input);
    const std::string& file = inside ? inside->bundle : input;
    if (fs::equivalent(file, output, ignored))
      return Error{.code = Code::bad_input,
                   .reason = "output-name",
                   .where = output,
                   .what = "is both read and the output",
                   .advice = "write to another file"};
  }
  return {};
}

Result<void> refuse_twice_stdin(const std::vector<std::string>& arguments) {
  if (std::count(arguments.begin(), arguments.end(), "-") < 2) return {};
  return usage_error({.what = "standard input is given twice, and it can be read only once",
                      .expected = "- once"});
}

void Io::bytes(std::string_view content) {
  const std::lock_guard lock(mutex_);
  wrote_ = true;
  if (raw_.result != nullptr) raw_.result(raw_.user, content.data(), content.size());
}
void Io::result(std::string_view text) {
  bytes(json() ? std::string(text) : harmless(text, "\n\t"));
}
void Io::line(std::string_view text) {
  result((json() ? std::string(text) : harmless(text)) + "\n");
}

void Io::message(hipplan_severity severity, const std::string& text) {
  // Names and texts out of files may hold anything; compilers' messages have lines.
  const std::string plain = harmless(text, "\n\t");
  const std::lock_guard lock(mutex_);
  if (raw_.message != nullptr) raw_.message(raw_.user, severity, plain.c_str());
}

void Io::fail(const Error& error) {
  // Names and values have no lines; a compiler's messages, which stand as advice, have.
  Error shown = error;
  for (std::string* text : {&shown.where, &shown.what, &shown.expected, &shown.found})
    *text = harmless(*text);
  for (std::string& detail : shown.details) detail = harmless(detail);
  message(HIPPLAN_ERROR, message_of(shown));
  fail_quietly(exit_code(error.code));
  const std::lock_guard lock(mutex_);
  if (!first_error_) first_error_ = error;
}

void Io::finish_json() {
  if (!json() || wrote_ || !first_error_) return;
  json::Writer out;
  out.begin_object().member("schema", "hipplan.error/1").key("error");
  write_error(out, *first_error_);
  out.member("status", status()).end_object();
  line(out.text());
}

int Io::status() const {
  const std::lock_guard lock(mutex_);
  constexpr int kSignalStatus = 128, kTerminate = 15;
  const bool terminated = status_ == HIPPLAN_INTERRUPTED && stopped_by_ == kTerminate;
  return terminated ? kSignalStatus + kTerminate : status_;
}

void Io::fail_quietly(int status) {
  const std::lock_guard lock(mutex_);
  status_ = worse(status_, status);
}

void Io::progress(const char* what, uint64_t done, uint64_t total) {
  // Names of files may hold anything.
  const std::string plain = harmless(what);
  const std::lock_guard lock(mutex_);
  if (raw_.progress != nullptr) raw_.progress(raw_.user, plain.c_str(), done, total);
}

Result<void> Io::check_interrupted() const {
  const std::lock_guard lock(mutex_);
  if (stopped_by_ == 0 && raw_.interrupted != nullptr) stopped_by_ = raw_.interrupted(raw_.user);
  if (stopped_by_ != 0) return interrupted_error();
  return {};
}

DiagnosticSink Io::sink() {
  return [this](const Diagnostic& d) {
    // Both may quote files; neither has lines of its own.
    const std::string text = harmless(d.where.empty() ? d.text : d.where + ": " + d.text);
    message(d.severity == Severity::note      ? HIPPLAN_NOTE
            : d.severity == Severity::warning ? HIPPLAN_WARNING
                                              : HIPPLAN_ERROR,
            text);
  };
}

std::string Io::data_folder() const {
  if (raw_.data_folder != nullptr) return raw_.data_folder;
  return (own_folder() / ".." / "share" / "hipplan").lexically_normal().string();
}
std::string Io::given_data_folder() const {
  return text_or_empty(raw_.data_folder);
}
std::string Io::module_folder() const {
  return text_or_empty(raw_.module_folder);
}
std::string Io::hip_library() const {
  return text_or_empty(raw_.hip_library);
}
std::string Io::cuda_library() const {
  return text_or_empty(raw_.cuda_library);
}

std::vector<std::string> items(const hipplan_strings& list, bool commas) {
  std::vector<std::string> out;
  for (size_t i = 0; i < list.count; ++i) {
    std::string rest = list.items[i];
    if (!commas) {
      out.push_back(std::move(rest));
      continue;
    }
    for (size_t at = 0; at <= rest.size();) {
      const size_t end = std::min(rest.find(',', at), rest.size());
      const size_t first = std::min(rest.find_first_not_of(' ', at), end);
      if (end > first) {
        const size_t last = rest.find_last_not_of(' ', end - 1);
        out.push_back(rest.substr(first, last + 1 - first));
      }
      at = end + 1;
    }
  }
  return out;
}

namespace {

bool has_suffix(const std::string& name, const std::vector<std::string>& suffixes) {
  return std::any_of(suffixes.begin(), suffixes.end(), [&](const std::string& suffix) {
    return name.size() > suffix.size() &&
           name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0;
  });
}

Error nothing_found(const std::string& argument, const std::string& what) {
  return {.code = Code::bad_input, .reason = "open", .where = argument, .what = what};
}

/// What one folder holds itself: files with one of the suffixes into `found`, folders (links to
/// folders are not followed) into `below`.
std::error_code search_folder(const fs::path& folder, const std::vector<std::string>& suffixes,
                              std::vector<NamedPath>& found, std::vector<fs::path>& below) {
  std::error_code failed, ignored;
  for (fs::directory_iterator it(folder, failed), end; !failed && it != end; it.increment(failed)) {
    if (fs::is_directory(it->symlink_status(ignored)))
      below.push_back(it->path());
    else if (it->is_regular_file(ignored) && has_suffix(it->path().string(), suffixes))
      found.push_back({it->path().string(), {}});
  }
  return failed;
}

void expand_folder(const fs::path& folder, const std::vector<std::string>& suffixes,
                   std::vector<NamedPath>& out) {
  std::vector<NamedPath> found;
  std::vector<fs::path> left = {folder};
  while (!left.empty()) {
    const fs::path at = std::move(left.back());
    left.pop_back();
    if (const std::error_code failed = search_folder(at, suffixes, found, left))
      found.push_back({at.string(), folder_error(at, "read", failed)});
  }
  if (found.empty())
    found.push_back(
        {folder.string(),
         nothing_found(folder.string(), "the folder holds no " + suffixes.front() + " file")});
  std::sort(found.begin(), found.end(),
            [](const NamedPath& a, const NamedPath& b) { return a.path < b.path; });
  out.insert(out.end(), std::make_move_iterator(found.begin()),
             std::make_move_iterator(found.end()));
}

/// As a shell hands them over: a folder that matches is searched.
void expand_glob(const std::string& pattern, const std::vector<std::string>& suffixes,
                 std::vector<NamedPath>& out) {
  glob_t matches{};
  const int failed = ::glob(pattern.c_str(), 0, nullptr, &matches);
  if (failed == 0)
    for (size_t i = 0; i < matches.gl_pathc; ++i) {
      std::error_code ignored;
      if (fs::is_directory(matches.gl_pathv[i], ignored))
        expand_folder(matches.gl_pathv[i], suffixes, out);
      else
        out.push_back({matches.gl_pathv[i], {}});
    }
  else
    out.push_back({pattern, nothing_found(pattern, "no file matches the pattern")});
  ::globfree(&matches);
}

}  // namespace

Result<std::vector<NamedPath>> named_paths(const std::vector<std::string>& arguments,
                                           const std::vector<std::string>& suffixes) {
  HIPPLAN_TRY(refuse_twice_stdin(arguments));
  std::vector<NamedPath> out;
  for (const std::string& argument : arguments) {
    std::error_code ignored;
    const bool there = argument == "-" || fs::exists(argument, ignored) || is_member(argument);
    if (argument != "-" && fs::is_directory(argument, ignored))
      expand_folder(argument, suffixes, out);
    else if (!there && argument.find_first_of("*?[") != std::string::npos)
      expand_glob(argument, suffixes, out);
    else
      out.push_back({argument, {}});
  }
  return out;
}

Result<std::vector<std::string>> expand_paths(const std::vector<std::string>& arguments,
                                              const std::vector<std::string>& suffixes) {
  HIPPLAN_TRY_ASSIGN(auto named, named_paths(arguments, suffixes));
  std::vector<std::string> out;
  for (NamedPath& each : named) {
    if (each.failure) return *std::move(each.failure);
    out.push_back(std::move(each.path));
  }
  return out;
}

}  // namespace hipplan::commands
