#include "descriptor/reader.h"

#include <algorithm>

#include "base/result.h"
#include "target/nvidia.h"

namespace hipplan::descriptor {

void FileReport::error(const json::Value& at, const char* reason, std::string text) {
  failed = true;
  diagnostics.push_back({Severity::error, reason, json::place(file, at), std::move(text)});
}

void FileReport::warning(const json::Value& at, const char* reason, std::string text) {
  diagnostics.push_back({Severity::warning, reason, json::place(file, at), std::move(text)});
}

std::string What::text() const {
  std::string out(object);
  if (key.empty()) return out;
  out.append(": '").append(key);
  if (!inner.empty()) out.append(".").append(inner);
  return out.append("'");
}

Fields::Fields(const json::Value& object, FileReport& report, std::string_view what)
    : object_(object), report_(report), what_(what) {
  if (object.members.size() > 64)
    report.error(object, "unknown-key",
                 cat(what_, ": ", object.members.size(), " keys are too many"));
}

const json::Value* Fields::optional(std::string_view key) {
  const size_t count = std::min<size_t>(object_.members.size(), 64);
  for (size_t i = 0; i < count; ++i) {
    if (object_.members[i].first != key) continue;
    used_ |= uint64_t{1} << i;
    return &object_.members[i].second;
  }
  return nullptr;
}

const json::Value* Fields::optional(std::string_view key, json::Kind kind) {
  return of_kind(optional(key), key, kind);
}

const json::Value* Fields::of_kind(const json::Value* value, std::string_view key,
                                   json::Kind kind) {
  if (value == nullptr || value->kind == kind) return value;
  report_.error(*value, "wrong-type",
                cat(what_, ": '", key, "' must be ", json::kind_name(kind), ", found ",
                    json::kind_name(value->kind)));
  return nullptr;
}

const json::Value* Fields::required(std::string_view key, json::Kind kind) {
  const json::Value* value = optional(key);
  if (value == nullptr)
    report_.error(object_, "missing-key", cat(what_, ": '", key, "' is missing"));
  return value == nullptr ? nullptr : of_kind(value, key, kind);
}

std::string Fields::text(std::string_view key) {
  const json::Value* value = required(key, json::Kind::string);
  return value == nullptr ? std::string() : text_of(*value, report_, What{what_, key});
}

std::optional<std::string> Fields::optional_text(std::string_view key) {
  const json::Value* value = optional(key, json::Kind::string);
  if (value == nullptr) return std::nullopt;
  return text_of(*value, report_, What{what_, key});
}

Uuid Fields::uuid(std::string_view key) {
  const json::Value* value = required(key, json::Kind::string);
  if (value == nullptr) return {};
  return uuid_of(*value, report_, What{what_, key}).value_or(Uuid{});
}

std::optional<Uuid> Fields::optional_uuid(std::string_view key) {
  const json::Value* value = optional(key, json::Kind::string);
  if (value == nullptr) return std::nullopt;
  return uuid_of(*value, report_, What{what_, key});
}

std::vector<std::string> Fields::text_list(std::string_view key) {
  std::vector<std::string> out;
  const json::Value* list = optional(key, json::Kind::array);
  if (list == nullptr) return out;
  for (const json::Value& item : list->items) {
    const std::string text = text_of(item, report_, What{what_, key});
    if (std::find(out.begin(), out.end(), text) != out.end())
      report_.error(item, "duplicate-entry", cat(what_, ": '", key, "' lists '", text, "' twice"));
    out.push_back(text);
  }
  return out;
}

std::optional<int64_t> Fields::optional_integer(std::string_view key) {
  const json::Value* value = optional(key, json::Kind::integer);
  if (value == nullptr) return std::nullopt;
  return value->integer;
}

void Fields::finish() {
  const size_t count = std::min<size_t>(object_.members.size(), 64);
  for (size_t i = 0; i < count; ++i) {
    if ((used_ >> i & 1) != 0) continue;
    const auto& [key, value] = object_.members[i];
    report_.error(value, "unknown-key", cat(what_, ": key '", key, "' is not known"));
  }
}

std::string text_of(const json::Value& value, FileReport& report, const What& what) {
  if (value.kind != json::Kind::string) {
    report.error(value, "wrong-type",
                 cat(what.text(), " must be string, found ", json::kind_name(value.kind)));
    return {};
  }
  if (value.string.empty()) report.error(value, "empty-string", cat(what.text(), " is empty"));
  return value.string;
}

std::optional<Uuid> uuid_of(const json::Value& value, FileReport& report, const What& what) {
  const std::string text = text_of(value, report, what);
  if (text.empty()) return std::nullopt;
  auto id = Uuid::parse(text);
  if (!id)
    report.error(value, "bad-uuid",
                 cat(what.text(), " must be a UUID in the form 8-4-4-4-12, found '",
                     text.substr(0, 80), "'"));
  return id;
}

namespace {

std::optional<ValueData> list_of(const json::Value& value, FileReport& report, const What& what) {
  std::vector<int64_t> out;
  out.reserve(value.items.size());
  for (const json::Value& item : value.items) {
    if (item.kind != json::Kind::integer) {
      report.error(item, "wrong-type", cat(what.text(), ": list entries must be integers"));
      return std::nullopt;
    }
    out.push_back(item.integer);
  }
  return ValueData(std::move(out));
}

}  // namespace

std::optional<ValueData> data_of(const json::Value& value, FileReport& report, const What& what) {
  switch (value.kind) {
    case json::Kind::boolean:
      return ValueData(value.boolean);
    case json::Kind::integer:
      return ValueData(value.integer);
    case json::Kind::number:
      return ValueData(value.number);
    case json::Kind::string:
      return ValueData(text_of(value, report, what));
    case json::Kind::array:
      return list_of(value, report, what);
    default:
      report.error(value, "wrong-type",
                   cat(what.text(), " must be bool, int, float, string or a list of ints, found ",
                       json::kind_name(value.kind)));
      return std::nullopt;
  }
}

bool is_base_arch(std::string_view text) {
  if (target::parse_nvidia(text)) return true;
  if (text.size() < 4 || !text.starts_with("gfx")) return false;
  return std::all_of(text.begin() + 3, text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

std::vector<std::string> arch_list(Fields& fields) {
  std::vector<std::string> out = fields.text_list("arch");
  for (const std::string& arch : out) {
    if (arch.empty() || is_base_arch(arch)) continue;
    const bool features = arch.find(':') != std::string::npos;
    fields.report().error(
        fields.object(), "bad-arch",
        features
            ? cat(fields.what(), ": arch '", arch, "' has a feature suffix; list the base id alone")
            : cat(fields.what(), ": arch '", arch,
                  "' must be gfx and then letters, digits, '-' or '_', or sm_90 and the like"));
  }
  std::sort(out.begin(), out.end());
  return out;
}

bool same_json(const json::Value& a, const json::Value& b) {
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case json::Kind::null:
      return true;
    case json::Kind::boolean:
      return a.boolean == b.boolean;
    case json::Kind::integer:
      return a.integer == b.integer;
    case json::Kind::number:
      return a.number == b.number;
    case json::Kind::string:
      return a.string == b.string;
    case json::Kind::array:
      return a.items.size() == b.items.size() &&
             std::equal(a.items.begin(), a.items.end(), b.items.begin(), same_json);
    case json::Kind::object:
      break;
  }
  if (a.members.size() != b.members.size()) return false;
  for (size_t i = 0; i < a.members.size(); ++i) {
    const auto& [key, value] = a.members[i];
    // Copies of one file agree in order; look by name only when they do not.
    const json::Value* other = b.members[i].first == key ? &b.members[i].second : b.find(key);
    if (other == nullptr || !same_json(value, *other)) return false;
  }
  return true;
}

}  // namespace hipplan::descriptor
