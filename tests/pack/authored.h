// A small authored descriptor tree with kernel sources, written to a temporary folder.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "pack/pack.h"
#include "pack/process.h"

namespace hipplan::test {

inline void write_text(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}
inline std::string read_text(const std::filesystem::path& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}
/// Every file below a folder: relative path -> content.
inline std::map<std::string, std::string> all_files(const std::filesystem::path& folder) {
  std::map<std::string, std::string> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file())
      out[entry.path().lexically_relative(folder).string()] = read_text(entry.path());
  return out;
}

inline pack::TemporaryFolder temporary_folder() {
  auto folder = pack::TemporaryFolder::create(std::filesystem::temp_directory_path());
  REQUIRE(folder.ok());
  return std::move(folder).value();
}

/// UUIDs of the tree: the last digit tells them apart.
inline std::string id(char digit) {
  return std::string("00000000-0000-4000-8000-00000000000") + digit;
}

struct KernelText {
  char digit;
  std::string source;  ///< JSON of the kernel_source or "sources" member, with its key
  std::string variant;
  std::string extra;  ///< further members, each with a leading comma
};

inline std::string hip(const std::string& entry, const std::string& defines = "{}",
                       const std::string& file = "k.hip") {
  return R"("kernel_source": {"kind": "hip", "source": ")" + file + R"(", "entry": ")" + entry +
         R"(", "build": {"defines": )" + defines + "}}";
}

/// tree/op/*.json and kernels/k.hip with include/scale.h.
class Authored {
 public:
  explicit Authored(std::filesystem::path root) : root_(std::move(root)) {
    write_text(root_ / "kernels/include/scale.h",
               "#ifndef SCALE\n#define SCALE 2\n#endif\n#define GLOBAL extern \"C\" "
               "__attribute__((global)) void\n");
    write_text(
        root_ / "kernels/k.hip",
        "#include \"scale.h\"\n"
        "GLOBAL first(float* a, int n) { a[__builtin_amdgcn_workitem_id_x()] *= SCALE * n; }\n"
        "GLOBAL second(const float* a, float* b) { b[0] = a[0] + SCALE; }\n");
    put("op.ued.json", R"({"version":"1.0","id":")" + id('1') +
                           R"(","name":"test:Op","metadata":")" + id('2') + R"(","heuristic":")" +
                           id('3') + R"("})");
    put("op.kmd.json", R"({"version":"1.0","id":")" + id('2') +
                           R"(","name":"fields","fields":[{"name":"variant","type":"string"}]})");
    put("op.uhd.json", R"({"version":"1.0","id":")" + id('3') +
                           R"(","name":"rank","kind":"native","payload":"test.rank"})");
    put("op.udd.json", R"({"version":"1.0","id":")" + id('4') +
                           R"(","name":"dispatch","dispatch_symbol":"test.dispatch"})");
    put("op.umd.json", R"({"version":"1.0","id":")" + id('5') +
                           R"(","name":"match","scope":"graph","match_symbol":"test.match"})");
    put("unused.umd.json",
        R"({"version":"1.0","id":")" + id('6') +
            R"(","name":"unused","scope":"graph","match_symbol":"test.unused"})");
    pack("op", '7', "", {{'a', hip("first"), "x", ""}, {'b', hip("second"), "y", ""}});
  }

  void put(const std::string& name, const std::string& text) const {
    write_text(tree() / "op" / name, text);
  }
  /// Writes NAME.kdp.json. `arch` is the inside of the list, empty for none.
  void pack(const std::string& name, char digit, const std::string& arch,
            const std::vector<KernelText>& kernels) const {
    std::string text = R"({ // packs may hold comments
      "version":"1.0","id":")" +
                       id(digit) + R"(","name":")" + name + R"(","engine":")" + id('1') +
                       R"(","dispatch":")" + id('4') + R"(","matchers":[")" + id('5') + R"("],)";
    if (!arch.empty()) text += R"("arch":[)" + arch + "],";
    text += R"("kernelDescriptors":[)";
    for (size_t i = 0; i < kernels.size(); ++i)
      text += (i ? "," : "") + (R"({"id":")" + id(kernels[i].digit)) + R"(","name":"k)" +
              kernels[i].digit + R"(",)" + kernels[i].source + R"(,"metadata":{"variant":")" +
              kernels[i].variant + "\"}" + kernels[i].extra + "}";
    put(name + ".kdp.json", text + "]}");
  }

  [[nodiscard]] std::filesystem::path tree() const { return root_ / "tree"; }
  [[nodiscard]] std::filesystem::path kernels() const { return root_ / "kernels"; }
  [[nodiscard]] std::filesystem::path out() const { return root_ / "out"; }
  [[nodiscard]] pack::BuildOptions options(std::vector<std::string> arches) const {
    pack::BuildOptions out_options;
    out_options.sources = {tree()};
    out_options.kernels = kernels();
    out_options.arches = std::move(arches);
    out_options.output = out();
    return out_options;
  }

 private:
  std::filesystem::path root_;
};

}  // namespace hipplan::test
