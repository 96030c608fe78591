// A descriptor tree in a temporary folder, and the texts of a small sound set.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace hipplan::test {

/// Folder that is removed with its content at the end of the test.
class Tree {
 public:
  Tree() {
    std::string name = (std::filesystem::temp_directory_path() / "hipplan-tree-XXXXXX").string();
    root_ = mkdtemp(name.data());
  }
  ~Tree() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  Tree& write(const std::string& path, const std::string& text) {
    const auto full = root_ / path;
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full, std::ios::binary) << text;
    return *this;
  }
  Tree& remove(const std::string& path) {
    std::filesystem::remove(root_ / path);
    return *this;
  }
  [[nodiscard]] const std::filesystem::path& root() const { return root_; }

 private:
  std::filesystem::path root_;
};

/// UUID with `n` in its last group.
inline std::string uuid(int n) {
  const std::string digits = std::to_string(n);
  return "00000000-0000-4000-8000-" + std::string(12 - digits.size(), '0') + digits;
}

/// `text` with the first `from` replaced; the test is wrong when it is not there.
inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  if (at == std::string::npos) throw std::logic_error("nothing to replace: " + from);
  return text.replace(at, from.size(), to);
}

inline std::string quoted(const std::string& text) {
  return "\"" + text + "\"";
}

// A set of one engine (1), schema (2), matcher (3), dispatch (4), heuristic (5), pack (6) with the
// inline kernel 7 and the stand-alone kernel 8.
inline std::string engine_text() {
  return R"({"version": "1.0", "id": )" + quoted(uuid(1)) +
         R"(, "name": "test:Engine", "metadata": )" + quoted(uuid(2)) + R"(, "heuristic": )" +
         quoted(uuid(5)) + R"(, "knobs": ["block_size"], "behavior_notes": ["runtime_compilation"],
         "numerical_notes": ["fused"], "sdk_version": "1.2.0", "graph_match": {"native": "test.graph"}})";
}
inline std::string schema_text() {
  return R"({"version": "1.0", "id": )" + quoted(uuid(2)) + R"(, "name": "fields", "fields": [
    {"name": "block_size", "type": "int", "default_value": 64},
    {"name": "dtype", "type": "string"},
    {"name": "ratio", "type": "float", "default_value": 2},
    {"name": "tiles", "type": "int_list", "default_value": [1, 2]},
    {"name": "fast", "type": "bool", "default_value": true}]})";
}
inline std::string matcher_text() {
  return R"({"version": "1.0", "id": )" + quoted(uuid(3)) +
         R"(, "name": "dtype matches", "scope": "kernel", "match_symbol": "test.kernel"})";
}
inline std::string dispatch_text() {
  return R"({"version": "1.0", "id": )" + quoted(uuid(4)) +
         R"(, "name": "dispatch", "dispatch_symbol": "test.dispatch"})";
}
inline std::string heuristic_text() {
  return R"({"version": "1.0", "id": )" + quoted(uuid(5)) +
         R"(, "name": "rank", "kind": "native", "payload": "test.rank"})";
}
/// kernel_source of kind kpack.
inline std::string packed_source(const std::string& symbol) {
  return R"({"kind": "kpack", "library": "kpack/a.kpack", "toc_key": "k", "symbol": )" +
         quoted(symbol) + R"(, "sha256": ")" + std::string(64, 'a') +
         R"(", "signature": [{"kind": "global_buffer", "size": 8, "offset": 0, "name": "x"}]})";
}
inline std::string kernel_members(int id, const std::string& name, const std::string& metadata) {
  return R"("id": )" + quoted(uuid(id)) + R"(, "name": )" + quoted(name) +
         R"(, "kernel_source": )" + packed_source(name) + R"(, "metadata": {)" + metadata +
         R"(}, "priority": 0)";
}
inline std::string pack_text() {
  return R"({"version": "1.0", "id": )" + quoted(uuid(6)) + R"(, "name": "pack", "engine": )" +
         quoted(uuid(1)) + R"(, "dispatch": )" + quoted(uuid(4)) + R"(, "matchers": [)" +
         quoted(uuid(3)) + R"(], "arch": ["gfx942", "gfx90a"], "kernelDescriptors": [{)" +
         kernel_members(7, "inline_kernel", R"("dtype": "float")") + "}, " + quoted(uuid(8)) + "]}";
}
inline std::string kernel_text() {
  return R"({"version": "1.0", )" +
         kernel_members(8, "shared_kernel", R"("dtype": "half", "block_size": 256)") + "}";
}

inline void write_sound_set(Tree& tree, const std::string& folder = "") {
  tree.write(folder + "e.ued.json", engine_text()).write(folder + "s.kmd.json", schema_text());
  tree.write(folder + "m.umd.json", matcher_text()).write(folder + "d.udd.json", dispatch_text());
  tree.write(folder + "h.uhd.json", heuristic_text()).write(folder + "p.kdp.json", pack_text());
  tree.write(folder + "k.ukd.json", kernel_text());
}

}  // namespace hipplan::test
