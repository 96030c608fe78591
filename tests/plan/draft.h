// Plan files made wrong on purpose: a good plan, edits in readable text, and every digest right
// that the edits do not mean to break.
//
// An edit is "LEVEL OPERATION ARGUMENTS…". Levels, from the inside out; behind each one the digests
// over it are made, and an edit at "LEVEL!" comes after them:
//   value       the plan's values, before anything is encoded
//   codeobject  bytes of the first kernel's code object, before it is digested
//   payload     envelope      sealed pieces, offsets from their start
//   refs        references of the record
//   stored      graph         stored bytes of the code section, of the graphs section
//   record      entry         the record; its entry in the index
//   index       the index's page
//   sections    the list of sections
//   front       header and directory
//   content!    the whole content after its digests
//   file        the finished file
// Operations on bytes: flip AT, u8|u16|u32|u64 AT NUMBER, text AT TEXT, cut SIZE, append COUNT,
// drop SLOT (a field of a FlatBuffer's root table), lf (CR LF to LF), signature (a well-formed
// block), sign (by the draft's signer), sign-other (the same over another file). AT and SIZE are
// numbers, end-N, section:TYPE, dir:TYPE+N, gap (padding); in a code object also load+N (header of
// the first loaded segment), kd+N (descriptor of the first kernel), find:TEXT.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <sstream>

#include "codeobject/codeobject.h"
#include "plan/codec.h"
#include "plan/compress.h"
#include "plan/index.h"
#include "plan/signature.h"
#include "reseal.h"

namespace hipplan::test {

struct Edit {
  std::string level, operation;
  std::vector<std::string> arguments;
  [[nodiscard]] std::string text() const { return arguments.empty() ? "" : arguments.back(); }
};

/// "a b c; d e" -> two edits.
inline std::vector<Edit> parse_edits(const std::string& text) {
  std::vector<Edit> out;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ';');) {
    std::istringstream words(part);
    Edit edit;
    words >> edit.level >> edit.operation;
    for (std::string word; words >> word;) edit.arguments.push_back(word);
    if (!edit.level.empty()) out.push_back(edit);
  }
  return out;
}

class Draft {
 public:
  using Sign = std::function<Bytes(const Digest&)>;
  explicit Draft(plan::Plan plan, Sign sign = nullptr)
      : plan_(std::move(plan)), sign_(std::move(sign)) {}
  void add(const std::vector<Edit>& edits) {
    edits_.insert(edits_.end(), edits.begin(), edits.end());
  }
  /// The file. `other` is a plan whose kernel can take the place of this one's.
  [[nodiscard]] Bytes build(const plan::Plan& other) {
    set_values(other);
    make_objects();
    make_record();
    make_index();
    return make_file();
  }
  /// The plan as the edits of its values and of its code object have made it, after build().
  [[nodiscard]] const plan::Plan& plan() const { return plan_; }

 private:
  struct Object {
    plan::ObjectRef ref;
    Bytes stored;
  };

  void each(const std::string& level, const std::function<void(const Edit&)>& apply) const {
    for (const auto& edit : edits_)
      if (edit.level == level) apply(edit);
  }
  void edit_bytes(const std::string& level, Bytes& bytes) const {
    each(level, [&](const Edit& edit) { change(edit, bytes); });
  }

  [[nodiscard]] uint64_t place(const std::string& text, const Bytes& bytes) const {
    if (text.rfind("end-", 0) == 0) return bytes.size() - std::stoull(text.substr(4));
    if (text == "gap") return gap_;
    if (text.rfind("load+", 0) == 0) return load_header(bytes) + std::stoull(text.substr(5));
    if (text.rfind("kd+", 0) == 0) return kernel_descriptor(bytes) + std::stoull(text.substr(3));
    if (text.rfind("find:", 0) == 0) return as_text(ByteView(bytes)).find(text.substr(5));
    if (text.rfind("section:", 0) == 0) return offset_of(std::stoul(text.substr(8)));
    if (text.rfind("dir:", 0) == 0) {
      const size_t plus = text.find('+');
      const auto type = std::stoul(text.substr(4, plus - 4));
      for (size_t i = 0; i < sections_.size(); ++i)
        if (sections_[i].type == type)
          return plan::kHeaderBytes + i * plan::kDirectoryEntryBytes +
                 std::stoull(text.substr(plus + 1));
    }
    return std::stoull(text);
  }
  [[nodiscard]] uint64_t offset_of(uint64_t type) const {
    for (const auto& section : sections_)
      if (section.type == type) return section.offset;
    return 0;
  }

  static uint64_t load_header(const Bytes& elf) {
    constexpr uint32_t kLoad = 1;
    uint64_t at = load<uint64_t>(elf, 32).value_or(0);
    while (load<uint32_t>(elf, at).value_or(kLoad) != kLoad) at += 56;
    return at;
  }
  static uint64_t kernel_descriptor(const Bytes& elf) {
    const auto object = codeobject::parse(elf, "code object");
    if (!object || object->kernels.empty()) return elf.size();
    const uint64_t address = object->kernels[0].descriptor_address;
    for (const auto& segment : object->segments)
      if (address - segment.address < segment.content.size())
        return static_cast<uint64_t>(segment.content.data() - elf.data()) + address -
               segment.address;
    return elf.size();
  }

  template <class T>
  static void put(Bytes& bytes, uint64_t at, uint64_t number) {
    if (at + sizeof(T) <= bytes.size()) store(bytes, at, static_cast<T>(number));
  }

  void change(const Edit& edit, Bytes& bytes) const {
    const auto& a = edit.arguments;
    const auto& op = edit.operation;
    const uint64_t at = a.empty() ? 0 : place(a[0], bytes);
    const uint64_t number =
        a.size() > 1 && op != "text" ? std::stoull(a[1], nullptr, 0) : uint64_t{0};
    if (op == "flip" && at < bytes.size()) bytes[at] ^= std::byte{1};
    if (op == "u8") put<uint8_t>(bytes, at, number);
    if (op == "u16") put<uint16_t>(bytes, at, number);
    if (op == "u32") put<uint32_t>(bytes, at, number);
    if (op == "u64") put<uint64_t>(bytes, at, number);
    if (op == "cut") bytes.resize(std::min<uint64_t>(at, bytes.size()));
    if (op == "append") bytes.resize(bytes.size() + at, std::byte{0x55});
    if (op == "text")
      for (size_t i = 0; i < a[1].size() && at + i < bytes.size(); ++i)
        bytes[at + i] = static_cast<std::byte>(a[1][i]);
    if (op == "drop") drop_field(bytes, static_cast<unsigned>(at));
    if (op == "signature") append(bytes, ByteView(plan::encode_signatures({{}})));
    if (op == "sign" || op == "sign-other") {
      auto digest = *load<std::array<std::byte, 32>>(bytes, 96);
      if (op == "sign-other") digest[0] ^= std::byte{1};
      Digest signed_one;
      std::memcpy(&signed_one.bytes, &digest, sizeof digest);
      append(bytes, ByteView(sign_(signed_one)));
    }
    if (op == "lf") to_line_feeds(bytes);
  }

  static void to_line_feeds(Bytes& bytes) {
    Bytes out;
    for (size_t i = 0; i < bytes.size(); ++i)
      if (!(bytes[i] == std::byte{'\r'} && i + 1 < bytes.size() && bytes[i + 1] == std::byte{'\n'}))
        out.push_back(bytes[i]);
    bytes = std::move(out);
  }

  /// Makes a field of the root table absent.
  static void drop_field(Bytes& sealed, unsigned slot) {
    const uint64_t body = plan::kSealBytes;
    const uint64_t root = body + load<uint32_t>(sealed, body).value_or(0);
    const auto back = load<int32_t>(sealed, root);
    if (!back) return;
    const auto vtable = static_cast<uint64_t>(static_cast<int64_t>(root) - *back);
    put<uint16_t>(sealed, vtable + 4 + 2 * slot, 0);
  }

  void set_values(const plan::Plan& other) {
    auto& kernel = plan_.payload.kernels[0];
    each("codeobject", [&](const Edit& edit) {
      Bytes code(kernel.code->begin(), kernel.code->end());
      change(edit, code);
      kernel.sha256 = sha256(code);
      kernel.code = share(std::move(code));
    });
    each("value", [&](const Edit& edit) { set_value(edit, other); });
  }

  void set_value(const Edit& edit, const plan::Plan& other) {
    auto& payload = plan_.payload;
    auto& envelope = plan_.envelope;
    auto& kernel = payload.kernels[0];
    const std::string text = edit.text();
    const std::map<std::string, std::function<void()>> known = {
        {"target", [&] { plan_.target = text; }},
        {"envelope.version", [&] { envelope.version = 2; }},
        {"envelope.uids",
         [&] {
           auto& uids = envelope.tensor_uids;
           while (uids.size() < std::stoul(text)) uids.push_back(1000 + int64_t(uids.size()));
           envelope.tensor_alignments.resize(uids.size(), 16);
         }},
        {"envelope.uid-twice", [&] { envelope.tensor_uids[1] = envelope.tensor_uids[0]; }},
        {"envelope.other-uid", [&] { envelope.tensor_uids[0] += 1000; }},
        {"envelope.workspace", [&] { envelope.workspace_size = std::stoll(text); }},
        {"envelope.provider", [&] { envelope.provider_name = text; }},
        {"envelope.engine-id", [&] { envelope.engine_id ^= 1; }},
        {"engine",
         [&] {
           payload.engine_name = text;
           envelope.engine_id = engine_id(text);
         }},
        {"dispatch", [&] { payload.dispatch = text; }},
        {"kernel-name", [&] { payload.kernel_name = std::string(3, '\0'); }},
        {"not-finite", [&] { payload.values[0].data = std::numeric_limits<double>::infinity(); }},
        {"values",
         [&] {
           while (payload.values.size() < std::stoul(text))
             payload.values.push_back({cat("v", payload.values.size()), int64_t{1}});
         }},
        {"no-value", [&] { payload.values.pop_back(); }},
        {"runtime", [&] { payload.runtime_pass_by_value_uids = {1}; }},
        {"two-kernels", [&] { payload.kernels.push_back(kernel); }},
        {"kernel.kind", [&] { kernel.source_kind = plan::SourceKind::unset; }},
        {"kernel.symbol", [&] { kernel.symbol = text; }},
        {"kernel.target", [&] { kernel.target = text; }},
        {"kernel.empty-argument", [&] { kernel.signature[0].size = 0; }},
        {"kernel.no-argument", [&] { kernel.signature.pop_back(); }},
        {"kernel.other-code",
         [&] {
           const auto& theirs = other.payload.kernels[0];
           kernel.code = theirs.code;
           kernel.sha256 = theirs.sha256;
           kernel.symbol = theirs.symbol;
         }},
        {"code-inside", [&] { code_inside_ = true; }},
        {"zstd", [&] { zstd_ = true; }},
        {"extra", [&] { plan_.extra = {{40, Bytes(20, std::byte{1})}}; }},
    };
    known.at(edit.operation)();
  }

  [[nodiscard]] Bytes make_envelope() const {
    const auto kind =
        code_inside_ ? plan::PayloadKind::standalone : plan::PayloadKind::by_reference;
    Bytes payload = plan::payload_bytes(plan_.payload, kind);
    store(payload, 8, static_cast<uint16_t>(plan::PayloadKind::by_reference));
    edit_bytes("payload", payload);
    reseal(payload);
    edit_bytes("payload!", payload);
    Bytes envelope = plan::envelope_bytes(plan_.envelope, payload,
                                          plan::Identity{plan_.graph_key, plan_.target});
    edit_bytes("envelope", envelope);
    reseal(envelope);
    edit_bytes("envelope!", envelope);
    return envelope;
  }

  void add_object(uint16_t type, const Bytes& raw, bool zstd) {
    if (raw.empty()) return;
    Bytes stored = raw;
    if (zstd) {
      const auto packed = plan::Compressor().compress(raw);
      stored.assign(packed->stored().begin(), packed->stored().end());
    }
    plan::ObjectRef ref;
    ref.type = type;
    ref.required = plan::is_required_section(type);
    ref.compression = zstd ? plan::kZstd : plan::kStored;
    ref.stored_bytes = stored.size();
    ref.frame_bytes = ref.raw_bytes = raw.size();
    ref.sha256 = sha256(raw);
    objects_.push_back({ref, std::move(stored)});
  }

  void make_objects() {
    const auto text = [](const std::string& from) {
      const auto view = as_bytes(from);
      return Bytes(view.begin(), view.end());
    };
    const auto& code = *plan_.payload.kernels[0].code;
    add_object(plan::kCodeSection, Bytes(code.begin(), code.end()), zstd_);
    add_object(plan::kGraphsSection, text(plan_.graph), false);
    add_object(plan::kReasonsSection, text(plan_.reasons), false);
    add_object(plan::kProvenanceSection, text(plan_.provenance), false);
    for (const auto& part : plan_.extra) add_object(part.type, part.bytes, false);
    each("stored", [&](const Edit& edit) { change(edit, objects_[0].stored); });
    each("graph", [&](const Edit& edit) { change(edit, objects_[1].stored); });
  }

  void make_record() {
    const Bytes envelope = make_envelope();
    plan::Record record;
    for (const auto& object : objects_) record.refs.push_back(object.ref);
    each("refs", [&](const Edit& edit) {
      if (edit.operation == "without-code") record.refs.erase(record.refs.begin());
      if (edit.operation == "huge")
        record.refs[0].frame_bytes = record.refs[0].raw_bytes = 3ull << 30;
      if (edit.operation == "required") record.refs.back().required = true;
    });
    record.envelope = envelope;
    record_ = plan::encode_record(record);
    edit_bytes("record", record_);
    entry_ = {plan_.graph_key,
              plan_.target,
              plan::plan_digest(plan_),
              0,
              static_cast<uint32_t>(record_.size()),
              sha256(record_)};
    edit_bytes("record!", record_);
    each("entry", [&](const Edit& edit) {
      if (edit.operation == "position") entry_.position = std::stoull(edit.text());
      if (edit.operation == "other-key") entry_.graph_key.bytes[0] ^= 1;
      if (edit.operation == "other-digest") entry_.plan_digest.bytes[0] ^= 1;
    });
  }

  void make_index() {
    index_ = plan::build_index({entry_}).pages;
    edit_bytes("index", index_);
    header_.index_root = sha256(index_);
    edit_bytes("index!", index_);
  }

  void add_section(uint16_t type, const Bytes& bytes, bool objects) {
    plan::Section section;
    section.type = type;
    section.required = plan::is_required_section(type);
    section.compression = objects ? plan::kPerObject : plan::kStored;
    section.stored_bytes = section.raw_bytes = bytes.size();
    if (objects)
      for (const auto& object : objects_)
        if (object.ref.type == type) section.raw_bytes = object.ref.frame_bytes;
    section.objects = 1;
    section.sha256 = sha256(bytes);
    sections_.push_back(section);
    contents_.push_back(bytes);
  }

  void make_sections() {
    add_section(plan::kIndexSection, index_, false);
    add_section(plan::kPlansSection, record_, false);
    for (const auto& object : objects_) {
      bool left_out = false;
      each("sections", [&](const Edit& edit) {
        left_out |= edit.operation == "without" && std::stoul(edit.text()) == object.ref.type;
      });
      if (!left_out) add_section(object.ref.type, object.stored, true);
    }
    uint64_t end = plan::kHeaderBytes + sections_.size() * plan::kDirectoryEntryBytes;
    for (auto& section : sections_) {
      section.offset = plan::align_up(end, 16);
      if (section.offset > end && gap_ == 0) gap_ = end;
      end = section.end();
    }
    header_.content_bytes = end;
    header_.entry_count = 1;
  }

  [[nodiscard]] Bytes make_file() {
    make_sections();
    Bytes out = plan::encode_front(header_, sections_);
    edit_bytes("front", out);
    reseal_front(out);
    edit_bytes("front!", out);
    for (size_t i = 0; i < sections_.size(); ++i) {
      out.resize(sections_[i].offset);
      append(out, ByteView(contents_[i]));
    }
    edit_bytes("content!", out);
    edit_bytes("file", out);
    return out;
  }

  plan::Plan plan_;
  Sign sign_;
  std::vector<Edit> edits_;
  bool code_inside_ = false, zstd_ = false;
  std::vector<Object> objects_;
  Bytes record_, index_;
  plan::EntryInfo entry_;
  plan::Header header_;
  std::vector<plan::Section> sections_;
  std::vector<Bytes> contents_;
  uint64_t gap_ = 0;
};

}  // namespace hipplan::test
