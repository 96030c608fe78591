// Texts that share frames: when a writer takes groups, that they depend on the plans alone, and
// that readers find every damage in them.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <set>
#include <thread>
#include <tuple>

#include "draft.h"
#include "plan/compress.h"
#include "plan/extract.h"
#include "plan/file_state.h"
#include "plan/front.h"
#include "plan/print.h"
#include "sanitized.h"

using namespace hipplan;
using namespace hipplan::plan;
using namespace hipplan::test;

namespace {

constexpr uint64_t kGroupBytes = 32 << 10;

std::vector<Plan> wordy_plans(unsigned count) {
  std::vector<Plan> out;
  for (unsigned i = 0; i < count; ++i)
    for (const char* target : {"gfx942", "gfx1100"}) out.push_back(wordy_plan(i, target));
  return out;
}

File opened(const Bytes& bytes) {
  auto file = open_bytes(bytes);
  REQUIRE_MESSAGE(file.ok(), (file ? "" : file.error().text()));
  return *file;
}

/// All references of one type, in the order of the plans.
std::vector<ObjectRef> refs_of(const Bytes& bytes, uint16_t type) {
  std::vector<ObjectRef> out;
  const uint64_t plans = section_offset(bytes, kPlansSection);
  for (const auto& entry : entries_of(opened(bytes))) {
    const auto record =
        parse_record(*slice(bytes, plans + entry.position, entry.record_bytes), "record");
    REQUIRE(record);
    for (const auto& ref : record->refs)
      if (ref.type == type) out.push_back(ref);
  }
  return out;
}

bool has_groups(const Bytes& bytes, uint16_t type) {
  const auto refs = refs_of(bytes, type);
  return std::any_of(refs.begin(), refs.end(), [](const ObjectRef& r) { return !r.alone(); });
}

/// All plans of some files in one, in the order given.
Bytes merged(const std::vector<Bytes>& files, WriteOptions options = {}) {
  Writer writer(options);
  for (const auto& bytes : files) {
    const File file = opened(bytes);
    for (const auto& entry : entries_of(file)) REQUIRE(writer.add_from(file, entry));
  }
  auto out = writer.to_bytes();
  REQUIRE(out);
  return *out;
}

/// What a text takes in a frame of its own.
uint64_t alone_bytes(const std::string& text) {
  return Compressor().compress(as_bytes(text))->stored().size();
}

/// Text of digits that do not compress below half.
std::string noise(unsigned seed, size_t size) {
  std::mt19937 random(seed);
  std::string out;
  while (out.size() < size) out += "0123456789abcdef"[random() % 16];
  return out;
}

}  // namespace

TEST_CASE("texts of a library lie in groups of bounded size") {
  const auto plans = wordy_plans(100);
  const Bytes bytes = file_of(plans);
  uint64_t alone = 0;
  for (const uint16_t type : {kGraphsSection, kReasonsSection}) {
    std::set<uint64_t> frames;
    for (const auto& ref : refs_of(bytes, type)) {
      CHECK(ref.frame_bytes <= kGroupBytes);
      frames.insert(ref.offset);
    }
    CHECK(frames.size() >= 5);
    CHECK(frames.size() <= 11);
  }
  for (const auto& plan : plans) alone += file_of({plan}).size();
  CHECK(bytes.size() * 2 < alone);
  // Every plan comes out whole.
  const File file = opened(bytes);
  for (const auto& plan : plans) {
    const auto found = file.find(plan.graph_key, plan.target);
    REQUIRE(found);
    const auto back = file.read_plan(**found, true);
    REQUIRE_MESSAGE(back.ok(), (back ? "" : back.error().text()));
    CHECK(back->graph == plan.graph);
    CHECK(back->reasons == plan.reasons);
    CHECK(plan_digest(*back) == plan_digest(plan));
  }
}

TEST_CASE("files that would not gain have no groups") {
  const Bytes single = file_of({wordy_plan(1)});
  CHECK(!has_groups(single, kGraphsSection));
  const std::string graph = wordy_plan(1).graph;
  CHECK(refs_of(single, kGraphsSection)[0].stored_bytes == alone_bytes(graph));
  // Less than a page to save.
  CHECK(!has_groups(file_of(wordy_plans(4)), kGraphsSection));
  CHECK(has_groups(file_of(wordy_plans(10)), kGraphsSection));
  // Texts that have little in common: a group would take many pages.
  std::vector<Plan> plans;
  for (unsigned i = 0; i < 100; ++i) {
    plans.push_back(sample_plan(i));
    plans.back().graph = noise(i, 3000) + noise(0, 1500);
    plans.back().reasons = wordy_plan(i).reasons;
  }
  const Bytes bytes = file_of(plans);
  CHECK(!has_groups(bytes, kGraphsSection));
  CHECK(has_groups(bytes, kReasonsSection));
}

TEST_CASE("code objects lie alone, however alike they are") {
  std::vector<Plan> plans;
  for (unsigned i = 0; i < 40; ++i) {
    Bytes code(sample_code(1)->begin(), sample_code(1)->end());
    code[i] ^= std::byte{0xff};
    plans.push_back(wordy_plan(i));
    plans.back().payload.kernels = {sample_kernel("", share(std::move(code)))};
  }
  const Bytes bytes = file_of(plans);
  CHECK(has_groups(bytes, kGraphsSection));
  CHECK(!has_groups(bytes, kCodeSection));
}

TEST_CASE("a text larger than a group lies alone between groups") {
  auto plans = wordy_plans(60);
  plans[20].graph = plans[21].graph = std::string(3 * kGroupBytes, ' ') + "{}";
  const Bytes bytes = file_of(plans);
  uint64_t large = 0;
  for (const auto& ref : refs_of(bytes, kGraphsSection)) {
    CHECK((ref.alone() || ref.frame_bytes <= kGroupBytes));
    large += ref.raw_bytes > kGroupBytes;
  }
  CHECK(large == 2);
  CHECK(merged({bytes}) == bytes);
}

TEST_CASE("a large text does not decide for the others, wherever it lies") {
  for (const size_t large : {100'000, 600'000}) {
    INFO("text of ", large, " bytes");
    auto plans = wordy_plans(60);
    const auto first =
        std::min_element(plans.begin(), plans.end(), [](const Plan& a, const Plan& b) {
          return std::tie(a.graph_key, a.target) < std::tie(b.graph_key, b.target);
        });
    first->graph = noise(1, large);
    const Bytes bytes = file_of(plans);
    REQUIRE(refs_of(bytes, kGraphsSection)[0].raw_bytes == large);
    CHECK(refs_of(bytes, kGraphsSection)[0].alone());
    CHECK(has_groups(bytes, kGraphsSection));
  }
}

TEST_CASE("parts that this version does not know lie alone, also many of one plan") {
  constexpr uint16_t kUnknown = 40;
  std::vector<Plan> plans;
  for (unsigned i = 0; i < 3; ++i) {
    plans.push_back(sample_plan(i));
    for (unsigned part = 0; part < 30; ++part) {
      const std::string text = wordy_plan(100 * i + part).graph;
      const auto bytes = as_bytes(text);
      plans.back().extra.push_back({kUnknown, Bytes(bytes.begin(), bytes.end())});
    }
  }
  const Bytes single = file_of({plans[0]}), library = file_of(plans);
  CHECK(refs_of(single, kUnknown).size() == 30);
  CHECK(refs_of(library, kUnknown).size() == 90);
  CHECK(!has_groups(single, kUnknown));
  CHECK(!has_groups(library, kUnknown));
  CHECK(refs_of(library, kUnknown)[0].compression == kZstd);
  CHECK(merged({library}) == library);
}

TEST_CASE("how sources stored a text leaves no trace") {
  const auto plans = wordy_plans(60);
  std::vector<Bytes> plain, packed, both;
  for (const auto& plan : plans) {
    plain.push_back(Draft(plan).build(plan));
    packed.push_back(file_of({plan}));
    both.push_back(both.size() % 2 == 0 ? plain.back() : packed.back());
    const auto graph = refs_of(plain.back(), kGraphsSection)[0];
    REQUIRE(graph.compression == kStored);
    REQUIRE(graph.raw_bytes > refs_of(packed.back(), kGraphsSection)[0].stored_bytes);
  }
  CHECK(merged({plain[0]}) == packed[0]);
  CHECK(merged({plain[0], packed[0]}) == packed[0]);
  // Few lie alone, many in groups.
  for (const size_t count : {4, 120}) {
    const Bytes whole = file_of({plans.begin(), plans.begin() + count});
    CHECK(has_groups(whole, kGraphsSection) == (count == 120));
    for (auto* files : {&plain, &packed, &both})
      CHECK(merged({files->begin(), files->begin() + count}) == whole);
  }
}

TEST_CASE("the same plans give the same groups however they came together") {
  auto plans = wordy_plans(60);
  const Bytes whole = file_of(plans);
  REQUIRE(has_groups(whole, kGraphsSection));
  std::shuffle(plans.begin(), plans.end(), std::mt19937(2));
  WriteOptions small;
  small.memory_bytes = 100;
  CHECK(file_of(plans, small) == whole);
  CHECK(merged({whole}) == whole);
  CHECK(merged({whole, whole}) == whole);
  CHECK(merged({whole}, small) == whole);
  // Out of parts with other groups, and with none.
  std::vector<Bytes> thirds, singles;
  for (size_t i = 0; i < 3; ++i)
    thirds.push_back(file_of({plans.begin() + 40 * i, plans.begin() + 40 * (i + 1)}));
  for (const auto& plan : plans) singles.push_back(file_of({plan}));
  REQUIRE(has_groups(thirds[0], kGraphsSection));
  CHECK(merged({thirds[0], thirds[1], thirds[2]}) == whole);
  CHECK(merged({thirds[2], thirds[0], thirds[1], thirds[2]}) == whole);
  CHECK(merged(singles) == whole);
  CHECK(merged({thirds[0], merged({singles.begin() + 20, singles.end()})}) == whole);
}

TEST_CASE("what is taken out of a file with groups is as if it had never been there") {
  const auto plans = wordy_plans(30);
  const File file = opened(file_of(plans));
  for (const auto& plan : plans) {
    const auto found = file.find(plan.graph_key, plan.target);
    REQUIRE(found);
    const auto single = extract_plan(file, **found);
    REQUIRE(single);
    CHECK(*single == file_of({plan}));
  }
  const auto is_kept = [](const EntryInfo& entry) { return entry.target == "gfx942"; };
  Writer writer({});
  std::vector<Plan> kept;
  for (const auto& plan : plans)
    if (plan.target == "gfx942") kept.push_back(plan);
  for (const auto& entry : entries_of(file))
    if (is_kept(entry)) REQUIRE(writer.add_from(file, entry));
  CHECK(*writer.to_bytes() == file_of(kept));
}

TEST_CASE("each byte of a file with groups matters") {
  const Bytes good = file_of(wordy_plans(4));
  REQUIRE(has_groups(good, kReasonsSection));
  std::mt19937 random(3);
  Bytes bad = good;
  for (size_t at = 0; at < good.size(); at += kSanitized ? 3 : 1) {
    const std::byte mask{static_cast<uint8_t>(1u << (random() % 8))};
    bad[at] ^= mask;
    const auto file = open_bytes(bad);
    INFO("offset ", at);
    REQUIRE(!file.ok());
    CHECK(file.error().code == hipplan::Code::damaged);
    bad[at] ^= mask;
  }
}

TEST_CASE("damage in a group is found behind right section digests, and by who reads one plan") {
  const auto plans = wordy_plans(4);
  const Bytes good = file_of(plans);
  const auto refs = refs_of(good, kReasonsSection);
  REQUIRE(!refs[0].alone());
  const uint64_t start = section_offset(good, kReasonsSection) + refs[0].offset;
  uint64_t harmless = 0;
  for (uint64_t i = 0; i < refs[0].stored_bytes; i += kSanitized ? 7 : 1) {
    Bytes bad = good;
    bad[start + i] ^= std::byte{1};
    reseal_sections(bad);
    INFO("byte ", i, " of the group");
    const auto whole = open_bytes(bad);
    const auto file = open_bytes(bad, Check::lookup);
    REQUIRE(file);
    size_t wrong = 0;
    for (const auto& plan : plans) {
      const auto entry = *file->find(plan.graph_key, plan.target);
      CHECK(file->read_decisions(*entry).ok());  // restoring needs no texts
      const auto back = file->read_plan(*entry, false);
      wrong += !back.ok();
      if (back) CHECK(back->reasons == plan.reasons);
      if (!back) CHECK(back.error().code == hipplan::Code::damaged);
    }
    // A compressed frame has bits that change nothing.
    CHECK(whole.ok() == (wrong == 0));
    if (!whole) CHECK(whole.error().code == hipplan::Code::damaged);
    harmless += wrong == 0;
  }
  CHECK(harmless < 10);
}

TEST_CASE("a frame of several objects has a cap of its own") {
  Plan plan = sample_plan(1);
  plan.graph.assign(kMostGroupBytes + 1, ' ');
  const Bytes large = file_of({plan});
  REQUIRE(opened(large).read_plan(entries_of(opened(large))[0], false).ok());
  // The same frame, of which the plan takes a part.
  Bytes bad = large;
  const uint64_t ref = section_offset(bad, kPlansSection) + kRecordHeaderBytes + kObjectRefBytes;
  REQUIRE(*load<uint16_t>(bad, ref) == kGraphsSection);
  store(bad, ref + 40, uint64_t{5});
  store(bad, ref + 48, sha256(as_bytes("     ")).bytes);
  reseal_all(bad);
  const auto file = open_bytes(bad, Check::lookup);
  REQUIRE(file);
  const auto entry = entries_of(*file)[0];
  CHECK(file->read_plan(entry, false).error().reason == "raw-size");
  CHECK(open_bytes(bad).error().reason == "raw-size");
}

TEST_CASE("readers keep groups of any size, and a bounded number of bytes and groups") {
  const auto group = [](size_t number, uint64_t size) {
    ObjectRef ref;
    ref.offset = number;
    ref.frame_bytes = size;
    return ref;
  };
  const auto largest = share(Bytes(kMostGroupBytes)), smallest = share(Bytes(2));
  GroupCache cache;
  // One of every kind of text stays while plans are read.
  for (size_t i = 0; i < 5; ++i) cache.keep(group(i, kMostGroupBytes), largest);
  for (size_t i = 0; i < 5; ++i) CHECK(cache.find(group(i, kMostGroupBytes)) == largest);
  for (size_t i = 5; i < 20; ++i) cache.keep(group(i, kMostGroupBytes), largest);
  size_t held = 0;
  for (size_t i = 0; i < 20; ++i) held += cache.find(group(i, kMostGroupBytes)) != nullptr;
  CHECK(held == GroupCache::kMostBytes / kMostGroupBytes);
  held = 0;
  for (size_t i = 0; i < 1000; ++i) cache.keep(group(i, 2), smallest);
  for (size_t i = 0; i < 1000; ++i) held += cache.find(group(i, 2)) != nullptr;
  CHECK(held == GroupCache::kMostGroups);
  // What is asked for stays longest; what is kept twice is held once.
  for (size_t i = 0; i < 200; ++i) {
    cache.keep(group(1000 + i, 2), smallest);
    cache.keep(group(1000 + i, 2), smallest);
    CHECK(cache.find(group(1000, 2)) == smallest);
  }
  CHECK(cache.find(group(1199 - (GroupCache::kMostGroups - 2), 2)) == smallest);
}

TEST_CASE("several threads read plans whose texts share groups") {
  const auto plans = wordy_plans(80);
  const File file = opened(file_of(plans));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < plans.size(); ++i) {
        const auto& plan = plans[(i * (2 * t + 1)) % plans.size()];
        const auto found = file.find(plan.graph_key, plan.target);
        const auto back = file.read_plan(**found, true);
        wrong += !back.ok() || back->graph != plan.graph || back->reasons != plan.reasons;
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("size says what groups save") {
  const auto plans = wordy_plans(40);
  const Bytes bytes = file_of(plans);
  const auto report = size_report(opened(bytes));
  REQUIRE_MESSAGE(report.ok(), (report ? "" : report.error().text()));
  REQUIRE(report->grouped.size() == 2);
  CHECK(report->grouped[0].number == kGraphsSection);
  CHECK(report->grouped[1].number == kReasonsSection);
  for (const auto& grouped : report->grouped) {
    std::set<Digest> seen;
    std::set<uint64_t> frames;
    uint64_t alone = 0;
    for (const auto& plan : plans) {
      const auto& text = grouped.number == kGraphsSection ? plan.graph : plan.reasons;
      if (!seen.insert(sha256(as_bytes(text))).second) continue;
      alone += alone_bytes(text);
    }
    for (const auto& ref : refs_of(bytes, grouped.number)) frames.insert(ref.offset);
    CHECK(grouped.alone_bytes == alone);
    CHECK(grouped.groups == frames.size());
  }
  CHECK(size_text(*report).find("groups save ") != std::string::npos);
  json::Writer out;
  size_json(out, *report, "x");
  const auto parsed = json::parse(out.text(), "size");
  REQUIRE(parsed);
  uint64_t sections = 0;
  for (const auto& section : parsed->find("sections")->items)
    sections += section.find("groups") != nullptr;
  CHECK(sections == 2);
  const auto plain = size_report(opened(file_of({wordy_plan(1)})));
  REQUIRE(plain);
  CHECK(plain->grouped.empty());
  CHECK(size_text(*plain).find("group") == std::string::npos);
}
