// What groups of objects save, measured on a file.
#pragma once

#include <map>
#include <vector>

#include "plan/compress.h"
#include "plan/front.h"
#include "plan/layout.h"
#include "plan/plan.h"
#include "plan/print.h"

namespace hipplan::plan {

/// Memory follows the number of distinct objects in groups, 32 bytes each.
class GroupSizes {
 public:
  static Result<GroupSizes> of(const File& file);
  /// Notes the objects that an entry's record names; the record has been checked.
  Result<void> add(const EntryInfo& entry);
  /// Sections with groups. Decompresses each group once, and compresses what it holds alone.
  [[nodiscard]] Result<std::vector<GroupedSection>> finish();

 private:
  /// An object in a group.
  struct Piece {
    uint64_t offset = 0, stored_bytes = 0;  ///< of the frame
    uint32_t frame_bytes = 0, inner_offset = 0, bytes = 0;
    uint8_t compression = kStored;
    friend auto operator<=>(const Piece&, const Piece&) = default;
  };
  struct Pieces {
    std::vector<Piece> all;
    size_t next_compaction = 4096;
    void compact();
  };
  explicit GroupSizes(const File& file) : file_(&file) {}
  [[nodiscard]] ByteView view(uint16_t type) const;
  /// What the objects of one group take alone.
  Result<uint64_t> alone_bytes(ByteView section, const Piece* first, const Piece* last,
                               const std::string& place, Compressor& compressor) const;

  const File* file_;
  std::vector<Section> sections_;
  std::map<uint16_t, Pieces> pieces_;
};

}  // namespace hipplan::plan
