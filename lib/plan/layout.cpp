#include "plan/layout.h"

#include <algorithm>
#include <tuple>

#include "plan/errors.h"

namespace hipplan::plan {
namespace {

struct SectionFacts {
  uint16_t type;
  const char* name;
  bool required;
};
constexpr SectionFacts kSections[] = {
    {kIndexSection, "index", true},        {kPlansSection, "plans", true},
    {kCodeSection, "code", true},          {kGraphsSection, "graphs", false},
    {kReasonsSection, "reasons", false},   {kMeasurementsSection, "measurements", false},
    {kEvidenceSection, "evidence", false}, {kProvenanceSection, "provenance", false},
};

const SectionFacts* facts(uint16_t type) {
  const auto* found = std::find_if(std::begin(kSections), std::end(kSections),
                                   [&](const SectionFacts& f) { return f.type == type; });
  return found == std::end(kSections) ? nullptr : found;
}

void append_zeros(Bytes& to, size_t count) {
  to.resize(to.size() + count);
}

void append_section(Bytes& to, const Section& section) {
  append(to, section.type);
  append(to, static_cast<uint16_t>((section.required ? kRequiredFlag : 0) |
                                   (section.bound ? kBoundFlag : 0) | section.later_flags));
  append(to, section.compression);
  append(to, section.later_head);
  append(to, section.offset);
  append(to, section.stored_bytes);
  append(to, section.raw_bytes);
  append(to, section.objects);
  append(to, section.later_tail);
  append(to, section.sha256.bytes);
}

void append_header(Bytes& to, const Header& header) {
  append(to, kMagic);
  append(to, header.major);
  append(to, header.minor);
  append(to, header.header_bytes);
  append(to, header.content_bytes);
  append(to, header.directory_offset);
  append(to, header.directory_bytes);
  append(to, header.entry_count);
  append(to, header.index_root_page);
  append_zeros(to, 12);
  append(to, header.index_root.bytes);
}

void append_ref(Bytes& to, const ObjectRef& ref) {
  append(to, ref.type);
  append(to, ref.compression);
  append(to, static_cast<uint8_t>(ref.required ? 1 : 0));
  append_zeros(to, 4);
  append(to, ref.offset);
  append(to, ref.stored_bytes);
  append(to, ref.frame_bytes);
  append(to, ref.inner_offset);
  append(to, ref.raw_bytes);
  append(to, ref.sha256.bytes);
}

ObjectRef load_ref(ByteView from) {
  ObjectRef out;
  out.type = *load<uint16_t>(from, 0);
  out.compression = *load<uint8_t>(from, 2);
  out.required = *load<uint8_t>(from, 3) == 1;
  out.offset = *load<uint64_t>(from, 8);
  out.stored_bytes = *load<uint64_t>(from, 16);
  out.frame_bytes = *load<uint64_t>(from, 24);
  out.inner_offset = *load<uint64_t>(from, 32);
  out.raw_bytes = *load<uint64_t>(from, 40);
  out.sha256.bytes = *load<std::array<uint8_t, 32>>(from, 48);
  return out;
}

Result<void> check_ref(ByteView bytes, const ObjectRef& ref, const std::string& where) {
  const bool sound = *load<uint8_t>(bytes, 3) <= 1 && *load<uint32_t>(bytes, 4) == 0 &&
                     is_object_section(ref.type);
  if (!sound)
    return damaged("record-form", where, "reference has a flag or type that cannot be",
                   cat("type 3 to ", kFirstWholeFileSection - 1, ", flag 0 or 1, zeros"),
                   cat("type ", ref.type, ", flag ", +*load<uint8_t>(bytes, 3), ", reserved ",
                       *load<uint32_t>(bytes, 4)));
  if (is_known_section(ref.type) && ref.required != is_required_section(ref.type))
    return damaged("record-form", where, "required flag is wrong for this type",
                   cat(is_required_section(ref.type)), cat(ref.required));
  if (ref.compression > kZstd)
    return unusable("compression", where, "unknown compression of an object", "0 or 1",
                    cat(+ref.compression), "use a newer hipplan");
  const auto end = checked_add(ref.inner_offset, ref.raw_bytes);
  if (!end || *end > ref.frame_bytes || ref.raw_bytes == 0)
    return damaged("record-form", where, "object does not lie inside its frame",
                   cat("1 byte or more inside ", ref.frame_bytes),
                   cat("offset ", ref.inner_offset, ", ", ref.raw_bytes, " bytes"));
  if (ref.compression == kStored && ref.frame_bytes != ref.stored_bytes)
    return damaged("record-form", where, "stored frame has two sizes", cat(ref.stored_bytes),
                   cat(ref.frame_bytes));
  return {};
}

Result<void> check_order(const std::vector<ObjectRef>& refs, const std::string& where) {
  for (size_t i = 1; i < refs.size(); ++i) {
    if (std::tie(refs[i - 1].type, refs[i - 1].sha256) >= std::tie(refs[i].type, refs[i].sha256))
      return damaged("record-form", cat(where, ": reference ", i), "references are out of order",
                     "ascending types and digests",
                     cat("type ", refs[i].type, " behind type ", refs[i - 1].type));
  }
  return {};
}

}  // namespace

bool is_object_section(uint16_t type) {
  return type > kPlansSection && type < kFirstWholeFileSection;
}

std::string section_name(uint16_t type) {
  const auto* found = facts(type);
  return found != nullptr ? found->name : "type-" + std::to_string(type);
}

const char* compression_name(uint8_t compression) {
  constexpr const char* kNames[] = {"none", "zstd", "per-object"};
  return compression < std::size(kNames) ? kNames[compression] : "unknown";
}

bool is_known_section(uint16_t type) {
  return facts(type) != nullptr;
}
bool is_bound_section(uint16_t type) {
  return type == kStatementSection || type == kBillSection;
}

bool is_required_section(uint16_t type) {
  const auto* found = facts(type);
  return found != nullptr && found->required;
}

Bytes encode_front(Header header, const std::vector<Section>& sections, Digest* directory_digest) {
  header.directory_bytes = sections.size() * kDirectoryEntryBytes;
  Bytes first, directory;
  append_header(first, header);
  for (const auto& section : sections) append_section(directory, section);
  const Digest digest = Sha256().update(first).update(directory).finish();
  if (directory_digest != nullptr) *directory_digest = digest;
  append(first, digest.bytes);
  append(first, ByteView(directory));
  return first;
}

uint64_t record_bytes(size_t refs, uint64_t envelope_bytes) {
  return align_up(kRecordHeaderBytes + refs * kObjectRefBytes + envelope_bytes, 16);
}

Bytes encode_record(const Record& record) {
  Bytes out;
  const uint64_t total = record_bytes(record.refs.size(), record.envelope.size());
  out.reserve(total);
  append(out, static_cast<uint32_t>(total));
  append(out, static_cast<uint32_t>(record.refs.size()));
  append(out, static_cast<uint32_t>(record.envelope.size()));
  append(out, uint32_t{0});
  for (const auto& ref : record.refs) append_ref(out, ref);
  append(out, record.envelope);
  out.resize(total);
  return out;
}

Result<Record> parse_record(ByteView bytes, const std::string& where) {
  const auto total = load<uint32_t>(bytes, 0), count = load<uint32_t>(bytes, 4);
  const auto envelope = load<uint32_t>(bytes, 8), reserved = load<uint32_t>(bytes, 12);
  if (!reserved || *reserved != 0 || *total != bytes.size())
    return damaged("record-form", where, "record header is wrong",
                   cat(bytes.size(), " bytes and a zero word"),
                   reserved ? cat(*total, " bytes and ", *reserved) : "a record without header");
  const uint64_t refs_end = kRecordHeaderBytes + uint64_t{*count} * kObjectRefBytes;
  if (record_bytes(*count, *envelope) != bytes.size())
    return damaged("record-form", where, "record has a wrong size",
                   cat(record_bytes(*count, *envelope)), cat(bytes.size()));
  Record out;
  for (uint32_t i = 0; i < *count; ++i) {
    const auto part = *slice(bytes, kRecordHeaderBytes + i * kObjectRefBytes, kObjectRefBytes);
    out.refs.push_back(load_ref(part));
    HIPPLAN_TRY(check_ref(part, out.refs.back(), where + ": reference " + std::to_string(i)));
  }
  HIPPLAN_TRY(check_order(out.refs, where));
  out.envelope = *slice(bytes, refs_end, *envelope);
  if (!all_zero(bytes.subspan(refs_end + *envelope)))
    return damaged("record-form", where, "padding is not zero", "zeros", "another value");
  return out;
}

bool all_zero(ByteView bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

}  // namespace hipplan::plan
