// Bundles: round trip, determinism, and what a reader must refuse.
#include <doctest/doctest.h>

#include <archive.h>
#include <archive_entry.h>

#include <clocale>
#include <fstream>
#include <functional>
#include <map>

#include "plan/bundle.h"
#include "plan/bundle_frame.h"
#include "sample.h"

using namespace hipplan;
using namespace hipplan::plan;
using namespace hipplan::test;
namespace fs = std::filesystem;

namespace {

Bytes bytes_of(std::string_view text) {
  const auto view = as_bytes(text);
  return {view.begin(), view.end()};
}

void fill(const ScratchFolder& folder) {
  fs::create_directories(folder / "in/sub");
  REQUIRE(write_file(folder / "in/b.hplan", file_of({sample_plan(1)})));
  REQUIRE(write_file(folder / "in/sub/a.hplan", file_of({sample_plan(2)})));
  REQUIRE(write_file(folder / "in/a.hplan", file_of({full_plan()})));
  REQUIRE(write_file(folder / "in/notes.txt", bytes_of("not a plan")));
}

/// A member of a hand-made bundle.
struct Member {
  std::string name;
  std::string content;
  std::function<void(archive_entry*)> edit = {};
};

Bytes make_tar(const std::vector<Member>& members, bool compress = true) {
  Bytes out(1 << 20);
  size_t used = 0;
  archive* to = archive_write_new();
  archive_write_set_format_pax(to);
  if (compress) archive_write_add_filter_zstd(to);
  archive_write_open_memory(to, out.data(), out.size(), &used);
  for (const auto& member : members) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, member.name.c_str());
    archive_entry_set_size(entry, static_cast<la_int64_t>(member.content.size()));
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    if (member.edit) member.edit(entry);
    archive_write_header(to, entry);
    archive_write_data(to, member.content.data(), member.content.size());
    archive_entry_free(entry);
  }
  archive_write_close(to);
  archive_write_free(to);
  out.resize(used);
  return out;
}

/// The same as writers make it, with a seal.
Bytes make_sealed(const std::vector<Member>& members) {
  Bytes out;
  BundleFrameWriter frame(
      [&](ByteView stored) -> Result<void> {
        append(out, stored);
        return {};
      },
      3);
  REQUIRE(frame.write(make_tar(members, false)));
  REQUIRE(frame.finish());
  return out;
}

std::string manifest(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string out = "{\"schema\":\"hipplan.bundle/1\",\"members\":[";
  for (const auto& [name, content] : members)
    out += (out.back() == '[' ? "{\"name\":\"" : ",{\"name\":\"") + name +
           "\",\"bytes\":" + std::to_string(content.size()) + ",\"sha256\":\"" +
           sha256(as_bytes(content)).hex() + "\"}";
  return out + "]}";
}

/// Reason of the refusal, empty when the bundle was read to its end.
std::string reason(const Bytes& bundle, const BundleLimits& limits = {}) {
  const auto result =
      for_each_in_bundle(bundle, "test.tar.zst", limits,
                         [](const BundleMember&, ByteView) -> Result<bool> { return true; });
  if (result) return "";
  CHECK(result.error().code == hipplan::Code::damaged);
  return result.error().reason;
}

}  // namespace

TEST_CASE("a folder goes into a bundle and comes out again, with the same bytes each time") {
  const ScratchFolder folder, other;
  fill(folder);
  fill(other);
  const auto bundle = folder / "plans.tar.zst";
  REQUIRE(write_bundle(folder / "in", bundle));
  REQUIRE(write_bundle(other / "in", other / "x.tar.zst"));
  CHECK(*read_file(bundle) == *read_file(other / "x.tar.zst"));
  CHECK(looks_like_bundle(*read_file(bundle)));
  const auto members = list_bundle(bundle);
  REQUIRE(members);
  REQUIRE(members->size() == 3);
  CHECK((*members)[0].name == "a.hplan");
  CHECK((*members)[1].name == "b.hplan");
  CHECK((*members)[2].name == "sub/a.hplan");
  const auto member = read_bundle_member(bundle, "sub/a.hplan");
  REQUIRE(member);
  const auto file = File::parse(*member, "sub/a.hplan", Check::full);
  REQUIRE(file);
  CHECK(file->find(sample_key(2), "gfx942")->has_value());
  CHECK(read_bundle_member(bundle, "c.hplan").error().reason == "no-such-member");
  REQUIRE(unpack_bundle(bundle, folder / "out"));
  for (const char* name : {"a.hplan", "b.hplan", "sub/a.hplan"})
    CHECK(*read_file(folder / "out" / name) == *read_file(folder / "in" / name));
  CHECK(!fs::exists(folder / "out/notes.txt"));
  fs::create_directories(folder / "empty");
  CHECK(write_bundle(folder / "empty", folder / "e.tar.zst").error().reason == "no-plans");
  CHECK(!fs::exists(folder / "e.tar.zst"));
}

TEST_CASE("names in UTF-8 come back byte for byte, whatever the locale") {
  // Composed and decomposed, four bytes, no character, too long for a header without a pax record.
  std::string longest;
  while (longest.size() < 248) longest += "\xc3\xbc";
  std::vector<std::string> names = {"gr\xc3\xbcn/\xe8\xa8\x88\xe7\x94\xbb.hplan",
                                    "gru\xcc\x88n/\xf0\x9f\x98\x80.hplan",
                                    "\xef\xa4\x80.hplan",
                                    "\xef\xbf\xbe.hplan",
                                    longest + "/" + longest + ".hplan",
                                    "plain.hplan"};
  const ScratchFolder folder;
  for (size_t i = 0; i < names.size(); ++i) {
    fs::create_directories((folder / "in" / names[i]).parent_path());
    REQUIRE(write_file(folder / "in" / names[i], file_of({sample_plan(static_cast<unsigned>(i))})));
  }
  std::sort(names.begin(), names.end());
  const std::string before = std::setlocale(LC_CTYPE, nullptr);
  std::vector<Bytes> bundles;
  for (const char* locale : {"C", "C.UTF-8"}) {
    INFO(locale);
    if (std::setlocale(LC_CTYPE, locale) == nullptr) continue;  // not every system has the second
    const auto bundle = folder / cat(locale, ".tar.zst");
    REQUIRE(write_bundle(folder / "in", bundle));
    bundles.push_back(*read_file(bundle));
    const auto members = list_bundle(bundle);
    REQUIRE(members);
    std::vector<std::string> listed;
    for (const auto& member : *members) listed.push_back(member.name);
    CHECK(listed == names);
    const fs::path out = folder / cat("out-", locale);
    REQUIRE(unpack_bundle(bundle, out));
    for (const auto& name : names) {
      const Bytes packed = *read_file(folder / "in" / name);
      CHECK(*read_bundle_member(bundle, name) == packed);
      CHECK(*read_file(out / name) == packed);
    }
  }
  std::setlocale(LC_CTYPE, before.c_str());
  CHECK(bundles.front() == bundles.back());
}

TEST_CASE("a name that is no UTF-8, or holds control characters, goes into no bundle") {
  for (const char* name : {"gr\xfcn.hplan", "\xc0\xaf.hplan", "\xed\xa0\x80.hplan", "\xc3/a.hplan",
                           "\xc2\x9b.hplan", "\x1b.hplan"}) {
    INFO(name);
    const ScratchFolder folder;
    fs::create_directories((folder / "in" / name).parent_path());
    REQUIRE(write_file(folder / "in" / name, file_of({sample_plan(1)})));
    const auto written = write_bundle(folder / "in", folder / "x.tar.zst");
    REQUIRE(!written);
    CHECK(written.error().code == hipplan::Code::bad_input);
    CHECK(written.error().reason == "bundle-name");
    CHECK(!fs::exists(folder / "x.tar.zst"));
    CHECK(!is_bundle_member_name(name));
  }
  // Of other writers' archives a name must be the manifest's to the byte.
  const std::string m = manifest({{"gr\xc3\xbcn.hplan", "xyz"}});
  CHECK(reason(make_tar({{"manifest.json", m}, {"gr\xc3\xbcn.hplan", "xyz"}})) == "");
  CHECK(reason(make_tar({{"manifest.json", m}, {"gru\xcc\x88n.hplan", "xyz"}})) == "bundle-member");
  CHECK(reason(make_tar({{"manifest.json", m}, {"gr\xfcn.hplan", "xyz"}})) == "bundle-member");
}

TEST_CASE("what write_bundle does not write is refused") {
  const std::string m = manifest({{"a.hplan", "xyz"}});
  CHECK(reason(make_tar({{"manifest.json", m}, {"a.hplan", "xyz"}})) == "");
  CHECK(reason(make_tar({{"a.hplan", "xyz"}, {"manifest.json", m}})) == "bundle-manifest");
  CHECK(reason(make_tar({{"manifest.json", m}})) == "bundle-member");
  CHECK(reason(make_tar({{"manifest.json", m}, {"b.hplan", "xyz"}})) == "bundle-member");
  CHECK(reason(make_tar({{"manifest.json", m}, {"a.hplan", "xyz"}, {"a.hplan", "xyz"}})) ==
        "bundle-member");
  CHECK(reason(make_tar({{"manifest.json", m}, {"a.hplan", "xyzz"}})) == "bundle-size");
  CHECK(reason(make_tar({{"manifest.json", m}, {"a.hplan", "xyy"}})) == "bundle-digest");
  const auto link = [](archive_entry* e) {
    archive_entry_set_filetype(e, AE_IFLNK), archive_entry_set_symlink(e, "/etc/passwd"),
        archive_entry_set_size(e, 0);
  };
  CHECK(reason(make_tar({{"manifest.json", m}, {"a.hplan", "", link}})) == "bundle-member");
  const auto hard = [](archive_entry* e) { archive_entry_set_hardlink(e, "manifest.json"); };
  CHECK(reason(make_tar({{"manifest.json", m}, {"a.hplan", "xyz", hard}})) == "bundle-member");
  const auto device = [](archive_entry* e) {
    archive_entry_set_filetype(e, AE_IFIFO), archive_entry_set_size(e, 0);
  };
  CHECK(reason(make_tar({{"manifest.json", m}, {"a.hplan", "", device}})) == "bundle-member");
  const auto sparse = [](archive_entry* e) {
    archive_entry_sparse_add_entry(e, 0, 1), archive_entry_sparse_add_entry(e, 2, 1);
  };
  CHECK(reason(make_tar({{"manifest.json", m}, {"a.hplan", "xyz", sparse}})) == "bundle-member");
  for (const char* name : {"/a.hplan", "../a.hplan", "x/../a.hplan", "x//a.hplan", "./a.hplan",
                           "a.txt", "x\\\\y.hplan", ""}) {
    INFO(name);
    CHECK(reason(make_tar({{"manifest.json", manifest({{name, "xyz"}})}, {name, "xyz"}})) ==
          "bundle-manifest");
  }
  const auto twice = manifest({{"a.hplan", "x"}, {"a.hplan", "x"}});
  CHECK(reason(make_tar({{"manifest.json", twice}, {"a.hplan", "x"}, {"a.hplan", "x"}})) ==
        "bundle-manifest");
}

TEST_CASE("a member in a folder that is another member is refused") {
  for (const char* between : {"a.hplan-b.hplan", "b.hplan"}) {
    std::vector<std::pair<std::string, std::string>> members = {
        {"a.hplan", "x"}, {"a.hplan/b.hplan", "y"}, {between, "z"}};
    std::sort(members.begin(), members.end());
    std::vector<Member> all = {{"manifest.json", manifest(members)}};
    for (const auto& [name, content] : members) all.push_back({name, content});
    CHECK(reason(make_tar(all)) == "bundle-manifest");
  }
}

TEST_CASE("a damaged file does not go into a bundle") {
  const ScratchFolder folder;
  fill(folder);
  Bytes bad = file_of({sample_plan(1)});
  bad.back() ^= std::byte{1};
  REQUIRE(write_file(folder / "in/b.hplan", bad));
  const auto written = write_bundle(folder / "in", folder / "plans.tar.zst");
  REQUIRE(!written);
  CHECK(written.error().code == hipplan::Code::damaged);
  CHECK(!fs::exists(folder / "plans.tar.zst"));
}

TEST_CASE("unpacking follows no link of the destination") {
  const ScratchFolder folder;
  fill(folder);
  REQUIRE(write_bundle(folder / "in", folder / "plans.tar.zst"));
  fs::create_directories(folder / "out");
  fs::create_directories(folder / "elsewhere");
  fs::create_directory_symlink(folder / "elsewhere", folder / "out/sub");
  CHECK(unpack_bundle(folder / "plans.tar.zst", folder / "out").error().reason == "bundle-link");
  CHECK(fs::is_empty(folder / "elsewhere"));
  fs::remove_all(folder / "out");
  fs::create_directories(folder / "out");
  fs::create_symlink(folder / "elsewhere/x.hplan", folder / "out/a.hplan");
  CHECK(unpack_bundle(folder / "plans.tar.zst", folder / "out").error().reason == "bundle-link");
  CHECK(fs::is_empty(folder / "elsewhere"));
  // The destination itself may be a link: that is what the caller named.
  fs::create_directory_symlink(folder / "elsewhere", folder / "named");
  CHECK(unpack_bundle(folder / "plans.tar.zst", folder / "named"));
  CHECK(fs::exists(folder / "elsewhere/sub/a.hplan"));
}

TEST_CASE("limits") {
  const std::string m = manifest({{"a.hplan", "xyz"}, {"b.hplan", "123"}});
  const Bytes bundle = make_tar({{"manifest.json", m}, {"a.hplan", "xyz"}, {"b.hplan", "123"}});
  CHECK(reason(bundle) == "");
  CHECK(reason(bundle, {.max_members = 1}) == "bundle-limit");
  CHECK(reason(bundle, {.max_member_bytes = 2}) == "bundle-limit");
  CHECK(reason(bundle, {.max_total_bytes = 5}) == "bundle-limit");
  CHECK(reason(bundle, {.max_manifest_bytes = 20}) == "bundle-limit");
  std::string huge = manifest({{"a.hplan", "xyz"}});
  huge.replace(huge.find("\"bytes\":3"), 9, "\"bytes\":900000000");
  CHECK(reason(make_tar({{"manifest.json", huge}, {"a.hplan", "xyz"}})) == "bundle-limit");
}

namespace {

const BundleVisitor kAll = [](const BundleMember&, ByteView) -> Result<bool> { return true; };

/// Whether reading all of it, listing it or both refuse it as damage.
bool is_damage(const Bytes& bundle) {
  const auto result = for_each_in_bundle(bundle, "bad.tar.zst", {}, kAll);
  return !result && result.error().code == hipplan::Code::damaged;
}

/// Bits whose change is not told as damage.
std::vector<std::string> bits_missed(Bytes bundle) {
  std::vector<std::string> out;
  for (size_t bit = 0; bit < bundle.size() * 8; ++bit) {
    const auto mask = static_cast<std::byte>(1u << (bit % 8));
    bundle[bit / 8] ^= mask;
    if (!is_damage(bundle)) out.push_back(cat("bit ", bit % 8, " of byte ", bit / 8));
    bundle[bit / 8] ^= mask;
  }
  return out;
}

}  // namespace

TEST_CASE("every bit of a bundle counts, and every length but its own is damage") {
  const ScratchFolder folder;
  fs::create_directories(folder / "in");
  REQUIRE(write_file(folder / "in/a.hplan", file_of({sample_plan(1)})));
  REQUIRE(write_bundle(folder / "in", folder / "plans.tar.zst"));
  const Bytes good = *read_file(folder / "plans.tar.zst");
  CHECK(is_sealed_bundle(good));
  CHECK(reason(good) == "");
  CHECK(bits_missed(good) == std::vector<std::string>());
  for (size_t size = 0; size < good.size(); ++size) {
    const Bytes cut(good.begin(), good.begin() + static_cast<ptrdiff_t>(size));
    INFO(size);
    CHECK(is_damage(cut));
    CHECK(list_bundle(cut, "bad.tar.zst").error().code == hipplan::Code::damaged);
    CHECK(looks_like_bundle(cut) == (size > 0));
  }
  Bytes longer = good;
  longer.push_back(std::byte{0});
  CHECK(is_damage(longer));
}

TEST_CASE("the same bytes come from any cut into writes") {
  Bytes raw(300'000);
  for (size_t i = 0; i < raw.size(); ++i) raw[i] = static_cast<std::byte>(i * i >> 7);
  const auto written = [&](size_t step) {
    Bytes out;
    const auto put = [&](ByteView stored) -> Result<void> {
      append(out, stored);
      return {};
    };
    BundleFrameWriter frame(put, 3);
    for (size_t at = 0; at < raw.size(); at += step)
      REQUIRE(frame.write(ByteView(raw).subspan(at, std::min(step, raw.size() - at))));
    REQUIRE(frame.finish());
    return out;
  };
  const Bytes whole = written(raw.size());
  CHECK(is_sealed_bundle(whole));
  CHECK(check_bundle_frame(whole, "x").ok());
  CHECK(written(777) == whole);
}

TEST_CASE("another version of the manifest is told only where no byte has changed") {
  std::string m = manifest({{"a.hplan", "xyz"}});
  CHECK(reason(make_sealed({{"manifest.json", m}, {"a.hplan", "xyz"}})) == "");
  m.replace(m.find("bundle/1"), 8, "bundle/2");
  const std::vector<Member> members = {{"manifest.json", m}, {"a.hplan", "xyz"}};
  const Bytes newer = make_sealed(members);
  const auto result = for_each_in_bundle(newer, "newer.tar.zst", {}, kAll);
  REQUIRE(!result);
  CHECK(result.error().code == hipplan::Code::unusable);
  CHECK(result.error().reason == "bundle-version");
  CHECK(list_bundle(newer, "newer.tar.zst").error().reason == "bundle-version");
  CHECK(bits_missed(newer) == std::vector<std::string>());
  // Without a seal there is no version but the first.
  CHECK(reason(make_tar(members)) == "bundle-manifest");
}

TEST_CASE("a large bundle is read to its checksum, before a version is told too") {
  // More than is decompressed at once; the archive's end mark is the end of a piece.
  constexpr size_t kPiece = 128 << 10;
  std::string large(3 * kPiece, 'x');
  const auto tar =
      make_tar({{"manifest.json", manifest({{"a.hplan", large}})}, {"a.hplan", large}}, false);
  large.resize(large.size() + kPiece - tar.size() % kPiece);
  for (const char* version : {"bundle/1", "bundle/2"}) {
    std::string m = manifest({{"a.hplan", large}});
    m.replace(m.find("bundle/1"), 8, version);
    Bytes bundle = make_sealed({{"manifest.json", m}, {"a.hplan", large}});
    CHECK(!is_damage(bundle));
    for (size_t at = bundle.size() - 4; at < bundle.size(); ++at) {
      INFO(std::string(version), " ", at);
      bundle[at] ^= std::byte{1};
      CHECK(is_damage(bundle));
      bundle[at] ^= std::byte{1};
    }
  }
}

TEST_CASE("bundles of earlier writers have no seal and stay readable") {
  const fs::path seed = fs::path(HIPPLAN_SOURCE_DIR) / "tests/fuzz/corpus/fuzz_bundle/two";
  const auto old = read_file(seed);
  REQUIRE(old);
  CHECK(!is_sealed_bundle(*old));
  CHECK(reason(*old) == "");
  CHECK(list_bundle(*old, "two")->size() == 2);
  // So does one of today's, which later writers leave behind.
  const auto sealed = read_file(seed.parent_path() / "sealed");
  REQUIRE(sealed);
  CHECK(is_sealed_bundle(*sealed));
  CHECK(reason(*sealed) == "");
  CHECK(list_bundle(*sealed, "sealed")->size() == 2);
  // Headers that writers never made are damage, and no change is told as a version.
  for (size_t bit = 0; bit < 6 * 8; ++bit) {
    Bytes bad = *old;
    bad[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    INFO(bit);
    CHECK(is_damage(bad));
  }
  for (size_t bit = 48; bit < old->size() * 8; bit += 7) {
    Bytes bad = *old;
    bad[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    const auto result = for_each_in_bundle(bad, "bad", {}, kAll);
    if (!result && result.error().code != hipplan::Code::damaged) FAIL_CHECK(bit);
  }
}

TEST_CASE("a cut-off or changed bundle never gives wrong plans") {
  const ScratchFolder folder;
  fill(folder);
  REQUIRE(write_bundle(folder / "in", folder / "plans.tar.zst"));
  const auto good = read_file(folder / "plans.tar.zst");
  REQUIRE(good);
  std::map<std::string, Digest> expected;
  const auto members = list_bundle(folder / "plans.tar.zst");
  REQUIRE(members);
  for (const auto& member : *members) expected[member.name] = member.sha256;
  for (size_t size = 0; size < good->size(); size += 7) {
    const Bytes cut(good->begin(), good->begin() + static_cast<ptrdiff_t>(size));
    CHECK(reason(cut) != "");
    Bytes bad = *good;
    bad[size] ^= std::byte{0x08};
    const auto result = for_each_in_bundle(
        bad, "bad", {}, [&](const BundleMember& member, ByteView bytes) -> Result<bool> {
          CHECK(sha256(bytes) == member.sha256);
          return true;
        });
    CHECK(!result);
  }
}
