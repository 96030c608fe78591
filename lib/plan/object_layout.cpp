#include "plan/object_layout.h"

#include <span>

namespace hipplan::plan {
namespace {

// Chosen by measuring libraries of real texts; docs/plan-format.md has the numbers.
constexpr uint64_t kGroupBytes = 32 << 10;      // raw; reading one text decompresses this much
constexpr uint64_t kMeasuredBytes = 256 << 10;  // raw; so much of groups is compressed both ways
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

/// Compresses the first groups both ways. Objects that make a group of their own do not count: they
/// are the same both ways.
Result<bool> groups_pay(Objects objects, ObjectStore& store) {
  uint64_t measured = 0, alone = 0, grouped = 0, groups = 0;
  Bytes raw;
  for (size_t count = 0; !objects.empty() && measured < kMeasuredBytes;
       objects = objects.subspan(count)) {
    count = group_size(objects);
    if (count == 1) continue;
    raw.clear();
    for (const auto& member : objects.first(count)) {
      HIPPLAN_TRY_ASSIGN(const auto bytes, store.text(*member.object));
      HIPPLAN_TRY_ASSIGN(const auto packed, store.compress(bytes));
      alone += packed.stored().size();
      append(raw, ByteView(bytes));
    }
    HIPPLAN_TRY_ASSIGN(const auto packed, store.compress(raw));
    grouped += packed.stored().size();
    measured += raw.size();
    ++groups;
  }
  return grouped + kLeastSaved <= alone && grouped <= groups * kMostStored;
}

/// A frame of raw bytes, compressed where that is smaller.
Result<void> add_packed(ObjectLayout& layout, ByteView raw, ObjectStore& store) {
  HIPPLAN_TRY_ASSIGN(const auto packed, store.compress(raw));
  HIPPLAN_TRY_ASSIGN(const uint64_t spooled, store.spool(packed.stored()));
  layout.add_frame({spooled, 0, packed.stored().size(), raw.size(), packed.compression()});
  return {};
}

Result<void> lay_out_code(ObjectLayout& layout, ObjectStore& store) {
  for (auto& [digest, place] : layout.places) {
    const auto& object = store.find({kCodeSection, digest});
    place = {layout.frames.size(), 0, object.raw_bytes};
    layout.add_frame(
        {object.spool_offset, 0, object.stored_bytes, object.raw_bytes, object.compression});
  }
  return {};
}

Result<void> lay_out_alone(ObjectLayout& layout, uint16_t type, ObjectStore& store) {
  for (auto& [digest, place] : layout.places) {
    HIPPLAN_TRY_ASSIGN(const auto bytes, store.text(store.find({type, digest})));
    place = {layout.frames.size(), 0, bytes.size()};
    HIPPLAN_TRY(add_packed(layout, bytes, store));
  }
  return {};
}

Result<void> lay_out_groups(ObjectLayout& layout, Objects objects, ObjectStore& store) {
  Bytes raw;
  for (size_t count = 0; !objects.empty(); objects = objects.subspan(count)) {
    count = group_size(objects);
    raw.clear();
    for (const auto& member : objects.first(count)) {
      HIPPLAN_TRY_ASSIGN(const auto bytes, store.text(*member.object));
      *member.place = {layout.frames.size(), raw.size(), bytes.size()};
      append(raw, ByteView(bytes));
    }
    HIPPLAN_TRY(add_packed(layout, raw, store));
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
  // Code stays alone: a restore would decompress what it does not need.
  if (type == kCodeSection) return lay_out_code(layout, store);
  bool grouped = false;
  if (is_known_section(type)) {
    HIPPLAN_TRY_ASSIGN(grouped, groups_pay(objects, store));
  }
  return grouped ? lay_out_groups(layout, objects, store) : lay_out_alone(layout, type, store);
}

}  // namespace hipplan::plan
