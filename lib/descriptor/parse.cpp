#include "descriptor/parse.h"

#include <algorithm>
#include <filesystem>

#include "base/result.h"

namespace hipplan::descriptor {
namespace {

constexpr int64_t kMajor = 1;
/// Newest minor version this loader reads. Kernels gained `sources` in 1.1.
int64_t newest_minor(Kind kind) {
  return kind == Kind::kernel ? 1 : 0;
}

/// One half of a version: 1 to 9 digits.
std::optional<int64_t> version_half(std::string_view text) {
  if (text.empty() || text.size() > 9) return std::nullopt;
  int64_t out = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    out = out * 10 + (c - '0');
  }
  return out;
}

bool is_name_char(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '-';
}

bool is_engine_name(std::string_view name) {
  const size_t colon = name.find(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == name.size()) return false;
  const auto good = [](std::string_view part) {
    return std::all_of(part.begin(), part.end(), is_name_char);
  };
  return good(name.substr(0, colon)) && good(name.substr(colon + 1));
}

/// "x.y.z", each 1 to 9 digits.
bool is_three_part_version(std::string_view text) {
  for (int part = 0; part < 3; ++part) {
    const size_t dot = part < 2 ? text.find('.') : text.size();
    if (dot == std::string_view::npos || !version_half(text.substr(0, dot))) return false;
    text.remove_prefix(std::min(text.size(), dot + 1));
  }
  return true;
}

/// {"gfx950": "<uuid>", "default": "<uuid>"}, sorted by key.
std::vector<ArchRef> arch_map(Fields& fields, std::string_view key) {
  std::vector<ArchRef> out;
  const json::Value* map = fields.optional(key, json::Kind::object);
  if (map == nullptr) return out;
  for (const auto& [arch, value] : map->members) {
    if (arch != "default" && !is_base_arch(arch))
      fields.report().error(value, "bad-arch",
                            cat(fields.what(), ": '", key, "' has key '", arch,
                                "', expected a base architecture or 'default'"));
    if (const auto id = uuid_of(value, fields.report(), What{fields.what(), key, arch}))
      out.emplace_back(arch, *id);
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::string> behavior_notes(Fields& fields) {
  auto notes = fields.text_list("behavior_notes");
  for (const std::string& note : notes)
    if (!note.empty() && note != "runtime_compilation")
      fields.report().error(
          fields.object(), "bad-note",
          cat("UED: behavior note '", note, "' is not known; legal: runtime_compilation"));
  return notes;
}

std::string graph_match(Fields& fields) {
  const json::Value* object = fields.optional("graph_match", json::Kind::object);
  if (object == nullptr) return {};
  Fields inner(*object, fields.report(), "UED: graph_match");
  std::string symbol = inner.text("native");
  inner.finish();
  return symbol;
}

RawEngine parse_engine(Fields& fields) {
  RawEngine raw;
  Engine& engine = raw.engine;
  engine.name = fields.text("name");
  engine.engine_id = engine_id(engine.name);
  if (!engine.name.empty() && !is_engine_name(engine.name))
    fields.report().error(fields.object(), "bad-engine-name",
                          cat("UED: engine name '", engine.name,
                              "' must be namespace:local of letters, digits, '_', '.', '-'"));
  raw.metadata = fields.uuid("metadata");
  raw.heuristic = fields.optional_uuid("heuristic");
  raw.heuristic_by_arch = arch_map(fields, "sort_kernel_catalog");
  raw.predict_by_arch = arch_map(fields, "predict_engine");
  if (raw.heuristic && !raw.heuristic_by_arch.empty())
    fields.report().error(fields.object(), "unknown-key",
                          "UED: 'heuristic' and 'sort_kernel_catalog' exclude each other");
  engine.knobs = fields.text_list("knobs");
  engine.behavior_notes = behavior_notes(fields);
  engine.numerical_notes = fields.text_list("numerical_notes");
  engine.sdk_version = fields.optional_text("sdk_version").value_or("1.0.0");
  if (!is_three_part_version(engine.sdk_version))
    fields.report().error(fields.object(), "bad-version",
                          cat("UED: sdk_version '", engine.sdk_version, "' must be x.y.z"));
  engine.graph_match = graph_match(fields);
  return raw;
}

std::optional<FieldType> field_type(std::string_view name) {
  for (int i = 0; i < 5; ++i)
    if (name == field_type_name(static_cast<FieldType>(i))) return static_cast<FieldType>(i);
  return std::nullopt;
}

Field parse_field(const json::Value& value, FileReport& report) {
  Field field;
  if (value.kind != json::Kind::object) {
    report.error(value, "wrong-type", "KMD: each entry of 'fields' must be an object");
    return field;
  }
  Fields fields(value, report, "KMD field");
  field.name = fields.text("name");
  const std::string type = fields.text("type");
  const auto known = field_type(type);
  if (!known && !type.empty())
    report.error(value, "wrong-type",
                 cat("KMD field '", field.name, "': type '", type,
                     "' is not known; legal: bool, int, float, string, int_list"));
  field.type = known.value_or(FieldType::integer);
  const json::Value* given = fields.optional("default_value");
  fields.finish();
  if (given == nullptr || !known) return field;
  field.default_value = data_of(*given, report, What{"KMD field", field.name, "default_value"});
  if (field.default_value && field.type == FieldType::number && field.default_value->index() == 1)
    field.default_value = static_cast<double>(std::get<int64_t>(*field.default_value));
  if (field.default_value && field.default_value->index() != static_cast<size_t>(field.type))
    report.error(
        *given, "wrong-type",
        cat("KMD field '", field.name, "': default_value must be ", field_type_name(field.type),
            ", found ", value_type_name(*field.default_value)));
  return field;
}

MetadataSchema parse_schema(Fields& fields) {
  MetadataSchema schema;
  schema.name = fields.text("name");
  const json::Value* list = fields.required("fields", json::Kind::array);
  if (list == nullptr) return schema;
  for (const json::Value& item : list->items) {
    Field field = parse_field(item, fields.report());
    if (!field.name.empty() && schema.find(field.name))
      fields.report().error(item, "duplicate-entry",
                            cat("KMD: field '", field.name, "' is listed twice"));
    schema.fields.push_back(std::move(field));
  }
  return schema;
}

Matcher parse_matcher(Fields& fields) {
  Matcher matcher;
  matcher.name = fields.text("name");
  matcher.symbol = fields.text("match_symbol");
  const std::string scope = fields.text("scope");
  matcher.scope = scope == "kernel" ? Scope::kernel : Scope::graph;
  if (!scope.empty() && scope != "kernel" && scope != "graph")
    fields.report().error(fields.object(), "wrong-type",
                          cat("UMD: scope '", scope, "' is not known; legal: graph, kernel"));
  return matcher;
}

Dispatch parse_dispatch(Fields& fields) {
  Dispatch dispatch;
  dispatch.name = fields.text("name");
  dispatch.symbol = fields.text("dispatch_symbol");
  return dispatch;
}

/// An entry of kernelDescriptors; nothing when it is skipped or faulty.
std::optional<RawPackKernel> parse_pack_kernel(const json::Value& value, const FileContext& context,
                                               FileReport& report) {
  if (value.kind == json::Kind::string) {
    const auto id = uuid_of(value, report, What{"KDP", "kernelDescriptors"});
    return id ? std::optional<RawPackKernel>(*id) : std::nullopt;
  }
  if (value.kind != json::Kind::object) {
    report.error(
        value, "wrong-type",
        "KDP: entries of 'kernelDescriptors' must be objects or UUIDs of stand-alone kernels");
    return std::nullopt;
  }
  Fields fields(value, report, "kernel");
  ReadVersion version{VersionAnswer::ok, 0};
  if (value.find("version") != nullptr) version = read_version(fields, Kind::kernel);
  if (version.answer != VersionAnswer::ok) return std::nullopt;
  Kernel kernel = parse_kernel(fields, context, version.minor);
  fields.finish();
  return RawPackKernel(std::move(kernel));
}

RawPack parse_pack(Fields& fields, const FileContext& context) {
  RawPack raw;
  FileReport& report = fields.report();
  raw.pack.name = fields.text("name");
  raw.engine = fields.uuid("engine");
  raw.dispatch = fields.uuid("dispatch");
  for (const std::string& text : fields.text_list("matchers")) {
    const auto id = Uuid::parse(text);
    if (!id && !text.empty())
      report.error(fields.object(), "bad-uuid", cat("KDP: matcher '", text, "' must be a UUID"));
    if (id) raw.matchers.push_back(*id);
  }
  raw.pack.arch = arch_list(fields);
  (void)fields.optional("provenance", json::Kind::object);
  const json::Value* list = fields.required("kernelDescriptors", json::Kind::array);
  if (list == nullptr) return raw;
  if (list->items.empty())
    report.error(*list, "pack-without-kernels", "KDP: 'kernelDescriptors' is empty");
  raw.kernels.reserve(list->items.size());
  for (const json::Value& item : list->items)
    if (auto kernel = parse_pack_kernel(item, context, report))
      raw.kernels.push_back(std::move(*kernel));
  return raw;
}

Body parse_body(Kind kind, Fields& fields, const FileContext& context, int64_t minor) {
  switch (kind) {
    case Kind::engine:
      return parse_engine(fields);
    case Kind::metadata:
      return parse_schema(fields);
    case Kind::matcher:
      return parse_matcher(fields);
    case Kind::dispatch:
      return parse_dispatch(fields);
    case Kind::heuristic:
      fields.report();
      return parse_heuristic(fields, context);
    case Kind::pack:
      return parse_pack(fields, context);
    case Kind::kernel:
      break;
  }
  return parse_kernel(fields, context, minor);
}

/// Writes id and origin, which every kind has, into the body.
struct SetCommon {
  const ParsedFile& file;
  void set(auto& to) const {
    to.id = file.id;
    to.origin = {file.origin.file, file.origin.root, nullptr};
  }
  void operator()(RawEngine& raw) const { set(raw.engine); }
  void operator()(RawPack& raw) const { set(raw.pack); }
  void operator()(auto& plain) const { set(plain); }
};

}  // namespace

ReadVersion read_version(Fields& fields, Kind kind) {
  const std::string text = fields.text("version");
  if (text.empty()) return {};
  const size_t dot = text.find('.');
  const auto major = version_half(std::string_view(text).substr(0, std::min(dot, text.size())));
  const auto minor = dot == std::string::npos
                         ? std::nullopt
                         : version_half(std::string_view(text).substr(dot + 1));
  if (!major || !minor) {
    fields.report().error(*fields.object().find("version"), "bad-version",
                          cat(fields.what(), ": version '", text.substr(0, 80),
                              "' must be major.minor, each 1 to 9 digits"));
    return {};
  }
  if (*major == kMajor && *minor <= newest_minor(kind)) return {VersionAnswer::ok, *minor};
  fields.report().warning(
      *fields.object().find("version"), "version-unsupported",
      cat(fields.what(), ": version ", text, " is not readable; this loader reads ", kMajor,
          ".0 to ", kMajor, ".", newest_minor(kind), "; skipped"));
  return {VersionAnswer::skip, 0};
}

std::string resolve_path(const json::Value& at, const std::string& relative,
                         const FileContext& context, FileReport& report, const What& what) {
  namespace fs = std::filesystem;
  const fs::path path(relative);
  if (path.is_absolute() || relative.find('\0') != std::string::npos) {
    report.error(at, "bad-path", cat(what.text(), ": path '", relative, "' must be relative"));
    return {};
  }
  const fs::path full = (fs::path(context.origin_folder) / path).lexically_normal();
  const fs::path inside = full.lexically_relative(fs::path(context.root_folder).lexically_normal());
  if (inside.empty() || *inside.begin() == "..") {
    report.error(at, "bad-path",
                 cat(what.text(), ": path '", relative, "' leaves the descriptor tree"));
    return {};
  }
  return full.string();
}

std::optional<ParsedFile> parse_file(Kind kind, std::string_view text, const FileContext& context,
                                     FileReport& report) {
  auto parsed = json::parse(text, context.file, {.comments = true});
  if (!parsed) {
    report.failed = true;
    report.diagnostics.push_back(
        {Severity::error, "descriptor-json", parsed.error().where, parsed.error().text()});
    return std::nullopt;
  }
  auto document = std::make_shared<const json::Value>(std::move(parsed).value());
  if (document->kind != json::Kind::object) {
    report.error(*document, "not-an-object",
                 cat(short_name(kind), ": the file must hold one object, found ",
                     json::kind_name(document->kind)));
    return std::nullopt;
  }
  Fields fields(*document, report, short_name(kind));
  const ReadVersion version = read_version(fields, kind);
  if (version.answer != VersionAnswer::ok) return std::nullopt;
  ParsedFile out;
  out.kind = kind;
  out.origin = {context.file, context.root, document};
  out.id = fields.uuid("id");
  out.body = parse_body(kind, fields, context, version.minor);
  fields.finish();
  if (report.failed) return std::nullopt;
  std::visit(SetCommon{out}, out.body);
  if (const auto* pack = std::get_if<RawPack>(&out.body)) out.arch = pack->pack.arch;
  if (const auto* kernel = std::get_if<Kernel>(&out.body)) out.arch = kernel->arch;
  return out;
}

}  // namespace hipplan::descriptor
