// Structural comparison of plans and files: every differing decision, code object and text by name.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "json/json.h"
#include "plan/plan.h"

namespace hipplan::plan {

/// One difference. `a` and `b` are the values as text, empty where the thing does not exist.
struct Difference {
  /// What kind of thing: "decision", "code", "graph", "reasons", "measurements", "evidence",
  /// "provenance", "diagnostic", "extra", "entry" or "section".
  std::string area;
  /// "<graph key>/<target>"; "<graph key> -> <graph key>" for graphs of one file each that are
  /// compared; empty for what belongs to the whole file.
  std::string entry;
  /// "payload.values.block_size", "payload.kernels[0].symbol", "tensors[3 y].dims",
  /// "nodes[0 conv].parameters.stride"
  std::string name;
  std::string a, b;
  bool of_graphs = false;  ///< of two graphs of one file each, and not of an entry
};

/// Differences of two plans in the order of the fields. Code is compared by digest.
[[nodiscard]] std::vector<Difference> diff_plans(const Plan& a, const Plan& b);

struct FileDiff {
  std::vector<Difference> differences;
  uint64_t compared = 0;  ///< entries that are in both
  uint64_t only_in_a = 0, only_in_b = 0;
  bool same_bytes = false;
  bool truncated = false;  ///< more differences than `max_differences`
};

/// Compares entries with the same graph key and target; two files of one plan each are compared
/// whatever their keys are. Of other files, the graphs that the other does not hold are compared
/// with its graph of the same name, or with its only one that this file does not hold. Fails when a
/// file cannot be read.
Result<FileDiff> diff_files(const File& a, const File& b, size_t max_differences = 10000);

/// One line a difference, and a summary line.
[[nodiscard]] std::string diff_text(const FileDiff& diff, const std::string& name_a,
                                    const std::string& name_b);
/// One object of schema "hipplan.diff/1" (schemas/diff.schema.json).
void diff_json(json::Writer& out, const FileDiff& diff, const std::string& name_a,
               const std::string& name_b);

/// Where two files' bytes part first, for people: the section (or "header and directory") and the
/// offset. Empty when they are equal. Bytes that are no sound files are told by offset alone.
[[nodiscard]] std::string first_difference(ByteView a, ByteView b);

}  // namespace hipplan::plan
