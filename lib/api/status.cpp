#include "hipplan/status.h"

#include "api/argument_names.h"
#include "api/fence.h"
#include "base/version.h"
#include "commands/versions.h"
#include "hipplan/hipplan.h"

namespace hipplan::api {

LastError& last_error() {
  thread_local LastError error;
  return error;
}

hipplan_status keep(const Error& error) {
  last_error() = {with_argument_names(error).text(), error.reason, nullptr, nullptr};
  return static_cast<hipplan_status>(exit_code(error.code));
}

hipplan_status keep_fixed(hipplan_status status, const char* text, const char* reason) noexcept {
  last_error().fixed_text = text;
  last_error().fixed_reason = reason;
  return status;
}

}  // namespace hipplan::api

extern "C" {

const char* hipplan_version(void) {
  return hipplan::kVersion;
}
const char* hipplan_format_versions(void) {
  try {
    static const std::string kText = hipplan::commands::format_versions();
    return kText.c_str();
  } catch (...) {
    return "";  // out of memory
  }
}
const char* hipplan_last_error(void) {
  const auto& error = hipplan::api::last_error();
  return error.fixed_text != nullptr ? error.fixed_text : error.text.c_str();
}
const char* hipplan_last_error_reason(void) {
  const auto& error = hipplan::api::last_error();
  return error.fixed_reason != nullptr ? error.fixed_reason : error.reason.c_str();
}
}
