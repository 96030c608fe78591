// One descriptor per identity: copies collapse, contradictions poison.
#pragma once

#include <vector>

#include "base/diagnostics.h"
#include "descriptor/parse.h"

namespace hipplan::descriptor {

/// Identity is (kind, UUID), for packs and kernels with the sorted arch list. In the order given:
/// - the same content again is dropped without a word;
/// - other content in the same root removes both and keeps the identity closed for good;
/// - other content in a later root is refused, the first stays.
std::vector<ParsedFile> unique_identities(std::vector<ParsedFile> files,
                                          std::vector<Diagnostic>& diagnostics);

}  // namespace hipplan::descriptor
