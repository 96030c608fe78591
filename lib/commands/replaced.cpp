#include "commands/replaced.h"

#include <filesystem>

#include "base/file.h"
#include "plan/signature.h"

namespace hipplan::commands {
namespace {

Result<plan::SignatureSet> signatures_of(const std::string& file) {
  HIPPLAN_TRY_ASSIGN(const auto bytes, FileView::open(file));
  HIPPLAN_TRY_ASSIGN(const auto detached, plan::read_detached(file));
  return plan::read_signatures(bytes.view(), detached.view(), file);
}

}  // namespace

std::optional<std::string> note_on_signature(const std::string& output, bool signed_anew) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(output, ignored)) return std::nullopt;
  // What is no plan file, or a damaged one, has no signature to lose.
  const auto set = signatures_of(output);
  if (!set) return std::nullopt;
  if (!set->detached.empty())
    return cat(output, ": the signature in ", plan::detached_path(output).string(),
               " is not over the file that is written; sign that again");
  if (set->embedded.empty() || signed_anew) return std::nullopt;
  return output + ": the file was signed and what is written over it is not; sign that again";
}

}  // namespace hipplan::commands
