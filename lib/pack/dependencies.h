// Which files a compilation read, and one digest over them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/result.h"

namespace hipplan::pack {

/// The prerequisites of a make rule as compilers write it: "target: a b\ c \<newline> d".
[[nodiscard]] std::vector<std::string> parse_dependencies(std::string_view text);

/// The same from a file; sorted, each once.
Result<std::vector<std::string>> read_dependencies(const std::filesystem::path& file);

/// Digest over names and content, in the order given. Relative names are below `folder`; of
/// absolute ones (the compiler's own headers) only the file name counts, so that the place does not
/// matter.
Result<Digest> digest_files(const std::filesystem::path& folder,
                            const std::vector<std::string>& files);

}  // namespace hipplan::pack
