#include <doctest/doctest.h>

#include <thread>

#include "archive/kpack.h"
#include "archive/print.h"
#include "archive_file.h"
#include "base/file.h"
#include "shared_data.h"

using namespace hipplan;
using archive::Kpack;
using test::at;
using test::list;
using test::map;
using test::number;
using test::PlainFile;
using test::text;

namespace {

std::string content(const Kpack& archive, const char* name, const char* arch) {
  const auto* entry = archive.find(name, std::string_view(arch));
  if (entry == nullptr) return "missing";
  const auto bytes = archive.read(*entry);
  return bytes ? std::string(as_text(*bytes)) : bytes.error().text();
}
std::string digest(const Kpack& archive, const char* name, const char* arch) {
  const auto* entry = archive.find(name, std::string_view(arch));
  REQUIRE(entry != nullptr);
  const auto bytes = archive.read(*entry);
  REQUIRE(bytes.ok());
  return sha256(*bytes).hex();
}
std::string refusal(const Bytes& bytes, Code code) {
  const auto archive = Kpack::parse(bytes, "x.kpack");
  if (archive) return "accepted";
  CHECK(archive.error().code == code);
  CHECK(archive.error().where.starts_with("x.kpack"));
  return archive.error().text();
}
bool contains(const std::string& whole, std::string_view part) {
  return whole.find(part) != std::string::npos;
}
#define CHECK_REFUSED(file, code, part)                        \
  do {                                                         \
    const std::string refused = refusal((file).bytes(), code); \
    CHECK_MESSAGE(contains(refused, part), refused);           \
  } while (false)

}  // namespace

TEST_CASE("upstream's archive of scheme none") {
  const auto data = test::upstream_data();
  if (data.empty()) {
    MESSAGE("skipped: no upstream data");
    return;
  }
  const auto archive = Kpack::open(data / "rocm-kpack/runtime/tests/test_assets/test_noop.kpack");
  REQUIRE_MESSAGE(archive.ok(), (archive.ok() ? "" : archive.error().text()));
  CHECK(archive->info().group_name == "test");
  CHECK(archive->info().arch_family == "gfx900X");
  CHECK(archive->info().arches == std::vector<std::string>{"gfx900", "gfx906"});
  CHECK(archive->info().scheme == archive::Scheme::none);
  CHECK(archive->info().blobs == 3);
  CHECK(archive->info().file_bytes == 903);
  REQUIRE(archive->entries().size() == 3);
  CHECK(archive->entries()[0].name == "lib/libtest.so#0");
  CHECK(archive->entries()[2].name == "bin/testapp#0");
  // Sizes from the file's bytes; digests by sha256sum over the same ranges.
  CHECK(archive->entries()[0].original_size == 119);
  CHECK(digest(*archive, "lib/libtest.so#0", "gfx900") ==
        "df6b1ab7c33ae62fa1f69e40985821ea25bc63c819667a3a308fa983044963e6");
  CHECK(digest(*archive, "lib/libtest.so#0", "gfx906") ==
        "12b6177c7d7619c6ae5f47be77b6c326fbe3abc60c11fcd7bccad4620fa521a3");
  CHECK(digest(*archive, "bin/testapp#0", "gfx900") ==
        "77033f5412bc6d7b393547c90f5e24687d1cf993725e6fb51214e029508c3c54");
  CHECK(archive->find("bin/testapp#0", std::string_view("gfx906")) == nullptr);
}

TEST_CASE("upstream's archive of scheme zstd-per-kernel") {
  const auto data = test::upstream_data();
  if (data.empty()) {
    MESSAGE("skipped: no upstream data");
    return;
  }
  const auto archive = Kpack::open(data / "rocm-kpack/runtime/tests/test_assets/test_zstd.kpack");
  REQUIRE_MESSAGE(archive.ok(), (archive.ok() ? "" : archive.error().text()));
  CHECK(archive->info().scheme == archive::Scheme::zstd_per_kernel);
  CHECK(archive->info().arches == std::vector<std::string>{"gfx1100", "gfx1101"});
  REQUIRE(archive->entries().size() == 3);
  CHECK(archive->entries()[0].original_size == 1019);
  CHECK(archive->stored_size(archive->entries()[0]) == 41);
  // Digests by the zstd program and sha256sum.
  CHECK(digest(*archive, "lib/libhip.so#0", "gfx1100") ==
        "11590fafe2ba03e49a66e28093e68144ce8a428114b07bd2bcc0f4eee8f10141");
  CHECK(digest(*archive, "lib/libhip.so#0", "gfx1101") ==
        "9f8e72947f029de7c85d427768ba0df41ca16e9e5cd52d4d2f3444bab373aa97");
  CHECK(digest(*archive, "bin/hiptest#0", "gfx1100") ==
        "cb26f71dee1b94219df9b75613872ee95ec2f62ba40504c72cadeef08e6e8db7");
}

TEST_CASE("upstream's archives: truncations and changed bytes") {
  const auto data = test::upstream_data();
  if (data.empty()) {
    MESSAGE("skipped: no upstream data");
    return;
  }
  for (const char* name : {"test_noop.kpack", "test_zstd.kpack"}) {
    const auto original = read_file(data / "rocm-kpack/runtime/tests/test_assets" / name);
    REQUIRE(original.ok());
    for (size_t size = 0; size < original->size(); ++size)
      CHECK(!Kpack::parse(ByteView(*original).first(size), "x").ok());
    for (size_t i = 0; i < original->size(); ++i) {
      Bytes bytes = *original;
      bytes[i] ^= std::byte{0xff};
      const auto archive = Kpack::parse(bytes, "x");
      if (!archive) continue;
      for (const auto& entry : archive->entries()) {
        const auto code = archive->read(entry);
        if (code) CHECK(code->size() == entry.original_size);
      }
    }
  }
}

TEST_CASE("lookup is exact and follows the order of architectures") {
  const Bytes bytes = PlainFile().bytes();
  const auto archive = Kpack::parse(bytes, "x");
  REQUIRE_MESSAGE(archive.ok(), refusal(bytes, Code::damaged));
  CHECK(content(*archive, "a", "gfx942") == "first");
  CHECK(content(*archive, "a", "gfx9-4-generic") == "second!");
  CHECK(content(*archive, "b", "gfx942") == "second!");
  CHECK(content(*archive, "b", "gfx9-4-generic") == "missing");
  CHECK(content(*archive, "a", "gfx94") == "missing");
  CHECK(content(*archive, "A", "gfx942") == "missing");

  const std::vector<std::string> order = {"gfx942:xnack-", "gfx942", "gfx9-4-generic"};
  CHECK(archive->find("a", order)->arch == "gfx942");
  const std::vector<std::string> other = {"gfx950", "gfx9-4-generic"};
  CHECK(archive->find("a", other)->arch == "gfx9-4-generic");
  CHECK(archive->find("b", other) == nullptr);
}

TEST_CASE("read_checked tells a missing entry from a damaged one") {
  const Bytes bytes = PlainFile().bytes();
  const auto archive = Kpack::parse(bytes, "x.kpack");
  REQUIRE(archive.ok());
  const std::vector<std::string> order = {"gfx942"};
  const auto good = archive::read_checked(*archive, "a", order, sha256(as_bytes("first")));
  REQUIRE(good.ok());
  CHECK(as_text(good->code) == "first");
  CHECK(good->entry.arch == "gfx942");

  const auto missing = archive::read_checked(*archive, "c", order, sha256(as_bytes("first")));
  REQUIRE(!missing.ok());
  CHECK(missing.error().code == Code::unusable);
  CHECK(missing.error().reason == "kpack-entry-missing");
  CHECK(!archive::evicts(missing.error()));

  const auto changed = archive::read_checked(*archive, "a", order, sha256(as_bytes("FIRST")));
  REQUIRE(!changed.ok());
  CHECK(changed.error().code == Code::damaged);
  CHECK(changed.error().reason == "code-object-digest");
  CHECK(archive::evicts(changed.error()));
}

TEST_CASE("header rules") {
  PlainFile newer;
  newer.version = 2;
  CHECK_REFUSED(newer, Code::unusable, "too new; expected version 1, found version 2");
  PlainFile older;
  older.version = 0;
  CHECK_REFUSED(older, Code::unusable, "too old; expected version 1, found version 0");
  Bytes bytes = PlainFile().bytes();
  bytes[0] = std::byte{'k'};
  CHECK(contains(refusal(bytes, Code::damaged), "magic"));
  bytes = PlainFile().bytes();
  for (const uint64_t offset : {uint64_t{0}, uint64_t{15}, uint64_t{bytes.size()}, UINT64_MAX}) {
    std::memcpy(bytes.data() + 8, &offset, 8);
    CHECK(contains(refusal(bytes, Code::damaged), "TOC offset"));
  }
  CHECK(contains(refusal({}, Code::damaged), "magic"));
  bytes = PlainFile().bytes();
  bytes.push_back(std::byte{0});  // bytes behind the table of contents
  CHECK(contains(refusal(bytes, Code::damaged), "table of contents"));
}

TEST_CASE("table of contents rules") {
  const auto toc_of = [](PlainFile& file) -> json::Value& { return at(file.toc, "toc"); };
  SUBCASE("format_version") {
    PlainFile file;
    at(file.toc, "format_version") = number(2);
    CHECK_REFUSED(file, Code::damaged, "format_version");
  }
  SUBCASE("missing keys") {
    for (const char* key : {"format_version", "group_name", "gfx_arch_family", "gfx_arches", "toc",
                            "blobs", "compression_scheme"}) {
      PlainFile file;
      test::erase(file.toc, key);
      CHECK_REFUSED(file, Code::damaged, cat(key, ": the key is missing"));
    }
  }
  SUBCASE("wrong types") {
    for (const char* key : {"format_version", "group_name", "gfx_arch_family", "gfx_arches", "toc",
                            "blobs", "compression_scheme"}) {
      PlainFile file;
      at(file.toc, key) = json::Value{};
      CHECK_REFUSED(file, Code::damaged, cat(key, ": wrong type"));
    }
  }
  SUBCASE("unknown scheme") {
    PlainFile file;
    at(file.toc, "compression_scheme") = text("lz4");
    CHECK_REFUSED(file, Code::unusable,
                  "unknown scheme; expected none or zstd-per-kernel, found lz4");
  }
  SUBCASE("unknown keys") {
    PlainFile file;
    at(file.toc, "zstd_offset") = number(64);
    CHECK_REFUSED(file, Code::unusable, "zstd_offset: unknown key");
    PlainFile entry;
    at(at(at(entry.toc, "toc"), "a"), "gfx942").members.emplace_back("extra", number(1));
    CHECK_REFUSED(entry, Code::unusable, "extra: unknown key");
  }
  SUBCASE("metadata of an entry is allowed") {
    PlainFile file;
    at(at(toc_of(file), "a"), "gfx942").members.emplace_back("metadata", map({}));
    CHECK(Kpack::parse(file.bytes(), "x").ok());
  }
  SUBCASE("architectures") {
    PlainFile twice;
    at(twice.toc, "gfx_arches").items.push_back(text("gfx942"));
    CHECK_REFUSED(twice, Code::damaged, "gfx_arches[2]: listed twice");
    PlainFile bad;
    at(bad.toc, "gfx_arches").items.push_back(text("gfx 942"));
    CHECK_REFUSED(bad, Code::damaged, "not an architecture");
    PlainFile unlisted;
    at(unlisted.toc, "gfx_arches") = list({text("gfx942")});
    CHECK_REFUSED(unlisted, Code::damaged, "not in gfx_arches");
  }
  SUBCASE("entries") {
    PlainFile type;
    at(at(at(toc_of(type), "a"), "gfx942"), "type") = text("cubin");
    CHECK_REFUSED(type, Code::unusable, "toc, a, gfx942, type");
    PlainFile not_a_map;
    at(toc_of(not_a_map), "a") = number(1);
    CHECK_REFUSED(not_a_map, Code::damaged, "toc, a: wrong type");
    PlainFile ordinal;
    at(at(at(toc_of(ordinal), "a"), "gfx942"), "ordinal") = number(2);
    CHECK_REFUSED(ordinal, Code::damaged, "ordinal: out of range; expected 0 to 1, found 2");
    PlainFile negative;
    at(at(at(toc_of(negative), "a"), "gfx942"), "ordinal") = number(-1);
    CHECK_REFUSED(negative, Code::damaged, "out of range");
    PlainFile size;
    at(at(at(toc_of(size), "a"), "gfx942"), "original_size") = number(6);
    CHECK_REFUSED(size, Code::damaged, "not the size of the blob; expected 5, found 6");
    PlainFile huge;
    at(at(at(toc_of(huge), "a"), "gfx942"), "original_size") = number(int64_t{3} << 30);
    CHECK_REFUSED(huge, Code::damaged, "original_size: out of range");
    PlainFile empty_name;
    toc_of(empty_name).members[0].first = "";
    CHECK_REFUSED(empty_name, Code::damaged, "bad name");
  }
  SUBCASE("names with back-slashes count as slashes, also when they collide") {
    PlainFile file;
    toc_of(file).members[0].first = "lib\\a";
    const Bytes bytes = file.bytes();
    const auto archive = Kpack::parse(bytes, "x");
    REQUIRE(archive.ok());
    CHECK(content(*archive, "lib/a", "gfx942") == "first");
    toc_of(file).members[1].first = "lib/a";
    CHECK_REFUSED(file, Code::damaged, "the name is there twice");
  }
}

TEST_CASE("blob rules of scheme none") {
  const auto with = [](int64_t offset, int64_t size) {
    PlainFile file;
    at(file.toc, "blobs").items[0] = PlainFile::blob(offset, size);
    at(at(at(at(file.toc, "toc"), "a"), "gfx942"), "original_size") = number(size);
    return file;
  };
  CHECK_REFUSED(with(8, 5), Code::damaged, "blobs[0]: the blob is not between header and table");
  CHECK_REFUSED(with(64, 1000), Code::damaged, "out of range");
  CHECK_REFUSED(with(130, 6), Code::damaged, "the blob is not between header and table");
  CHECK_REFUSED(with(64, 65), Code::damaged, "overlap");
  PlainFile same = with(128, 7);  // the place of the other blob
  same.put(64, std::string_view("\0\0\0\0\0", 5));
  CHECK_REFUSED(same, Code::damaged, "overlap");
  CHECK_REFUSED(with(64, 4), Code::damaged, "bytes outside header, blobs and table");
  PlainFile key;
  at(key.toc, "blobs").items[0].members.emplace_back("crc", number(1));
  CHECK_REFUSED(key, Code::unusable, "crc: unknown key");
  PlainFile stray;
  stray.put(20, "x");
  CHECK_REFUSED(stray, Code::damaged, "offset 20");
}

TEST_CASE("many threads read one archive") {
  const Bytes bytes = PlainFile().bytes();
  const auto archive = Kpack::parse(bytes, "x");
  REQUIRE(archive.ok());
  std::vector<std::thread> threads;
  std::vector<int> good(4, 0);
  for (size_t t = 0; t < good.size(); ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i)
        good[t] += content(*archive, "a", i % 2 ? "gfx942" : "gfx9-4-generic") ==
                   (i % 2 ? "first" : "second!");
    });
  for (auto& thread : threads) thread.join();
  for (const int count : good) CHECK(count == 200);
}

TEST_CASE("printed forms") {
  const Bytes bytes = PlainFile().bytes();
  const auto archive = Kpack::parse(bytes, "x");
  REQUIRE(archive.ok());
  const std::string printed = archive::print(*archive);
  CHECK(contains(printed, "scheme none: 3 entries, 2 code objects"));
  CHECK(contains(printed, "b  gfx942  code object 1, 7 bytes, stored in 7\n"));
  json::Writer writer;
  archive::write_json(*archive, writer);
  const auto value = json::parse(writer.text(), "json");
  REQUIRE(value.ok());
  CHECK(value->find("entries")->items.size() == 3);
  CHECK(value->find("compression_scheme")->string == "none");
}

TEST_CASE("a missing file is bad input") {
  const auto archive = Kpack::open("/nonexistent/a.kpack");
  REQUIRE(!archive.ok());
  CHECK(archive.error().code == Code::bad_input);
}
