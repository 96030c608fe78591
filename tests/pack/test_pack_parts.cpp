#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>

#include "authored.h"
#include "pack/compiler.h"
#include "pack/dependencies.h"
#include "pack/process.h"

using namespace hipplan;

TEST_CASE("make rules of compilers") {
  using Words = std::vector<std::string>;
  CHECK(pack::parse_dependencies("unit: k.hip include/a.h \\\n  include/b.h\n") ==
        Words{"k.hip", "include/a.h", "include/b.h"});
  CHECK(pack::parse_dependencies("unit: a\\ b.h c$$d.h e\\#f.h") ==
        Words{"a b.h", "c$d.h", "e#f.h"});
  CHECK(pack::parse_dependencies("unit:\n").empty());
  CHECK(pack::parse_dependencies("").empty());
  CHECK(pack::parse_dependencies("unit: last\\") == Words{"last\\"});
}

TEST_CASE("digests of files depend on names below the folder and on content") {
  const auto a = test::temporary_folder(), b = test::temporary_folder();
  for (const auto* folder : {&a, &b}) {
    test::write_text(folder->path() / "x/k.hip", "kernel");
    test::write_text(folder->path() / "h.h", "header");
  }
  const auto digest = [](const pack::TemporaryFolder& folder,
                         const std::vector<std::string>& files) {
    const auto result = pack::digest_files(folder.path(), files);
    REQUIRE(result.ok());
    return *result;
  };
  CHECK(digest(a, {"x/k.hip", "h.h"}) == digest(b, {"x/k.hip", "h.h"}));
  CHECK(digest(a, {"x/k.hip"}) != digest(a, {"x/k.hip", "h.h"}));
  // Of files outside, only the name counts.
  CHECK(digest(a, {(a.path() / "h.h").string()}) == digest(b, {(b.path() / "h.h").string()}));
  test::write_text(b.path() / "h.h", "Header");
  CHECK(digest(a, {"h.h"}) != digest(b, {"h.h"}));
  CHECK(!pack::digest_files(a.path(), {"missing"}).ok());
}

TEST_CASE("an error in a temporary folder is told of the folder that was asked for") {
  const auto told = [](const std::string& where, const char* work) {
    Error error;
    error.where = where;
    return pack::without_temporary(error, work, "out/").where;
  };
  // The folder cannot be made in the output folder.
  CHECK(told("/a/out", "/a/out/") == "out/");
  CHECK(told("/a/out/", "/a/out") == "out/");
  const char* work = "/a/out/.hipplan-pack-1";
  CHECK(told(work, work) == "out/");
  CHECK(told("/a/out/.hipplan-pack-1/.hipplan-pack-2", work) == "out/");
  CHECK(told("/a/out/.hipplan-pack-1/.hipplan-pack-2/unit.d", work) == "out/unit.d");
  // Sources beside and in the output folder, and places that are no paths.
  for (const char* where : {"/a/out-src/k.hip", "/a/out/src/k.hip", "/a/out/.hipplan-pack-12/x",
                            "k.hip for gfx942", "clang", ""})
    CHECK(told(where, work) == where);
}

TEST_CASE("programs run without a shell") {
  const auto folder = test::temporary_folder();
  const auto echoed = pack::run_program({"printf", "%s|", "a b", "$HOME", "*"}, folder.path());
  REQUIRE(echoed.ok());
  CHECK(echoed->status == 0);
  CHECK(echoed->output == "a b|$HOME|*|");
  const auto failed = pack::run_program({"ls", "--no-such-option"}, folder.path());
  REQUIRE(failed.ok());
  CHECK(failed->status != 0);
  CHECK(!failed->output.empty());
  const auto where = pack::run_program({"pwd", "-P"}, folder.path());
  REQUIRE(where.ok());
  CHECK(where->output == std::filesystem::canonical(folder.path()).string() + "\n");
  const auto missing = pack::run_program({"/nonexistent/program"}, folder.path());
  REQUIRE(!missing.ok());
  CHECK(missing.error().code == Code::machine);
  // More output than is kept does not block the program.
  const auto long_output = pack::run_program({"head", "-c", "300000", "/dev/zero"}, folder.path());
  REQUIRE(long_output.ok());
  CHECK(long_output->status == 0);
  CHECK(long_output->output.size() == 65536);
}

TEST_CASE("a program whose end nobody is told of has not succeeded") {
  // Whoever ignores SIGCHLD gets no statuses: the host application's choice, and inherited by it.
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  const auto lost = pack::run_program({"false"}, {});
  std::signal(SIGCHLD, before);
  REQUIRE(!lost.ok());
  CHECK(lost.error().code == Code::machine);
  CHECK(lost.error().what.find("waiting for the program failed") == 0);
  CHECK(pack::run_program({"false"}, {})->status == 1);
}

TEST_CASE("temporary folders go away") {
  std::filesystem::path path;
  {
    const auto folder = test::temporary_folder();
    path = folder.path();
    test::write_text(path / "a/b", "x");
    CHECK(std::filesystem::exists(path));
  }
  CHECK(!std::filesystem::exists(path));
}

TEST_CASE("arguments of the compiler") {
  const auto arguments =
      pack::compile_arguments({"/k", "a.hip", {{"N", "4"}}, {"-ffast-math"}}, "gfx11-generic");
  const auto has = [&](const char* wanted) {
    return std::find(arguments.begin(), arguments.end(), wanted) != arguments.end();
  };
  CHECK(has("-mcode-object-version=6"));
  CHECK(has("-fuse-cuid=none"));
  CHECK(has("--offload-arch=gfx11-generic"));
  CHECK(has("-DN=4"));
  CHECK(has("-ffast-math"));
  const auto plain = pack::compile_arguments({"/k", "a.hip", {}, {}}, "gfx942");
  CHECK(std::find(plain.begin(), plain.end(), "-mcode-object-version=5") != plain.end());
}
