#include <algorithm>

#include "base/counted.h"
#include "plan/group_sizes.h"
#include "plan/print.h"
#include "plan/ref_set.h"

namespace hipplan::plan {
namespace {

const GroupedSection* grouping(const SizeReport& report, uint16_t number) {
  for (const auto& section : report.grouped)
    if (section.number == number) return &section;
  return nullptr;
}

}  // namespace

Result<SizeReport> size_report(const File& file) {
  SizeReport out;
  out.file_bytes = file.bytes().size();
  out.entries = file.entry_count();
  out.sections = file.sections();
  ByteView records;
  for (const auto& section : out.sections) {
    if (section.number == kPlansSection)
      records = file.bytes().subspan(section.offset, section.stored_bytes);
    if (section.number == kCodeSection) out.code_objects = section.objects;
  }
  RefSet refs;
  Result<void> failed;
  HIPPLAN_TRY(file.for_each([&](const EntryInfo& entry) {
    const auto bytes = slice(records, entry.position, entry.record_bytes).value_or(ByteView());
    auto record = parse_record(bytes, file.where());
    if (!record) {
      failed = std::move(record).error();
      return false;
    }
    out.naive_bytes += entry.record_bytes;
    for (const auto& ref : record->refs) {
      refs.add(ref);
      out.naive_bytes += ref.raw_bytes;
      out.code_uses += ref.type == kCodeSection;
    }
    return true;
  }));
  HIPPLAN_TRY(failed);
  HIPPLAN_TRY_ASSIGN(out.grouped, group_sizes(file, refs.finish()));
  return out;
}

std::string size_text(const SizeReport& report) {
  const auto percent = [](uint64_t part, uint64_t whole) {
    return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  };
  std::string out;
  char line[160];
  std::snprintf(line, sizeof line, "%-14s %14s %14s %8s %10s  %s\n", "section", "stored", "raw",
                "of file", "objects", "compression");
  out += line;
  uint64_t saved = 0;
  for (const auto& s : report.sections) {
    std::string compression = s.compression;
    if (const auto* groups = grouping(report, s.number)) {
      compression += cat(", ", counted(groups->groups, "group"), "; alone ", groups->alone_bytes);
      saved += groups->alone_bytes - std::min(groups->alone_bytes, s.stored_bytes);
    }
    std::snprintf(line, sizeof line, "%-14s %14llu %14llu %7.1f%% %10llu  %s\n", s.type.c_str(),
                  static_cast<unsigned long long>(s.stored_bytes),
                  static_cast<unsigned long long>(s.raw_bytes),
                  percent(s.stored_bytes, report.file_bytes),
                  static_cast<unsigned long long>(s.objects), compression.c_str());
    out += line;
  }
  out += cat("file ", counted(report.file_bytes, "byte"), ", ", counted(report.entries, "plan"),
             ", ", counted(report.code_objects, "code object"), " used ",
             counted(report.code_uses, "time"), "\n");
  if (saved > 0) out += cat("groups save ", counted(saved, "byte"), "\n");
  std::snprintf(line, sizeof line, "nothing shared or compressed: %llu bytes (this file: %.1f%%)\n",
                static_cast<unsigned long long>(report.naive_bytes),
                percent(report.file_bytes, report.naive_bytes));
  return out + line;
}

void size_json(json::Writer& out, const SizeReport& report, const std::string& name) {
  out.begin_object().member("schema", "hipplan.size/1").member("file", name);
  out.member("file_bytes", report.file_bytes).member("plans", report.entries);
  out.member("code_objects", report.code_objects).member("code_uses", report.code_uses);
  out.member("naive_bytes", report.naive_bytes);
  out.key("sections").begin_array();
  for (const auto& s : report.sections) {
    out.begin_object().member("type", s.type).member("number", static_cast<int64_t>(s.number));
    out.member("offset", s.offset).member("stored_bytes", s.stored_bytes);
    out.member("raw_bytes", s.raw_bytes).member("objects", s.objects);
    if (const auto* groups = grouping(report, s.number))
      out.member("groups", groups->groups).member("alone_bytes", groups->alone_bytes);
    out.member("compression", s.compression).member("required", s.required);
    out.member("sha256", s.sha256.hex()).end_object();
  }
  out.end_array().end_object();
}

}  // namespace hipplan::plan
