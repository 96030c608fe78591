// Header, directory and signature block of a container: what every reader checks first.
#pragma once

#include <string>
#include <vector>

#include "plan/layout.h"

namespace hipplan::plan {

struct Front {
  Header header;
  std::vector<Section> sections;  ///< in order of type, which is also their order in the file
  ByteView signature_block;       ///< empty when there is none
};

/// Checks in this order: magic, directory digest, size, signature block (damaged); version; header,
/// directory and unknown required sections.
Result<Front> read_front(ByteView file, const std::string& where);

}  // namespace hipplan::plan
