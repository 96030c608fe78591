#include <algorithm>

#include "plan/errors.h"
#include "plan/foreign.h"
#include "plan/front.h"

namespace hipplan::plan {
namespace {

constexpr uint64_t kDigestAt = 96, kReservedAt = 52, kReservedBytes = 12;

Digest load_digest(ByteView from, uint64_t at) {
  Digest out;
  out.bytes = *load<std::array<uint8_t, 32>>(from, at);
  return out;
}

ByteView magic_bytes(const std::array<uint8_t, 8>& magic) {
  return {reinterpret_cast<const std::byte*>(magic.data()), magic.size()};
}

bool starts_with(ByteView bytes, ByteView prefix) {
  return bytes.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), bytes.begin());
}

Result<void> check_magic(ByteView file, const std::string& where) {
  const ByteView magic = magic_bytes(kMagic);
  if (starts_with(file, magic)) {
    if (file.size() >= kHeaderBytes) return {};
    return damaged("truncated", where, "file ends inside its header",
                   cat("at least ", kHeaderBytes, " bytes"), cat(file.size(), " bytes"));
  }
  if (file.size() < magic.size() && starts_with(magic, file))
    return damaged("truncated", where, "file ends inside its magic", "8 bytes of magic",
                   cat(file.size(), " bytes"));
  if (starts_with(file, magic.first(4)))
    return damaged("text-mode", where, "magic was changed as a copy in text mode changes it",
                   "89 48 50 4c 0d 0a 1a 0a", "other line endings or a cut-off");
  if (auto foreign = foreign_error(file, where)) return *std::move(foreign);
  return damaged("magic", where, "not a hipplan file", "magic 89 48 50 4c 0d 0a 1a 0a",
                 "other bytes");
}

Header load_header(ByteView file) {
  Header out;
  out.major = *load<uint16_t>(file, 8);
  out.minor = *load<uint16_t>(file, 10);
  out.header_bytes = *load<uint32_t>(file, 12);
  out.content_bytes = *load<uint64_t>(file, 16);
  out.directory_offset = *load<uint64_t>(file, 24);
  out.directory_bytes = *load<uint64_t>(file, 32);
  out.entry_count = *load<uint64_t>(file, 40);
  out.index_root_page = *load<uint32_t>(file, 48);
  out.index_root = load_digest(file, 64);
  out.directory_digest = load_digest(file, kDigestAt);
  return out;
}

/// The part that holds for every version: where the directory is, the digest, the size.
Result<ByteView> check_seal(ByteView file, const Header& header, const std::string& where) {
  const auto directory = slice(file, header.directory_offset, header.directory_bytes);
  if (!directory || header.directory_offset < kHeaderBytes)
    return damaged(
        "truncated", where, "directory does not lie inside the file",
        cat("directory at ", header.directory_offset, ", ", header.directory_bytes, " bytes"),
        cat("file of ", file.size(), " bytes"));
  const Digest actual = Sha256().update(file.first(kDigestAt)).update(*directory).finish();
  if (actual != header.directory_digest)
    return damaged("directory-digest", where, "header and directory do not match their digest",
                   header.directory_digest.hex(), actual.hex());
  if (header.content_bytes > file.size())
    return damaged("truncated", where, "file is shorter than it was written",
                   cat(header.content_bytes, " bytes"), cat(file.size(), " bytes"));
  return *directory;
}

Result<ByteView> find_signature_block(ByteView file, const Header& header,
                                      const std::string& where) {
  const ByteView block = file.subspan(header.content_bytes);
  if (block.empty()) return block;
  if (!starts_with(block, magic_bytes(kSignatureMagic)) || block.size() < kSignatureHeaderBytes)
    return damaged("trailing-bytes", where, "bytes behind the end that are no signature block",
                   cat(header.content_bytes, " bytes"), cat(file.size(), " bytes"));
  HIPPLAN_TRY(check_signature_block(block, where + ": signature block"));
  return block;
}

/// What this version keeps zero may have a meaning in files of a later minor version, one that a
/// reader may pass over.
bool is_later_minor(const Header& header) {
  return header.minor > kContainerMinor;
}

Result<void> check_header(ByteView file, const Header& header, const std::string& where) {
  const std::string place = where + ": header";
  if (header.header_bytes != kHeaderBytes || header.directory_offset != kHeaderBytes)
    return damaged("header-form", place, "wrong header size or directory offset", cat(kHeaderBytes),
                   cat(header.header_bytes, " and ", header.directory_offset));
  if (!is_later_minor(header) && !all_zero(file.subspan(kReservedAt, kReservedBytes)))
    return damaged("header-form", place, "reserved bytes are not zero", "zeros", "another value");
  const uint64_t count = header.directory_bytes / kDirectoryEntryBytes;
  if (header.directory_bytes % kDirectoryEntryBytes != 0 || count > kMostSections)
    return damaged(
        "directory-form", place, "directory has a wrong size",
        cat("a multiple of ", kDirectoryEntryBytes, ", at most ", kMostSections, " sections"),
        cat(header.directory_bytes, " bytes"));
  if (header.entry_count == 0)
    return damaged("header-form", place, "file holds no plan", "at least one entry", "0");
  return {};
}

Result<Section> read_section(ByteView entry, const Header& header, const std::string& place) {
  Section out;
  out.type = *load<uint16_t>(entry, 0);
  const auto flags = *load<uint16_t>(entry, 2);
  out.required = (flags & kRequiredFlag) != 0;
  out.bound = (flags & kBoundFlag) != 0;
  out.compression = *load<uint8_t>(entry, 4);
  out.offset = *load<uint64_t>(entry, 8);
  out.stored_bytes = *load<uint64_t>(entry, 16);
  out.raw_bytes = *load<uint64_t>(entry, 24);
  out.objects = *load<uint64_t>(entry, 32);
  out.sha256 = load_digest(entry, 64);
  out.later_flags = flags & static_cast<uint16_t>(~(kRequiredFlag | kBoundFlag));
  out.later_head = *load<decltype(out.later_head)>(entry, 5);
  out.later_tail = *load<decltype(out.later_tail)>(entry, 40);
  const bool zeros =
      out.later_flags == 0 && all_zero(entry.subspan(5, 3)) && all_zero(entry.subspan(40, 24));
  if (out.type == 0 || (!zeros && !is_later_minor(header)))
    return damaged("directory-form", place, "flags, type or reserved bytes are wrong",
                   "a type, flags 0 to 3, zeros", cat("type ", out.type, ", flags ", flags));
  if (out.compression == kStored && out.raw_bytes != out.stored_bytes)
    return damaged("directory-form", place, "stored section has two sizes", cat(out.stored_bytes),
                   cat(out.raw_bytes));
  return out;
}

/// Known sections must be as this version writes them; unknown ones must be optional.
Result<void> check_meaning(const Section& section, const Header& header, const std::string& place) {
  if (section.bound && section.type < kFirstWholeFileSection)
    return damaged("directory-form", place, "parts of plans are not about the file as a whole",
                   "flags without bit 1", cat("type ", section.type, ", bound"));
  if (!is_known_section(section.type)) {
    if (!section.required) return {};
    return unusable("unknown-section", place,
                    cat("a required section of type ", section.type, " is not known"),
                    cat("reader of format ", kContainerMajor, ".", kContainerMinor),
                    cat("file of format ", header.major, ".", header.minor), "use a newer hipplan");
  }
  if (section.required != is_required_section(section.type))
    return damaged("directory-form", place, "required flag is wrong for this type",
                   cat(is_required_section(section.type)), cat(section.required));
  const uint8_t wanted = is_object_section(section.type) ? kPerObject : kStored;
  if (section.compression != wanted)
    return unusable("compression", place, "unknown compression of this section",
                    compression_name(wanted), cat(+section.compression), "use a newer hipplan");
  return {};
}

/// Sections follow one another from the directory's end to the content's end, gaps below one page.
Result<void> check_coverage(const std::vector<Section>& sections, const Header& header,
                            const std::string& where) {
  uint64_t end = header.directory_offset + header.directory_bytes;
  for (size_t i = 0; i < sections.size(); ++i) {
    const auto& section = sections[i];
    const std::string place = where + ": section " + section_name(section.type);
    if (i > 0 && section.type <= sections[i - 1].type)
      return damaged("directory-order", place, "sections are not in ascending order of type",
                     cat("above ", sections[i - 1].type), cat(section.type));
    const auto section_end = checked_add(section.offset, section.stored_bytes);
    if (section.offset < end || section.offset - end >= kPageBytes ||
        section.offset % kSectionAlignment != 0 || !section_end ||
        *section_end > header.content_bytes)
      return damaged("directory-coverage", place, "section does not follow the one before it",
                     cat("offset ", end, " to ", end + kPageBytes - 1, ", inside ",
                         header.content_bytes, " bytes"),
                     cat("offset ", section.offset, ", ", section.stored_bytes, " bytes"));
    end = *section_end;
  }
  if (end != header.content_bytes)
    return damaged("directory-coverage", where, "sections do not end where the content ends",
                   cat(header.content_bytes), cat(end));
  return {};
}

Result<void> check_present(const std::vector<Section>& sections, const Header& header,
                           const std::string& where) {
  for (const uint16_t type : {kIndexSection, kPlansSection}) {
    const auto has = [&](const Section& s) { return s.type == type && s.stored_bytes > 0; };
    if (std::none_of(sections.begin(), sections.end(), has))
      return damaged("directory-form", where, "a section is missing", section_name(type), "none");
  }
  for (const auto& section : sections) {
    const uint64_t pages = (section.stored_bytes + kPageBytes - 1) / kPageBytes;
    const uint64_t wanted = section.type == kPlansSection   ? header.entry_count
                            : section.type == kIndexSection ? pages
                                                            : section.objects;
    if (section.objects != wanted)
      return damaged("directory-form", cat(where, ": section ", section_name(section.type)),
                     "wrong number of objects", cat(wanted), cat(section.objects));
  }
  return {};
}

}  // namespace

Result<void> check_signature_block(ByteView block, const std::string& place) {
  if (!starts_with(block, magic_bytes(kSignatureMagic)) || block.size() < kSignatureHeaderBytes)
    return damaged("signature-block", place, "does not start like a signature block",
                   "marker 89 48 53 47 0d 0a 1a 0a", "other bytes");
  if (*load<uint64_t>(block, 16) != block.size())
    return damaged("signature-block", place, "header tells another size",
                   cat(block.size(), " bytes"), cat(*load<uint64_t>(block, 16), " bytes"));
  if (*load<uint16_t>(block, 10) != 0 || *load<uint64_t>(block, 24) != 0)
    return damaged("signature-block", place, "reserved bytes are not zero", "zeros",
                   "another value");
  const Digest actual =
      Sha256().update(block.first(32)).update(block.subspan(kSignatureHeaderBytes)).finish();
  if (actual != load_digest(block, 32))
    return damaged("signature-block", place, "does not match its digest",
                   load_digest(block, 32).hex(), actual.hex());
  return {};
}

Result<SealedFront> read_sealed_front(ByteView file, const std::string& where) {
  HIPPLAN_TRY(check_magic(file, where));
  SealedFront out;
  out.header = load_header(file);
  HIPPLAN_TRY_ASSIGN(out.directory, check_seal(file, out.header, where));
  HIPPLAN_TRY_ASSIGN(out.signature_block, find_signature_block(file, out.header, where));
  return out;
}

Result<Front> read_front(ByteView file, const std::string& where) {
  HIPPLAN_TRY_ASSIGN(const auto sealed, read_sealed_front(file, where));
  Front out;
  out.header = sealed.header;
  out.signature_block = sealed.signature_block;
  const ByteView directory = sealed.directory;
  if (out.header.major != kContainerMajor)
    return version_error(where, "file", out.header.major, out.header.minor, kContainerMajor,
                         kContainerMinor);
  HIPPLAN_TRY(check_header(file, out.header, where));
  for (uint64_t at = 0; at < directory.size(); at += kDirectoryEntryBytes) {
    const std::string place =
        where + ": directory entry " + std::to_string(at / kDirectoryEntryBytes);
    HIPPLAN_TRY_ASSIGN(const auto section, read_section(directory.subspan(at, kDirectoryEntryBytes),
                                                        out.header, place));
    HIPPLAN_TRY(check_meaning(section, out.header, place));
    out.sections.push_back(section);
  }
  HIPPLAN_TRY(check_coverage(out.sections, out.header, where));
  HIPPLAN_TRY(check_present(out.sections, out.header, where));
  return out;
}

}  // namespace hipplan::plan
