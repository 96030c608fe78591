// What is lost with a file that is written over.
#pragma once

#include <optional>
#include <string>

namespace hipplan::commands {

/// What is lost when `output` is replaced by a file that is not signed, or is signed anew: the
/// signatures in it, or what those in the file beside it are over. To be asked before and told once
/// it is replaced. Nothing where there is no signed file, and for "-".
[[nodiscard]] std::optional<std::string> note_on_signature(const std::string& output,
                                                           bool signed_anew);

}  // namespace hipplan::commands
