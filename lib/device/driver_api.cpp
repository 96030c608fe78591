#include "device/driver_api.h"

#include <algorithm>
#include <cstring>

namespace hipplan::device {

Result<SharedLibrary> open_first(const std::vector<std::string>& names, const LibraryWords& words,
                                 std::string& path) {
  std::string tried, why, advice;
  for (const auto& name : names) {
    auto library = SharedLibrary::open(name);
    if (library) {
      path = name;
      return library;
    }
    tried += (tried.empty() ? "" : ", ") + name;
    why = library.error().what;
    advice = library.error().advice;
  }
  return Error{.code = Code::machine,
               .reason = cat(words.reason, "-library"),
               .where = tried,
               .what = std::string(words.closed),
               .advice = advice.empty() ? std::string(words.advice) : advice,
               .details = {why}};
}

Error missing_entry(const std::string& path, const char* entry, const LibraryWords& words) {
  return {.code = Code::machine,
          .reason = cat(words.reason, "-symbol"),
          .where = path,
          .what = cat("the ", words.library, " lacks ", entry),
          .expected = words.version,
          .advice = words.advice};
}

Result<void> fill_table(const SharedLibrary& library, const std::string& path,
                        std::span<const EntryPoint> entries, const LibraryWords& words,
                        void* table) {
  for (const EntryPoint& entry : entries) {
    void* found = library.symbol(entry.name);
    if (found == nullptr && entry.required) return missing_entry(path, entry.name, words);
    std::memcpy(static_cast<char*>(table) + entry.place, &found, sizeof(found));
  }
  return {};
}

Error driver_error(Status status, std::span<const Status> refusals, const char* name,
                   const char* text, const std::string& where, const std::string& what) {
  const bool refused = status == kInvalidImage || status == kNoBinaryForGpu ||
                       std::find(refusals.begin(), refusals.end(), status) != refusals.end();
  const bool no_device = status == kNoDevice || status == kInvalidDevice;
  const char* reason = status == kOutOfMemory ? "device-memory"
                       : no_device            ? "no-device"
                       : status == kNotFound  ? "symbol"
                       : refused              ? "driver-load"
                                              : "driver";
  return {.code = refused || status == kNotFound ? Code::unusable : Code::machine,
          .reason = reason,
          .where = where,
          .what = what,
          .found = cat(name != nullptr ? name : "an unnamed error", " (", status,
                       text != nullptr ? std::string("): ") + text : ")")};
}

}  // namespace hipplan::device
