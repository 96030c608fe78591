#include "base/folder.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/path_fault.h"

namespace hipplan {
namespace fs = std::filesystem;

Error folder_error(const fs::path& folder, std::string_view doing, const std::error_code& why) {
  const int number = why.value();
  const bool wrong = is_wrong_path(number) || number == EEXIST || number == EINVAL;
  return {.code = wrong ? Code::bad_input : Code::machine,
          .reason = wrong ? "open" : "io",
          .where = folder.string(),
          .what = cat("cannot ", doing, " the folder: ", why.message())};
}

NewFolders::NewFolders(NewFolders&& other) noexcept : made_(std::exchange(other.made_, {})) {}

NewFolders::~NewFolders() {
  std::error_code ignored;
  for (auto at = made_.rbegin(); at != made_.rend(); ++at) fs::remove(*at, ignored);
}

Result<void> NewFolders::make(const fs::path& folder) {
  // The outermost first; a name with '/' behind it has an empty last part.
  std::vector<fs::path> missing;
  std::error_code failed;
  for (fs::path at = folder; !at.empty() && !fs::exists(at, failed); at = at.parent_path()) {
    if (failed && failed != std::errc::not_a_directory) break;
    if (at.has_filename()) missing.push_back(at);
    if (at == at.parent_path()) break;
  }
  std::ranges::reverse(missing);
  for (const auto& at : missing) {
    if (::mkdir(at.c_str(), 0777) == 0)
      made_.push_back(at);
    else if (errno != EEXIST)
      return folder_error(folder, "make", {errno, std::generic_category()});
  }
  const auto status = fs::status(folder, failed);
  if (fs::is_directory(status)) return {};
  if (!fs::exists(status) && failed) return folder_error(folder, "make", failed);
  return folder_error(folder, "make", std::make_error_code(std::errc::not_a_directory));
}

}  // namespace hipplan
