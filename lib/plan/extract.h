// Taking things out of a file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plan/plan.h"

namespace hipplan::plan {

/// The entry a caller means: `graph_key` is a prefix of the key's hexadecimal text (empty: any),
/// `target` the exact target (empty: any). Fails with bad_input, reason "no-such-plan" or
/// "ambiguous-plan", listing what there is.
Result<EntryInfo> choose_entry(const File& file, std::string_view graph_key,
                               std::string_view target);

/// "<first 16 digits of the graph key>-<target>.hplan", ':' as '.'.
[[nodiscard]] std::string entry_file_name(const EntryInfo& entry);

/// One entry as a file of its own: same plan digest, stored parts taken over as they are.
Result<Bytes> extract_plan(const File& file, const EntryInfo& entry);
/// Bare envelope with the code inside.
Result<Bytes> extract_envelope(const File& file, const EntryInfo& entry);
/// The graph's JSON text. Fails with negative, reason "no-graph", when the plan has none.
Result<std::string> extract_graph(const File& file, const EntryInfo& entry);

struct CodeFile {
  std::string name;  ///< "<launch name or symbol>-<first 16 digits of the digest>.co"
  Code bytes;
};
/// Each distinct code object of an entry once.
Result<std::vector<CodeFile>> extract_code(const File& file, const EntryInfo& entry);

}  // namespace hipplan::plan
