// Objects out of a file: found, decompressed, compared with their digest.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>

#include "plan/compress.h"
#include "plan/errors.h"
#include "plan/file_state.h"

namespace hipplan::plan {
namespace {

/// Tells the system how a mapped file will be read: a page here and there, or on and on. For a
/// lookup it would otherwise read a good part of a large file that is not in memory.
void advise(ByteView bytes, int how) {
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<uintptr_t>(bytes.data());
  const uintptr_t start = first / page * page;
  (void)::madvise(reinterpret_cast<void*>(start), first + bytes.size() - start, how);
}

/// Whether bytes lie as the heap would place them, which a driver may count on in a code object.
/// Sections lie so in their file, and a small file in its memory.
bool is_aligned(ByteView bytes) {
  return reinterpret_cast<uintptr_t>(bytes.data()) % alignof(std::max_align_t) == 0;
}

}  // namespace

SharedBytes GroupCache::find(const ObjectRef& ref) {
  const std::lock_guard lock(mutex_);
  const auto found =
      std::find_if(held_.rbegin(), held_.rend(), [&](const Held& h) { return h.is(ref); });
  if (found == held_.rend()) return nullptr;
  std::rotate(found.base() - 1, found.base(), held_.end());
  return held_.back().raw;
}

void GroupCache::keep(const ObjectRef& ref, const SharedBytes& raw) {
  std::vector<Held> dropped;  // freed when the lock is
  const std::lock_guard lock(mutex_);
  // Another thread may have kept it in the meantime.
  if (std::any_of(held_.begin(), held_.end(), [&](const Held& h) { return h.is(ref); })) return;
  bytes_ += raw->size();
  auto first = held_.begin();
  const auto too_much = [&] {
    return static_cast<size_t>(held_.end() - first) >= kMostGroups || bytes_ > kMostBytes;
  };
  for (; first != held_.end() && too_much(); ++first) bytes_ -= first->raw->size();
  dropped.assign(std::move_iterator(held_.begin()), std::move_iterator(first));
  held_.erase(held_.begin(), first);
  held_.push_back({ref.type, ref.offset, ref.stored_bytes, ref.frame_bytes, raw});
}

Result<ByteView> File::State::frame(const ObjectRef& ref, const std::string& place) const {
  const auto* section = find_section(ref.type);
  const auto view = section == nullptr
                        ? std::nullopt
                        : slice(section_view(*section), ref.offset, ref.stored_bytes);
  if (!view)
    return damaged("object-range", place, "object does not lie inside its section",
                   "section " + section_name(ref.type),
                   cat("offset ", ref.offset, ", ", ref.stored_bytes, " bytes"));
  if (!ref.alone() && ref.frame_bytes > kMostGroupBytes)
    return damaged("raw-size", place, "a frame of several objects is too large",
                   cat("at most ", kMostGroupBytes, " bytes, raw"), cat(ref.frame_bytes, " bytes"));
  // Larger ones are read at once and not page by page.
  if (view->size() > kPageBytes) fetch(*view);
  return *view;
}

void File::State::read_here_and_there() const {
  random_access = true;
  advise(bytes, MADV_RANDOM);
}

void File::State::read_on() const {
  if (random_access.exchange(false)) advise(bytes, MADV_NORMAL);
}

void File::State::fetch(ByteView part) const {
  if (random_access && !part.empty()) advise(part, MADV_WILLNEED);
}

void File::State::fetch_root() const {
  constexpr uint64_t kPages = 4;
  const ByteView pages = section_view(*find_section(kIndexSection));
  const uint64_t end = (uint64_t{front.header.index_root_page} + 1) * kPageBytes;
  if (end > pages.size()) return;
  const uint64_t size = std::min(end, kPages * kPageBytes);
  fetch(pages.subspan(end - size, size));
}

void File::State::fetch_objects(const Record& record, bool with_code, bool with_texts) const {
  if (!random_access) return;
  for (const auto& ref : record.refs) {
    if (!(ref.type == kCodeSection ? with_code : with_texts)) continue;
    const auto* section = find_section(ref.type);
    if (section == nullptr) continue;
    // What lies elsewhere is refused when it is read.
    if (const auto part = slice(section_view(*section), ref.offset, ref.stored_bytes)) fetch(*part);
  }
}

Result<SharedBytes> File::State::raw_frame(const ObjectRef& ref, ByteView stored,
                                           const std::string& place) const {
  if (ref.alone()) {
    HIPPLAN_TRY_ASSIGN(auto raw, decompress(stored, ref.frame_bytes, place));
    return share(std::move(raw));
  }
  if (auto held = groups.find(ref)) return held;
  HIPPLAN_TRY_ASSIGN(auto raw, decompress(stored, ref.frame_bytes, place));
  auto group = share(std::move(raw));
  groups.keep(ref, group);
  return group;
}

Result<SharedBytes> File::State::object(const ObjectRef& ref, const std::string& place) const {
  HIPPLAN_TRY_ASSIGN(const auto stored, frame(ref, place));
  const auto owner = bytes.size() <= kMostReadAhead ? file.unchanging_owner() : nullptr;
  SharedBytes all;
  if (ref.compression == kZstd) {
    HIPPLAN_TRY_ASSIGN(all, raw_frame(ref, stored, place));
  } else if (owner != nullptr && is_aligned(stored)) {
    all = part_of(owner, stored);
  } else {
    // A mapped file can still be written to: what is digested and used must be a copy of ours. A
    // large one in memory would stay there as long as the object.
    all = share(Bytes(stored.begin(), stored.end()));
  }
  const auto part = slice(*all, ref.inner_offset, ref.raw_bytes);
  if (!part)
    return damaged("object-range", place, "object does not lie inside its frame",
                   cat("inside ", all->size(), " bytes"),
                   cat("offset ", ref.inner_offset, ", ", ref.raw_bytes, " bytes"));
  if (const Digest actual = sha256(*part); actual != ref.sha256)
    return damaged(digest_reason(ref.type), place,
                   section_name(ref.type) + " object does not match its digest", ref.sha256.hex(),
                   actual.hex());
  // Of a frame of many objects only this one is kept.
  if (part->size() == all->size()) return all;
  return share(Bytes(part->begin(), part->end()));
}

Result<Code> File::State::code_object(const ObjectRef& ref, const std::string& place) const {
  {
    const std::lock_guard lock(code_mutex);
    if (auto held = code[ref.sha256].lock()) return held;
  }
  HIPPLAN_TRY_ASSIGN(auto held, object(ref, place));
  const std::lock_guard lock(code_mutex);
  code[ref.sha256] = held;
  return held;
}

}  // namespace hipplan::plan
