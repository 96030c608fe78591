#include <algorithm>
#include <map>
#include <set>

#include "plan/codec.h"
#include "plan/errors.h"
#include "plan/file_state.h"
#include "plan/object_store.h"
#include "plan/output.h"

namespace hipplan::plan {
namespace {

/// A plan waiting to be written.
struct Pending {
  Digest plan_digest;
  std::vector<ObjectKey> parts;  ///< sorted, each once
  uint64_t spool_offset = 0;     ///< of the envelope
  uint64_t envelope_bytes = 0;
};
using EntryKey = std::pair<Digest, std::string>;

struct UnknownSection {
  Section section;
  Bytes bytes;
};

/// Objects of one section in the order of their digests, and where each will lie.
struct ObjectPlaces {
  std::map<Digest, uint64_t> offsets;
  uint64_t stored_bytes = 0, raw_bytes = 0;
};

std::vector<std::pair<uint16_t, const std::string*>> texts(const Plan& plan) {
  return {{kGraphsSection, &plan.graph},
          {kReasonsSection, &plan.reasons},
          {kMeasurementsSection, &plan.measurements},
          {kEvidenceSection, &plan.evidence},
          {kProvenanceSection, &plan.provenance}};
}

std::string place_of(const Plan& plan) {
  return cat("plan ", plan.graph_key.hex().substr(0, 16), "/", plan.target);
}

}  // namespace

struct Writer::State {
  explicit State(const WriteOptions& options) : store(options), sign(options.sign) {}

  ObjectStore store;
  std::function<Result<Bytes>(const Digest&)> sign;
  std::map<EntryKey, Pending> entries;
  std::map<uint16_t, UnknownSection> unknown;

  // Filled by lay_out().
  std::map<uint16_t, ObjectPlaces> places;
  std::vector<EntryInfo> index;
  std::vector<Section> sections;
  Header header;

  Result<void> enter(const Plan& plan, std::vector<ObjectKey> parts);
  Result<std::vector<ObjectKey>> add_parts(const Plan& plan, const std::string& place);
  Result<void> add_extra(const Plan& plan, std::vector<ObjectKey>& parts);
  Result<void> check_complete() const;
  void place_objects();
  void place_records();
  void place_sections();
  Record record_of(const Pending& entry, ByteView envelope) const;
  Result<void> put_records(Output& out, Section& section);
  Result<void> put_objects(Output& out, Section& section) const;
  Result<void> put_section(Output& out, Section& section);
  Result<void> put(Output& out);
};

Result<void> Writer::State::add_extra(const Plan& plan, std::vector<ObjectKey>& parts) {
  for (const auto& part : plan.extra) {
    if (is_known_section(part.type) || !is_object_section(part.type) || part.bytes.empty())
      return bad_input("extra-part", place_of(plan),
                       "extra part with a type of its own or no bytes",
                       "an unknown part type below 64", cat(part.type));
    HIPPLAN_TRY_ASSIGN(auto key, store.add(part.type, part.bytes));
    parts.push_back(key);
  }
  return {};
}

Result<std::vector<ObjectKey>> Writer::State::add_parts(const Plan& plan,
                                                        const std::string& place) {
  std::vector<ObjectKey> parts;
  for (size_t i = 0; i < plan.payload.kernels.size(); ++i) {
    const auto& kernel = plan.payload.kernels[i];
    parts.emplace_back(kCodeSection, kernel.sha256);
    if (!kernel.code) continue;  // another plan may bring it; check_complete() looks
    HIPPLAN_TRY(store.add_code(kernel.code, kernel.sha256, cat(place, ": kernels[", i, "].code")));
  }
  for (const auto& [type, text] : texts(plan)) {
    if (text->empty()) continue;
    HIPPLAN_TRY_ASSIGN(auto key, store.add(type, as_bytes(*text)));
    parts.push_back(key);
  }
  HIPPLAN_TRY(add_extra(plan, parts));
  return parts;
}

Result<void> Writer::State::enter(const Plan& plan, std::vector<ObjectKey> parts) {
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  HIPPLAN_TRY_ASSIGN(const auto payload,
                     encode_payload_as(plan.payload, PayloadKind::by_reference));
  HIPPLAN_TRY_ASSIGN(const auto envelope, encode_envelope(plan.envelope, payload,
                                                          Identity{plan.graph_key, plan.target}));
  Pending entry{plan_digest(plan), std::move(parts), 0, envelope.size()};
  const EntryKey key{plan.graph_key, plan.target};
  if (const auto known = entries.find(key); known != entries.end()) {
    const auto& other = known->second;
    if (other.plan_digest != entry.plan_digest)
      return bad_input("duplicate-plan", place_of(plan),
                       "two plans with different decisions for one graph and target",
                       other.plan_digest.hex(), entry.plan_digest.hex(),
                       "keep one of them, or write them to different files");
    // Same decisions: of what travels with them the smaller in byte order stays, so that the order
    // of adding does not matter.
    if (other.parts < entry.parts) return {};
    if (other.parts == entry.parts) {
      HIPPLAN_TRY_ASSIGN(const auto bytes, store.unspool(other.spool_offset, other.envelope_bytes));
      if (bytes <= envelope) return {};
    }
  }
  HIPPLAN_TRY_ASSIGN(entry.spool_offset, store.spool(envelope));
  entries[key] = std::move(entry);
  return {};
}

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

void Writer::State::place_objects() {
  places.clear();
  for (const auto& [key, entry] : entries)
    for (const auto& [type, digest] : entry.parts) places[type].offsets.emplace(digest, 0);
  for (auto& [type, place] : places) {
    for (auto& [digest, offset] : place.offsets) {
      const auto& object = store.find({type, digest});
      offset = place.stored_bytes;
      place.stored_bytes += object.stored_bytes;
      place.raw_bytes += object.raw_bytes;
    }
  }
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

/// Sizes and offsets of all sections; the digests come while writing.
void Writer::State::place_sections() {
  const uint64_t index_bytes = build_index(index).pages.size();
  std::map<uint16_t, Section> by_type;
  const auto set = [&](uint16_t type, uint8_t compression, uint64_t stored, uint64_t raw,
                       uint64_t objects) {
    by_type[type] = {type, is_required_section(type), compression, 0, stored, raw, objects, {}};
  };
  set(kIndexSection, kStored, index_bytes, index_bytes,
      (index_bytes + kPageBytes - 1) / kPageBytes);
  const uint64_t plans = index.back().position + index.back().record_bytes;
  set(kPlansSection, kStored, plans, plans, index.size());
  for (const auto& [type, place] : places)
    set(type, kPerObject, place.stored_bytes, place.raw_bytes, place.offsets.size());
  for (const auto& [type, kept] : unknown) by_type[type] = kept.section;
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
}

Record Writer::State::record_of(const Pending& entry, ByteView envelope) const {
  Record out;
  for (const auto& key : entry.parts) {
    const auto& object = store.find(key);
    const uint64_t offset = places.at(key.first).offsets.at(key.second);
    out.refs.push_back({key.first, object.compression, is_required_section(key.first), offset,
                        object.stored_bytes, object.raw_bytes, 0, object.raw_bytes, key.second});
  }
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
  for (const auto& [digest, offset] : places.at(section.type).offsets) {
    HIPPLAN_TRY_ASSIGN(const auto bytes, store.read(store.find({section.type, digest})));
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
  place_objects();
  place_records();
  place_sections();
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

Writer::Writer(WriteOptions options) : state_(std::make_unique<State>(options)) {}
Writer::~Writer() = default;

uint64_t Writer::entry_count() const {
  return state_->entries.size();
}

Result<void> Writer::add(Plan plan) {
  HIPPLAN_TRY(check_plan(plan, ErrorCode::bad_input));
  HIPPLAN_TRY_ASSIGN(auto parts, state_->add_parts(plan, place_of(plan)));
  return state_->enter(plan, std::move(parts));
}

Result<void> Writer::add_from(const File& file, const EntryInfo& entry) {
  const auto& from = *file.state_;
  HIPPLAN_TRY_ASSIGN(const auto record, from.record(entry));
  HIPPLAN_TRY_ASSIGN(const auto plan, from.decisions(entry, record));
  std::vector<ObjectKey> parts;
  for (const auto& ref : record.refs) {
    const std::string place = cat(from.entry_place(entry), ": ", section_name(ref.type));
    parts.emplace_back(ref.type, ref.sha256);
    const bool alone = ref.inner_offset == 0 && ref.raw_bytes == ref.frame_bytes;
    if (alone && state_->store.contains(parts.back()) &&
        state_->store.find(parts.back()).stored_bytes <= ref.stored_bytes)
      continue;
    HIPPLAN_TRY_ASSIGN(const auto raw, from.object(ref, place));
    if (!alone) {
      HIPPLAN_TRY(state_->store.add(ref.type, *raw));
      continue;
    }
    HIPPLAN_TRY_ASSIGN(const auto stored, from.frame(ref, place));
    HIPPLAN_TRY(state_->store.add_stored(ref, stored));
  }
  return state_->enter(plan, std::move(parts));
}

Result<void> Writer::keep_unknown_sections(const File& file) {
  for (const auto& section : file.state_->front.sections) {
    if (is_known_section(section.type) || is_object_section(section.type)) continue;
    HIPPLAN_TRY_ASSIGN(const auto bytes, file.section_bytes(section.type));
    const auto known = state_->unknown.find(section.type);
    if (known != state_->unknown.end() && known->second.section.sha256 != section.sha256)
      return bad_input("section-conflict", file.where(),
                       cat("another file has a different section of type ", section.type),
                       known->second.section.sha256.hex(), section.sha256.hex());
    state_->unknown[section.type] = {section, Bytes(bytes.begin(), bytes.end())};
  }
  return {};
}

Result<void> Writer::write(const std::filesystem::path& path) {
  HIPPLAN_TRY(state_->check_complete());
  HIPPLAN_TRY_ASSIGN(auto file, AtomicFile::create(path));
  FileOutput out(file);
  HIPPLAN_TRY(state_->put(out));
  HIPPLAN_TRY(out.flush());
  return file.commit();
}

Result<Bytes> Writer::to_bytes() {
  MemoryOutput out;
  HIPPLAN_TRY(state_->put(out));
  return out.take();
}

}  // namespace hipplan::plan
