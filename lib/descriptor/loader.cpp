#include "descriptor/loader.h"

#include <algorithm>

#include "base/file.h"
#include "base/parallel.h"
#include "descriptor/identity.h"
#include "descriptor/link.h"
#include "descriptor/parse.h"

namespace hipplan::descriptor {
namespace {
namespace fs = std::filesystem;

/// A walk over a broken file system ends after this many failures in a row.
constexpr int kMaxWalkFailures = 64;
constexpr uint64_t kMaxFileBytes = 64ull << 20;

struct FoundFile {
  Kind kind;
  FileContext context;
};

void warn(std::vector<Diagnostic>& to, const char* reason, std::string where, std::string text) {
  to.push_back({Severity::warning, reason, std::move(where), std::move(text)});
}

/// Paths of all regular files below `root`, sorted. Links to folders are not followed.
std::vector<std::string> walk(const fs::path& root, std::vector<Diagnostic>& diagnostics) {
  std::vector<std::string> out;
  std::vector<fs::path> folders = {root};
  int failures = 0;
  while (!folders.empty() && failures < kMaxWalkFailures) {
    const fs::path folder = std::move(folders.back());
    folders.pop_back();
    std::error_code failed;
    fs::directory_iterator it(folder, failed);
    for (; !failed && it != fs::directory_iterator(); it.increment(failed)) {
      std::error_code ignored;
      if (it->is_directory(ignored) && !it->is_symlink(ignored))
        folders.push_back(it->path());
      else if (it->is_regular_file(ignored))
        out.push_back(it->path().string());
    }
    failures = failed ? failures + 1 : 0;
    if (failed) warn(diagnostics, "folder-unreadable", folder.string(), failed.message());
  }
  std::sort(out.begin(), out.end());
  return out;
}

void discover(const fs::path& root, size_t position, std::vector<FoundFile>& found,
              std::vector<Diagnostic>& diagnostics) {
  for (std::string& path : walk(root, diagnostics)) {
    const fs::path full(path);
    const std::string name = full.filename().string();
    const auto kind = kind_of(name);
    if (kind) {
      std::string folder = full.parent_path().string();
      found.push_back({*kind, {std::move(path), position, root.string(), std::move(folder)}});
      continue;
    }
    if (name.ends_with(".provenance.json")) continue;  // the packer's sidecars
    if (name.ends_with(".json") || name.ends_with(".jsonc"))
      warn(diagnostics, "not-a-descriptor", path,
           "the name ends in none of the descriptor suffixes; skipped");
  }
}

struct Slot {
  std::optional<ParsedFile> file;
  FileReport report;
};

void read_one(const FoundFile& found, Slot& slot) {
  slot.report.file = found.context.file;
  const auto view = FileView::open(found.context.file, kMaxFileBytes);
  if (!view) {
    slot.report.diagnostics.push_back(
        {Severity::error, "file-unreadable", found.context.file, view.error().text()});
    return;
  }
  slot.file = parse_file(found.kind, as_text(view->view()), found.context, slot.report);
}

/// Gathers slots in order and turns them into a set.
Loaded finish(std::vector<Slot> slots, const LoadOptions& options,
              std::vector<Diagnostic> diagnostics) {
  Loaded out;
  out.files_read = slots.size();
  out.diagnostics = std::move(diagnostics);
  std::vector<ParsedFile> files;
  files.reserve(slots.size());
  for (Slot& slot : slots) {
    for (Diagnostic& diagnostic : slot.report.diagnostics)
      out.diagnostics.push_back(std::move(diagnostic));
    if (slot.file) files.push_back(std::move(*slot.file));
  }
  files = unique_identities(std::move(files), out.diagnostics);
  out.set =
      link(std::move(files), options.disabled_engines, options.keep_documents, out.diagnostics);
  return out;
}

}  // namespace

bool Loaded::has_errors() const {
  return std::any_of(diagnostics.begin(), diagnostics.end(),
                     [](const Diagnostic& entry) { return entry.severity == Severity::error; });
}

Result<Loaded> load(const std::vector<fs::path>& roots, const LoadOptions& options) {
  std::vector<FoundFile> found;
  std::vector<Diagnostic> diagnostics;
  for (size_t i = 0; i < roots.size(); ++i) {
    std::error_code ignored;
    if (!fs::is_directory(roots[i], ignored))
      return Error{Code::bad_input,
                   "descriptor-folder",
                   roots[i].string(),
                   "is not a folder of descriptors",
                   {},
                   {},
                   {}};
    discover(roots[i], i, found, diagnostics);
  }
  std::vector<Slot> slots(found.size());
  parallel_for(found.size(), options.jobs, [&](size_t i) { read_one(found[i], slots[i]); });
  return finish(std::move(slots), options, std::move(diagnostics));
}

Loaded load_text(std::string_view name, std::string_view text) {
  std::vector<Slot> slots(1);
  slots[0].report.file = std::string(name);
  const auto kind = kind_of(name);
  std::vector<Diagnostic> diagnostics;
  if (kind) {
    const FileContext context{std::string(name), 0, "/", "/"};
    slots[0].file = parse_file(*kind, text, context, slots[0].report);
  } else {
    warn(diagnostics, "not-a-descriptor", std::string(name),
         "the name ends in none of the descriptor suffixes; skipped");
  }
  return finish(std::move(slots), {}, std::move(diagnostics));
}

}  // namespace hipplan::descriptor
