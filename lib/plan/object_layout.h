// How a section's objects lie in frames: each in one of its own, or several texts in one group.
#pragma once

#include <map>
#include <vector>

#include "plan/object_store.h"

namespace hipplan::plan {

/// The frames of one section in the order of the file, and the place of each object in them.
struct ObjectLayout {
  struct Frame {
    uint64_t spool_offset = 0;  ///< in the object store's spool
    uint64_t offset = 0;        ///< inside the section
    uint64_t stored_bytes = 0, raw_bytes = 0;
    uint8_t compression = kStored;
  };
  struct Place {
    size_t frame = 0;
    uint64_t inner_offset = 0, bytes = 0;
  };
  std::vector<Frame> frames;
  std::map<Digest, Place> places;
  uint64_t stored_bytes = 0, raw_bytes = 0;

  [[nodiscard]] ObjectRef ref(const ObjectKey& key) const;
  void add_frame(Frame frame);
};

/// An object of a section whose place is to be found.
struct Unplaced {
  const ObjectStore::Stored* object = nullptr;
  ObjectLayout::Place* place = nullptr;  ///< in the layout
};

/// Fills frames and places of `layout`, whose places name the section's objects; `objects` are the
/// same in the order in which the plans of the file use them first. Groups are taken for the texts
/// that this version knows, where measuring says so. Depends on the raw bytes and the order only,
/// except for the frames of code objects that were taken over.
Result<void> lay_out(ObjectLayout& layout, uint16_t type, const std::vector<Unplaced>& objects,
                     ObjectStore& store);

}  // namespace hipplan::plan
