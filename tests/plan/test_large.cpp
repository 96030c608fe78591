// A library of 1 GiB is looked into, compared and checked with little memory of one's own. The file
// is sparse: its code objects are a number and zeros.
#include <doctest/doctest.h>

#include <csignal>
#include <cstdio>

#include <sys/resource.h>
#include <sys/wait.h>

#include "plan/codec.h"
#include "plan/diff.h"
#include "plan/index.h"
#include "plan/layout.h"
#include "plan/print.h"
#include "sample.h"
#include "sanitized.h"

using namespace hipplan;
using namespace hipplan::plan;
using namespace hipplan::test;
namespace fs = std::filesystem;

namespace {

constexpr unsigned kPlans = 4;
constexpr uint64_t kObjectBytes = 256ull << 20;
constexpr uint64_t kMostOwnBytes = 16ull << 20;

Bytes number_of(unsigned object) {
  Bytes out;
  append(out, uint64_t{object + 1});
  return out;
}

/// The digest of each object, and of all one after the other.
struct Digests {
  std::vector<Digest> objects;
  Digest section;
};
Digests digests() {
  const Bytes zeros(1 << 20);
  Digests out;
  Sha256 all;
  for (unsigned i = 0; i < kPlans; ++i) {
    Sha256 one;
    const Bytes head = number_of(i);
    one.update(head);
    all.update(head);
    for (uint64_t left = kObjectBytes - head.size(); left > 0;) {
      const auto part = ByteView(zeros).first(std::min<uint64_t>(left, zeros.size()));
      one.update(part);
      all.update(part);
      left -= part.size();
    }
    out.objects.push_back(one.finish());
  }
  out.section = all.finish();
  return out;
}

Bytes record_of(const Plan& plan, unsigned object) {
  ObjectRef ref;
  ref.type = kCodeSection;
  ref.required = true;
  ref.offset = object * kObjectBytes;
  ref.stored_bytes = ref.frame_bytes = ref.raw_bytes = kObjectBytes;
  ref.sha256 = plan.payload.kernels[0].sha256;
  Record record;
  record.refs = {ref};
  const Bytes envelope =
      envelope_bytes(plan.envelope, payload_bytes(plan.payload, PayloadKind::by_reference),
                     Identity{plan.graph_key, plan.target});
  record.envelope = envelope;
  return encode_record(record);
}

Section section_of(uint16_t type, uint64_t bytes, uint64_t objects, const Digest& digest) {
  Section out;
  out.type = type;
  out.required = is_required_section(type);
  out.compression = type == kCodeSection ? kPerObject : kStored;
  out.stored_bytes = out.raw_bytes = bytes;
  out.objects = objects;
  out.sha256 = digest;
  return out;
}

/// Everything in front of the code section; the file is `content_bytes` long.
struct Library {
  Bytes front, index, plans;
  std::vector<Section> sections;
  uint64_t content_bytes = 0;
};
Library library() {
  const Digests known = digests();
  std::vector<std::pair<Plan, unsigned>> plans;
  for (unsigned i = 0; i < kPlans; ++i) {
    plans.emplace_back(sample_plan(i), i);
    plans.back().first.payload.kernels[0].sha256 = known.objects[i];
  }
  std::sort(plans.begin(), plans.end(),
            [](const auto& a, const auto& b) { return a.first.graph_key < b.first.graph_key; });
  Library out;
  std::vector<EntryInfo> entries;
  for (const auto& [plan, object] : plans) {
    const Bytes record = record_of(plan, object);
    entries.push_back({plan.graph_key, plan.target, plan_digest(plan), out.plans.size(),
                       static_cast<uint32_t>(record.size()), sha256(record)});
    append(out.plans, record);
  }
  const BuiltIndex built = build_index(entries);
  out.index = built.pages;
  out.sections = {section_of(kIndexSection, out.index.size(), 1, sha256(out.index)),
                  section_of(kPlansSection, out.plans.size(), kPlans, sha256(out.plans)),
                  section_of(kCodeSection, kPlans * kObjectBytes, kPlans, known.section)};
  uint64_t end = kHeaderBytes + out.sections.size() * kDirectoryEntryBytes;
  for (auto& section : out.sections) {
    section.offset = align_up(end, kSectionAlignment);
    end = section.end();
  }
  Header header;
  header.content_bytes = out.content_bytes = end;
  header.entry_count = kPlans;
  header.index_root_page = built.root_page;
  header.index_root = built.root;
  out.front = encode_front(header, out.sections);
  return out;
}

void write_at(std::FILE* file, uint64_t offset, const Bytes& bytes) {
  REQUIRE(std::fseek(file, static_cast<long>(offset), SEEK_SET) == 0);
  REQUIRE(std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size());
}

void write_sparse(const fs::path& path) {
  const Library made = library();
  std::FILE* file = std::fopen(path.c_str(), "wb");
  REQUIRE(file != nullptr);
  write_at(file, 0, made.front);
  write_at(file, made.sections[0].offset, made.index);
  write_at(file, made.sections[1].offset, made.plans);
  for (unsigned i = 0; i < kPlans; ++i)
    write_at(file, made.sections[2].offset + i * kObjectBytes, number_of(i));
  REQUIRE(std::fclose(file) == 0);
  fs::resize_file(path, made.content_bytes);
}

/// Private writable memory of this process.
uint64_t own_bytes() {
  std::FILE* status = std::fopen("/proc/self/status", "r");
  char line[256];
  unsigned long data = 0;
  while (std::fgets(line, sizeof line, status) != nullptr)
    (void)std::sscanf(line, "VmData: %lu kB", &data);
  std::fclose(status);
  return uint64_t{data} << 10;
}

/// Whether `work` succeeds in a process that may take 16 MiB more than it has.
template <class Work>
bool fits(const Work& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlim_t most = own_bytes() + kMostOwnBytes;
    const rlimit limit{most, most};
    ::setrlimit(RLIMIT_DATA, &limit);
    try {
      ::_exit(work() ? 0 : 1);
    } catch (const std::bad_alloc&) {
      ::_exit(2);
    }
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// The text as it is, and every plan as JSON.
bool shown(const File& file) {
  std::string text;
  json::Writer front;
  show_json_front(file, front);
  uint64_t sent = 0;
  json::ArrayStream out(std::move(front), [&](std::string_view piece) { sent += piece.size(); });
  ShowOptions all;
  all.max_entries = UINT64_MAX;
  const auto left = show_json_plans(file, all, out);
  out.finish([](json::Writer& end) { end.end_object(); });
  return show_text(file, {}, text) && left && *left == 0 && sent > file.entry_count() * 1000;
}

}  // namespace

TEST_CASE("a library of 1 GiB is inspected, compared and verified within 16 MiB") {
  // A sanitizer takes memory of its own.
  if (kSanitized) return;
  const ScratchFolder folder;
  const auto path = folder / "large.hplan";
  write_sparse(path);
  REQUIRE(fs::file_size(path) > (1ull << 30));
  CHECK(fits([&] {
    const auto file = File::open(path, Check::lookup);
    return file && shown(*file);
  }));
  CHECK(fits([&] {
    const auto file = File::open(path, Check::full);
    return file && size_report(*file) && diff_files(*file, *file);
  }));
  // The limit is one: the code of one plan is more than it allows.
  CHECK(!fits([&] {
    const auto file = File::open(path, Check::lookup);
    const auto found = file->find(sample_key(1), "gfx942");
    return found && *found && file->read_plan(**found, true).ok();
  }));
}
