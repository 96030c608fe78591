#include "plan/foreign_facts.h"

#include <algorithm>
#include <array>

#include "base/harmless.h"
#include "base/hash.h"
#include "plan/flat_table.h"
#include "plan/foreign_elf.h"

namespace hipplan::plan {
namespace {

constexpr unsigned kMostNested = 4;

ForeignFacts facts_at(ByteView bytes, unsigned depth);

void add(ForeignFacts& to, const char* name, FactValue value) {
  to.facts.emplace_back(name, std::move(value));
}

std::vector<int64_t> integers(ByteView list) {
  std::vector<int64_t> out;
  for (uint64_t at = 0; at < list.size(); at += 8) out.push_back(*load<int64_t>(list, at));
  return out;
}

ForeignFacts named(const char* name, ByteView bytes, unsigned depth) {
  ForeignFacts out;
  if (depth < kMostNested) out = facts_at(bytes, depth + 1);
  out.name = name;
  out.bytes = bytes.size();
  return out;
}

void add_list(ForeignFacts& to, const FlatTable& table, unsigned slot, const char* name) {
  if (const auto list = table.list(slot, 8)) add(to, name, integers(*list));
}

/// The oldest generation of hipDNN's plan holds an engine configuration in front of the payload, so
/// its field 5 is a list where later ones have a flag.
bool is_oldest(const FlatTable& plan) {
  const auto flag = plan.value<uint8_t>(5);
  return flag && *flag > 1 && plan.list(5, 1) && plan.list(4, 1);
}

void hipdnn_plan(ForeignFacts& to, ByteView bytes, unsigned depth) {
  const auto plan = FlatTable::root(bytes);
  if (!plan) {
    to.fault = "its root table does not lie inside the file";
    return;
  }
  const auto version = plan->value<uint32_t>(0).value_or(0);
  add(to, "version", int64_t{version});
  const auto engine = plan->value<int64_t>(1).value_or(0);
  add(to, "engine_id", engine_id_text(engine));
  add(to, "workspace_size", plan->value<int64_t>(2).value_or(0));
  add_list(to, *plan, 3, "tensor_uids");
  const bool oldest = is_oldest(*plan);
  if (oldest) {
    add(to, "engine_config_bytes", static_cast<int64_t>(plan->list(4, 1)->size()));
  } else {
    add(to, "is_override_shape_enabled", plan->value<uint8_t>(5).value_or(0) != 0);
    add_list(to, *plan, 6, "tensor_alignments");
  }
  if (version > 2) to.fault = "versions above 2 may hold more than is shown";
  if (const auto payload = plan->list(oldest ? 5 : 4, 1))
    to.inside.push_back(named("plugin_payload", *payload, depth));
}

void hipdnn_container(ForeignFacts& to, ByteView bytes, unsigned depth) {
  const auto root = FlatTable::root(bytes);
  if (!root) {
    to.fault = "its root table does not lie inside the file";
    return;
  }
  constexpr std::pair<unsigned, const char*> kBlobs[] = {{0, "graph"}, {1, "plan"}};
  for (const auto& [slot, name] : kBlobs) {
    const auto blob = root->list(slot, 1);
    add(to, slot == 0 ? "has_graph" : "has_plan", blob && !blob->empty());
    if (blob && !blob->empty()) to.inside.push_back(named(name, *blob, depth));
  }
}

/// Header of 48 bytes, as hipDNN's ingestor payload and our own sealed pieces have it; gives the
/// body.
std::optional<ByteView> sealed_header(ForeignFacts& to, ByteView bytes, bool header_under_digest) {
  constexpr uint64_t kHeader = 48;
  if (bytes.size() < kHeader) {
    to.fault = "it ends inside its header";
    return std::nullopt;
  }
  add(to, "format", cat(*load<uint16_t>(bytes, 4), ".", *load<uint16_t>(bytes, 6)));
  add(to, "kind", int64_t{*load<uint16_t>(bytes, 8)});
  const auto header = *load<uint16_t>(bytes, 10);
  add(to, "header_bytes", int64_t{header});
  Digest wanted;
  wanted.bytes = *load<std::array<uint8_t, 32>>(bytes, 16);
  add(to, "sha256", wanted.hex());
  if (header < kHeader || header > bytes.size()) {
    to.fault = "its header has a size that cannot be";
    return std::nullopt;
  }
  const ByteView body = bytes.subspan(header);
  Sha256 hash;
  if (header_under_digest) hash.update(bytes.first(16));
  if (hash.update(body).finish() != wanted) {
    to.fault = "its body does not match its digest";
    return std::nullopt;
  }
  add(to, "body_bytes", static_cast<int64_t>(body.size()));
  if (const auto id = slice(body, 4, 4)) add(to, "body_identifier", std::string(as_text(*id)));
  return body;
}

/// The machine code that an ingestor payload carries: a list of bytes, uncompressed, aligned to 16.
void code_inside(ForeignFacts& to, ByteView body, unsigned depth) {
  for (uint64_t at = 16; at + 4 <= body.size(); at += 16) {
    const auto magic = load<uint32_t>(body, at), size = load<uint32_t>(body, at - 4);
    if (*magic != 0x464c457f) continue;
    if (const auto code = slice(body, at, *size)) {
      to.inside.push_back(named("code_object", *code, depth));
      return;
    }
  }
}

ForeignFacts facts_at(ByteView bytes, unsigned depth) {
  ForeignFacts out;
  out.kind = recognise(bytes);
  out.bytes = bytes.size();
  switch (out.kind) {
    case FileKind::hipdnn_envelope:
      hipdnn_plan(out, bytes, depth);
      break;
    case FileKind::hipdnn_container:
      hipdnn_container(out, bytes, depth);
      break;
    case FileKind::ingestor_payload:
      if (const auto body = sealed_header(out, bytes, false)) code_inside(out, *body, depth);
      break;
    case FileKind::hipplan_payload:
    case FileKind::hipplan_envelope:
      (void)sealed_header(out, bytes, true);
      break;
    case FileKind::amd_code_object:
    case FileKind::cubin:
    case FileKind::elf:
      elf_facts(out, bytes);
      break;
    case FileKind::ptx:
      ptx_facts(out, bytes);
      break;
    default:
      break;
  }
  return out;
}

struct Printer {
  std::string operator()(const std::string& text) const { return harmless(text); }
  std::string operator()(int64_t number) const { return std::to_string(number); }
  std::string operator()(bool flag) const { return flag ? "yes" : "no"; }
  std::string operator()(const std::vector<int64_t>& list) const {
    std::string out;
    for (const int64_t number : list) out += (out.empty() ? "" : ", ") + std::to_string(number);
    return "[" + out + "]";
  }
  std::string operator()(const std::vector<std::string>& list) const {
    std::string out;
    for (const auto& text : list) out += (out.empty() ? "" : ", ") + harmless(text);
    return out.empty() ? "none" : out;
  }
};

void print_lines(const ForeignFacts& facts, const std::string& indent, std::string& out) {
  for (const auto& [name, value] : facts.facts)
    out += indent + name + ": " + std::visit(Printer{}, value) + "\n";
  if (!facts.fault.empty()) out += indent + "not shown further: " + facts.fault + "\n";
  for (const auto& piece : facts.inside) {
    out += cat(indent, piece.name, ": ", piece.bytes, " bytes, ", file_kind_text(piece.kind), "\n");
    print_lines(piece, indent + "  ", out);
  }
}

void write_value(json::Writer& out, const FactValue& value) {
  const auto list = [&out](const auto& items) {
    out.begin_array();
    for (const auto& item : items) out.value(item);
    out.end_array();
  };
  if (const auto* text = std::get_if<std::string>(&value)) out.value(harmless(*text));
  if (const auto* number = std::get_if<int64_t>(&value)) out.value(*number);
  if (const auto* flag = std::get_if<bool>(&value)) out.value(*flag);
  if (const auto* numbers = std::get_if<std::vector<int64_t>>(&value)) list(*numbers);
  if (auto texts = value; std::holds_alternative<std::vector<std::string>>(texts)) {
    // Names out of a file need not be UTF-8.
    for (auto& text : std::get<std::vector<std::string>>(texts)) text = harmless(text);
    list(std::get<std::vector<std::string>>(texts));
  }
}

}  // namespace

ForeignFacts foreign_facts(ByteView bytes) {
  return facts_at(bytes, 0);
}

std::string foreign_text(const ForeignFacts& facts) {
  std::string out;
  print_lines(facts, "  ", out);
  return out;
}

void foreign_json(json::Writer& out, const ForeignFacts& facts) {
  if (!facts.name.empty()) out.member("name", facts.name);
  out.member("kind", file_kind_name(facts.kind)).member("bytes", facts.bytes);
  if (!facts.fault.empty()) out.member("fault", facts.fault);
  out.key("facts").begin_object();
  for (const auto& [name, value] : facts.facts) {
    out.key(name);
    write_value(out, value);
  }
  out.end_object().key("inside").begin_array();
  for (const auto& piece : facts.inside) {
    out.begin_object();
    foreign_json(out, piece);
    out.end_object();
  }
  out.end_array();
}

}  // namespace hipplan::plan
