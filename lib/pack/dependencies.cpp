#include "pack/dependencies.h"

#include <algorithm>

#include "base/file.h"

namespace hipplan::pack {
namespace fs = std::filesystem;

std::vector<std::string> parse_dependencies(std::string_view text) {
  std::vector<std::string> out;
  const size_t colon = text.find(": ");
  if (colon == std::string_view::npos) return out;
  text.remove_prefix(colon + 1);
  std::string word;
  const auto flush = [&] {
    if (!word.empty()) out.push_back(std::move(word));
    word.clear();
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (c == '\\' && next == '\n') {
      flush();
      ++i;
    } else if ((c == '\\' && (next == ' ' || next == '#')) || (c == '$' && next == '$')) {
      word += next;
      ++i;
    } else if (c == ' ' || c == '\n' || c == '\t') {
      flush();
    } else {
      word += c;
    }
  }
  flush();
  return out;
}

Result<std::vector<std::string>> read_dependencies(const fs::path& file) {
  HIPPLAN_TRY_ASSIGN(const Bytes bytes, read_file(file, 16u << 20));
  std::vector<std::string> out = parse_dependencies(as_text(bytes));
  for (std::string& name : out) name = fs::path(name).lexically_normal().string();
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

Result<Digest> digest_files(const fs::path& folder, const std::vector<std::string>& files) {
  Sha256 all;
  for (const std::string& file : files) {
    const fs::path path(file);
    HIPPLAN_TRY_ASSIGN(const FileView content,
                       FileView::open(path.is_absolute() ? path : folder / path));
    const std::string name = path.is_absolute() ? path.filename().string() : file;
    all.update(cat(name.size(), " ", name, " ", sha256(content.view()).hex(), "\n"));
  }
  return all.finish();
}

}  // namespace hipplan::pack
