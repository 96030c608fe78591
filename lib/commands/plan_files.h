// The plan files that paths on a command line stand for.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "commands/io.h"
#include "commands/plans.h"

namespace hipplan::commands {

/// named_paths() for plan files and bundles.
Result<std::vector<NamedPath>> plan_paths(const std::vector<std::string>& arguments);

/// Opens a file, or a member of a bundle. With `trust`, one that no trusted key has signed is
/// refused before anything behind its directory is looked at; signatures beside the file count.
Result<OpenedFile> open_trusted(const std::string& path, plan::Check check,
                                const std::optional<Trust>& trust);

/// Takes a file under its name, or why there is none.
using FileVisitor = std::function<Result<void>(const std::string& name, Result<OpenedFile> opened)>;

/// Visits the files that one of plan_paths() stands for: itself, or the members of a bundle in
/// their order, each as "BUNDLE.tar.zst:MEMBER", with one of them in memory at a time. What cannot
/// be opened is visited with its failure, a bundle that is damaged or holds nothing too, as far as
/// it could be read before. With `trust` a file that no trusted key has signed is one of those; the
/// detached signatures beside a file count. Fails when `visit` does, or when asked to stop.
Result<void> for_each_plan_file(const NamedPath& path, plan::Check check,
                                const std::optional<Trust>& trust, const FileVisitor& visit);

}  // namespace hipplan::commands
