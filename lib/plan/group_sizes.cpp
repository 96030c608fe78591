#include "plan/group_sizes.h"

#include "plan/compress.h"
#include "plan/ref_set.h"

namespace hipplan::plan {
namespace {

/// What the objects of one group take alone.
Result<uint64_t> alone_bytes(ByteView stored, std::span<const ObjectRef> group,
                             const std::string& place, Compressor& compressor) {
  Bytes raw;
  ByteView all = stored;
  if (group.front().compression == kZstd) {
    HIPPLAN_TRY_ASSIGN(raw, decompress(stored, group.front().frame_bytes, place));
    all = raw;
  }
  uint64_t total = 0;
  for (const auto& ref : group) {
    const auto part = slice(all, ref.inner_offset, ref.raw_bytes).value_or(ByteView());
    HIPPLAN_TRY_ASSIGN(const auto alone, compressor.compress(part));
    total += alone.stored().size();
  }
  return total;
}

}  // namespace

Result<std::vector<GroupedSection>> group_sizes(const File& file, std::span<const ObjectRef> refs) {
  Compressor compressor;
  std::vector<GroupedSection> out;
  for (const auto& section : file.sections()) {
    GroupedSection grouped{section.number, 0, section.stored_bytes};
    const std::string place = file.where() + ": section " + section.type;
    auto left = refs_of_section(refs, section.number);
    while (!left.empty()) {
      const auto group = refs_of_first_frame(left);
      const auto& first = group.front();
      left = left.subspan(group.size());
      if (first.alone()) continue;
      const auto stored = slice(file.bytes(), section.offset + first.offset, first.stored_bytes);
      HIPPLAN_TRY_ASSIGN(const uint64_t alone,
                         alone_bytes(stored.value_or(ByteView()), group, place, compressor));
      grouped.alone_bytes += alone - first.stored_bytes;
      ++grouped.groups;
    }
    if (grouped.groups != 0) out.push_back(grouped);
  }
  return out;
}

}  // namespace hipplan::plan
