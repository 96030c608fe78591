// The index: lookup touches few pages, checks them, and the whole tree is checked in full mode.
#include <doctest/doctest.h>

#include <signal.h>
#include <sys/mman.h>

#include <set>

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

TEST_CASE("a file of 20,000 plans: open, find and read touch at most 16 pages") {
  const ScratchFolder folder;
  const auto path = folder / "library.hplan";
  constexpr unsigned kPlans = 20000;
  Writer writer({});
  for (unsigned i = 0; i < kPlans; ++i) REQUIRE(writer.add(sample_plan(i)));
  REQUIRE(writer.write(path));
  auto bytes = FileView::open(path);
  REQUIRE(bytes);
  CHECK(bytes->view().size() > 1000 * kPageBytes);
  PageWatch watch(bytes->view());
  unsigned worst = 0;
  for (unsigned i = 0; i < 40; ++i) {
    watch.close();
    const auto file = File::parse(*bytes, "library", Check::lookup);
    REQUIRE(file);
    const auto found = file->find(sample_key(i * 499), "gfx942");
    REQUIRE(found);
    REQUIRE(found->has_value());
    const auto plan = file->read_plan(**found, true);
    REQUIRE(plan);
    CHECK(plan_digest(*plan) == plan_digest(sample_plan(i * 499)));
    worst = std::max(worst, watch.touched());
  }
  MESSAGE("most pages touched: ", worst);
  CHECK(worst >= 4);  // header, index, record, code: the watch does count
  CHECK(worst <= 16);
  watch.close();
  const auto file = File::parse(*bytes, "library", Check::lookup);
  const auto absent = file->find(sample_key(kPlans), "gfx942");
  REQUIRE(absent);
  CHECK(!absent->has_value());
  CHECK(watch.touched() <= 6);
}
