// Check::full: every byte of the file against its digest, and every object used and accounted for.
#include <algorithm>
#include <tuple>

#include "plan/compress.h"
#include "plan/errors.h"
#include "plan/file_state.h"
#include "plan/ref_set.h"

namespace hipplan::plan {
namespace {

using State = File::State;

Result<void> check_sections(const State& state) {
  uint64_t end = kHeaderBytes + state.front.header.directory_bytes;
  for (const auto& section : state.front.sections) {
    const std::string place = state.where + ": section " + section_name(section.type);
    if (!all_zero(state.bytes.subspan(end, section.offset - end)))
      return damaged("padding", place, "padding in front of the section is not zero",
                     cat(section.offset - end, " zero bytes"), "another value");
    if (const Digest actual = sha256(state.section_view(section)); actual != section.sha256)
      return damaged("section-digest", place, "section does not match its digest",
                     section.sha256.hex(), actual.hex());
    end = section.end();
  }
  return {};
}

Result<std::vector<ObjectRef>> check_records(const State& state) {
  RefSet refs;
  Result<void> failed;
  HIPPLAN_TRY(state.index.for_each([&](const EntryInfo& entry) {
    auto record = state.record(entry);
    if (!record) {
      failed = std::move(record).error();
      return false;
    }
    if (auto plan = state.decisions(entry, *record); !plan) {
      failed = std::move(plan).error();
      return false;
    }
    for (const auto& ref : record->refs) refs.add(ref);
    return true;
  }));
  HIPPLAN_TRY(failed);
  return refs.finish();
}

/// Keeps a code object that is alone in its frame for who reads the plan next.
void keep_checked(const State& state, const ObjectRef& ref, Bytes& raw) {
  constexpr uint64_t kMostKept = 4 << 20;
  if (ref.type != kCodeSection || raw.size() != ref.raw_bytes ||
      state.checked_code_bytes + raw.size() > kMostKept)
    return;
  state.checked_code_bytes += raw.size();
  state.checked_code.push_back(share(std::move(raw)));
  state.code[ref.sha256] = state.checked_code.back();
}

/// Objects of one frame: they tile its raw bytes, and each matches its digest.
Result<void> check_frame(const State& state, std::span<const ObjectRef> objects,
                         const std::string& place) {
  const auto& first = objects.front();
  HIPPLAN_TRY_ASSIGN(const auto stored, state.frame(first, place));
  Bytes raw;
  ByteView all = stored;
  if (first.compression == kZstd) {
    HIPPLAN_TRY_ASSIGN(raw, decompress(stored, first.frame_bytes, place));
    all = raw;
  }
  uint64_t end = 0;
  for (const auto& ref : objects) {
    const bool alike = std::tie(ref.stored_bytes, ref.frame_bytes, ref.compression) ==
                       std::tie(first.stored_bytes, first.frame_bytes, first.compression);
    const auto part = slice(all, ref.inner_offset, ref.raw_bytes);
    if (!alike || !part || ref.inner_offset != end)
      return damaged("object-coverage", place, "objects do not follow one another in their frame",
                     cat("offset ", end), cat("offset ", ref.inner_offset));
    if (const Digest actual = sha256(*part); actual != ref.sha256)
      return damaged(digest_reason(ref.type), place,
                     section_name(ref.type) + " object does not match its digest", ref.sha256.hex(),
                     actual.hex());
    end += ref.raw_bytes;
  }
  if (end != first.frame_bytes)
    return damaged("object-coverage", place, "objects do not fill their frame",
                   cat(first.frame_bytes, " bytes"), cat(end, " bytes"));
  keep_checked(state, first, raw);
  return {};
}

/// Objects of one section: frames follow one another from 0 to its end.
Result<void> check_objects(const State& state, const Section& section,
                           std::span<const ObjectRef> refs) {
  const std::string name = state.where + ": section " + section_name(section.type);
  uint64_t end = 0, raw = 0;
  const size_t count = refs.size();
  while (!refs.empty()) {
    const uint64_t offset = refs.front().offset;
    const auto frame = refs_of_first_frame(refs);
    if (offset != end)
      return damaged("object-coverage", name, "objects do not follow one another",
                     cat("offset ", end), cat("offset ", offset));
    HIPPLAN_TRY(check_frame(state, frame, name + ": object at " + std::to_string(offset)));
    end += frame.front().stored_bytes;
    raw += frame.front().frame_bytes;
    refs = refs.subspan(frame.size());
  }
  if (end != section.stored_bytes || raw != section.raw_bytes || count != section.objects)
    return damaged(
        "object-coverage", name, "objects do not fill the section",
        cat(section.objects, " objects, ", section.stored_bytes, " bytes, raw ", section.raw_bytes),
        cat(count, " objects, ", end, " bytes, raw ", raw));
  return {};
}

}  // namespace

Result<void> check_whole_file(const State& state) {
  HIPPLAN_TRY(check_sections(state));
  const auto* plans = state.find_section(kPlansSection);
  HIPPLAN_TRY(state.index.check(plans->stored_bytes));
  HIPPLAN_TRY_ASSIGN(const auto refs, check_records(state));
  for (const auto& section : state.front.sections) {
    if (!is_object_section(section.type)) continue;
    HIPPLAN_TRY(check_objects(state, section, refs_of_section(refs, section.type)));
  }
  for (const auto& ref : refs) {
    if (state.find_section(ref.type) == nullptr)
      return damaged("object-range", state.where, "object of a section that is not there",
                     section_name(ref.type), "none");
  }
  return {};
}

}  // namespace hipplan::plan
