// hipplan-verify's findings as CI systems read them: JUnit XML and SARIF.
#include <set>

#include "base/harmless.h"
#include "base/version.h"
#include "commands/reasons.h"
#include "commands/verify_report.h"

namespace hipplan::commands {
namespace {

/// Text as XML holds it, in attributes too.
std::string xml(const std::string& raw) {
  std::string out;
  for (const char c : harmless(raw)) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

/// One test case: passed, or with what there is to say, "failure" or "skipped".
std::string junit_case(const std::string& suite, const std::string& name, const char* outcome,
                       const Error* error) {
  const std::string head =
      cat("    <testcase classname=\"", xml(suite), "\" name=\"", xml(name), "\"");
  if (error == nullptr) return head + "/>\n";
  return cat(head, ">\n      <", outcome, " type=\"", xml(error->reason), "\" message=\"",
             xml(message_of(*error)), "\"/>\n    </testcase>\n");
}

struct JunitSuite {
  std::string cases;
  size_t count = 0, failures = 0, skipped = 0;
  void add(const std::string& suite, const std::string& name, const Error* failure,
           const Error* skip = nullptr) {
    const Error* said = failure != nullptr ? failure : skip;
    cases += junit_case(suite, name, failure != nullptr ? "failure" : "skipped", said);
    ++count;
    failures += failure != nullptr ? 1 : 0;
    skipped += failure == nullptr && skip != nullptr ? 1 : 0;
  }
};

template <class Maybe>
const Error* pointer(const Maybe& error) {
  return error ? &*error : nullptr;
}

JunitSuite junit_suite(const FileVerdict& file) {
  JunitSuite out;
  for (const auto& plan : file.plans)
    out.add(file.path, short_name(plan.entry), pointer(plan.failure), pointer(plan.not_executed));
  for (const auto& missing : file.missing) {
    const Error error = missing_error(missing);
    out.add(file.path, cat(missing.graph_key.hex().substr(0, 16), " on ", missing.target), &error);
  }
  if (file.missing.empty()) out.add(file.path, "file", pointer(file.failure));
  return out;
}

/// The counts of a suite or of all.
std::string junit_counts(size_t count, size_t failures, size_t skipped) {
  return cat("tests=\"", count, "\" failures=\"", failures, "\" skipped=\"", skipped, "\"");
}

/// A path as the reference of a URI: what is not plain is percent-encoded.
std::string uri(const std::string& path) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~/").find(c) != std::string_view::npos;
    if (plain)
      out += c;
    else
      out.append({'%', kDigits[byte >> 4], kDigits[byte & 15u]});
  }
  return out;
}

/// A finding and the file that it is of.
using FileFinding = std::pair<std::string, Finding>;

void sarif_rules(json::Writer& out, const std::vector<FileFinding>& results) {
  std::set<std::string> met;
  for (const auto& [path, finding] : results) met.insert(finding.error.reason);
  out.key("rules").begin_array();
  for (const auto& facts : verify_reasons()) {
    if (met.count(std::string(facts.reason)) == 0) continue;
    out.begin_object().member("id", facts.reason);
    out.key("shortDescription").begin_object().member("text", facts.meaning).end_object();
    out.key("properties").begin_object().member("class", facts.error_class).end_object();
    out.end_object();
  }
  out.end_array();
}

void sarif_result(json::Writer& out, const FileFinding& found) {
  const auto& [path, finding] = found;
  const Error& error = finding.error;
  out.begin_object().member("ruleId", error.reason);
  out.member("level", finding.fault ? "error" : "note");
  out.key("message").begin_object().member("text", harmless(message_of(error))).end_object();
  out.key("locations").begin_array().begin_object();
  out.key("physicalLocation").begin_object().key("artifactLocation").begin_object();
  out.member("uri", uri(path)).end_object().end_object();
  out.end_object().end_array().end_object();
}

}  // namespace

void print_verdicts_junit(const std::vector<FileVerdict>& files, Io& io) {
  std::string suites;
  size_t count = 0, failures = 0, skipped = 0;
  for (const auto& file : files) {
    const JunitSuite suite = junit_suite(file);
    suites += cat("  <testsuite name=\"", xml(file.path), "\" ",
                  junit_counts(suite.count, suite.failures, suite.skipped), ">\n", suite.cases,
                  "  </testsuite>\n");
    count += suite.count;
    failures += suite.failures;
    skipped += suite.skipped;
  }
  io.result(cat("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"hipplan-verify\" ",
                junit_counts(count, failures, skipped), ">\n", suites, "</testsuites>\n"));
}

void print_verdicts_sarif(const std::vector<FileVerdict>& files, Io& io) {
  std::vector<FileFinding> results;
  for (const auto& file : files)
    for (auto& finding : findings_of(file)) results.emplace_back(file.path, std::move(finding));
  json::Writer out;
  out.begin_object().member("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
  out.member("version", "2.1.0").key("runs").begin_array().begin_object();
  out.key("tool").begin_object().key("driver").begin_object();
  out.member("name", "hipplan-verify").member("version", kVersion);
  sarif_rules(out, results);
  out.end_object().end_object().key("artifacts").begin_array();
  for (const auto& file : files) {
    out.begin_object().key("location").begin_object().member("uri", uri(file.path));
    out.end_object().end_object();
  }
  out.end_array().key("results").begin_array();
  for (const auto& found : results) sarif_result(out, found);
  out.end_array().end_object().end_array().end_object();
  io.bytes(out.text() + "\n");
}

}  // namespace hipplan::commands
