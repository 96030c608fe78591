// The index: lookup touches few pages, checks them, and the whole tree is checked in full mode.
#include <doctest/doctest.h>

#include <signal.h>
#include <sys/mman.h>

#include <cstdio>
#include <map>
#include <set>

#include "plan/front.h"
#include "plan/index.h"
#include "plan/layout.h"
#include "sample.h"

using namespace hipplan;
using namespace hipplan::plan;
using namespace hipplan::test;

namespace {

/// Counts the pages of a mapping that are touched: the mapping is closed, and each first access
/// to a page faults, is counted and opens that page.
class PageWatch {
 public:
  explicit PageWatch(ByteView bytes) {
    base_ = reinterpret_cast<uintptr_t>(bytes.data());
    size_ = align_up(bytes.size(), kPageBytes);
    touched_ = 0;
    struct sigaction action{};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, &before_);
    close();
  }
  ~PageWatch() {
    mprotect(reinterpret_cast<void*>(base_), size_, PROT_READ);
    sigaction(SIGSEGV, &before_, nullptr);
  }
  /// Forgets what was touched so far.
  void close() {
    touched_ = 0;
    mprotect(reinterpret_cast<void*>(base_), size_, PROT_NONE);
  }
  [[nodiscard]] unsigned touched() const { return touched_; }

 private:
  static void on_fault(int, siginfo_t* info, void*) {
    const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
    if (address < base_ || address >= base_ + size_) {
      signal(SIGSEGV, SIG_DFL);  // a real fault: the retried access ends the test
      return;
    }
    touched_ = touched_ + 1;
    mprotect(reinterpret_cast<void*>(address / kPageBytes * kPageBytes), kPageBytes, PROT_READ);
  }
  static inline uintptr_t base_ = 0;
  static inline size_t size_ = 0;
  static inline volatile unsigned touched_ = 0;
  struct sigaction before_{};
};

std::vector<EntryInfo> sorted_entries(unsigned count) {
  std::vector<EntryInfo> out;
  uint64_t position = 0;
  for (unsigned i = 0; i < count; ++i) {
    EntryInfo entry;
    entry.graph_key = sample_key(i / 2);
    entry.target = i % 2 == 0 ? "gfx942" : "gfx942:sramecc+:xnack-";
    out.push_back(entry);
  }
  std::sort(out.begin(), out.end(), [](const EntryInfo& a, const EntryInfo& b) {
    return std::tie(a.graph_key, a.target) < std::tie(b.graph_key, b.target);
  });
  for (auto& entry : out) {
    entry.position = position;
    entry.record_bytes = 160;
    entry.plan_digest = sha256(as_bytes(entry.target));
    entry.record_digest = entry.graph_key;
    position += 160;
  }
  return out;
}

}  // namespace

TEST_CASE("trees of many sizes hold exactly their entries") {
  for (const unsigned count : {1u, 2u, 31u, 36u, 70u, 1000u, 5000u}) {
    const auto entries = sorted_entries(count);
    const auto built = build_index(entries);
    const IndexReader reader(built.pages, built.root_page, built.root, count, "index");
    const auto checked = reader.check(count * 160);
    REQUIRE_MESSAGE(checked.ok(), (checked ? "" : checked.error().text()));
    size_t i = 0;
    bool same = true;
    REQUIRE(reader.for_each([&](const EntryInfo& entry) {
      same = same && entry.graph_key == entries[i].graph_key && entry.target == entries[i].target &&
             entry.position == entries[i].position && entry.plan_digest == entries[i].plan_digest;
      ++i;
      return true;
    }));
    CHECK(same);
    CHECK(i == count);
    for (const auto& entry : entries) {
      const auto found = reader.find(entry.graph_key, entry.target);
      REQUIRE(found);
      REQUIRE(found->has_value());
      CHECK((*found)->position == entry.position);
    }
    CHECK(reader.check(count * 160 + 16).error().reason == "index-order");
    const IndexReader wrong_count(built.pages, built.root_page, built.root, count + 1, "index");
    CHECK(wrong_count.check(count * 160).error().reason == "index-count");
  }
}

TEST_CASE("a full check finds trees that are digested rightly and built wrongly") {
  const auto reason = [](std::vector<EntryInfo> entries) {
    const auto built = build_index(entries);
    const auto checked =
        IndexReader(built.pages, built.root_page, built.root, entries.size(), "index")
            .check(entries.size() * 160);
    return checked ? std::string() : checked.error().reason;
  };
  const auto good = sorted_entries(200);
  CHECK(reason(good) == "");
  auto bad = good;
  std::swap(bad[10].graph_key, bad[150].graph_key);
  CHECK(reason(bad) == "index-order");
  bad = good;
  bad[11] = bad[10];
  bad[11].position = good[11].position;
  CHECK(reason(bad) == "index-order");
  bad = good;
  bad[50].position += 16;
  CHECK(reason(bad) == "index-order");
  bad = good;
  bad[199].record_bytes = 0;
  CHECK(reason(bad) == "index-order");
}

namespace {

/// A file with the entries of `count` plans, number 0 to count - 1, of which every `step`th is
/// there: the records of the others are holes, since a lookup reads one record only. Sections,
/// index and offsets are those that the writer makes.
void write_library_with_holes(const std::filesystem::path& path, unsigned count, unsigned step) {
  Writer writer({});
  for (unsigned i = 0; i < count; i += step) REQUIRE(writer.add(sample_plan(i)));
  const Bytes small = *writer.to_bytes();
  const auto file = open_bytes(small);
  REQUIRE(file);
  std::map<Digest, EntryInfo> there;
  uint64_t hole = 0;
  REQUIRE(file->for_each([&](const EntryInfo& entry) {
    there[entry.graph_key] = entry;
    hole = std::max<uint64_t>(hole, entry.record_bytes);
    return true;
  }));
  std::vector<EntryInfo> entries;
  for (unsigned i = 0; i < count; ++i) {
    EntryInfo entry{sample_key(i), "gfx942", {}, 0, static_cast<uint32_t>(hole), {}};
    if (const auto known = there.find(entry.graph_key); known != there.end()) entry = known->second;
    entries.push_back(std::move(entry));
  }
  std::sort(entries.begin(), entries.end(),
            [](const EntryInfo& a, const EntryInfo& b) { return a.graph_key < b.graph_key; });
  uint64_t plans_bytes = 0;
  for (auto& entry : entries) {
    entry.position = plans_bytes;
    plans_bytes += entry.record_bytes;
  }
  const auto built = build_index(entries);
  auto front = *read_front(small, "small");
  const auto old = front.sections;
  uint64_t end = kHeaderBytes + front.sections.size() * kDirectoryEntryBytes;
  for (auto& section : front.sections) {
    if (section.type == kIndexSection)
      section.stored_bytes = section.raw_bytes = built.pages.size();
    if (section.type == kIndexSection) section.objects = built.pages.size() / kPageBytes;
    if (section.type == kPlansSection) section.stored_bytes = section.raw_bytes = plans_bytes;
    if (section.type == kPlansSection) section.objects = count;
    section.offset = align_up(end, section.type == kIndexSection ? kPageBytes : kSectionAlignment);
    end = section.end();
  }
  front.header.content_bytes = end;
  front.header.entry_count = count;
  front.header.index_root_page = built.root_page;
  front.header.index_root = built.root;
  std::FILE* out = std::fopen(path.c_str(), "wb");
  REQUIRE(out != nullptr);
  const auto put = [&](uint64_t offset, ByteView bytes) {
    REQUIRE(std::fseek(out, static_cast<long>(offset), SEEK_SET) == 0);
    REQUIRE(std::fwrite(bytes.data(), 1, bytes.size(), out) == bytes.size());
  };
  put(0, encode_front(front.header, front.sections));
  for (size_t i = 0; i < old.size(); ++i) {
    const auto& section = front.sections[i];
    if (section.type == kIndexSection) put(section.offset, built.pages);
    if (section.type > kPlansSection)
      put(section.offset, ByteView(small).subspan(old[i].offset, old[i].stored_bytes));
    if (section.type != kPlansSection) continue;
    for (const auto& entry : entries)
      if (const auto known = there.find(entry.graph_key); known != there.end())
        put(section.offset + entry.position,
            ByteView(small).subspan(old[i].offset + known->second.position, entry.record_bytes));
  }
  REQUIRE(std::fclose(out) == 0);
  std::filesystem::resize_file(path, end);
}

/// Opens the file, finds and reads plans, and counts the pages that each takes.
void check_pages(const std::filesystem::path& path, unsigned count, unsigned step) {
  auto bytes = FileView::open(path);
  REQUIRE(bytes);
  PageWatch watch(bytes->view());
  unsigned worst = 0;
  for (unsigned i = 0; i < count; i += step) {
    watch.close();
    const auto file = File::parse(*bytes, "library", Check::lookup);
    REQUIRE_MESSAGE(file.ok(), (file ? "" : file.error().text()));
    const auto found = file->find(sample_key(i), "gfx942");
    REQUIRE(found);
    REQUIRE(found->has_value());
    const auto plan = file->read_plan(**found, true);
    REQUIRE_MESSAGE(plan.ok(), (plan ? "" : plan.error().text()));
    CHECK(plan_digest(*plan) == plan_digest(sample_plan(i)));
    worst = std::max(worst, watch.touched());
  }
  MESSAGE(count, " plans: most pages touched: ", worst);
  CHECK(worst >= 4);  // header, index, record, code: the watch does count
  CHECK(worst <= 16);
  watch.close();
  const auto file = File::parse(*bytes, "library", Check::lookup);
  const auto absent = file->find(sample_key(count), "gfx942");
  REQUIRE(absent);
  CHECK(!absent->has_value());
  CHECK(watch.touched() <= 6);
}

}  // namespace

TEST_CASE("a file of 100,000 plans: open, find and read touch at most 16 pages") {
  constexpr unsigned kPlans = 100'000, kStep = 1999;
  const ScratchFolder folder;
  const auto path = folder / "library.hplan";
  write_library_with_holes(path, kPlans, kStep);
  CHECK(std::filesystem::file_size(path) > 20'000 * kPageBytes);
  check_pages(path, kPlans, kStep);
}

TEST_CASE("the same in a file that the writer has written as a whole") {
  constexpr unsigned kPlans = 3000;
  const ScratchFolder folder;
  const auto path = folder / "library.hplan";
  Writer writer({});
  for (unsigned i = 0; i < kPlans; ++i) REQUIRE(writer.add(sample_plan(i)));
  REQUIRE(writer.write(path));
  check_pages(path, kPlans, 75);
}
