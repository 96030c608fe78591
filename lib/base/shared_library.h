// Shared libraries opened at run time.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/result.h"

namespace hipplan {

/// A dlopen handle; closed when the last copy goes.
class SharedLibrary {
 public:
  static Result<SharedLibrary> open(const std::filesystem::path& path);
  /// Address of a symbol, or null.
  [[nodiscard]] void* symbol(const char* name) const;
  template <class F>
  [[nodiscard]] F* function(const char* name) const {
    return reinterpret_cast<F*>(symbol(name));
  }

 private:
  std::shared_ptr<void> handle_;
};

/// Folder that holds the code this function was linked into: libhipplan's, or the program's own.
[[nodiscard]] std::filesystem::path own_folder();

}  // namespace hipplan
