// What files of others hold, as far as their layout is known.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "json/json.h"
#include "plan/foreign.h"

namespace hipplan::plan {

using FactValue =
    std::variant<std::string, int64_t, bool, std::vector<int64_t>, std::vector<std::string>>;

/// One file, or one piece inside another.
struct ForeignFacts {
  std::string name;  ///< what it is inside another; empty for a file
  FileKind kind = FileKind::unknown;
  uint64_t bytes = 0;
  std::string fault;  ///< why the rest is not shown; empty when all that is known is shown
  std::vector<std::pair<std::string, FactValue>> facts;
  std::vector<ForeignFacts> inside;
};

/// Facts of hipDNN's envelopes (versions 1 and 2) and containers, ingestor payloads, our own bare
/// pieces, ELF files and PTX. Bytes that are not what they start like give a fault, never an error.
[[nodiscard]] ForeignFacts foreign_facts(ByteView bytes);

/// One line a fact; pieces inside are indented.
[[nodiscard]] std::string foreign_text(const ForeignFacts& facts);
/// Members of the object that is open: kind, bytes, fault, facts, inside.
void foreign_json(json::Writer& out, const ForeignFacts& facts);

}  // namespace hipplan::plan
