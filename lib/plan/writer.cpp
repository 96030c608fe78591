// Collecting plans: their decisions as envelopes, their parts as objects.
#include <algorithm>
#include <tuple>

#include "plan/codec.h"
#include "plan/errors.h"
#include "plan/file_state.h"
#include "plan/writer_state.h"

namespace hipplan::plan {
namespace {

std::vector<std::pair<uint16_t, const std::string*>> texts(const Plan& plan) {
  return {{kGraphsSection, &plan.graph},
          {kReasonsSection, &plan.reasons},
          {kMeasurementsSection, &plan.measurements},
          {kEvidenceSection, &plan.evidence},
          {kProvenanceSection, &plan.provenance}};
}

/// Whether two sections of one type hold the same and their entries say the same of it.
bool same_content(const Section& a, const Section& b) {
  const auto facts = [](const Section& s) {
    return std::tie(s.sha256, s.compression, s.raw_bytes, s.objects, s.later_flags, s.later_head,
                    s.later_tail);
  };
  return facts(a) == facts(b);
}

std::string place_of(const Plan& plan) {
  return cat("plan ", plan.graph_key.hex().substr(0, 16), "/", plan.target);
}

}  // namespace

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

Result<void> Writer::State::enter(const Plan& plan, std::vector<ObjectKey> parts, uint16_t minor) {
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  HIPPLAN_TRY_ASSIGN(const auto payload,
                     encode_payload_as(plan.payload, PayloadKind::by_reference));
  HIPPLAN_TRY_ASSIGN(const auto envelope, encode_envelope(plan.envelope, payload,
                                                          Identity{plan.graph_key, plan.target}));
  Pending entry{plan_digest(plan), std::move(parts), 0, envelope.size(), minor};
  const EntryKey key{plan.graph_key, plan.target};
  if (const auto known = entries.find(key); known != entries.end()) {
    auto& other = known->second;
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
      if (bytes == envelope) other.minor = std::min(other.minor, minor);
      if (bytes <= envelope) return {};
    }
  }
  HIPPLAN_TRY_ASSIGN(entry.spool_offset, store.spool(envelope));
  entries[key] = std::move(entry);
  return {};
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
  uint16_t minor = kContainerMinor;
  for (const auto& ref : record.refs) {
    const std::string place = cat(from.entry_place(entry), ": ", section_name(ref.type));
    const auto& key = parts.emplace_back(ref.type, ref.sha256);
    if (!is_known_section(ref.type)) minor = file.minor_version();
    // The frame of a code object is taken over as it is, whether it is compressed is its writer's
    // choice. Of others only the object is: its frame in the new file is made anew.
    const bool frame = ref.type == kCodeSection && ref.alone();
    auto& store = state_->store;
    if (frame ? store.holds_smaller(key, ref.stored_bytes) : store.contains(key)) continue;
    HIPPLAN_TRY_ASSIGN(const auto raw, from.object(ref, place));
    if (!frame) {
      HIPPLAN_TRY(store.add_checked(key, *raw));
      continue;
    }
    HIPPLAN_TRY_ASSIGN(const auto stored, from.frame(ref, place));
    HIPPLAN_TRY(store.add_stored_code(ref, stored));
  }
  return state_->enter(plan, std::move(parts), minor);
}

Result<void> Writer::keep_unknown_sections(const File& file) {
  for (const auto& section : file.state_->front.sections) {
    if (is_known_section(section.type) || is_object_section(section.type)) continue;
    if (section.bound || is_bound_section(section.type)) continue;
    HIPPLAN_TRY_ASSIGN(const auto bytes, file.section_bytes(section.type));
    const auto known = state_->unknown.find(section.type);
    if (known == state_->unknown.end()) {
      state_->unknown[section.type] = {section, Bytes(bytes.begin(), bytes.end()),
                                       file.minor_version()};
      continue;
    }
    auto& kept = known->second;
    if (!same_content(kept.section, section))
      return bad_input("section-conflict", file.where(),
                       cat("another file has a different section of type ", section.type),
                       kept.section.sha256.hex(), section.sha256.hex());
    kept.minor = std::min(kept.minor, file.minor_version());
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
