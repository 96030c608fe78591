// The file out of what a writer holds: places first, then the bytes.
#include <algorithm>

#include "plan/errors.h"
#include "plan/index.h"
#include "plan/writer_state.h"

namespace hipplan::plan {

Result<void> Writer::State::check_complete() const {
  if (entries.empty()) return bad_input("no-plans", "plan file", "there is no plan to write");
  for (const auto& [key, entry] : entries) {
    for (const auto& part : entry.parts) {
      if (store.contains(part)) continue;
      return bad_input("code-missing", cat("plan ", key.first.hex().substr(0, 16), "/", key.second),
                       "code object is not in memory", part.second.hex(), "no bytes",
                       "read the plan with its code");
    }
  }
  return {};
}

/// Objects in the order in which the plans, in key order, use them first: texts of one graph for
/// several targets are neighbours, and who reads plan by plan finds the next text where the last
/// one was.
Result<void> Writer::State::place_objects() {
  objects.clear();
  std::map<uint16_t, std::vector<Unplaced>> order;
  for (const auto& [key, entry] : entries) {
    for (const auto& part : entry.parts) {
      const auto [at, first] = objects[part.first].places.try_emplace(part.second);
      if (first) order[part.first].push_back({&store.find(part), &at->second});
    }
  }
  for (auto& [type, layout] : objects) HIPPLAN_TRY(lay_out(layout, type, order[type], store));
  return {};
}

void Writer::State::place_records() {
  index.clear();
  uint64_t position = 0;
  for (const auto& [key, entry] : entries) {
    const uint64_t size = record_bytes(entry.parts.size(), entry.envelope_bytes);
    index.push_back(
        {key.first, key.second, entry.plan_digest, position, static_cast<uint32_t>(size), {}});
    position += size;
  }
}

/// What was taken over from files of a later minor version needs that version.
uint16_t Writer::State::lowest_minor() const {
  uint16_t out = kContainerMinor;
  for (const auto& [key, entry] : entries) out = std::max(out, entry.minor);
  for (const auto& [type, kept] : unknown) out = std::max(out, kept.minor);
  return out;
}

/// Sizes and offsets of all sections; the digests come while writing.
Result<void> Writer::State::place_sections() {
  const uint64_t index_bytes = build_index(index).pages.size();
  std::map<uint16_t, Section> by_type;
  const auto set = [&](uint16_t type, uint8_t compression, uint64_t stored, uint64_t raw,
                       uint64_t count) {
    by_type[type] = {type, is_required_section(type), compression, 0, stored, raw, count, {}};
  };
  set(kIndexSection, kStored, index_bytes, index_bytes,
      (index_bytes + kPageBytes - 1) / kPageBytes);
  const uint64_t plans = index.back().position + index.back().record_bytes;
  set(kPlansSection, kStored, plans, plans, index.size());
  for (const auto& [type, layout] : objects)
    set(type, kPerObject, layout.stored_bytes, layout.raw_bytes, layout.places.size());
  for (const auto& [type, kept] : unknown) by_type[type] = kept.section;
  if (by_type.size() > kMostSections)
    return bad_input("section-conflict", "plan file", "has no room for all sections",
                     cat("at most ", kMostSections), cat(by_type.size()),
                     "keep the plans in several files");
  sections.clear();
  uint64_t end = kHeaderBytes + by_type.size() * kDirectoryEntryBytes;
  for (auto& [type, section] : by_type) {
    const bool paged = type == kIndexSection && section.stored_bytes > kPageBytes;
    section.offset = align_up(end, paged ? kPageBytes : kSectionAlignment);
    end = section.end();
    sections.push_back(section);
  }
  header.content_bytes = end;
  header.entry_count = index.size();
  header.minor = lowest_minor();
  return {};
}

Record Writer::State::record_of(const Pending& entry, ByteView envelope) const {
  Record out;
  for (const auto& key : entry.parts) out.refs.push_back(objects.at(key.first).ref(key));
  out.envelope = envelope;
  return out;
}

Result<void> Writer::State::put_records(Output& out, Section& section) {
  Sha256 hash;
  size_t i = 0;
  for (const auto& [key, entry] : entries) {
    HIPPLAN_TRY_ASSIGN(const auto envelope,
                       store.unspool(entry.spool_offset, entry.envelope_bytes));
    const Bytes record = encode_record(record_of(entry, envelope));
    index[i++].record_digest = sha256(record);
    hash.update(record);
    HIPPLAN_TRY(out.put(record));
  }
  section.sha256 = hash.finish();
  return {};
}

Result<void> Writer::State::put_objects(Output& out, Section& section) const {
  Sha256 hash;
  for (const auto& frame : objects.at(section.type).frames) {
    HIPPLAN_TRY_ASSIGN(const auto bytes, store.unspool(frame.spool_offset, frame.stored_bytes));
    hash.update(bytes);
    HIPPLAN_TRY(out.put(bytes));
  }
  section.sha256 = hash.finish();
  return {};
}

Result<void> Writer::State::put_section(Output& out, Section& section) {
  HIPPLAN_TRY(out.put_zeros(section.offset - out.size()));
  if (section.type == kIndexSection) return out.put_zeros(section.stored_bytes);
  if (section.type == kPlansSection) return put_records(out, section);
  if (const auto kept = unknown.find(section.type); kept != unknown.end())
    return out.put(kept->second.bytes);
  return put_objects(out, section);
}

/// Everything in file order first; index, directory and header at the end, when the digests are
/// known.
Result<void> Writer::State::put(Output& out) {
  HIPPLAN_TRY(check_complete());
  HIPPLAN_TRY(place_objects());
  place_records();
  HIPPLAN_TRY(place_sections());
  HIPPLAN_TRY(out.put_zeros(kHeaderBytes + sections.size() * kDirectoryEntryBytes));
  for (auto& section : sections) HIPPLAN_TRY(put_section(out, section));
  const BuiltIndex built = build_index(index);
  sections.front().sha256 = sha256(built.pages);
  header.index_root_page = built.root_page;
  header.index_root = built.root;
  HIPPLAN_TRY(out.put_at(sections.front().offset, built.pages));
  Digest directory_digest;
  HIPPLAN_TRY(out.put_at(0, encode_front(header, sections, &directory_digest)));
  if (!sign) return {};
  HIPPLAN_TRY_ASSIGN(const auto block, sign(directory_digest));
  return out.put(block);
}

}  // namespace hipplan::plan
