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

/// What holds in every version of the format: where header and directory are, that they are what
/// was written, that the file is as long as it was written, and its signature block.
struct SealedFront {
  Header header;
  ByteView directory;
  ByteView signature_block;
};

/// Magic, directory digest, size, signature block (damaged). Nothing behind the directory is looked
/// at.
Result<SealedFront> read_sealed_front(ByteView file, const std::string& where);
/// The signature block's header and digest; `place` is for messages.
Result<void> check_signature_block(ByteView block, const std::string& place);

/// Checks in this order: magic, directory digest, size, signature block (damaged); version; header,
/// directory and unknown required sections.
Result<Front> read_front(ByteView file, const std::string& where);

}  // namespace hipplan::plan
