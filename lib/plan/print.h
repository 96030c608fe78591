// A file and its plans as text and as JSON.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "json/array_stream.h"
#include "json/json.h"
#include "plan/plan.h"

namespace hipplan::plan {

struct ShowOptions {
  std::string graph_key;  ///< only entries whose key starts with these hexadecimal digits
  std::function<bool(const EntryInfo&)> wanted = nullptr;  ///< only entries it accepts; null: all
  uint64_t max_entries = 20;  ///< plans shown in full; the rest is counted
  bool texts = false;         ///< also print graph, reasons, … instead of their sizes
};

/// Reads the entries (without code) and appends what they hold to `out`.
Result<void> show_text(const File& file, const ShowOptions& options, std::string& out);
/// One object of schema "hipplan.show/1" (schemas/show.schema.json).
Result<void> show_json(const File& file, const ShowOptions& options, json::Writer& out);
/// The same in pieces, for files of many plans: the front up to the array of plans, then each plan;
/// how many plans the options leave out of it. What follows is "plans_not_shown".
void show_json_front(const File& file, json::Writer& out);
Result<uint64_t> show_json_plans(const File& file, const ShowOptions& options,
                                 json::ArrayStream& out);

/// The name that a graph's JSON gives it; empty without one.
[[nodiscard]] std::string graph_name(const std::string& graph);

/// A launch value as text: 64, 0.125, "bshd", [1, 2], true.
[[nodiscard]] std::string value_text(const ValueData& data);

/// A section whose objects share frames.
struct GroupedSection {
  uint16_t number = 0;
  uint64_t groups = 0;       ///< frames of several objects
  uint64_t alone_bytes = 0;  ///< what the section would take with one frame per object
};

/// What a file takes, and what the same plans would take as one standalone file each.
struct SizeReport {
  uint64_t file_bytes = 0, entries = 0;
  std::vector<SectionInfo> sections;
  std::vector<GroupedSection> grouped;       ///< by number; sections without groups are not in it
  uint64_t code_objects = 0, code_uses = 0;  ///< distinct objects, and kernels that name one
  uint64_t naive_bytes = 0;  ///< records and raw parts of every plan, nothing shared or compressed
};
/// Of a file that was opened with Check::full: nothing is checked again. Compresses each object of
/// a group alone to say what the group saves.
Result<SizeReport> size_report(const File& file);
[[nodiscard]] std::string size_text(const SizeReport& report);
/// One object of schema "hipplan.size/1" (schemas/size.schema.json).
void size_json(json::Writer& out, const SizeReport& report, const std::string& name);

}  // namespace hipplan::plan
