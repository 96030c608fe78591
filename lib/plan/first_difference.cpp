#include <algorithm>

#include "plan/diff.h"
#include "plan/front.h"

namespace hipplan::plan {
namespace {

/// Section of a file that a byte belongs to; empty for what stands in front of the sections.
std::string section_at(const Front& front, uint64_t offset) {
  std::string out;
  for (const auto& section : front.sections)
    if (section.offset <= offset) out = section_name(section.type);
  return offset >= front.header.content_bytes ? "signature block" : out;
}

const Section* find(const Front& front, uint16_t type) {
  const auto found = std::find_if(front.sections.begin(), front.sections.end(),
                                  [&](const Section& s) { return s.type == type; });
  return found == front.sections.end() ? nullptr : &*found;
}

/// Empty when the section is the same in both.
std::string section_difference(const Section& section, const Front& two, ByteView a, ByteView b) {
  const std::string name = section_name(section.type);
  const auto* other = find(two, section.type);
  if (other == nullptr) return cat("section ", name, " is in one only");
  if (other->sha256 == section.sha256) return {};
  const auto left = a.subspan(section.offset, section.stored_bytes);
  const auto right = b.subspan(other->offset, other->stored_bytes);
  const auto at = std::mismatch(left.begin(), left.end(), right.begin(), right.end()).first;
  return cat("section ", name, " differs, first at its offset ", at - left.begin());
}

}  // namespace

std::string first_difference(ByteView a, ByteView b) {
  const auto mismatch = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first;
  const auto offset = static_cast<uint64_t>(mismatch - a.begin());
  if (offset == a.size() && a.size() == b.size()) return {};
  const auto one = read_front(a, "a"), two = read_front(b, "b");
  if (!one || !two) return cat("the first difference at offset ", offset);
  // Records name objects by digest, and index and directory hold digests of everything: what is
  // named last differs whenever anything else does.
  for (const bool objects : {true, false})
    for (const auto& section : one->sections)
      if (is_object_section(section.type) == objects && section.type != kIndexSection)
        if (auto told = section_difference(section, *two, a, b); !told.empty()) return told;
  for (const auto& section : two->sections)
    if (find(*one, section.type) == nullptr)
      return cat("section ", section_name(section.type), " is in one only");
  const std::string name = section_at(*one, offset);
  return cat(name.empty() ? "header and directory" : name, " differ first, at offset ", offset);
}

}  // namespace hipplan::plan
