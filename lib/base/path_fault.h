// Whose fault it is when a path cannot be used.
#pragma once

#include <cerrno>

namespace hipplan {

/// Whether the errno `number` of opening a path or of making what it names says that the path was
/// the wrong one to name: not there, not allowed, of another kind. Such errors are bad_input; all
/// others (the disk is full, reading fails, no descriptor is left) are the machine's.
[[nodiscard]] inline bool is_wrong_path(int number) {
  switch (number) {
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
    case EACCES:
    case EPERM:
    case ENAMETOOLONG:
    case ELOOP:
    case ENXIO:  // a socket
      return true;
    default:
      return false;
  }
}

}  // namespace hipplan
