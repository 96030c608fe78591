// Files whose digests are right and whose content is not: sweeps, unknown parts, caps.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include <random>

#include "plan/compress.h"
#include "plan/index.h"
#include "reseal.h"

using namespace hipplan;
using namespace hipplan::plan;
using namespace hipplan::test;

namespace {

bool proper_refusal(const Error& error) {
  return (error.code == hipplan::Code::damaged || error.code == hipplan::Code::unusable) &&
         !error.reason.empty() && !error.where.empty() && !error.what.empty();
}

/// A result that was let through has lengths that all fit.
bool fits(const Payload& payload, size_t bytes) {
  size_t total = payload.engine_name.size() + payload.dispatch.size() + payload.kernel_name.size();
  for (const auto& value : payload.values) total += value.name.size();
  for (const auto& kernel : payload.kernels) {
    if (!kernel.code || sha256(*kernel.code) != kernel.sha256) return false;
    total += kernel.symbol.size() + kernel.signature.size();
  }
  return !payload.kernels.empty() && total <= bytes &&
         check_plan({}, hipplan::Code::damaged).ok() == false;
}

}  // namespace

TEST_CASE("resealed sweep over a payload: refused rightly, or everything fits") {
  Plan plan = sample_plan(1);
  plan.payload.kernels = {sample_kernel("", sample_code(9, 64))};
  const auto good = encode_payload(plan.payload);
  REQUIRE(good);
  unsigned refused = 0;
  for (size_t at = 0; at < good->size(); ++at) {
    for (const unsigned change : {0x01u, 0x80u, 0xffu}) {
      Bytes bad = *good;
      bad[at] ^= std::byte(change);
      reseal(bad);
      INFO("offset ", at, " change ", change);
      const auto decoded = decode_payload(bad, "payload");
      if (decoded) {
        CHECK(fits(*decoded, bad.size()));
      } else {
        ++refused;
        CHECK(proper_refusal(decoded.error()));
      }
    }
  }
  CHECK(refused > good->size());
}

TEST_CASE("resealed sweep over a bare envelope") {
  Plan plan = sample_plan(1);
  plan.payload.kernels = {sample_kernel("", sample_code(9, 64))};
  const auto good = encode_bare_plan(plan);
  REQUIRE(good);
  for (size_t at = 0; at < good->size(); ++at) {
    Bytes bad = *good;
    bad[at] ^= std::byte(0x21);
    reseal(bad);
    const auto decoded = decode_bare_plan(bad, "bare");
    INFO("offset ", at);
    if (decoded)
      CHECK(fits(decoded->payload, bad.size()));
    else
      CHECK(proper_refusal(decoded.error()));
  }
}

TEST_CASE("resealed sweep over header, directory, index and record of a file") {
  const Bytes good = file_of({sample_plan(1)});
  const uint64_t end = section_offset(good, kCodeSection);
  for (size_t at = 0; at < end; ++at) {
    if (at >= 96 && at < 128) continue;  // the digest itself
    for (const unsigned change : {0x01u, 0x80u}) {
      Bytes bad = good;
      bad[at] ^= std::byte(change);
      at < section_offset(good, kIndexSection) ? reseal_front(bad) : reseal_sections(bad);
      const auto file = open_bytes(bad);
      INFO("offset ", at, " change ", change);
      if (file) {
        // Only the minor version may change without harm.
        CHECK(at >= 10);
        CHECK(at < 12);
      } else if (file.error().code != hipplan::Code::bad_input || at >= 8) {
        CHECK(proper_refusal(file.error()));
      }
    }
  }
}

TEST_CASE("resealed sweep over the record, with its digest right too") {
  const Bytes good = file_of({sample_plan(1)});
  const uint64_t first = section_offset(good, kPlansSection),
                 end = section_offset(good, kCodeSection);
  for (uint64_t at = first; at < end; ++at) {
    Bytes bad = good;
    bad[at] ^= std::byte{0x01};
    reseal_all(bad);
    const auto file = open_bytes(bad);
    INFO("record offset ", at - first);
    REQUIRE(!file);
    CHECK(proper_refusal(file.error()));
  }
}

/// The file `good` with one more section behind the others, of 40 bytes, as a writer of minor
/// version 3 makes it; `edit` may change its bytes before the digests are made right.
Bytes with_section(const Bytes& good, uint16_t type, uint16_t flags,
                   const std::function<void(Bytes&, uint64_t entry)>& edit = nullptr) {
  const uint64_t old_count = *load<uint64_t>(good, 32) / 96,
                 offset = align_up(good.size() + 96, 16);
  const Bytes extra(40, std::byte{0x42});
  Bytes out(good.begin(), good.begin() + 128);
  for (uint64_t i = 0; i < old_count; ++i) {
    append(out, ByteView(good).subspan(128 + 96 * i, 96));
    store(out, 128 + 96 * i + 8, *load<uint64_t>(good, 128 + 96 * i + 8) + 96);
  }
  const uint64_t entry_at = out.size();
  Bytes entry(96);
  store(entry, 0, type);
  store(entry, 2, flags);
  store(entry, 8, offset);
  store(entry, 16, uint64_t{40});
  store(entry, 24, uint64_t{40});
  store(entry, 64, sha256(extra).bytes);
  append(out, ByteView(entry));
  append(out, ByteView(good).subspan(128 + 96 * old_count));
  out.resize(offset);
  append(out, ByteView(extra));
  store(out, 16, uint64_t{out.size()});
  store(out, 32, uint64_t{96 * (old_count + 1)});
  store(out, 10, uint16_t{3});
  if (edit) edit(out, entry_at);
  reseal_front(out);
  return out;
}

/// What a copy of the file's plans, with the sections that go along, holds.
Result<File> copied(const File& file) {
  Writer writer({});
  REQUIRE(file.for_each([&](const EntryInfo& entry) { return writer.add_from(file, entry).ok(); }));
  REQUIRE(writer.keep_unknown_sections(file));
  return open_bytes(*writer.to_bytes());
}

TEST_CASE("an unknown optional section is kept and skipped, an unknown required one refused") {
  const Bytes good = file_of({sample_plan(1)});
  const auto build = [&](uint16_t flags) { return with_section(good, 200, flags); };
  const auto optional_one = open_bytes(build(0));
  REQUIRE_MESSAGE(optional_one.ok(), (optional_one ? "" : optional_one.error().text()));
  CHECK(optional_one->sections().back().type == "type-200");
  const auto kept = optional_one->section_bytes(200);
  REQUIRE(kept);
  CHECK(Bytes(kept->begin(), kept->end()) == Bytes(40, std::byte{0x42}));
  const auto again = copied(*optional_one);
  REQUIRE(again);
  CHECK(again->section_bytes(200).ok());
  CHECK(again->minor_version() == 3);

  const auto required_one = open_bytes(build(1));
  REQUIRE(!required_one);
  CHECK(required_one.error().code == hipplan::Code::unusable);
  CHECK(required_one.error().reason == "unknown-section");
  CHECK(required_one.error().text().find("1.0") != std::string::npos);
  CHECK(required_one.error().text().find("1.3") != std::string::npos);
}

TEST_CASE("a section about its file as a whole is kept there and not taken over into another") {
  const Bytes good = file_of({sample_plan(1)});
  for (const auto& [type, flags] : {std::pair<uint16_t, uint16_t>{200, 2}, {64, 0}, {65, 2}}) {
    CAPTURE(type);
    const auto file = open_bytes(with_section(good, type, flags));
    REQUIRE_MESSAGE(file.ok(), (file ? "" : file.error().text()));
    CHECK(file->section_bytes(type).ok());
    const auto again = copied(*file);
    REQUIRE(again);
    CHECK_FALSE(again->section_bytes(type).ok());
    CHECK(Bytes(again->bytes().begin(), again->bytes().end()) == good);
  }
  const auto part = open_bytes(with_section(good, 20, 2));
  REQUIRE_FALSE(part.ok());
  CHECK(part.error().reason == "directory-form");
}

TEST_CASE("sections that do not fit into one directory are refused before anything is written") {
  const Bytes good = file_of({sample_plan(1)});
  Writer writer({});
  for (const uint16_t first : {uint16_t{1000}, uint16_t{2000}}) {
    Bytes many = good;
    for (uint16_t type = first; type < first + 520; ++type) many = with_section(many, type, 0);
    const auto file = open_bytes(many);
    REQUIRE(file);
    REQUIRE(file->for_each([&](const EntryInfo& e) { return writer.add_from(*file, e).ok(); }));
    REQUIRE(writer.keep_unknown_sections(*file));
    const auto written = writer.to_bytes();
    CHECK(written.ok() == (first == 1000));
    if (!written) CHECK(written.error().reason == "section-conflict");
  }
}

TEST_CASE("a copy has the lowest version that holds what is in it") {
  const Bytes good = file_of({sample_plan(1)});
  const auto later = open_bytes(with_section(good, 200, 0)), first = open_bytes(good);
  REQUIRE(later);
  REQUIRE(first);
  // Plans alone are of the first version, wherever they come from.
  Writer writer({});
  for (const auto* from : {&*later, &*first})
    REQUIRE(
        from->for_each([&](const EntryInfo& entry) { return writer.add_from(*from, entry).ok(); }));
  CHECK(*writer.to_bytes() == good);
}

TEST_CASE("what this version keeps zero is passed over in a later minor version, damage else") {
  const Bytes good = file_of({sample_plan(1)});
  struct Place {
    const char* reason;
    uint64_t in_header, in_entry;
  };
  // The header's spare bytes; flags, spare bytes and the tail of a directory entry.
  for (const auto& [reason, in_header, in_entry] :
       {Place{"header-form", 52, 0}, Place{"header-form", 63, 0}, Place{"directory-form", 0, 3},
        Place{"directory-form", 0, 5}, Place{"directory-form", 0, 63}}) {
    CAPTURE(in_header);
    CAPTURE(in_entry);
    for (const uint16_t minor : {uint16_t{0}, uint16_t{3}}) {
      const auto file = open_bytes(with_section(good, 200, 0, [&](Bytes& bytes, uint64_t entry) {
        bytes[in_header != 0 ? in_header : entry + in_entry] = std::byte{0x80};
        store(bytes, 10, minor);
      }));
      CHECK(file.ok() == (minor == 3));
      if (!file) {
        CHECK(file.error().reason == reason);
        continue;
      }
      // A copy of the section says of it what its file did, and has that file's version.
      const auto again = copied(*file);
      REQUIRE(again);
      CHECK(again->minor_version() == 3);
      const ByteView from = file->bytes().subspan(128, *load<uint64_t>(file->bytes(), 32)),
                     to = again->bytes().subspan(128, *load<uint64_t>(again->bytes(), 32));
      CHECK(std::ranges::equal(from.last(96).first(8), to.last(96).first(8)));
      CHECK(std::ranges::equal(from.last(56), to.last(56)));
    }
  }
}

namespace {

/// An index of `levels` pages above one leaf of one entry; each inner page names the page below it
/// `fan` times. All digests are right.
struct FannedIndex {
  FannedIndex(uint16_t levels, uint16_t fan) {
    for (root_page = 0;; ++root_page) {
      Bytes page;
      append(page, static_cast<uint16_t>(root_page));
      append(page, root_page == 0 ? uint16_t{1} : fan);
      append(page, uint32_t{0});
      for (uint16_t i = 0; i < (root_page == 0 ? 1 : fan); ++i) {
        append(page, sample_key(1).bytes);
        if (root_page == 0) {
          append(page, ByteView(Bytes(32 + 8 + 4 + 32)));
        } else {
          append(page, root_page - 1);
          append(page, uint64_t{1});
          append(page, root.bytes);
        }
        append(page, uint8_t{6});
        append(page, as_bytes("gfx942"));
      }
      store(page, 4, static_cast<uint32_t>(page.size()));
      page.resize(kPageBytes);
      root = sha256(page);
      append(pages, ByteView(page));
      if (root_page == levels) break;
    }
  }
  Bytes pages;
  uint32_t root_page = 0;
  Digest root;
};

}  // namespace

TEST_CASE("an index whose pages name one child many times is refused after few visits") {
  const auto walk = [](const FannedIndex& index, uint64_t entry_count, uint64_t& visits) {
    const IndexReader reader(index.pages, index.root_page, index.root, entry_count, "x");
    visits = 0;
    const auto result = reader.for_each([&](const EntryInfo&) { return ++visits < 100'000; });
    return result ? std::string() : result.error().reason;
  };
  uint64_t visits = 0;
  CHECK(walk(FannedIndex(6, 1), 1, visits) == "");  // a chain is a tree
  CHECK(visits == 1);
  // 40^6 ways lead to the leaf.
  CHECK(walk(FannedIndex(6, 40), 1'000'000'000, visits) == "index-form");
  CHECK(visits <= 7);
  CHECK(walk(FannedIndex(6, 40), 1, visits) == "index-form");
  CHECK(visits <= 1);
  CHECK(walk(FannedIndex(0, 1), 0, visits) == "index-form");
  CHECK(visits == 0);
}

TEST_CASE("unknown parts of a plan travel with it") {
  Plan plan = sample_plan(1);
  plan.extra = {{40, Bytes(500, std::byte{1})}, {41, Bytes(3, std::byte{2})}};
  const Bytes bytes = file_of({plan});
  const auto file = open_bytes(bytes);
  REQUIRE_MESSAGE(file.ok(), (file ? "" : file.error().text()));
  Writer writer({});
  REQUIRE(file->for_each([&](const EntryInfo& entry) {
    const auto read = file->read_plan(entry, true);
    REQUIRE(read);
    CHECK(read->extra == plan.extra);
    CHECK(plan_digest(*read) == plan_digest(sample_plan(1)));
    return writer.add(*read).ok();
  }));
  CHECK(*writer.to_bytes() == bytes);
  plan.extra = {{kGraphsSection, Bytes(1)}};
  CHECK(writer.add(plan).error().reason == "extra-part");
}

TEST_CASE(
    "versions: too new and too old are different, with both numbers, only behind a right digest") {
  Bytes file = file_of({sample_plan(1)});
  store(file, 8, uint16_t{2});
  CHECK(open_bytes(file).error().reason == "directory-digest");
  reseal_front(file);
  const auto newer = open_bytes(file).error();
  CHECK(newer.code == hipplan::Code::unusable);
  CHECK(newer.reason == "format-too-new");
  CHECK(newer.text().find("2.0") != std::string::npos);
  CHECK(newer.text().find("1.0") != std::string::npos);
  file.resize(file.size() - 1);  // a cut-off newer file is damage, not a version
  CHECK(open_bytes(file).error().reason == "truncated");
  file.push_back(std::byte{0});
  store(file, 8, uint16_t{0});
  reseal_front(file);
  CHECK(open_bytes(file).error().reason == "format-too-old");

  auto payload = *encode_payload(sample_plan(1).payload);
  store(payload, 6, uint16_t{1});
  reseal(payload);
  CHECK(decode_payload(payload, "p").error().reason == "format-too-new");
  store(payload, 4, uint16_t{0});
  reseal(payload);
  CHECK(decode_payload(payload, "p").error().reason == "format-too-old");
  store(payload, 4, uint16_t{1});
  store(payload, 6, uint16_t{0});
  store(payload, 8, uint16_t{3});
  reseal(payload);
  CHECK(decode_payload(payload, "p").error().reason == "payload-kind");
  CHECK(decode_payload(payload, "p").error().code == hipplan::Code::unusable);
}

TEST_CASE("decompression is capped and exact") {
  Compressor compressor;
  const Bytes raw(20000, std::byte{7});
  const auto packed = compressor.compress(raw);
  REQUIRE(packed);
  REQUIRE(packed->compression() == kZstd);
  const ByteView frame = packed->stored();
  CHECK(*decompress(frame, raw.size(), "x") == raw);
  CHECK(decompress(frame, raw.size() + 1, "x").error().reason == "zstd-frame");
  CHECK(decompress(frame, kMostFrameBytes + 1, "x").error().reason == "raw-size");
  CHECK(decompress(frame, frame.size() * 4096 + 4096, "x").error().reason == "raw-size");
  Bytes more(frame.begin(), frame.end());
  more.push_back(std::byte{0});
  CHECK(decompress(more, raw.size(), "x").error().reason == "zstd-frame");
  more.resize(frame.size() - 1);
  CHECK(decompress(more, raw.size(), "x").error().reason == "zstd-frame");
  // Something that would expand beyond the cap is stored as it is.
  const Bytes zeros(64 << 20);
  const auto kept = compressor.compress(zeros);
  REQUIRE(kept);
  CHECK(kept->compression() == kStored);
  CHECK(kept->stored().size() == zeros.size());
}

TEST_CASE("writers refuse what no reader may meet") {
  const auto reason = [](auto&& change) {
    Plan plan = sample_plan(1);
    change(plan);
    Writer writer({});
    const auto added = writer.add(plan);
    return added ? std::string() : added.error().reason;
  };
  CHECK(reason([](Plan&) {}) == "");
  CHECK(reason([](Plan& p) { p.target = ""; }) == "target-form");
  CHECK(reason([](Plan& p) { p.target = "gfx942/.."; }) == "target-form");
  CHECK(reason([](Plan& p) { p.envelope.version = 2; }) == "envelope-version");
  CHECK(reason([](Plan& p) { p.envelope.engine_id = 1; }) == "engine-id");
  CHECK(reason([](Plan& p) { p.envelope.workspace_size = -1; }) == "envelope-workspace");
  CHECK(reason([](Plan& p) { p.envelope.workspace_size += 1; }) == "workspace-size");
  CHECK(reason([](Plan& p) { p.envelope.tensor_uids.clear(); }) == "envelope-tensors");
  CHECK(reason([](Plan& p) { p.envelope.tensor_uids[1] = 1; }) == "envelope-tensors");
  CHECK(reason([](Plan& p) { p.envelope.tensor_alignments.pop_back(); }) == "envelope-tensors");
  CHECK(reason([](Plan& p) { p.envelope.tensor_alignments[0] = 0; }) == "envelope-tensors");
  CHECK(reason([](Plan& p) { p.envelope.provider_name = ""; }) == "envelope-provider");
  CHECK(reason([](Plan& p) { p.payload.dispatch = ""; }) == "payload-dispatch");
  CHECK(reason([](Plan& p) { p.payload.engine_name = ""; }) == "payload-engine");
  CHECK(reason([](Plan& p) { p.payload.kernels.clear(); }) == "payload-kernels");
  CHECK(reason([](Plan& p) { p.payload.kernels.push_back(p.payload.kernels[0]); }) ==
        "payload-kernels");
  CHECK(reason([](Plan& p) { p.payload.kernels[0].symbol = ""; }) == "payload-symbol");
  CHECK(reason([](Plan& p) { p.payload.kernels[0].source_kind = SourceKind::unset; }) ==
        "payload-source-kind");
  CHECK(reason([](Plan& p) { p.payload.kernels[0].sha256.bytes[0] ^= 1; }) == "code-digest");
  CHECK(reason([](Plan& p) { p.payload.kernels[0].signature[1].offset = 4; }) == "signature-form");
  CHECK(reason([](Plan& p) { p.payload.values.push_back(p.payload.values[0]); }) ==
        "launch-value-form");
  CHECK(reason([](Plan& p) { p.payload.values[1].data = 1.0 / 0.0; }) == "launch-value-form");
  CHECK(reason([](Plan& p) { p.payload.runtime_pass_by_value_uids = {4}; }) ==
        "runtime-pass-by-value");
  Writer empty({});
  CHECK(empty.to_bytes().error().reason == "no-plans");
}
