#include "plan/layout.h"
#include "plan/print.h"
#include "plan/print_common.h"

namespace hipplan::plan {
namespace {

void int_list(json::Writer& out, std::string_view name, const std::vector<int64_t>& values) {
  out.key(name).begin_array();
  for (const auto value : values) out.value(value);
  out.end_array();
}

void value_data(json::Writer& out, const ValueData& data) {
  if (const auto* flag = std::get_if<bool>(&data)) out.value(*flag);
  if (const auto* integer = std::get_if<int64_t>(&data)) out.value(*integer);
  if (const auto* number = std::get_if<double>(&data)) out.value(*number);
  if (const auto* text = std::get_if<std::string>(&data)) out.value(*text);
  if (const auto* list = std::get_if<std::vector<int64_t>>(&data)) {
    out.begin_array();
    for (const auto value : *list) out.value(value);
    out.end_array();
  }
}

void sections(json::Writer& out, const File& file) {
  out.key("sections").begin_array();
  for (const auto& s : file.sections()) {
    out.begin_object().member("type", s.type).member("number", static_cast<int64_t>(s.number));
    out.member("offset", s.offset).member("stored_bytes", s.stored_bytes);
    out.member("raw_bytes", s.raw_bytes).member("objects", s.objects);
    out.member("compression", s.compression).member("required", s.required);
    out.member("sha256", s.sha256.hex()).end_object();
  }
  out.end_array();
}

void envelope(json::Writer& out, const Envelope& from) {
  out.key("envelope").begin_object().member("version", static_cast<int64_t>(from.version));
  out.member("engine_id", engine_id_text(from.engine_id));
  out.member("workspace_size", from.workspace_size);
  int_list(out, "tensor_uids", from.tensor_uids);
  int_list(out, "tensor_alignments", from.tensor_alignments);
  out.member("is_override_shape_enabled", from.is_override_shape_enabled);
  out.member("provider_name", from.provider_name);
  out.member("provider_version", from.provider_version).end_object();
}

void kernel(json::Writer& out, const KernelImage& from, const std::vector<PartInfo>& parts) {
  out.begin_object().member("launch_name", from.launch_name);
  out.member("source_kind", source_kind_name(from.source_kind));
  out.member("symbol", from.symbol).member("target", from.target);
  out.member("sha256", from.sha256.hex());
  for (const auto& part : parts) {
    if (part.type != kCodeSection || part.sha256 != from.sha256) continue;
    out.member("code_bytes", part.raw_bytes).member("stored_bytes", part.stored_bytes);
  }
  out.key("signature").begin_array();
  for (const auto& argument : from.signature) {
    out.begin_object().member("kind", argument.kind).member("size", argument.size);
    out.member("offset", argument.offset).member("name", argument.name).end_object();
  }
  out.end_array().end_object();
}

void payload(json::Writer& out, const Payload& from, const std::vector<PartInfo>& parts) {
  out.key("payload").begin_object().member("engine_name", from.engine_name);
  out.member("kernel_id", from.kernel_id.text()).member("kernel_name", from.kernel_name);
  out.member("workspace_bytes", from.workspace_bytes).member("dispatch", from.dispatch);
  out.key("values").begin_array();
  for (const auto& value : from.values) {
    out.begin_object().member("name", value.name).member("type", value_type_name(value.data));
    value_data(out.key("value"), value.data);
    out.end_object();
  }
  out.end_array().key("kernels").begin_array();
  for (const auto& image : from.kernels) kernel(out, image, parts);
  out.end_array().member("provider_version", from.provider_version).end_object();
}

/// A text section: its size, or its content as JSON (as a string when it is no JSON).
void text(json::Writer& out, const char* name, const std::string& content, bool whole) {
  out.key(name);
  if (content.empty()) {
    out.null();
    return;
  }
  if (!whole) {
    out.begin_object().member("bytes", static_cast<uint64_t>(content.size()));
    out.member("sha256", sha256(as_bytes(content)).hex()).end_object();
    return;
  }
  if (const auto parsed = json::parse(content, name))
    out.raw(json::print(*parsed));
  else
    out.value(content);
}

void entry(json::Writer& out, const ShownEntry& shown, bool texts) {
  const auto& plan = shown.plan;
  out.begin_object().member("graph_key", shown.entry.graph_key.hex());
  out.member("target", shown.entry.target);
  out.member("plan_digest", shown.entry.plan_digest.hex());
  const auto name = graph_name(plan.graph);
  name.empty() ? out.key("graph_name").null() : out.member("graph_name", name);
  envelope(out, plan.envelope);
  payload(out, plan.payload, shown.parts);
  text(out, "graph", plan.graph, texts);
  text(out, "reasons", plan.reasons, texts);
  text(out, "measurements", plan.measurements, texts);
  text(out, "evidence", plan.evidence, texts);
  text(out, "provenance", plan.provenance, texts);
  out.key("unknown_parts").begin_array();
  for (const auto& part : plan.extra) {
    out.begin_object().member("type", static_cast<int64_t>(part.type));
    out.member("bytes", static_cast<uint64_t>(part.bytes.size())).end_object();
  }
  out.end_array().end_object();
}

}  // namespace

void show_json_front(const File& file, json::Writer& out) {
  out.begin_object().member("schema", "hipplan.show/1").member("file", file.where());
  out.member("format", cat(file.major_version(), ".", file.minor_version()));
  out.member("bytes", static_cast<uint64_t>(file.bytes().size()));
  out.member("directory_digest", file.directory_digest().hex());
  out.member("signature_block_bytes", static_cast<uint64_t>(file.signature_block().size()));
  out.member("plan_count", file.entry_count());
  sections(out, file);
  out.key("plans").begin_array();
}

namespace {

uint64_t left_out(uint64_t matches, const ShowOptions& options) {
  return matches > options.max_entries ? matches - options.max_entries : 0;
}

}  // namespace

Result<uint64_t> show_json_plans(const File& file, const ShowOptions& options,
                                 json::ArrayStream& out) {
  HIPPLAN_TRY_ASSIGN(const auto matches, visit_shown(file, options, [&](const ShownEntry& shown) {
                       out.item([&](json::Writer& one) { entry(one, shown, options.texts); });
                     }));
  return left_out(matches, options);
}

Result<void> show_json(const File& file, const ShowOptions& options, json::Writer& out) {
  show_json_front(file, out);
  HIPPLAN_TRY_ASSIGN(const auto matches, visit_shown(file, options, [&](const ShownEntry& shown) {
                       entry(out, shown, options.texts);
                     }));
  out.end_array().member("plans_not_shown", left_out(matches, options)).end_object();
  return {};
}

}  // namespace hipplan::plan
