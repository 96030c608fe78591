#include "json_schema.h"

#include <algorithm>
#include <filesystem>
#include <regex>

#include "base/file.h"

namespace hipplan::test {
namespace {

using json::Kind;
using json::Value;

Error bad(const std::string& where, const std::string& what) {
  return {.code = Code::bad_input, .reason = "schema", .where = where, .what = what};
}

bool is_type(const Value& value, const std::string& type) {
  if (type == "integer") return value.kind == Kind::integer;
  if (type == "number") return value.kind == Kind::integer || value.kind == Kind::number;
  return type == json::kind_name(value.kind);
}

bool equal(const Value& a, const Value& b) {
  return a.kind == b.kind && json::print(a) == json::print(b);
}

const std::string* text_of(const Value& schema, const char* key) {
  const Value* found = schema.find(key);
  return found != nullptr && found->kind == Kind::string ? &found->string : nullptr;
}

}  // namespace

/// One walk over a document; `file` is the schema file that references are relative to.
struct Schemas::Checker {
  const Schemas& schemas;
  std::vector<std::string> faults;

  void fault(const std::string& place, const std::string& what) {
    faults.push_back((place.empty() ? "document" : place) + ": " + what);
  }

  bool fits(const Value& value, const Value& schema, const std::string& file) const {
    Checker inner{schemas, {}};
    inner.walk(value, schema, file, "");
    return inner.faults.empty();
  }

  void walk(const Value& value, const Value& schema, std::string file, const std::string& place) {
    if (schema.kind == Kind::boolean) {
      if (!schema.boolean) fault(place, "nothing is allowed here");
      return;
    }
    if (const auto* to = text_of(schema, "$ref")) {
      std::string other = file;
      const Value* target = schemas.refer(*to, other);
      walk(value, *target, other, place);
    }
    check_value(value, schema, place);
    check_choice(value, schema, file, place);
    if (value.kind == Kind::object) check_object(value, schema, file, place);
    if (value.kind == Kind::array) check_array(value, schema, file, place);
  }

  void check_value(const Value& value, const Value& schema, const std::string& place) {
    if (const Value* type = schema.find("type")) {
      bool good = type->kind == Kind::string && is_type(value, type->string);
      for (const Value& one : type->items) good |= is_type(value, one.string);
      if (!good)
        fault(place, cat("is ", json::kind_name(value.kind), ", not ", json::print(*type)));
    }
    if (const Value* constant = schema.find("const"); constant && !equal(value, *constant))
      fault(place, cat("is ", json::print(value), ", not ", json::print(*constant)));
    if (const Value* list = schema.find("enum"))
      if (std::none_of(list->items.begin(), list->items.end(),
                       [&](const Value& one) { return equal(one, value); }))
        fault(place, cat(json::print(value), " is none of ", json::print(*list)));
    const bool numeric = is_type(value, "number");
    if (const Value* least = schema.find("minimum"); least && numeric)
      if (value.number < least->number) fault(place, cat("is below ", json::print(*least)));
    if (const auto* pattern = text_of(schema, "pattern"); pattern && value.kind == Kind::string)
      if (!std::regex_search(value.string, std::regex(*pattern)))
        fault(place, cat("'", value.string, "' does not match ", *pattern));
  }

  void check_choice(const Value& value, const Value& schema, const std::string& file,
                    const std::string& place) {
    for (const bool one : {true, false}) {
      const Value* list = schema.find(one ? "oneOf" : "anyOf");
      if (list == nullptr) continue;
      const auto fitting =
          std::count_if(list->items.begin(), list->items.end(),
                        [&](const Value& choice) { return fits(value, choice, file); });
      if (fitting == 0 || (one && fitting > 1))
        fault(place, cat("fits ", fitting, " of the ", list->items.size(), " choices"));
    }
  }

  void check_object(const Value& value, const Value& schema, const std::string& file,
                    const std::string& place) {
    const Value* required = schema.find("required");
    for (const Value& name : required ? required->items : std::vector<Value>{})
      if (value.find(name.string) == nullptr) fault(place, cat("has no field '", name.string, "'"));
    const Value* properties = schema.find("properties");
    const Value* rest = schema.find("additionalProperties");
    for (const auto& [name, member] : value.members) {
      const std::string inner = place.empty() ? name : place + "." + name;
      const Value* known = properties ? properties->find(name) : nullptr;
      if (known != nullptr)
        walk(member, *known, file, inner);
      else if (rest != nullptr && rest->kind == Kind::boolean && !rest->boolean)
        fault(inner, "is a field that the schema does not know");
      else if (rest != nullptr)
        walk(member, *rest, file, inner);
    }
  }

  void check_array(const Value& value, const Value& schema, const std::string& file,
                   const std::string& place) {
    if (const Value* least = schema.find("minItems"))
      if (static_cast<int64_t>(value.items.size()) < least->integer)
        fault(place, cat("has only ", value.items.size(), " items"));
    const Value* items = schema.find("items");
    for (size_t i = 0; items != nullptr && i < value.items.size(); ++i)
      walk(value.items[i], *items, file, cat(place, "[", i, "]"));
  }
};

const Value* Schemas::refer(const std::string& to, std::string& file) const {
  const size_t hash = std::min(to.find('#'), to.size());
  if (hash != 0) file = to.substr(0, hash);
  const auto found = files_.find(file);
  if (found == files_.end()) return nullptr;
  if (hash == to.size()) return &found->second;
  constexpr std::string_view kDefinitions = "#/$defs/";
  if (to.compare(hash, kDefinitions.size(), kDefinitions) != 0) return nullptr;
  const Value* definitions = found->second.find("$defs");
  return definitions ? definitions->find(to.substr(hash + kDefinitions.size())) : nullptr;
}

Result<void> Schemas::check_words(const Value& schema, const std::string& place) const {
  static const std::vector<std::string> kKnown = {
      "$schema", "$id",   "$ref",     "$defs",   "title",    "description", "type",
      "const",   "enum",  "minimum",  "pattern", "required", "properties",  "additionalProperties",
      "items",   "oneOf", "minItems", "anyOf"};
  for (const auto& [name, value] : schema.members)
    if (std::find(kKnown.begin(), kKnown.end(), name) == kKnown.end())
      return bad(place, "keyword '" + name + "' is not known to this check");
  const Value* properties = schema.find("properties");
  if (properties != nullptr && schema.find("additionalProperties") == nullptr)
    return bad(place, "does not say whether other fields are allowed");
  if (const Value* required = schema.find("required"))
    for (const Value& name : required->items)
      if (properties == nullptr || properties->find(name.string) == nullptr)
        return bad(place, "requires '" + name.string + "', which is no property");
  return {};
}

Result<void> Schemas::check_form(const Value& schema, const std::string& file,
                                 const std::string& place) const {
  if (schema.kind == Kind::boolean) return {};
  if (schema.kind != Kind::object) return bad(place, "is no schema");
  HIPPLAN_TRY(check_words(schema, place));
  if (const auto* to = text_of(schema, "$ref")) {
    std::string other = file;
    if (refer(*to, other) == nullptr) return bad(place, "refers to '" + *to + "', which is not");
  }
  for (const char* key : {"properties", "$defs"})
    if (const Value* group = schema.find(key))
      for (const auto& [name, inner] : group->members)
        HIPPLAN_TRY(check_form(inner, file, place + "/" + key + "/" + name));
  for (const char* key : {"items", "additionalProperties"})
    if (const Value* inner = schema.find(key))
      HIPPLAN_TRY(check_form(*inner, file, place + "/" + key));
  for (const char* key : {"oneOf", "anyOf"})
    if (const Value* list = schema.find(key))
      for (const Value& inner : list->items)
        HIPPLAN_TRY(check_form(inner, file, place + "/" + key));
  return {};
}

Result<Schemas> Schemas::from(const std::map<std::string, std::string>& texts) {
  Schemas out;
  for (const auto& [name, text] : texts) {
    HIPPLAN_TRY_ASSIGN(auto value, json::parse(text, name));
    out.files_.emplace(name, std::move(value));
  }
  for (const auto& [name, schema] : out.files_) HIPPLAN_TRY(out.check_form(schema, name, name));
  return out;
}

Result<Schemas> Schemas::load(const std::string& folder) {
  std::map<std::string, std::string> texts;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.find(".schema.json") == std::string::npos) continue;
    HIPPLAN_TRY_ASSIGN(const auto bytes, read_file(entry.path().string(), 1 << 20));
    texts[name] = as_text(bytes);
  }
  return from(texts);
}

std::vector<std::string> Schemas::check(const Value& document, const std::string& file) const {
  const auto found = files_.find(file);
  if (found == files_.end()) return {"there is no schema " + file};
  Checker checker{*this, {}};
  checker.walk(document, found->second, file, "");
  return checker.faults;
}

}  // namespace hipplan::test
