#include "commands/plan_files.h"

#include "plan/bundle.h"
#include "plan/signature.h"

namespace hipplan::commands {
namespace {

Result<void> visit_bundle(const std::string& path, plan::Check check,
                          const std::optional<Trust>& trust, const FileVisitor& visit) {
  bool empty = true;
  Result<void> refused;
  auto read = plan::for_each_in_bundle(
      path, {}, [&](const plan::BundleMember& member, ByteView bytes) -> Result<bool> {
        empty = false;
        const std::string name = path + ":" + member.name;
        auto copy = FileView::own(Bytes(bytes.begin(), bytes.end()));
        refused = visit(name, parse_signed(std::move(copy), name, {}, check, trust));
        return refused.ok();
      });
  HIPPLAN_TRY(std::move(refused));
  if (!read && read.error().code == Code::interrupted) return read;
  if (!read) return visit(path, read.error());
  return empty ? visit(path, empty_bundle(path)) : Result<void>();
}

}  // namespace

Result<std::vector<NamedPath>> plan_paths(const std::vector<std::string>& arguments) {
  return named_paths(arguments, {".hplan", std::string(plan::kBundleSuffix)});
}

Result<OpenedFile> open_trusted(const std::string& path, plan::Check check,
                                const std::optional<Trust>& trust) {
  HIPPLAN_TRY_ASSIGN(auto bytes, open_view(path));
  // Nothing lies beside standard input.
  if (!trust || path == "-") return parse_signed(std::move(bytes), path, {}, check, trust);
  HIPPLAN_TRY_ASSIGN(const auto detached, plan::read_detached(path));
  return parse_signed(std::move(bytes), path, detached.view(), check, trust);
}

Result<void> for_each_plan_file(const NamedPath& path, plan::Check check,
                                const std::optional<Trust>& trust, const FileVisitor& visit) {
  if (path.failure) return visit(path.path, *path.failure);
  if (plan::is_bundle_file_name(path.path)) return visit_bundle(path.path, check, trust, visit);
  return visit(path.path, open_trusted(path.path, check, trust));
}

}  // namespace hipplan::commands
