// A vendor's library as a table of entry points, and its statuses as errors: what HIP and CUDA have
// in common. Their statuses agree in every value that means something of its own here.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/shared_library.h"

namespace hipplan::device {

/// hipError_t and CUresult.
using Status = int;
inline constexpr Status kSuccess = 0, kOutOfMemory = 2, kNoDevice = 100, kInvalidDevice = 101,
                        kInvalidImage = 200, kNoBinaryForGpu = 209, kNotFound = 500;

/// Marks in the list of extra arguments of a launch; the one that ends it differs.
inline void* const kArgumentBuffer = reinterpret_cast<void*>(1);
inline void* const kArgumentSize = reinterpret_cast<void*>(2);

/// One entry point of a library.
struct EntryPoint {
  const char* name;
  bool required;
  size_t place;  ///< of the pointer in the table
};

/// How messages speak of a library.
struct LibraryWords {
  const char* reason;   ///< "hip": reasons hip-library and hip-symbol
  const char* library;  ///< "HIP library"
  const char* closed;   ///< "no HIP library opens"
  const char* version;  ///< what is new enough
  const char* advice;   ///< how to come by one
};

/// Opens the first of `names` that the loader finds; `path` becomes its name. Fails with machine,
/// reason …-library.
Result<SharedLibrary> open_first(const std::vector<std::string>& names, const LibraryWords& words,
                                 std::string& path);
/// machine, reason …-symbol.
[[nodiscard]] Error missing_entry(const std::string& path, const char* entry,
                                  const LibraryWords& words);
/// Fills a table from a library; fails for the first required entry point that is not there.
Result<void> fill_table(const SharedLibrary& library, const std::string& path,
                        std::span<const EntryPoint> entries, const LibraryWords& words,
                        void* table);

/// A status as an error, with the driver's name for it and its words, which may be null: out of
/// memory, no device, and code that is refused keep their meaning; `refusals` are the statuses of
/// the last kind beyond those that have a name here.
[[nodiscard]] Error driver_error(Status status, std::span<const Status> refusals, const char* name,
                                 const char* text, const std::string& where,
                                 const std::string& what);

}  // namespace hipplan::device
