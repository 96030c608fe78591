// Kernels and where their code comes from.
#include <algorithm>

#include "base/result.h"
#include "descriptor/parse.h"

namespace hipplan::descriptor {
namespace {

struct KindSpelling {
  const char* name;
  SourceKind kind;
};
constexpr KindSpelling kSourceKinds[] = {
    {"kpack", SourceKind::kpack},
    {"embedded_source", SourceKind::embedded_source},
    {"hsaco_file", SourceKind::hsaco_file},
    {"rocke_builder", SourceKind::rocke_builder},
    {"hip", SourceKind::hip},
    {"hsaco", SourceKind::hsaco},
    {"rocke", SourceKind::rocke},
};

std::optional<SourceKind> source_kind_of(std::string_view name) {
  for (const KindSpelling& entry : kSourceKinds)
    if (name == entry.name) return entry.kind;
  return std::nullopt;
}

/// Source texts live outside the descriptor tree; only their shape is checked here.
std::string source_file(Fields& fields, std::string_view key) {
  std::string file = fields.text(key);
  const bool absolute = file.starts_with('/') || file.starts_with('\\');
  const bool upward = file == ".." || file.starts_with("../") || file.ends_with("/..") ||
                      file.find("/../") != std::string::npos;
  if (absolute || upward)
    fields.report().error(
        fields.object(), "bad-path",
        cat(fields.what(), ": '", key, "' must be relative and without '..', found '", file, "'"));
  return file;
}

std::string contained_file(Fields& fields, std::string_view key, const FileContext& context,
                           std::string& path) {
  std::string file = fields.text(key);
  if (!file.empty())
    path = resolve_path(fields.object(), file, context, fields.report(), What{fields.what(), key});
  return file;
}

uint32_t size_of(Fields& fields, std::string_view key) {
  const json::Value* value = fields.required(key, json::Kind::integer);
  if (value == nullptr) return 0;
  if (value->integer >= 0 && value->integer <= UINT32_MAX)
    return static_cast<uint32_t>(value->integer);
  fields.report().error(*value, "out-of-range",
                        cat(fields.what(), ": '", key, "' must be in 0..", UINT32_MAX));
  return 0;
}

std::vector<Argument> parse_signature(Fields& fields) {
  std::vector<Argument> out;
  const json::Value* list = fields.required("signature", json::Kind::array);
  if (list == nullptr) return out;
  out.reserve(list->items.size());
  for (const json::Value& item : list->items) {
    if (item.kind != json::Kind::object) {
      fields.report().error(item, "wrong-type",
                            "kernel_source: entries of 'signature' must be objects");
      continue;
    }
    Fields entry(item, fields.report(), "kernel_source: signature");
    Argument argument;
    argument.kind = entry.text("kind");
    argument.size = size_of(entry, "size");
    argument.offset = size_of(entry, "offset");
    argument.name = entry.optional_text("name").value_or("");
    entry.finish();
    out.push_back(std::move(argument));
  }
  return out;
}

Digest parse_digest(Fields& fields, std::string_view key) {
  const std::string text = fields.text(key);
  const auto digest = Digest::from_hex(text);
  if (!digest && !text.empty())
    fields.report().error(
        fields.object(), "bad-digest",
        cat(fields.what(), ": '", key, "' must be 64 lower-case hex digits, found '",
            text.substr(0, 80), "'"));
  return digest.value_or(Digest{});
}

/// The text of a macro: strings as they are, numbers as JSON prints them, booleans as 1 and 0.
std::string define_text(const json::Value& value, FileReport& report) {
  switch (value.kind) {
    case json::Kind::string:
      return value.string;
    case json::Kind::boolean:
      return value.boolean ? "1" : "0";
    case json::Kind::integer:
    case json::Kind::number:
      return json::print(value);
    default:
      report.error(value, "wrong-type", "build: values of 'defines' must be scalars");
      return {};
  }
}

void parse_build(Fields& fields, Source& out) {
  const json::Value* object = fields.optional("build", json::Kind::object);
  if (object == nullptr) return;
  Fields build(*object, fields.report(), "build");
  if (const json::Value* defines = build.optional("defines", json::Kind::object))
    for (const auto& [name, value] : defines->members)
      out.defines.emplace_back(name, define_text(value, fields.report()));
  std::sort(out.defines.begin(), out.defines.end());
  const json::Value* flags = build.optional("flags", json::Kind::array);
  if (flags != nullptr)  // the same flag may come twice
    for (const json::Value& flag : flags->items)
      out.flags.push_back(text_of(flag, fields.report(), What{"build", "flags"}));
  build.finish();
}

void parse_source_keys(Fields& fields, const FileContext& context, Source& out) {
  switch (out.kind) {
    case SourceKind::kpack:
      out.file = contained_file(fields, "library", context, out.path);
      out.toc_key = fields.text("toc_key");
      out.symbol = fields.text("symbol");
      out.sha256 = parse_digest(fields, "sha256");
      out.signature = parse_signature(fields);
      return;
    case SourceKind::embedded_source:
      out.file = source_file(fields, "source_file");
      out.symbol = fields.text("entry_point");
      return;
    case SourceKind::hsaco_file:
      out.file = contained_file(fields, "code_object_file", context, out.path);
      out.symbol = fields.text("code_object_symbol");
      return;
    case SourceKind::hip:
      out.file = source_file(fields, "source");
      out.symbol = fields.text("entry");
      parse_build(fields, out);
      return;
    case SourceKind::hsaco:
      out.file = contained_file(fields, "file", context, out.path);
      out.symbol = fields.text("symbol");
      return;
    case SourceKind::rocke:
    case SourceKind::rocke_builder:
      break;
  }
  out.file = source_file(fields, "source");
  if (fields.object().find("entry") != nullptr) {
    out.symbol = fields.text("entry");
    parse_build(fields, out);
    return;
  }
  out.symbol = fields.text("builder");
  if (const json::Value* spec = fields.optional("spec", json::Kind::object))
    out.spec = json::print(*spec);
}

Source parse_source(const json::Value& value, std::string_view what, const FileContext& context,
                    FileReport& report) {
  Source out;
  if (value.kind != json::Kind::object) {
    report.error(value, "wrong-type",
                 cat(what, " must be object, found ", json::kind_name(value.kind)));
    return out;
  }
  Fields fields(value, report, what);
  const std::string name = fields.text("kind");
  const auto kind = source_kind_of(name);
  if (!kind) {
    if (!name.empty())
      report.error(
          value, "bad-source",
          cat(what, ": kind '", name,
              "' is not known; legal: kpack, embedded_source, hsaco_file, rocke_builder, hip, "
              "hsaco, rocke"));
    return out;
  }
  out.kind = *kind;
  parse_source_keys(fields, context, out);
  fields.finish();
  return out;
}

/// `sources`: launch name -> source, all of one kind, never embedded.
void parse_launches(const json::Value& map, const FileContext& context, FileReport& report,
                    Kernel& out) {
  out.multi_launch = true;
  if (map.members.empty()) report.error(map, "bad-source", "kernel: 'sources' is empty");
  for (const auto& [launch, value] : map.members) {
    if (launch.empty())
      report.error(value, "empty-string", "kernel: a launch name in 'sources' is empty");
    Source source = parse_source(value, "sources", context, report);
    source.launch_name = launch;
    if (source.kind == SourceKind::embedded_source)
      report.error(value, "bad-source", "kernel: 'sources' cannot hold embedded_source");
    if (!out.sources.empty() && source.kind != out.sources.front().kind)
      report.error(value, "bad-source", "kernel: all entries of 'sources' must be of one kind");
    out.sources.push_back(std::move(source));
  }
  std::sort(out.sources.begin(), out.sources.end(),
            [](const Source& a, const Source& b) { return a.launch_name < b.launch_name; });
}

void parse_sources(Fields& fields, const FileContext& context, int64_t minor, Kernel& out) {
  FileReport& report = fields.report();
  const json::Value* launches = fields.optional("sources", json::Kind::object);
  if (launches == nullptr) {
    if (const json::Value* source = fields.required("kernel_source", json::Kind::object))
      out.sources.push_back(parse_source(*source, "kernel_source", context, report));
    return;
  }
  if (fields.optional("kernel_source") != nullptr)
    report.error(fields.object(), "bad-source",
                 "kernel: 'kernel_source' and 'sources' exclude each other");
  if (minor < 1)
    report.error(*launches, "bad-version", "kernel: 'sources' needs \"version\": \"1.1\"");
  parse_launches(*launches, context, report, out);
}

}  // namespace

Kernel parse_kernel(Fields& fields, const FileContext& context, int64_t minor) {
  Kernel out;
  FileReport& report = fields.report();
  out.id = fields.uuid("id");
  out.name = fields.text("name");
  parse_sources(fields, context, minor, out);
  if (const json::Value* metadata = fields.optional("metadata", json::Kind::object)) {
    out.metadata.reserve(metadata->members.size());
    for (const auto& [name, value] : metadata->members)
      if (auto data = data_of(value, report, What{"kernel", "metadata", name}))
        out.metadata.emplace_back(name, std::move(*data));
  }
  out.priority = fields.optional_integer("priority").value_or(0);
  out.arch = arch_list(fields);
  (void)fields.optional("provenance", json::Kind::object);
  out.origin = {context.file, context.root, nullptr};
  return out;
}

}  // namespace hipplan::descriptor
