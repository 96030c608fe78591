#include "plan/group_sizes.h"

#include <algorithm>

#include "plan/compress.h"
#include "plan/errors.h"

namespace hipplan::plan {
namespace {

constexpr int kLevel = 3;  // as writers compress texts

Error too_large(const std::string& place, uint64_t bytes) {
  return damaged("raw-size", place, "a frame of several objects is too large",
                 cat("at most ", kMostGroupBytes, " bytes, raw"), cat(bytes, " bytes"));
}

}  // namespace

void GroupSizes::Pieces::compact() {
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  next_compaction = std::max<size_t>(4096, all.size() * 2);
}

Result<GroupSizes> GroupSizes::of(const File& file) {
  GroupSizes out(file);
  HIPPLAN_TRY_ASSIGN(auto front, read_front(file.bytes(), file.where()));
  out.sections_ = std::move(front.sections);
  return out;
}

ByteView GroupSizes::view(uint16_t type) const {
  for (const auto& section : sections_)
    if (section.type == type) return file_->bytes().subspan(section.offset, section.stored_bytes);
  return {};
}

Result<void> GroupSizes::add(const EntryInfo& entry) {
  const auto bytes = slice(view(kPlansSection), entry.position, entry.record_bytes);
  HIPPLAN_TRY_ASSIGN(const auto record, parse_record(*bytes, file_->where()));
  for (const auto& ref : record.refs) {
    if (ref.alone()) continue;
    if (ref.frame_bytes > kMostGroupBytes)
      return too_large(cat(file_->where(), ": ", section_name(ref.type)), ref.frame_bytes);
    auto& pieces = pieces_[ref.type];
    pieces.all.push_back({ref.offset, ref.stored_bytes, static_cast<uint32_t>(ref.frame_bytes),
                          static_cast<uint32_t>(ref.inner_offset),
                          static_cast<uint32_t>(ref.raw_bytes), ref.compression});
    if (pieces.all.size() >= pieces.next_compaction) pieces.compact();
  }
  return {};
}

Result<uint64_t> GroupSizes::alone_bytes(ByteView section, const Piece* first, const Piece* last,
                                         const std::string& place, Compressor& compressor) const {
  const auto stored = slice(section, first->offset, first->stored_bytes);
  if (!stored)
    return damaged("object-range", place, "object does not lie inside its section",
                   cat(section.size(), " bytes"),
                   cat("offset ", first->offset, ", ", first->stored_bytes, " bytes"));
  Bytes raw;
  ByteView all = *stored;
  if (first->compression == kZstd) {
    HIPPLAN_TRY_ASSIGN(raw, decompress(*stored, first->frame_bytes, place));
    all = raw;
  }
  uint64_t total = 0, end = 0;
  for (; first != last; ++first) {
    const auto part = slice(all, first->inner_offset, first->bytes);
    if (!part || first->inner_offset != end)
      return damaged("object-coverage", place, "objects do not follow one another in their frame",
                     cat("offset ", end), cat("offset ", first->inner_offset));
    HIPPLAN_TRY_ASSIGN(const auto alone, compressor.compress(*part));
    total += alone.empty() ? part->size() : alone.size();
    end += first->bytes;
  }
  return total;
}

Result<std::vector<GroupedSection>> GroupSizes::finish() {
  Compressor compressor(kLevel);
  std::vector<GroupedSection> out;
  for (auto& [type, pieces] : pieces_) {
    pieces.compact();
    const ByteView section = view(type);
    GroupedSection grouped{type, 0, section.size()};
    const Piece* const end = pieces.all.data() + pieces.all.size();
    for (const Piece* first = pieces.all.data(); first != end;) {
      const auto* last =
          std::find_if(first, end, [&](const Piece& p) { return p.offset != first->offset; });
      const std::string place =
          cat(file_->where(), ": section ", section_name(type), ": group at ", first->offset);
      HIPPLAN_TRY_ASSIGN(const uint64_t alone,
                         alone_bytes(section, first, last, place, compressor));
      grouped.alone_bytes += alone - first->stored_bytes;
      ++grouped.groups;
      first = last;
    }
    out.push_back(grouped);
  }
  return out;
}

}  // namespace hipplan::plan
