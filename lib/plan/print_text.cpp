#include "base/counted.h"
#include "base/interruption.h"
#include "plan/layout.h"
#include "plan/print.h"
#include "plan/print_common.h"

namespace hipplan::plan {
namespace {

std::string integers_text(const std::vector<int64_t>& values) {
  std::string out = "[";
  for (size_t i = 0; i < values.size(); ++i)
    out += (i == 0 ? "" : ", ") + std::to_string(values[i]);
  return out + "]";
}

/// The shortest decimal form that reads back as the same number.
std::string number_text(double value) {
  json::Writer out(-1);
  out.value(value);
  return out.text();
}

std::string string_text(const std::string& value) {
  json::Writer out(-1);
  out.value(value);
  return out.text();
}

void line(std::string& out, std::string_view raw_name, std::string_view value) {
  constexpr size_t kColumn = 22;
  const std::string name = harmless(raw_name);
  out += "  " + name;
  out.append(name.size() < kColumn ? kColumn - name.size() : 1, ' ');
  out += harmless(value) + "\n";
}

std::string size_of(const std::string& text) {
  return text.empty() ? "absent" : cat(text.size(), " bytes");
}

void show_kernel(std::string& out, const KernelImage& kernel, size_t i,
                 const std::vector<PartInfo>& parts) {
  line(out, cat("kernel ", i),
       cat(kernel.symbol, kernel.launch_name.empty() ? "" : ", launch ", kernel.launch_name));
  line(out, "  source, target", cat(source_kind_name(kernel.source_kind), ", ", kernel.target));
  std::string code = kernel.sha256.hex();
  for (const auto& part : parts)
    if (part.type == kCodeSection && part.sha256 == kernel.sha256)
      code += cat(" (", part.raw_bytes, " bytes, stored in ", part.stored_bytes, ")");
  line(out, "  code", code);
  for (const auto& argument : kernel.signature)
    line(out, "  argument",
         cat(argument.kind, ", ", argument.size, " bytes at ", argument.offset,
             argument.name.empty() ? "" : ", ", argument.name));
}

void show_payload(std::string& out, const Payload& payload, const std::vector<PartInfo>& parts) {
  line(out, "engine",
       cat(payload.engine_name, " (", engine_id_text(engine_id(payload.engine_name)), ")"));
  line(out, "kernel id",
       cat(payload.kernel_id.text(), payload.kernel_name.empty() ? "" : "  ", payload.kernel_name));
  line(out, "dispatch", payload.dispatch);
  for (const auto& value : payload.values)
    line(out, "  " + value.name,
         cat(value_text(value.data), "  (", value_type_name(value.data), ")"));
  for (size_t i = 0; i < payload.kernels.size(); ++i)
    show_kernel(out, payload.kernels[i], i, parts);
}

void show_text_part(std::string& out, std::string_view name, const std::string& text, bool whole) {
  line(out, name, size_of(text));
  if (whole && !text.empty()) out += harmless(text, "\n\t") + "\n";
}

void show_entry(std::string& out, const ShownEntry& shown, bool texts) {
  const auto& plan = shown.plan;
  out += cat("plan ", shown.entry.graph_key.hex(), "/", harmless(shown.entry.target), "\n");
  if (const auto name = graph_name(plan.graph); !name.empty()) line(out, "graph name", name);
  line(out, "plan digest", shown.entry.plan_digest.hex());
  line(out, "provider", cat(plan.envelope.provider_name, " ", plan.envelope.provider_version));
  line(out, "workspace", cat(plan.envelope.workspace_size, " bytes"));
  line(out, "tensor uids", integers_text(plan.envelope.tensor_uids));
  line(out, "tensor alignments", integers_text(plan.envelope.tensor_alignments));
  line(out, "override shapes", plan.envelope.is_override_shape_enabled ? "yes" : "no");
  show_payload(out, plan.payload, shown.parts);
  show_text_part(out, "graph", plan.graph, texts);
  show_text_part(out, "reasons", plan.reasons, texts);
  show_text_part(out, "measurements", plan.measurements, texts);
  show_text_part(out, "evidence", plan.evidence, texts);
  show_text_part(out, "provenance", plan.provenance, texts);
  for (const auto& part : plan.extra)
    line(out, section_name(part.type), cat(part.bytes.size(), " bytes, not known to this version"));
}

}  // namespace

std::string graph_name(const std::string& graph) {
  if (graph.empty()) return "";
  const auto parsed = json::parse(graph, "graph");
  const auto* name = parsed ? parsed->find("name") : nullptr;
  return name != nullptr ? name->string : std::string();
}

std::string value_text(const ValueData& data) {
  if (const auto* flag = std::get_if<bool>(&data)) return *flag ? "true" : "false";
  if (const auto* integer = std::get_if<int64_t>(&data)) return std::to_string(*integer);
  if (const auto* number = std::get_if<double>(&data)) return number_text(*number);
  if (const auto* text = std::get_if<std::string>(&data)) return string_text(*text);
  return integers_text(std::get<std::vector<int64_t>>(data));
}

const char* source_kind_name(SourceKind kind) {
  constexpr const char* kNames[] = {"unset", "embedded_source", "kpack", "hsaco_file",
                                    "rocke_builder"};
  const auto number = static_cast<size_t>(kind);
  return number < std::size(kNames) ? kNames[number] : "unknown";
}

Result<uint64_t> visit_shown(const File& file, const ShowOptions& options,
                             const std::function<void(const ShownEntry&)>& visit) {
  uint64_t matches = 0;
  Result<void> failed;
  HIPPLAN_TRY(file.for_each([&](const EntryInfo& entry) {
    if (options.wanted && !options.wanted(entry)) return true;
    if (entry.graph_key.hex().compare(0, options.graph_key.size(), options.graph_key) != 0)
      return true;
    if (++matches > options.max_entries) return true;
    if (failed = check_interruption(); !failed) return false;
    auto plan = file.read_plan(entry, false);
    auto parts = file.parts(entry);
    if (!plan || !parts) {
      failed = !plan ? plan.error() : parts.error();
      return false;
    }
    visit({entry, *std::move(plan), *std::move(parts)});
    return true;
  }));
  HIPPLAN_TRY(failed);
  return matches;
}

Result<void> show_text(const File& file, const ShowOptions& options, std::string& out) {
  out += cat(harmless(file.where()), ": hipplan format ", file.major_version(), ".",
             file.minor_version(), ", ", file.bytes().size(), " bytes, ",
             counted(file.entry_count(), "plan"),
             file.signature_block().empty() ? "" : ", with signatures", "\n");
  line(out, "directory digest", file.directory_digest().hex());
  for (const auto& s : file.sections())
    line(out, "section " + s.type,
         cat(s.stored_bytes, " bytes at ", s.offset, ", ", counted(s.objects, "object"), ", raw ",
             s.raw_bytes));
  HIPPLAN_TRY_ASSIGN(const auto matches, visit_shown(file, options, [&](const ShownEntry& shown) {
                       show_entry(out, shown, options.texts);
                     }));
  if (matches > options.max_entries)
    out += cat("… and ", matches - options.max_entries,
               " more plans; hipplan-inspect list plans names them all, --json shows them all\n");
  return {};
}

}  // namespace hipplan::plan
