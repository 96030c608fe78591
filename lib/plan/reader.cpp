#include <algorithm>
#include <set>

#include "plan/codec.h"
#include "plan/compress.h"
#include "plan/errors.h"
#include "plan/file_state.h"
#include "plan/plan.h"

namespace hipplan::plan {
namespace {

/// The text that a known text section fills, or null.
std::string* text_field(Plan& plan, uint16_t type) {
  switch (type) {
    case kGraphsSection:
      return &plan.graph;
    case kReasonsSection:
      return &plan.reasons;
    case kMeasurementsSection:
      return &plan.measurements;
    case kEvidenceSection:
      return &plan.evidence;
    case kProvenanceSection:
      return &plan.provenance;
    default:
      return nullptr;
  }
}

/// The record names exactly the code objects that the payload's kernels need, and each text once.
Result<void> check_refs(const Plan& plan, const Record& record, const std::string& place) {
  std::set<Digest> wanted, named;
  for (const auto& kernel : plan.payload.kernels) wanted.insert(kernel.sha256);
  uint16_t last_type = 0;
  for (const auto& ref : record.refs) {
    const bool known = is_known_section(ref.type);
    if (ref.type == kCodeSection) named.insert(ref.sha256);
    if (known && ref.type != kCodeSection && ref.type == last_type)
      return damaged("record-refs", place, "two objects of type " + section_name(ref.type), "one",
                     "two");
    if (!known && ref.required)
      return unusable("unknown-part", place,
                      cat("a required part of type ", ref.type, " is not known"),
                      cat("reader of format ", kContainerMajor, ".", kContainerMinor), {},
                      "use a newer hipplan");
    last_type = ref.type;
  }
  if (wanted != named)
    return damaged("record-refs", place, "code objects named are not those the kernels need",
                   cat(wanted.size(), " objects"), cat(named.size(), " objects"));
  return {};
}

}  // namespace

const Section* File::State::find_section(uint16_t type) const {
  const auto& all = front.sections;
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Section& s) { return s.type == type; });
  return found == all.end() ? nullptr : &*found;
}

std::string File::State::entry_place(const EntryInfo& entry) const {
  return where + ": plan " + entry.graph_key.hex().substr(0, 16) + "/" + entry.target;
}

Result<Record> File::State::record(const EntryInfo& entry) const {
  const std::string place = entry_place(entry);
  const auto stored =
      slice(section_view(*find_section(kPlansSection)), entry.position, entry.record_bytes);
  if (!stored)
    return damaged("record-range", place, "record does not lie inside the plans section",
                   cat("inside ", find_section(kPlansSection)->stored_bytes, " bytes"),
                   cat("offset ", entry.position, ", ", entry.record_bytes, " bytes"));
  fetch(*stored);
  if (const Digest actual = sha256(*stored); actual != entry.record_digest)
    return damaged("record-digest", place, "record does not match its digest",
                   entry.record_digest.hex(), actual.hex());
  return parse_record(*stored, place);
}

Result<Plan> File::State::decisions(const EntryInfo& entry, const Record& record) const {
  const std::string place = entry_place(entry);
  HIPPLAN_TRY_ASSIGN(auto decoded, decode_envelope(record.envelope, place + ": envelope"));
  if (decoded.identity != Identity{entry.graph_key, entry.target})
    return damaged("record-identity", place, "envelope belongs to another entry",
                   entry.graph_key.hex() + " " + entry.target,
                   decoded.identity
                       ? decoded.identity->graph_key.hex() + " " + quote(decoded.identity->target)
                       : "no graph key and target");
  Plan out;
  out.graph_key = entry.graph_key;
  out.target = entry.target;
  out.envelope = std::move(decoded.envelope);
  HIPPLAN_TRY_ASSIGN(out.payload, decode_payload_as(decoded.payload, place + ": payload",
                                                    PayloadKind::by_reference));
  HIPPLAN_TRY(check_agreement(out.envelope, out.payload, place, ErrorCode::damaged));
  HIPPLAN_TRY(check_refs(out, record, place));
  if (const Digest actual = plan_digest(out); actual != entry.plan_digest)
    return damaged("plan-digest", place, "decisions do not match the plan digest",
                   entry.plan_digest.hex(), actual.hex());
  return out;
}

Result<File> File::open(const std::filesystem::path& path, Check check) {
  HIPPLAN_TRY_ASSIGN(auto bytes, FileView::open(path));
  return parse(std::move(bytes), path.string(), check);
}

Result<File> File::parse(FileView bytes, const std::string& where, Check check) {
  auto state = std::make_shared<State>();
  state->file = std::move(bytes);
  state->bytes = state->file.view();
  state->where = where;
  return start(std::move(state), check);
}

Result<File> File::parse(Bytes bytes, const std::string& where, Check check) {
  return parse(FileView::own(std::move(bytes)), where, check);
}

Result<File> File::start(std::shared_ptr<State> state, Check check) {
  if (check == Check::lookup && state->bytes.size() > kMostReadAhead) {
    state->read_here_and_there();
  }
  HIPPLAN_TRY_ASSIGN(state->front, read_front(state->bytes, state->where));
  const auto& header = state->front.header;
  state->index =
      IndexReader(state->section_view(*state->find_section(kIndexSection)), header.index_root_page,
                  header.index_root, header.entry_count, state->where);
  state->fetch_root();
  if (check == Check::full) HIPPLAN_TRY(check_whole_file(*state));
  File out;
  out.state_ = std::move(state);
  return out;
}

uint64_t File::entry_count() const {
  return state_->front.header.entry_count;
}
uint16_t File::major_version() const {
  return state_->front.header.major;
}
uint16_t File::minor_version() const {
  return state_->front.header.minor;
}
ByteView File::bytes() const {
  return state_->bytes;
}
ByteView File::signature_block() const {
  return state_->front.signature_block;
}
const std::string& File::where() const {
  return state_->where;
}
const Digest& File::directory_digest() const {
  return state_->front.header.directory_digest;
}

Result<void> File::for_each(const std::function<bool(const EntryInfo&)>& visit) const {
  state_->read_on();
  return state_->index.for_each(visit);
}

Result<void> File::for_each_of(std::string_view key_digits,
                               const std::function<bool(const EntryInfo&)>& visit) const {
  const auto range = KeyRange::of(key_digits);
  if (!range)
    return bad_input("no-such-plan", "graph key", "is no key and no start of one",
                     "up to 64 of the digits 0-9 and a-f", quote(key_digits));
  return state_->index.for_each_in(*range, visit);
}

Result<std::optional<EntryInfo>> File::find(const Digest& graph_key,
                                            std::string_view target) const {
  return state_->index.find(graph_key, target);
}

Result<Plan> File::read_plan(const EntryInfo& entry, bool with_code) const {
  HIPPLAN_TRY_ASSIGN(const auto record, state_->record(entry));
  state_->fetch_objects(record, with_code, true);
  HIPPLAN_TRY_ASSIGN(auto out, state_->decisions(entry, record));
  const std::string place = state_->entry_place(entry);
  for (const auto& ref : record.refs) {
    const std::string part = place + ": " + section_name(ref.type);
    if (ref.type == kCodeSection) {
      if (!with_code) continue;
      HIPPLAN_TRY_ASSIGN(const auto code, state_->code_object(ref, part));
      for (auto& kernel : out.payload.kernels)
        if (kernel.sha256 == ref.sha256) kernel.code = code;
      continue;
    }
    HIPPLAN_TRY_ASSIGN(const auto bytes, state_->object(ref, part));
    if (auto* text = text_field(out, ref.type))
      *text = as_text(*bytes);
    else
      out.extra.push_back({ref.type, Bytes(bytes->begin(), bytes->end())});
  }
  return out;
}

Result<Plan> File::read_decisions(const EntryInfo& entry, bool with_code) const {
  HIPPLAN_TRY_ASSIGN(const auto record, state_->record(entry));
  state_->fetch_objects(record, with_code, false);
  HIPPLAN_TRY_ASSIGN(auto out, state_->decisions(entry, record));
  const std::string part = state_->entry_place(entry) + ": " + section_name(kCodeSection);
  for (const auto& ref : record.refs) {
    if (ref.type != kCodeSection || !with_code) continue;
    HIPPLAN_TRY_ASSIGN(const auto code, state_->code_object(ref, part));
    for (auto& kernel : out.payload.kernels)
      if (kernel.sha256 == ref.sha256) kernel.code = code;
  }
  return out;
}

Result<std::vector<PartInfo>> File::parts(const EntryInfo& entry) const {
  HIPPLAN_TRY_ASSIGN(const auto record, state_->record(entry));
  std::vector<PartInfo> out;
  for (const auto& ref : record.refs)
    out.push_back({ref.type, ref.sha256, ref.offset, ref.stored_bytes, ref.raw_bytes});
  return out;
}

Result<ByteView> File::section_bytes(uint16_t type) const {
  const auto* section = state_->find_section(type);
  const std::string place = cat(state_->where, ": section ", section_name(type));
  if (section == nullptr)
    return bad_input("no-such-section", place, "file has no such section", "a section of the file",
                     section_name(type));
  const ByteView view = state_->section_view(*section);
  if (const Digest actual = sha256(view); actual != section->sha256)
    return damaged("section-digest", place, "section does not match its digest",
                   section->sha256.hex(), actual.hex());
  return view;
}

std::vector<SectionInfo> File::sections() const {
  std::vector<SectionInfo> out;
  for (const auto& s : state_->front.sections)
    out.push_back({section_name(s.type), s.type, s.offset, s.stored_bytes, s.raw_bytes,
                   compression_name(s.compression), s.objects, s.sha256, s.required});
  return out;
}

}  // namespace hipplan::plan
