// Archives in words, for people and for programs.
#pragma once

#include <string>

#include "archive/kpack.h"
#include "json/json.h"

namespace hipplan::archive {

/// Several lines: the archive, then one line per entry.
[[nodiscard]] std::string print(const Kpack& archive);

/// One JSON object: group, family, architectures, scheme, blobs, entries[].
void write_json(const Kpack& archive, json::Writer& writer);

}  // namespace hipplan::archive
