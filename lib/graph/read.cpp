// The whole file: top level, then tensors, nodes, inference and check.
#include <charconv>

#include "graph/reader.h"
#include "graph/shape.h"

namespace hipplan::graph {
namespace {

using namespace detail;

/// "1.0.0" from such a string or from {"major":1,"minor":0,"patch":0}.
Result<std::string> read_version(const ReadContext& context, const json::Value& value) {
  const KeyPath path{.key = "min_required_engine_api_version"};
  const std::string expected = "an object with major, minor and patch, or a string like \"1.0.0\"";
  if (value.kind == json::Kind::object) {
    const KeyPath inner{.object = path.key};
    ObjectReader reader(context, inner, value);
    std::string text;
    for (const std::string_view key : {"major", "minor", "patch"}) {
      HIPPLAN_TRY_ASSIGN(const auto* part, reader.required(key));
      HIPPLAN_TRY_ASSIGN(const int64_t number,
                         want_integer(context, inner.with(key), *part, 0, UINT32_MAX));
      text += (text.empty() ? "" : ".") + std::to_string(number);
    }
    HIPPLAN_TRY(reader.finish());
    return text;
  }
  if (value.kind != json::Kind::string)
    return fail(context, path, value, "wrong-type", "value of the wrong type", expected,
                describe(value));
  const char* at = value.string.data();
  const char* const end = at + value.string.size();
  std::string text;
  for (int part = 0; part < 3; ++part) {
    uint32_t number = 0;
    const auto [stop, error] = std::from_chars(at, end, number);
    const bool last = part == 2;
    if (error != std::errc() || (last ? stop != end : stop == end || *stop != '.'))
      return fail(context, path, value, "bad-version", "not a version", expected, describe(value));
    text += (text.empty() ? "" : ".") + std::to_string(number);
    at = stop + (last ? 0 : 1);
  }
  return text;
}

Result<void> read_options(const ReadContext& context, ObjectReader& reader, Graph& graph) {
  if (const auto* engine = reader.optional("preferred_engine_id")) {
    HIPPLAN_TRY_ASSIGN(graph.preferred_engine_id,
                       want_integer(context, reader.path("preferred_engine_id"), *engine));
  }
  if (const auto* flag = reader.optional("is_override_shape_enabled")) {
    HIPPLAN_TRY_ASSIGN(graph.override_shape_enabled,
                       want_flag(context, reader.path("is_override_shape_enabled"), *flag));
  }
  if (const auto* id = reader.optional("id")) {
    const auto uuid = id->kind == json::Kind::string ? Uuid::parse(id->string) : std::nullopt;
    if (!uuid)
      return fail(context, reader.path("id"), *id, "bad-uuid",
                  "graph id must be a canonical UUID string", "8-4-4-4-12 hexadecimal digits",
                  describe(*id));
    graph.id = uuid->text();
  }
  if (const auto* version = reader.optional("min_required_engine_api_version")) {
    HIPPLAN_TRY_ASSIGN(graph.min_engine_api_version, read_version(context, *version));
  }
  if (const auto* comment = reader.optional("_comment"))
    note(context, reader.path("_comment"), *comment, Severity::note, "annotation",
         "\"_comment\" is an annotation and has no meaning");
  return {};
}

Result<void> read_defaults(const ReadContext& context, ObjectReader& reader, Graph& graph) {
  HIPPLAN_TRY_ASSIGN(const auto* name, reader.required("name"));
  HIPPLAN_TRY_ASSIGN(graph.name, want_text(context, reader.path("name"), *name));
  const std::pair<std::string_view, DataType Graph::*> defaults[] = {
      {"compute_data_type", &Graph::compute_type},
      {"io_data_type", &Graph::io_type},
      {"intermediate_data_type", &Graph::intermediate_type}};
  for (const auto& [key, member] : defaults) {
    HIPPLAN_TRY_ASSIGN(const auto* type, reader.required(key));
    HIPPLAN_TRY_ASSIGN(graph.*member, want_data_type(context, reader.path(key), *type));
  }
  return {};
}

Result<void> read_lists(const ReadContext& context, ObjectReader& reader, Graph& graph) {
  HIPPLAN_TRY_ASSIGN(const auto* tensors, reader.required("tensors"));
  HIPPLAN_TRY(want_kind(context, reader.path("tensors"), *tensors, json::Kind::array));
  HIPPLAN_TRY_ASSIGN(const auto* nodes, reader.required("nodes"));
  HIPPLAN_TRY(want_kind(context, reader.path("nodes"), *nodes, json::Kind::array));
  graph.tensors.reserve(tensors->items.size());
  for (size_t i = 0; i < tensors->items.size(); ++i) {
    HIPPLAN_TRY_ASSIGN(Tensor tensor, read_tensor(context, i, tensors->items[i]));
    graph.tensors.push_back(std::move(tensor));
  }
  const UidIndex uids(graph.tensors);
  graph.nodes.reserve(nodes->items.size());
  for (size_t i = 0; i < nodes->items.size(); ++i) {
    HIPPLAN_TRY_ASSIGN(Node node, read_node(context, i, nodes->items[i], uids));
    graph.nodes.push_back(std::move(node));
  }
  return {};
}

}  // namespace

Result<Graph> read_graph(std::string_view json_text, const std::string& where,
                         const ReadOptions& options, const DiagnosticSink& sink) {
  HIPPLAN_TRY_ASSIGN(const json::Value value, json::parse(json_text, where));
  const ReadContext context{where, options, sink};
  HIPPLAN_TRY(want_kind(context, {}, value, json::Kind::object));
  ObjectReader reader(context, {}, value);
  Graph graph;
  HIPPLAN_TRY(read_defaults(context, reader, graph));
  HIPPLAN_TRY(read_lists(context, reader, graph));
  HIPPLAN_TRY(read_options(context, reader, graph));
  HIPPLAN_TRY(reader.finish());
  infer(graph);
  HIPPLAN_TRY(check(graph, where));
  return graph;
}

}  // namespace hipplan::graph
