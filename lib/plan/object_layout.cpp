#include "plan/object_layout.h"

#include <span>

namespace hipplan::plan {
namespace {

// Chosen by measuring libraries of real texts; docs/plan-format.md has the numbers.
constexpr uint64_t kGroupBytes = 32 << 10;      // raw; reading one text decompresses this much
constexpr uint64_t kMeasuredBytes = 256 << 10;  // raw; groups up to here are compressed both ways
constexpr uint64_t kLeastSaved = kPageBytes;    // small files are not worth a second form
constexpr uint64_t kMostStored = kPageBytes;    // of a group on average: a lookup reads it all

using Objects = std::span<const Unplaced>;

/// How many of `objects` make one group: as many as fit, and at least one.
size_t group_size(Objects objects) {
  uint64_t bytes = 0;
  size_t count = 0;
  for (; count < objects.size(); ++count) {
    bytes += objects[count].object->raw_bytes;
    if (count > 0 && bytes > kGroupBytes) break;
  }
  return count;
}

/// What a compressed or raw form takes; empty means that it does not compress.
uint64_t stored_size(const Bytes& compressed, uint64_t raw_bytes) {
  return compressed.empty() ? raw_bytes : compressed.size();
}

/// Compresses the first groups both ways. Frames that were taken over do not count: the answer is
/// the same wherever the objects come from.
Result<bool> groups_pay(Objects objects, ObjectStore& store) {
  uint64_t measured = 0, alone = 0, grouped = 0, groups = 0;
  Bytes raw;
  for (size_t count = 0; !objects.empty() && measured < kMeasuredBytes;
       objects = objects.subspan(count)) {
    count = group_size(objects);
    raw.clear();
    for (const auto& member : objects.first(count)) {
      HIPPLAN_TRY_ASSIGN(const auto bytes, store.raw(*member.object));
      HIPPLAN_TRY_ASSIGN(const auto compressed, store.compress_text(bytes));
      alone += stored_size(compressed, bytes.size());
      append(raw, ByteView(bytes));
    }
    HIPPLAN_TRY_ASSIGN(const auto compressed, store.compress_text(raw));
    grouped += stored_size(compressed, raw.size());
    measured += raw.size();
    ++groups;
  }
  return grouped + kLeastSaved <= alone && grouped <= groups * kMostStored;
}

Result<void> lay_out_alone(ObjectLayout& layout, uint16_t type, ObjectStore& store) {
  for (auto& [digest, place] : layout.places) {
    HIPPLAN_TRY(store.settle({type, digest}));
    const auto& object = store.find({type, digest});
    place = {layout.frames.size(), 0, object.raw_bytes};
    layout.add_frame(
        {object.spool_offset, 0, object.stored_bytes, object.raw_bytes, object.compression});
  }
  return {};
}

Result<void> lay_out_groups(ObjectLayout& layout, Objects objects, ObjectStore& store) {
  Bytes raw;
  for (size_t count = 0; !objects.empty(); objects = objects.subspan(count)) {
    count = group_size(objects);
    raw.clear();
    for (const auto& member : objects.first(count)) {
      HIPPLAN_TRY_ASSIGN(const auto bytes, store.raw(*member.object));
      *member.place = {layout.frames.size(), raw.size(), bytes.size()};
      append(raw, ByteView(bytes));
    }
    HIPPLAN_TRY_ASSIGN(const auto compressed, store.compress_text(raw));
    const ByteView stored = compressed.empty() ? ByteView(raw) : ByteView(compressed);
    HIPPLAN_TRY_ASSIGN(const uint64_t spooled, store.spool(stored));
    layout.add_frame({spooled, 0, stored.size(), raw.size(),
                      static_cast<uint8_t>(compressed.empty() ? kStored : kZstd)});
  }
  return {};
}

}  // namespace

ObjectRef ObjectLayout::ref(const ObjectKey& key) const {
  const auto& place = places.at(key.second);
  const auto& frame = frames[place.frame];
  return {key.first,          frame.compression,  is_required_section(key.first),
          frame.offset,       frame.stored_bytes, frame.raw_bytes,
          place.inner_offset, place.bytes,        key.second};
}

void ObjectLayout::add_frame(Frame frame) {
  frame.offset = stored_bytes;
  stored_bytes += frame.stored_bytes;
  raw_bytes += frame.raw_bytes;
  frames.push_back(frame);
}

Result<void> lay_out(ObjectLayout& layout, uint16_t type, const std::vector<Unplaced>& objects,
                     ObjectStore& store) {
  uint64_t raw = 0;
  for (const auto& member : objects) raw += member.object->raw_bytes;
  // Code stays alone: a restore would decompress what it does not need.
  bool grouped = type != kCodeSection && objects.size() > 1 && raw > kLeastSaved;
  if (grouped) {
    HIPPLAN_TRY_ASSIGN(grouped, groups_pay(objects, store));
  }
  return grouped ? lay_out_groups(layout, objects, store) : lay_out_alone(layout, type, store);
}

}  // namespace hipplan::plan
