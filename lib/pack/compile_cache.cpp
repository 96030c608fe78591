#include "pack/compile_cache.h"

#include <algorithm>
#include <sstream>

#include "base/file.h"
#include "base/folder.h"
#include "pack/dependencies.h"

namespace hipplan::pack {
namespace fs = std::filesystem;
namespace {

/// Names of all files below a folder: a new file can hide one further down the include path.
Result<std::string> list_names(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code failed;
  for (fs::recursive_directory_iterator it(folder, failed);
       !failed && it != fs::recursive_directory_iterator(); it.increment(failed))
    names.push_back(it->path().lexically_relative(folder).string());
  if (failed)
    return Error{Code::machine, "folder-unreadable", folder.string(), failed.message(), "", "", ""};
  std::sort(names.begin(), names.end());
  std::string out;
  for (const std::string& name : names) out += name + "\n";
  return out;
}

/// "<sha256 of content> <name>" for each file.
Result<std::string> describe(const fs::path& folder, const std::vector<std::string>& files) {
  std::string out;
  for (const std::string& file : files) {
    const fs::path path(file);
    HIPPLAN_TRY_ASSIGN(const FileView content,
                       FileView::open(path.is_absolute() ? path : folder / path));
    out += sha256(content.view()).hex() + " " + file + "\n";
  }
  return out;
}

/// The names in the lines that describe() wrote.
std::vector<std::string> names_in(std::string_view text) {
  std::vector<std::string> out;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);)
    if (line.size() > 65) out.push_back(line.substr(65));
  return out;
}

}  // namespace

Result<CompileCache> CompileCache::open(const fs::path& folder, const Compiler& compiler,
                                        const Unit& unit, const std::string& arch) {
  CompileCache out;
  if (folder.empty()) return out;
  HIPPLAN_TRY_ASSIGN(const std::string names, list_names(unit.folder));
  Sha256 key;
  key.update("hipplan compile cache 1\n").update(compiler.program + "\n" + compiler.version + "\n");
  for (const std::string& argument : compile_arguments(unit, arch, compiler.nvcc))
    key.update(cat(argument.size(), " ", argument, "\n"));
  key.update(names);
  out.folder_ = folder;
  out.kernels_ = unit.folder;
  out.name_ = key.finish().hex();
  return out;
}

bool CompileCache::load(Compiled& out) const {
  if (folder_.empty()) return false;
  const auto known = read_file(folder_ / (name_ + ".deps"), 16u << 20);
  if (!known) return false;
  // First line: digest of the code object; then the files.
  const std::string_view text = as_text(*known);
  const size_t first = text.find('\n');
  if (first == std::string_view::npos) return false;
  const std::string_view files = text.substr(first + 1);
  const std::vector<std::string> names = names_in(files);
  const auto now = describe(kernels_, names);
  if (!now || *now != files) return false;
  auto code = read_file(folder_ / (name_ + ".hsaco"), 1ull << 30);
  if (!code || sha256(*code).hex() != text.substr(0, first)) return false;
  out.code = std::move(*code);
  out.dependencies = names;
  return true;
}

void CompileCache::save(const Compiled& compiled) const {
  if (folder_.empty()) return;
  const auto files = describe(kernels_, compiled.dependencies);
  NewFolders made;
  if (!files || !made.make(folder_) || !write_file(folder_ / (name_ + ".hsaco"), compiled.code))
    return;
  made.keep();
  const std::string text = sha256(compiled.code).hex() + "\n" + *files;
  (void)write_file(folder_ / (name_ + ".deps"), as_bytes(text)).ok();
}

}  // namespace hipplan::pack
