#include <doctest/doctest.h>
#include <elf.h>

#include <algorithm>
#include <cstring>

#include "archive/kpack.h"
#include "authored.h"
#include "base/hash.h"
#include "codeobject/codeobject.h"
#include "json/json.h"
#include "pack/compiler.h"

using namespace hipplan;
using test::Authored;
using test::hip;
using test::read_text;
using test::temporary_folder;

namespace {

bool compiler_missing() {
  const auto compiler = pack::find_compiler("");
  if (!compiler) MESSAGE("skipped: " << compiler.error().text());
  return !compiler;
}
#define SKIP_WITHOUT_COMPILER \
  if (compiler_missing()) return

json::Value parsed(const std::filesystem::path& file) {
  auto value = json::parse(read_text(file), file.string());
  REQUIRE_MESSAGE(value.ok(), file.string());
  return std::move(value).value();
}
const json::Value& member(const json::Value& value, const char* key) {
  const json::Value* found = value.find(key);
  REQUIRE_MESSAGE(found != nullptr, key);
  return *found;
}
pack::BuildReport built(const pack::BuildOptions& options) {
  auto report = pack::build(options);
  REQUIRE_MESSAGE(report.ok(), (report.ok() ? "" : report.error().text()));
  return std::move(report).value();
}
Error refused(const pack::BuildOptions& options) {
  const auto report = pack::build(options);
  REQUIRE(!report.ok());
  return report.error();
}
bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a tree is packed for one architecture") {
  SKIP_WITHOUT_COMPILER;
  const auto folder = temporary_folder();
  const Authored authored(folder.path());
  const auto report = built(authored.options({"gfx942"}));
  REQUIRE(report.arches.size() == 1);
  CHECK(report.arches[0].packs == 1);
  CHECK(report.arches[0].kernels == 2);
  CHECK(report.arches[0].code_objects == 1);  // both kernels come from one source and build
  CHECK(report.compiled == 1);

  const auto files = test::all_files(authored.out());
  std::vector<std::string> names;
  for (const auto& [name, text] : files) names.push_back(name);
  CHECK(names == std::vector<std::string>{"gfx942/kpack/hipplan_gfx942.kpack",
                                          "gfx942/op/op.kdp.json", "gfx942/op/op.kmd.json",
                                          "gfx942/op/op.provenance.json", "gfx942/op/op.udd.json",
                                          "gfx942/op/op.ued.json", "gfx942/op/op.uhd.json",
                                          "gfx942/op/op.umd.json"});

  const auto document = parsed(authored.out() / "gfx942/op/op.kdp.json");
  CHECK(member(document, "arch").items.at(0).string == "gfx942");
  const auto& kernels = member(document, "kernelDescriptors").items;
  REQUIRE(kernels.size() == 2);
  const auto& source = member(kernels[0], "kernel_source");
  CHECK(member(source, "kind").string == "kpack");
  CHECK(member(source, "library").string == "../kpack/hipplan_gfx942.kpack");
  CHECK(member(source, "symbol").string == "first");
  CHECK(member(source, "toc_key").string.starts_with("k-"));
  CHECK(member(source, "toc_key").string ==
        member(member(kernels[1], "kernel_source"), "toc_key").string);
  // first(float*, int): a pointer at 0 and four bytes at 8.
  const auto& signature = member(source, "signature").items;
  REQUIRE(signature.size() == 2);
  CHECK(member(signature[0], "kind").string == "global_buffer");
  CHECK(member(signature[0], "size").integer == 8);
  CHECK(member(signature[1], "kind").string == "by_value");
  CHECK(member(signature[1], "offset").integer == 8);

  const auto archive = archive::Kpack::open(authored.out() / "gfx942/kpack/hipplan_gfx942.kpack");
  REQUIRE(archive.ok());
  CHECK(archive->info().group_name == "hipplan");
  CHECK(archive->info().arch_family == "gfx942");
  const std::vector<std::string> arches = {"gfx942"};
  const auto found = archive::read_checked(*archive, member(source, "toc_key").string, arches,
                                           *Digest::from_hex(member(source, "sha256").string));
  REQUIRE_MESSAGE(found.ok(), (found.ok() ? "" : found.error().text()));
  const auto object = codeobject::parse(found->code, "x");
  REQUIRE(object.ok());
  CHECK(object->find("first") != nullptr);
  CHECK(object->find("second") != nullptr);

  const auto provenance = parsed(authored.out() / "gfx942/op/op.provenance.json");
  CHECK(member(provenance, "compiler").string == report.compiler);
  CHECK(member(provenance, "entries").members.size() == 2);
  CHECK(!contains(read_text(authored.out() / "gfx942/op/op.provenance.json"),
                  folder.path().string()));
}

TEST_CASE("same input, same bytes: another folder, more jobs, from the cache") {
  SKIP_WITHOUT_COMPILER;
  const auto a = temporary_folder(), b = temporary_folder();
  const Authored first(a.path()), second(b.path() / "deeper down");
  for (const Authored& authored : {first, second})
    authored.pack("more", '8', "",
                  {{'c', hip("first", R"({"SCALE": 5})"), "c", ""},
                   {'d', hip("first", R"({"SCALE": 6})"), "d", ""}});
  auto options = first.options({"gfx942", "gfx1100", "gfx11-generic"});
  CHECK(built(options).compiled == 9);
  auto other = second.options({"gfx11-generic", "gfx942", "gfx1100"});
  other.jobs = 4;
  other.cache = b.path() / "cache";
  CHECK(built(other).compiled == 9);
  CHECK(test::all_files(first.out()) == test::all_files(second.out()));
  const auto again = built(other);
  CHECK(again.compiled == 0);
  CHECK(again.reused == 9);
  CHECK(test::all_files(first.out()) == test::all_files(second.out()));
  // A changed header is seen, and changes the key.
  test::write_text(second.kernels() / "include/scale.h",
                   read_text(second.kernels() / "include/scale.h") + "// changed\n");
  CHECK(built(other).compiled == 9);
  CHECK(read_text(first.out() / "gfx942/op/op.kdp.json") !=
        read_text(second.out() / "gfx942/op/op.kdp.json"));
}

TEST_CASE("architecture lists decide what is built, and old output goes away") {
  SKIP_WITHOUT_COMPILER;
  const auto folder = temporary_folder();
  const Authored authored(folder.path());
  authored.pack("op", '7', "\"gfx942\", \"gfx1100\"",
                {{'a', hip("first"), "x", R"(,"arch":["gfx942"])"}, {'b', hip("second"), "y", ""}});
  std::vector<Diagnostic> notes;
  auto options = authored.options({"gfx942", "gfx1100", "gfx90a"});
  options.notes = [&](const Diagnostic& d) { notes.push_back(d); };
  const auto report = built(options);
  CHECK(report.arches[0].kernels == 2);
  CHECK(report.arches[1].kernels == 1);
  CHECK(report.arches[2].packs == 0);
  CHECK(std::any_of(notes.begin(), notes.end(), [](const Diagnostic& d) {
    return d.text == "no kernels for gfx90a, skipping";
  }));
  CHECK(!std::filesystem::exists(authored.out() / "gfx90a"));
  const auto document = parsed(authored.out() / "gfx1100/op/op.kdp.json");
  CHECK(member(document, "kernelDescriptors").items.size() == 1);
  // The pack leaves gfx1100: its old output goes.
  authored.pack("op", '7', "\"gfx942\"", {{'a', hip("first"), "x", ""}});
  built(options);
  CHECK(std::filesystem::exists(authored.out() / "gfx942"));
  CHECK(!std::filesystem::exists(authored.out() / "gfx1100"));
  // Nothing temporary stays behind.
  CHECK(std::distance(std::filesystem::directory_iterator(authored.out()), {}) == 1);
}

TEST_CASE("several launches share a code object and keep their symbols") {
  SKIP_WITHOUT_COMPILER;
  const auto folder = temporary_folder();
  const Authored authored(folder.path());
  const std::string sources =
      R"("version":"1.1","sources":{"main":{"kind":"hip","source":"k.hip","entry":"first"},)"
      R"("reduce":{"kind":"hip","source":"k.hip","entry":"second"}})";
  authored.pack("op", '7', "", {{'a', sources, "x", ""}});
  const auto report = built(authored.options({"gfx942"}));
  CHECK(report.arches[0].code_objects == 1);
  const auto document = parsed(authored.out() / "gfx942/op/op.kdp.json");
  const auto& packed = member(member(document, "kernelDescriptors").items.at(0), "sources");
  CHECK(member(member(packed, "main"), "symbol").string == "first");
  CHECK(member(member(packed, "reduce"), "symbol").string == "second");
  CHECK(member(member(packed, "main"), "sha256").string ==
        member(member(packed, "reduce"), "sha256").string);

  // A kernel with one launch under the same dispatch symbol does not fit.
  authored.pack("op", '7', "", {{'a', sources, "x", ""}, {'b', hip("first"), "y", ""}});
  Error error = refused(authored.options({"gfx942"}));
  CHECK(error.reason == "launch-set");
  CHECK(error.code == Code::bad_input);
  // Nor does one in a pack with another architecture list, where the two meet.
  authored.pack("op", '7', "", {{'a', sources, "x", ""}});
  authored.pack("more", '8', "\"gfx942\"", {{'b', hip("first"), "y", ""}});
  error = refused(authored.options({"gfx942"}));
  CHECK(error.reason == "launch-set");
  CHECK(pack::build(authored.options({"gfx1100"})).ok());
}

TEST_CASE("two trees keep their names") {
  SKIP_WITHOUT_COMPILER;
  const auto folder = temporary_folder();
  const Authored authored(folder.path());
  std::filesystem::create_directories(folder.path() / "other");
  auto options = authored.options({"gfx942"});
  options.sources.push_back(folder.path() / "other");
  built(options);
  CHECK(std::filesystem::exists(authored.out() / "gfx942/tree/op/op.kdp.json"));
  CHECK(contains(read_text(authored.out() / "gfx942/tree/op/op.kdp.json"),
                 "../../kpack/hipplan_gfx942.kpack"));
  options.sources.push_back(folder.path() / "x" / "tree");
  CHECK(refused(options).code == Code::bad_input);
}

TEST_CASE("prebuilt code objects") {
  SKIP_WITHOUT_COMPILER;
  const auto folder = temporary_folder();
  const Authored authored(folder.path());
  const auto compiler = pack::find_compiler("");
  const auto compiled =
      pack::compile(*compiler, {authored.kernels(), "k.hip", {}, {}}, "gfx942", folder.path(), {});
  REQUIRE(compiled.ok());
  test::write_text(authored.tree() / "op/k.hsaco", std::string(as_text(compiled->code)));
  const std::string source =
      R"("kernel_source":{"kind":"hsaco","file":"k.hsaco","symbol":"second"})";
  authored.pack("op", '7', "\"gfx942\"", {{'a', source, "x", ""}});
  const auto report = built(authored.options({"gfx942"}));
  CHECK(report.compiled == 0);
  const auto document = parsed(authored.out() / "gfx942/op/op.kdp.json");
  const auto& packed = member(member(document, "kernelDescriptors").items.at(0), "kernel_source");
  CHECK(member(packed, "sha256").string == sha256(compiled->code).hex());

  authored.pack("op", '7', "", {{'a', source, "x", ""}});  // for any architecture, which it is not
  CHECK(refused(authored.options({"gfx1100"})).reason == "code-object-arch");
  // A symbol of the dynamic table that the code object leaves to others.
  Bytes undefined = compiled->code;
  const auto header = *load<Elf64_Ehdr>(undefined, 0);
  for (size_t i = 0; i < header.e_shnum; ++i) {
    const auto section = *load<Elf64_Shdr>(undefined, header.e_shoff + i * sizeof(Elf64_Shdr));
    if (section.sh_type != SHT_DYNSYM) continue;
    const size_t last = section.sh_offset + section.sh_size - sizeof(Elf64_Sym);
    std::memset(undefined.data() + last + offsetof(Elf64_Sym, st_shndx), 0, 2);
  }
  test::write_text(authored.tree() / "op/k.hsaco", std::string(as_text(undefined)));
  CHECK(refused(authored.options({"gfx942"})).reason == "undefined-symbol");
  test::write_text(authored.tree() / "op/k.hsaco", "not a code object");
  CHECK(refused(authored.options({"gfx942"})).code == Code::bad_input);
}

TEST_CASE("refusals leave the old output alone") {
  SKIP_WITHOUT_COMPILER;
  const auto folder = temporary_folder();
  const Authored authored(folder.path());
  built(authored.options({"gfx942"}));
  const auto before = test::all_files(authored.out());

  SUBCASE("a missing symbol names those that are there") {
    authored.pack("op", '7', "", {{'a', hip("third"), "x", ""}});
    const Error error = refused(authored.options({"gfx942"}));
    CHECK(error.reason == "missing-symbol");
    CHECK(contains(error.text(), "expected third, found first, second"));
  }
  SUBCASE("the compiler's own words") {
    authored.pack("op", '7', "", {{'a', hip("first", R"({"SCALE": "no_such_name"})"), "x", ""}});
    const Error error = refused(authored.options({"gfx942"}));
    CHECK(error.reason == "compile-failed");
    CHECK(error.code == Code::bad_input);
    CHECK(contains(error.text(), "k.hip for gfx942 -DSCALE=no_such_name"));
    CHECK(contains(error.text(), "use of undeclared identifier 'no_such_name'"));
  }
  SUBCASE("a missing source") {
    authored.pack("op", '7', "", {{'a', hip("first", "{}", "missing.hip"), "x", ""}});
    CHECK(refused(authored.options({"gfx942"})).reason == "compile-failed");
  }
  SUBCASE("the time of day in a kernel") {
    test::write_text(
        authored.kernels() / "k.hip",
        read_text(authored.kernels() / "k.hip") + "__attribute__((device)) char t[] = __TIME__;\n");
    CHECK(contains(refused(authored.options({"gfx942"})).text(), "date-time"));
  }
  SUBCASE("an undefined symbol") {
    test::write_text(
        authored.kernels() / "k.hip",
        "#include \"scale.h\"\nextern \"C\" __attribute__((device)) float outside[4];\n"
        "extern \"C\" __attribute__((device)) float elsewhere(float);\n"
        "GLOBAL first(float* a) { a[0] = elsewhere(a[0]); }\n");
    authored.pack("op", '7', "", {{'a', hip("first"), "x", ""}});
    const Error error = refused(authored.options({"gfx942"}));
    CHECK_MESSAGE(contains(error.text(), "elsewhere"), error.text());
  }
  SUBCASE("faulty descriptors") {
    authored.put("bad.umd.json", "{");
    CHECK(refused(authored.options({"gfx942"})).code == Code::bad_input);
  }
  SUBCASE("a kind that cannot be packed") {
    authored.pack(
        "op", '7', "",
        {{'a',
          R"("kernel_source":{"kind":"embedded_source","source_file":"k.hip","entry_point":"first"})",
          "x", ""}});
    CHECK(refused(authored.options({"gfx942"})).reason == "source-kind");
  }
  SUBCASE("an architecture that is none") {
    CHECK(refused(authored.options({"gfx942:xnack-"})).code == Code::bad_input);
    CHECK(refused(authored.options({"gfx942", "sm_90"})).code == Code::bad_input);
    CHECK(refused(authored.options({"gfx942", "gfx942"})).code == Code::bad_input);
    CHECK(refused(authored.options({"gfx9999"})).reason == "compile-failed");
  }
  SUBCASE("a compiler that is none") {
    auto options = authored.options({"gfx942"});
    options.compiler = "/nonexistent/clang";
    const Error error = refused(options);
    CHECK(error.reason == "compiler-missing");
    CHECK(error.code == Code::machine);
  }
  SUBCASE("interrupted") {
    auto options = authored.options({"gfx942"});
    options.interrupted = [] { return true; };
    CHECK(refused(options).reason == "interrupted");
  }
  SUBCASE("interrupted while the compiler fails") {
    auto options = authored.options({"gfx9999"});
    options.jobs = 1;
    unsigned asked = 0;
    options.interrupted = [&] { return ++asked > 1; };
    const Error error = refused(options);
    CHECK(error.reason == "interrupted");
    CHECK(error.code == Code::interrupted);
  }
  CHECK(test::all_files(authored.out()) == before);
}

TEST_CASE("folders that are none, and a compiler that writes nothing, are told as such") {
  const auto folder = temporary_folder();
  const Authored authored(folder.path());
  auto options = authored.options({"gfx942"});
  options.kernels = folder.path() / "nope";
  CHECK(refused(options).where == options.kernels.string());
  CHECK(refused(options).code == Code::bad_input);
  options = authored.options({"gfx942"});
  test::write_text(folder.path() / "file", "");
  options.cache = folder.path() / "file";
  CHECK(contains(refused(options).where, "--cache"));
  options = authored.options({"gfx942"});
  options.compiler = "/bin/true";
  CHECK(refused(options).reason == "compile-failed");
  CHECK(contains(refused(options).what, "wrote nothing"));
  std::filesystem::create_directories(folder.path() / "empty");
  test::write_text(folder.path() / "empty/other.json", "{}");
  options.sources = {folder.path() / "empty"};
  options.output = folder.path() / "unmade";
  CHECK(contains(refused(options).what, "holds no descriptor"));
  CHECK(!std::filesystem::exists(options.output));
}

TEST_CASE("what a killed build left goes with the next one, what another one holds stays") {
  const auto folder = temporary_folder();
  const Authored authored(folder.path());
  auto options = authored.options({"gfx942"});
  options.compiler = "/bin/true";
  const auto left = authored.out() / ".hipplan-pack-aBcDeF";
  std::filesystem::create_directories(left / "gfx942");
  test::write_text(left / "gfx942/file", "x");
  const auto held = pack::TemporaryFolder::create(authored.out());
  REQUIRE(held.ok());
  CHECK(refused(options).reason == "compile-failed");
  CHECK(!std::filesystem::exists(left));
  CHECK(std::filesystem::exists(held->path()));
}

TEST_CASE("folders without files are replaced") {
  SKIP_WITHOUT_COMPILER;
  const auto folder = temporary_folder();
  const Authored authored(folder.path());
  std::filesystem::create_directories(authored.out() / "gfx942/kpack");
  built(authored.options({"gfx942"}));
  CHECK(std::filesystem::exists(authored.out() / "gfx942/kpack/hipplan_gfx942.kpack"));
}

TEST_CASE("a folder of somebody else is never replaced") {
  SKIP_WITHOUT_COMPILER;
  const auto folder = temporary_folder();
  const Authored authored(folder.path());
  test::write_text(authored.out() / "gfx942/thesis.txt", "years of work");
  CHECK(refused(authored.options({"gfx942"})).reason == "output-foreign");
  CHECK(read_text(authored.out() / "gfx942/thesis.txt") == "years of work");
}
