// What an opened file is made of. Inside lib/plan only.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <vector>

#include "plan/front.h"
#include "plan/index.h"
#include "plan/plan.h"
#include "plan/reasons.h"

namespace hipplan::plan {

/// Smaller files are read whole, or may as well be.
inline constexpr uint64_t kMostReadAhead = 1 << 20;

/// Groups that were decompressed last: who reads plan by plan needs them again. A group of every
/// kind of text fits, however large it is.
class GroupCache {
 public:
  /// Null when it is not there.
  [[nodiscard]] SharedBytes find(const ObjectRef& ref);
  void keep(const ObjectRef& ref, const SharedBytes& raw);
  static constexpr uint64_t kMostBytes = 8 * kMostGroupBytes;
  static constexpr size_t kMostGroups = 32;

 private:
  struct Held {
    uint16_t type;
    uint64_t offset, stored_bytes, frame_bytes;
    SharedBytes raw;
    [[nodiscard]] bool is(const ObjectRef& ref) const {
      return type == ref.type && offset == ref.offset && stored_bytes == ref.stored_bytes &&
             frame_bytes == ref.frame_bytes;
    }
  };
  std::mutex mutex_;
  std::vector<Held> held_;  ///< the one used last at the end
  uint64_t bytes_ = 0;      ///< of all that are held
};

struct File::State {
  FileView file;
  ByteView bytes;
  std::string where;
  Front front;
  IndexReader index;

  /// Code objects that somebody still holds, so that plans read one after the other share them.
  mutable std::mutex code_mutex;
  mutable std::map<Digest, std::weak_ptr<const ByteView>> code;
  /// The first code objects that a full check has decompressed and digested, up to a few MiB: small
  /// files are read next, and need not be decompressed again.
  mutable std::vector<Code> checked_code;
  mutable uint64_t checked_code_bytes = 0;

  mutable GroupCache groups;

  /// Whether the system was told that pages are read here and there.
  mutable std::atomic<bool> random_access{false};

  /// A page here and there is read, until read_on() says otherwise.
  void read_here_and_there() const;
  /// From now on most of the file is read.
  void read_on() const;
  /// In a file that is read here and there: these bytes are read next. The system fetches them
  /// while the caller goes on, and several such parts at once, where each page by itself would cost
  /// a wait for the disk.
  void fetch(ByteView part) const;
  /// The index's root and the pages in front of it, which are the levels below in all but the
  /// largest files.
  void fetch_root() const;
  /// The objects that a record names: its code, its texts, or both.
  void fetch_objects(const Record& record, bool with_code, bool with_texts) const;
  [[nodiscard]] const Section* find_section(uint16_t type) const;
  [[nodiscard]] ByteView section_view(const Section& section) const {
    return bytes.subspan(section.offset, section.stored_bytes);
  }
  /// The frame that a reference names, still as stored.
  Result<ByteView> frame(const ObjectRef& ref, const std::string& place) const;
  /// An object's raw bytes, checked against its digest. A part of the file where it lies there as
  /// it is, the file is small, and nobody else can write to it.
  Result<SharedBytes> object(const ObjectRef& ref, const std::string& place) const;
  /// What a compressed frame holds; of a group, perhaps out of the cache.
  Result<SharedBytes> raw_frame(const ObjectRef& ref, ByteView stored,
                                const std::string& place) const;
  Result<Code> code_object(const ObjectRef& ref, const std::string& place) const;
  /// The record of an entry, checked against its digest.
  Result<Record> record(const EntryInfo& entry) const;
  /// Envelope and payload out of a record; kernels without code. Checks everything that can be
  /// checked without reading other objects.
  Result<Plan> decisions(const EntryInfo& entry, const Record& record) const;
  [[nodiscard]] std::string entry_place(const EntryInfo& entry) const;
};

/// Why an object that differs from its digest is refused.
[[nodiscard]] inline Reason digest_reason(uint16_t type) {
  return type == kCodeSection ? Reason("code-digest") : Reason("object-digest");
}

/// Check::full, after the front has been read.
Result<void> check_whole_file(const File::State& state);

}  // namespace hipplan::plan
