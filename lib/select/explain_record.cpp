// The record of a decision for people, from its JSON form alone.
#include <array>

#include "base/harmless.h"
#include "json/json.h"
#include "select/select.h"

namespace hipplan::select {
namespace {

using json::Kind;
using json::Value;

/// Texts of a record have no lines, so nothing in them makes one.
std::string text_of(const Value& object, std::string_view key) {
  const Value* found = object.find(key);
  return found != nullptr && found->kind == Kind::string ? harmless(found->string) : std::string();
}

const std::vector<Value>& items_of(const Value& object, std::string_view key) {
  static const std::vector<Value> kNone;
  const Value* found = object.find(key);
  return found != nullptr ? found->items : kNone;
}

std::string joined_names(const std::vector<Value>& names, const char* separator) {
  std::string out;
  for (const Value& name : names) out += (out.empty() ? "" : separator) + harmless(name.string);
  return out;
}

std::string rule_sentence(const std::string& rule) {
  constexpr std::array<std::pair<std::string_view, const char*>, 7> kSentences = {
      {{"only", "nothing else could serve"},
       {"pinned", "it was asked for"},
       {"measured", "it was measured to be faster"},
       {"heuristic", "the heuristic ranks it first"},
       {"priority", "it has the higher priority"},
       {"id", "all else being equal, its id is smaller"},
       {"preferred", "the graph prefers it"}}};
  for (const auto& [name, sentence] : kSentences)
    if (name == rule) return sentence;
  return "rule " + rule;
}

std::string knob_text(const Value& value) {
  if (value.kind == Kind::string) return harmless(value.string);
  if (value.kind == Kind::number) return cat(value.number);
  if (value.kind != Kind::array) return json::print(value);
  std::string out;
  for (const Value& item : value.items) out += (out.empty() ? "" : ", ") + json::print(item);
  return "[" + out + "]";
}

void add_ranked(const Value& entry, const std::string& unit, size_t place, std::string& out) {
  out += cat("  ", place, ". ", text_of(entry, "kernel"), " (", text_of(entry, "id"), ")");
  if (const Value* seconds = entry.find("measured_seconds"))
    out += cat(", measured ", seconds->number * 1e6, " us");
  if (const Value* score = entry.find("score"))
    out += cat(", estimated ", score->number, " ", unit);
  if (const Value* priority = entry.find("priority"); priority && priority->integer != 0)
    out += cat(", priority ", priority->integer);
  if (place > 1) out += ", behind by " + text_of(entry, "lost_by");
  out += "\n";
}

void add_refused(const Value& group, std::string& out) {
  out += "  " + text_of(group, "engine");
  const std::string pack = text_of(group, "pack");
  if (!pack.empty()) out += ", pack '" + pack + "'";
  const auto& kernels = items_of(group, "kernels");
  if (kernels.size() == 1) out += ", kernel " + harmless(kernels.front().string);
  if (kernels.size() > 1)
    out += cat(", ", kernels.size(), " kernels (", joined_names(kernels, ", "), ")");
  out += ": " + text_of(group, "text") + " [" + text_of(group, "reason") + ", " +
         text_of(group, "by") + "]\n";
}

std::string explain_parsed(const Value& record) {
  const Value* engine = record.find("engine");
  std::string out =
      "engine " + text_of(*engine, "name") + ": " + rule_sentence(text_of(*engine, "rule")) + "\n";
  if (const auto& others = items_of(*engine, "others"); !others.empty())
    out += "other engines that could serve: " + joined_names(others, " ") + "\n";
  if (const Value* knobs = record.find("knobs"))
    for (const auto& [name, value] : knobs->members)
      out += "knob " + harmless(name) + " = " + knob_text(value) + "\n";
  const auto& ranking = items_of(record, "ranking");
  if (!ranking.empty())
    out += "kernel " + text_of(ranking.front(), "kernel") + ": " +
           rule_sentence(text_of(record, "rule")) + "\n";
  const Value* objective = record.find("objective");
  const std::string unit = objective ? text_of(*objective, "unit") : "";
  out += "candidates, best first";
  if (objective) out += " (" + text_of(*objective, "best") + " estimate wins)";
  out += ":\n";
  for (size_t i = 0; i < ranking.size(); ++i) add_ranked(ranking[i], unit, i + 1, out);
  const auto& refused = items_of(record, "refused");
  if (!refused.empty()) out += "refused:\n";
  for (const Value& group : refused) add_refused(group, out);
  return out;
}

}  // namespace

Result<std::string> explain_record(const std::string& reasons, const std::string& where) {
  HIPPLAN_TRY_ASSIGN(const auto record, json::parse(reasons, where + ": reasons"));
  const std::string schema = text_of(record, "schema");
  const Value* engine = record.find("engine");
  if (schema != "hipplan.reasons/1" || engine == nullptr)
    return Error{.code = Code::unusable,
                 .reason = "reasons-version",
                 .where = where,
                 .what = "the record of the decisions is of a kind that this version does not know",
                 .expected = "hipplan.reasons/1",
                 .found = schema,
                 .advice = "--json prints it as it is"};
  return explain_parsed(record);
}

}  // namespace hipplan::select
