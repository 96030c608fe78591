// Formats of released versions: their schemas and layouts are kept under tests/golden/formats, and
// what the code writes now is the last of them. A change needs a new version, never an edit of an
// old file.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include "plan/index.h"
#include "plan/layout.h"
#include "plan/sealed.h"
#include "plan/signature.h"
#include "sample.h"

using namespace hipplan;
using namespace hipplan::plan;
using namespace hipplan::test;
namespace fs = std::filesystem;

namespace {

struct Version {
  std::string_view format, version, digest;
};

/// When a format changes: raise its version in lib/plan (docs/plan-format.md says minor or major),
/// keep the new schema or layout beside the others in tests/golden/formats, and add its row. Rows
/// that are there stay as they are.
constexpr Version kVersions[] = {
    {"payload", "1.0", "97bbf7688310c0fce4da9eaaeb2ab883a80fd1150b9518b1fcac163e115b4184"},
    {"envelope", "1.0", "972ae568f3788a00373af252e807560b026157bae3b15d2d4e88d6e55616329a"},
    {"container", "1.0", "9132cf97ed6f9106061fc55894a679b5e1688ffb8ca5ddb55ce43af7a39b0526"},
};

std::string text_of(const fs::path& path) {
  const auto bytes = read_file(path);
  REQUIRE_MESSAGE(bytes.ok(), path.string());
  std::string text(as_text(*bytes));
  text.erase(std::remove(text.begin(), text.end(), '\r'), text.end());
  return text;
}

fs::path kept(std::string_view format, std::string_view version) {
  return fs::path(HIPPLAN_SOURCE_DIR) / "tests/golden/formats" /
         cat(format, "-", version, format == "container" ? ".txt" : ".fbs");
}

/// The last row of a format says this version and this content.
void check_last(std::string_view format, unsigned major, unsigned minor, const std::string& now) {
  const Version* last = nullptr;
  unsigned before = 0;
  for (const Version& row : kVersions) {
    if (row.format != format) continue;
    INFO(format, " ", row.version);
    CHECK(sha256(as_bytes(text_of(kept(format, row.version)))).hex() == row.digest);
    const std::string version(row.version);
    const size_t dot = version.find('.');
    REQUIRE(dot != std::string::npos);
    const auto number =
        static_cast<unsigned>(std::stoul(version) * 65536 + std::stoul(version.substr(dot + 1)));
    CHECK(number > before);
    before = number;
    last = &row;
  }
  REQUIRE(last != nullptr);
  CHECK(last->version == cat(major, ".", minor));
  CHECK(now == text_of(kept(format, last->version)));
}

/// Lines that say where each field of a structure lies, found out by changing one at a time.
class Layout {
 public:
  void field(const std::string& name, const Bytes& plain, const Bytes& changed, uint64_t from = 0) {
    REQUIRE(changed.size() >= plain.size());
    uint64_t first = plain.size(), last = 0;
    for (uint64_t i = from; i < plain.size(); ++i)
      if (plain[i] != changed[i]) {
        first = std::min(first, i);
        last = i + 1;
      }
    REQUIRE_MESSAGE(last > first, name);
    text += cat(name, " ", first - from, " ", last - first, "\n");
  }
  /// A field whose bytes are known.
  void bytes(const std::string& name, const Bytes& all, ByteView wanted, uint64_t from = 0,
             bool with_size = true) {
    const auto found = std::search(all.begin() + static_cast<std::ptrdiff_t>(from), all.end(),
                                   wanted.begin(), wanted.end());
    REQUIRE_MESSAGE(found != all.end(), name);
    const auto at = static_cast<uint64_t>(found - all.begin()) - from;
    text += with_size ? cat(name, " ", at, " ", wanted.size(), "\n") : cat(name, " ", at, "\n");
  }
  void size(const std::string& name, uint64_t value) { text += cat(name, " ", value, "\n"); }
  std::string text;
};

template <class T>
Bytes raw(const T& value) {
  Bytes out;
  append(out, value);
  return out;
}

Digest all_ones() {
  Digest out;
  out.bytes.fill(0xff);
  return out;
}

constexpr auto kMost = ~uint64_t{0};

void add_header(Layout& out) {
  // The digest at the end changes with every field, and has a line of its own.
  const auto front = [](const std::function<void(Header&)>& change, size_t sections = 0) {
    Header header;
    header.major = header.minor = 0;
    header.header_bytes = 0;
    header.directory_offset = 0;
    if (change) change(header);
    Bytes bytes = encode_front(header, std::vector<Section>(sections));
    bytes.resize(kHeaderBytes);
    for (uint64_t i = 96; i < kHeaderBytes; ++i) bytes[i] = std::byte{0};
    return bytes;
  };
  const Bytes none = front(nullptr);
  const auto field = [&](const std::string& name, const std::function<void(Header&)>& change) {
    out.field("header." + name, none, front(change));
  };
  out.bytes("header.magic", none, ByteView(raw(kMagic)));
  field("major", [](Header& h) { h.major = 0xffff; });
  field("minor", [](Header& h) { h.minor = 0xffff; });
  field("header_bytes", [](Header& h) { h.header_bytes = ~uint32_t{0}; });
  field("content_bytes", [](Header& h) { h.content_bytes = kMost; });
  field("directory_offset", [](Header& h) { h.directory_offset = kMost; });
  const Bytes two = front(nullptr, 2);
  out.bytes("header.directory_bytes", two, ByteView(raw(2 * kDirectoryEntryBytes)));
  field("entry_count", [](Header& h) { h.entry_count = kMost; });
  field("index_root_page", [](Header& h) { h.index_root_page = ~uint32_t{0}; });
  field("index_root", [](Header& h) { h.index_root = all_ones(); });
  Digest digest;
  const Bytes whole = encode_front({}, {}, &digest);
  out.bytes("header.directory_digest", whole, ByteView(raw(digest.bytes)));
  out.size("header", whole.size());
}

void add_section(Layout& out) {
  const auto front = [](const std::function<void(Section&)>& change) {
    Section section;
    if (change) change(section);
    return encode_front({}, {section});
  };
  const Bytes none = front(nullptr);
  const auto field = [&](const std::string& name, const std::function<void(Section&)>& change) {
    out.field("section." + name, none, front(change), kHeaderBytes);
  };
  field("type", [](Section& s) { s.type = 0xffff; });
  field("required", [](Section& s) { s.required = true; });
  field("bound", [](Section& s) { s.bound = true; });
  field("compression", [](Section& s) { s.compression = 0xff; });
  field("offset", [](Section& s) { s.offset = kMost; });
  field("stored_bytes", [](Section& s) { s.stored_bytes = kMost; });
  field("raw_bytes", [](Section& s) { s.raw_bytes = kMost; });
  field("objects", [](Section& s) { s.objects = kMost; });
  field("sha256", [](Section& s) { s.sha256 = all_ones(); });
  out.size("section", none.size() - kHeaderBytes);
  out.size("flag.required", kRequiredFlag);
  out.size("flag.bound", kBoundFlag);
  for (const uint8_t number : {kStored, kZstd, kPerObject})
    out.size(cat("compression.", compression_name(number)), number);
  for (const uint16_t type : std::initializer_list<uint16_t>{1, 2, 3, 4, 5, 6, 7, 8, 64, 65, 66})
    out.text +=
        cat("type ", type, " ", section_name(type), is_required_section(type) ? " required" : "",
            is_bound_section(type) ? " bound" : "", "\n");
}

void add_record(Layout& out) {
  const auto record = [](const std::function<void(ObjectRef&)>& change) {
    Record one;
    one.refs.resize(1);
    if (change) change(one.refs[0]);
    return encode_record(one);
  };
  const Bytes envelope(1000, std::byte{0x77});
  Record filled;
  filled.refs.resize(3);
  filled.envelope = envelope;
  const Bytes bytes = encode_record(filled);
  out.bytes("record.size", bytes, ByteView(raw(static_cast<uint32_t>(bytes.size()))));
  out.bytes("record.references", bytes, ByteView(raw(uint32_t{3})));
  out.bytes("record.envelope_size", bytes, ByteView(raw(uint32_t{1000})));
  const Bytes none = record(nullptr);
  const uint64_t header = encode_record({}).size();
  out.size("record.header", header);
  const auto field = [&](const std::string& name, const std::function<void(ObjectRef&)>& change) {
    out.field("reference." + name, none, record(change), header);
  };
  field("type", [](ObjectRef& r) { r.type = 0xffff; });
  field("compression", [](ObjectRef& r) { r.compression = 0xff; });
  field("required", [](ObjectRef& r) { r.required = true; });
  field("offset", [](ObjectRef& r) { r.offset = kMost; });
  field("stored_bytes", [](ObjectRef& r) { r.stored_bytes = kMost; });
  field("frame_bytes", [](ObjectRef& r) { r.frame_bytes = kMost; });
  field("inner_offset", [](ObjectRef& r) { r.inner_offset = kMost; });
  field("raw_bytes", [](ObjectRef& r) { r.raw_bytes = kMost; });
  field("sha256", [](ObjectRef& r) { r.sha256 = all_ones(); });
  out.size("reference", none.size() - header);
}

EntryInfo entry_of(unsigned number) {
  EntryInfo out;
  out.graph_key.bytes[0] = static_cast<uint8_t>(number / 256 + 1);
  out.graph_key.bytes[1] = static_cast<uint8_t>(number % 256);
  out.target = "gfx1234567";
  return out;
}

void add_index(Layout& out) {
  std::vector<EntryInfo> many;
  for (unsigned i = 0; i < 200; ++i) many.push_back(entry_of(i));
  const auto built = build_index(many);
  const auto page = [&](uint32_t number) {
    const auto view = *slice(built.pages, uint64_t{number} * kPageBytes, kPageBytes);
    return Bytes(view.begin(), view.end());
  };
  const Bytes root = page(built.root_page), first = page(0);
  const auto inner_entries = *load<uint16_t>(root, 2), leaf_entries = *load<uint16_t>(first, 2);
  CHECK(*load<uint16_t>(first, 0) == 0);
  CHECK(*load<uint16_t>(root, 0) == 1);
  CHECK(built.pages.size() == kPageBytes * (1 + inner_entries));
  CHECK(leaf_entries == (kPageBytes - 8) / (109 + 10));
  CHECK(*load<uint32_t>(first, 4) == 8 + leaf_entries * (109 + 10));
  CHECK(*load<uint32_t>(root, 4) == 8 + inner_entries * (77 + 10));
  out.text += "page.level 0 2\npage.entries 2 2\npage.used 4 4\npage.header 8\n";
  out.size("page", kPageBytes);
  const auto leaf = [](const std::function<void(EntryInfo&)>& change) {
    EntryInfo entry;
    entry.target = std::string(1, '\0');
    if (change) change(entry);
    return build_index({entry}).pages;
  };
  const Bytes none = leaf(nullptr);
  const auto field = [&](const std::string& name, const std::function<void(EntryInfo&)>& change) {
    out.field("leaf." + name, none, leaf(change), 8);
  };
  field("graph_key", [](EntryInfo& e) { e.graph_key = all_ones(); });
  field("plan_digest", [](EntryInfo& e) { e.plan_digest = all_ones(); });
  field("position", [](EntryInfo& e) { e.position = kMost; });
  field("record_bytes", [](EntryInfo& e) { e.record_bytes = ~uint32_t{0}; });
  field("record_digest", [](EntryInfo& e) { e.record_digest = all_ones(); });
  CHECK(*load<uint8_t>(none, 8 + 108) == 1);
  out.text += "leaf.target_length 108 1\n";
  out.bytes("leaf.target", first, as_bytes("gfx1234567"), 8, false);
  out.bytes("inner.graph_key", root, ByteView(raw(many[0].graph_key.bytes)), 8);
  const uint64_t second = 8 + 77 + 10;
  CHECK(*load<uint32_t>(root, second + 32) == 1);
  CHECK(*load<uint64_t>(root, second + 36) == leaf_entries);
  out.text += "inner.page 32 4\ninner.plans 36 8\n";
  out.bytes("inner.page_digest", root, ByteView(raw(sha256(first).bytes)), 8);
  CHECK(*load<uint8_t>(root, 8 + 76) == 10);
  out.text += "inner.target_length 76 1\n";
  out.bytes("inner.target", root, as_bytes("gfx1234567"), 8, false);
}

void add_seal(Layout& out) {
  // The digest covers all else.
  const auto header = [](uint16_t major, uint16_t minor, uint16_t kind) {
    SealFormat format = kPayloadSeal;
    format.major = major;
    format.minor = minor;
    Bytes bytes = seal(format, kind, Bytes(4));
    for (uint64_t i = 16; i < 48; ++i) bytes[i] = std::byte{0};
    return bytes;
  };
  const Bytes none = header(0, 0, 0);
  out.bytes("seal.marker", none, as_bytes("HPLP"));
  out.field("seal.major", none, header(0xffff, 0, 0));
  out.field("seal.minor", none, header(0, 0xffff, 0));
  out.field("seal.kind", none, header(0, 0, 0xffff));
  out.bytes("seal.header", none, ByteView(raw(uint16_t{48})));
  const Bytes whole = seal(kPayloadSeal, 1, Bytes(4));
  const ByteView view = whole;
  const Digest digest = Sha256().update(view.first(16)).update(view.subspan(48)).finish();
  out.bytes("seal.digest", whole, ByteView(raw(digest.bytes)));
  out.size("seal", whole.size() - 4);
}

void add_signatures(Layout& out) {
  constexpr uint64_t kHeader = 64;
  const auto block = [](const std::function<void(Signature&)>& change) {
    Signature one;
    one.algorithm = 0;
    if (change) change(one);
    return encode_signatures({one});
  };
  Signature other;
  other.key_id = all_ones();
  const Bytes two = encode_signatures({Signature{}, other});
  out.bytes("signatures.magic", two, ByteView(raw(kSignatureMagic)));
  out.bytes("signatures.format", two, ByteView(raw(uint16_t{1})));
  out.bytes("signatures.count", two, ByteView(raw(uint32_t{2})));
  out.bytes("signatures.size", two, ByteView(raw(uint64_t{two.size()})));
  const ByteView view = two;
  const Digest digest = Sha256().update(view.first(32)).update(view.subspan(64)).finish();
  out.bytes("signatures.digest", two, ByteView(raw(digest.bytes)));
  out.size("signatures.header", kHeader);
  const Bytes none = block(nullptr);
  const auto field = [&](const std::string& name, const std::function<void(Signature&)>& change) {
    out.field("signature." + name, none, block(change), kHeader);
  };
  field("algorithm", [](Signature& s) { s.algorithm = 0xffff; });
  Bytes behind(none.begin() + kHeader, none.end());
  out.bytes("signature.size", behind, ByteView(raw(uint32_t{104})));
  field("key_id", [](Signature& s) { s.key_id = all_ones(); });
  field("bytes", [](Signature& s) { std::fill(s.bytes.begin(), s.bytes.end(), uint8_t{0xff}); });
  out.size("signature", two.size() - none.size());
}

}  // namespace

TEST_CASE("schemas change only together with the version of their format") {
  const fs::path schemas = fs::path(HIPPLAN_SOURCE_DIR) / "schemas";
  check_last("payload", kPayloadSeal.major, kPayloadSeal.minor, text_of(schemas / "payload.fbs"));
  check_last("envelope", kEnvelopeSeal.major, kEnvelopeSeal.minor,
             text_of(schemas / "envelope.fbs"));
}

TEST_CASE("layouts change only together with the version of the container") {
  Layout layout;
  add_header(layout);
  add_section(layout);
  add_record(layout);
  add_index(layout);
  add_seal(layout);
  add_signatures(layout);
  check_last("container", kContainerMajor, kContainerMinor, layout.text);
}

TEST_CASE("what is written says the versions of the constants") {
  const Bytes file = file_of({sample_plan(1)});
  CHECK(*load<uint16_t>(file, 8) == kContainerMajor);
  CHECK(*load<uint16_t>(file, 10) == kContainerMinor);
  const auto payload = encode_payload(sample_plan(1).payload);
  const auto envelope = encode_bare_plan(sample_plan(1));
  REQUIRE(payload);
  REQUIRE(envelope);
  CHECK(*load<uint16_t>(*payload, 4) == kPayloadSeal.major);
  CHECK(*load<uint16_t>(*payload, 6) == kPayloadSeal.minor);
  CHECK(*load<uint16_t>(*envelope, 4) == kEnvelopeSeal.major);
  CHECK(*load<uint16_t>(*envelope, 6) == kEnvelopeSeal.minor);
}
