#include "commands/reasons.h"

namespace hipplan::commands {

const std::vector<ReasonInfo>& verify_reasons() {
  static const std::vector<ReasonInfo> kReasons = {};
  return kReasons;
}

void print_reasons(Io& io) {
  json::Writer out;
  out.begin_object().member("schema", "hipplan.reasons-list/1").key("reasons").begin_array();
  for (const auto& entry : verify_reasons()) {
    out.begin_object().member("reason", entry.reason).member("class", entry.error_class);
    out.member("meaning", entry.meaning).end_object();
    if (!io.json()) io.line(cat(entry.reason, "  ", entry.error_class, "  ", entry.meaning));
  }
  out.end_array().end_object();
  if (io.json()) io.line(out.text());
}

}  // namespace hipplan::commands
