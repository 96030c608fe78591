// hipplan-inspect sbom: a bill of materials out of the plans' provenance.
#include <ctime>

#include "commands/inspect_parts.h"
#include "commands/plans.h"
#include "plan/materials.h"

namespace hipplan::commands {
Result<void> sbom(Inspection& in) {
  if (in.arguments.size() != 1)
    return usage_error({.what = "wrong number of files", .expected = "one plan file"});
  constexpr int64_t kLastSecond = 253402300799;  // of the year 9999
  if (in.date > kLastSecond)
    return usage_error({.what = "the date cannot be written",
                        .expected = cat("0 to ", kLastSecond),
                        .found = cat(in.date)});
  const bool spdx = in.format.empty() || in.format == "spdx";
  if (!spdx && in.format != "cyclonedx")
    return usage_error(
        {.what = "unknown format '" + in.format + "'", .expected = "spdx or cyclonedx"});
  HIPPLAN_TRY_ASSIGN(const auto file, open_file(in.arguments[0], plan::Check::lookup));
  HIPPLAN_TRY_ASSIGN(const auto materials, plan::materials_of(file));
  json::Writer out;
  if (spdx)
    plan::print_spdx(out, materials,
                     in.date >= 0 ? in.date : static_cast<int64_t>(std::time(nullptr)));
  else
    plan::print_cyclonedx(out, materials);
  in.io.bytes(out.text() + "\n");
  return {};
}

}  // namespace hipplan::commands
