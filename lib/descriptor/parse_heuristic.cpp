// Heuristic descriptors, in the older form (kind, payload) and the newer one (adapter, objective,
// …).
#include "base/hash.h"
#include "base/result.h"
#include "descriptor/parse.h"

namespace hipplan::descriptor {
namespace {

void parse_old_form(Fields& fields, Heuristic& out) {
  const std::string kind = fields.text("kind");
  out.adapter = kind == "model" ? Adapter::model : Adapter::native;
  if (!kind.empty() && kind != "model" && kind != "native")
    fields.report().error(fields.object(), "wrong-type",
                          cat("UHD: kind '", kind, "' is not known; legal: native, model"));
  out.symbol = fields.text("payload");
}

std::optional<Adapter> adapter_of(std::string_view name) {
  if (name == "static_order") return Adapter::static_order;
  if (name == "native") return Adapter::native;
  if (name == "tree_data") return Adapter::tree_data;
  if (name == "table") return Adapter::table;
  return std::nullopt;
}

void parse_objective(Fields& fields, Heuristic& out) {
  const auto text = fields.optional_text("objective");
  if (!text) return;
  out.maximize = *text != "min";
  if (!text->empty() && *text != "min" && *text != "max")
    fields.report().error(fields.object(), "wrong-type",
                          cat("UHD: objective '", *text, "' is not known; legal: min, max"));
}

void parse_score(Fields& fields, Heuristic& out) {
  const json::Value* object = fields.optional("score", json::Kind::object);
  if (object == nullptr) return;
  Fields score(*object, fields.report(), "UHD: score");
  const auto metric = score.optional_text("metric");
  const auto units = score.optional_text("units");
  out.metric = metric ? *metric : units.value_or("");
  (void)score.optional("calibrated", json::Kind::boolean);
  const std::string transform = score.optional_text("transform").value_or("identity");
  out.logarithmic = transform == "log1p";
  if (transform != "identity" && transform != "log1p")
    fields.report().error(
        *object, "wrong-type",
        cat("UHD: transform '", transform, "' is not known; legal: identity, log1p"));
  score.finish();
}

void check_revision(const json::Value& value, FileReport& report, const std::string& what) {
  if (value.kind != json::Kind::object) {
    report.error(value, "wrong-type",
                 cat(what, " must be object, found ", json::kind_name(value.kind)));
    return;
  }
  Fields fields(value, report, what);
  (void)fields.uuid("id");
  (void)fields.text("revision");
  fields.finish();
}

void check_trained_against(Fields& fields) {
  const json::Value* object = fields.optional("trained_against", json::Kind::object);
  if (object == nullptr) return;
  FileReport& report = fields.report();
  Fields inner(*object, report, "UHD: trained_against");
  for (const char* key : {"ued", "kmd"})
    if (const json::Value* entry = inner.optional(key))
      check_revision(*entry, report, cat("UHD: trained_against.", key));
  if (const json::Value* list = inner.optional("umd", json::Kind::array))
    for (const json::Value& entry : list->items)
      check_revision(entry, report, "UHD: trained_against.umd");
  (void)inner.optional_integer("feature_semantics_revision");
  inner.finish();
}

void parse_features(Fields& fields, Heuristic& out) {
  out.features = fields.text_list("features_signature");
  out.features_hash = fields.optional_text("features_hash").value_or("");
  if (!out.features_hash.empty() && !out.features_hash.starts_with("sha256:"))
    fields.report().error(fields.object(), "bad-digest",
                          "UHD: features_hash must start with 'sha256:'");
  (void)fields.optional("derived", json::Kind::array);
  (void)fields.optional("categorical_encoding", json::Kind::object);
}

void parse_tree_data(const json::Value& object, Fields& fields, const FileContext& context,
                     Heuristic& out) {
  Fields tree(object, fields.report(), "UHD: tree_data");
  const std::string file = tree.text("artifact");
  out.artifact = resolve_path(object, file, context, fields.report(), What{"UHD", "artifact"});
  out.artifact_hash = tree.text("hash");
  if (!out.artifact_hash.empty() && !Digest::from_hex(out.artifact_hash))
    fields.report().error(object, "bad-digest",
                          "UHD: tree_data.hash must be 64 lower-case hex digits");
  tree.finish();
}

/// The object named like the adapter holds its settings.
void parse_adapter(Fields& fields, const FileContext& context, Heuristic& out) {
  const std::string name = fields.text("adapter");
  const auto adapter = adapter_of(name);
  if (!adapter) {
    if (!name.empty())
      fields.report().error(fields.object(), "wrong-type",
                            cat("UHD: adapter '", name,
                                "' is not known; legal: static_order, native, tree_data, table"));
    return;
  }
  out.adapter = *adapter;
  const bool needed = *adapter == Adapter::native || *adapter == Adapter::tree_data;
  const json::Value* settings = needed ? fields.required(name, json::Kind::object)
                                       : fields.optional(name, json::Kind::object);
  if (settings == nullptr || *adapter == Adapter::table) return;
  if (*adapter == Adapter::tree_data) return parse_tree_data(*settings, fields, context, out);
  Fields inner(*settings, fields.report(), cat("UHD: ", name));
  if (*adapter == Adapter::native) out.symbol = inner.text("symbol");
  inner.finish();
}

}  // namespace

Heuristic parse_heuristic(Fields& fields, const FileContext& context) {
  Heuristic out;
  out.name = fields.text("name");
  if (fields.object().find("kind") != nullptr) {
    parse_old_form(fields, out);
    return out;
  }
  parse_adapter(fields, context, out);
  parse_features(fields, out);
  parse_objective(fields, out);
  parse_score(fields, out);
  check_trained_against(fields);
  return out;
}

}  // namespace hipplan::descriptor
