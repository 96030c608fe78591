// What a new file owes to the one whose place it takes.
#pragma once

#include <filesystem>

namespace hipplan {

/// Gives an open file that is to replace `target` its permissions, and its owner and group as far
/// as this process may. A group that cannot be kept gets no more than everybody. Does nothing where
/// `target` is no file.
void take_access_of(const std::filesystem::path& target, int descriptor);

/// Whether a name leads through a process's open descriptors: /dev/stderr, /dev/fd/3.
[[nodiscard]] bool names_descriptor(const std::filesystem::path& name);

}  // namespace hipplan
