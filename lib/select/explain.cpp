// The record of a decision for people.
#include <algorithm>

#include "select/ranking.h"

namespace hipplan::select {
namespace {

const char* rule_sentence(Rule rule) {
  constexpr const char* kSentences[] = {
      "nothing else could serve",     "it was asked for",
      "it was measured to be faster", "the heuristic ranks it first",
      "it has the higher priority",   "all else being equal, its id is smaller",
      "the graph prefers it"};
  return kSentences[static_cast<size_t>(rule)];
}

void add_reasons(const std::vector<match::Reason>& reasons, std::string& out) {
  for (const ReasonGroup& group : grouped(reasons)) {
    const match::Reason& reason = *group.reason;
    out += "  " + reason.engine;
    if (!reason.pack.empty()) out += ", pack '" + reason.pack + "'";
    if (!group.kernels.empty()) {
      out += group.kernels.size() == 1 ? ", kernel "
                                       : ", " + std::to_string(group.kernels.size()) + " kernels (";
      for (size_t i = 0; i < group.kernels.size(); ++i)
        out += (i == 0 ? "" : ", ") + group.kernels[i];
      if (group.kernels.size() > 1) out += ")";
    }
    out += ": " + reason.text + " [" + reason.reason + ", " + reason.by + "]\n";
  }
}

void add_ranked(const Ranked& entry, const Selection& selection, size_t place, std::string& out) {
  const descriptor::Kernel& kernel = *entry.candidate->kernel->kernel;
  out += "  " + std::to_string(place) + ". " + kernel.name + " (" + kernel.id.text() + ")";
  if (entry.measured_seconds) out += cat(", measured ", *entry.measured_seconds * 1e6, " us");
  if (entry.score) out += cat(", estimated ", *entry.score, " ", selection.score_unit);
  if (kernel.priority != 0) out += cat(", priority ", kernel.priority);
  if (place > 1) out += cat(", behind by ", rule_name(entry.lost_by));
  out += "\n";
}

/// Refusals of one engine as one clause: its own, or those of its packs and kernels.
std::string engine_clause(const match::MatchResult& matched, const std::string& engine) {
  std::vector<std::string> texts;
  for (const ReasonGroup& group : grouped(matched.reasons)) {
    if (group.reason->engine != engine) continue;
    if (std::find(texts.begin(), texts.end(), group.reason->text) == texts.end())
      texts.push_back(group.reason->text);
  }
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? engine + ": " : " | ") + text;
  return out;
}

/// Whether an engine refused only because the graph holds other nodes than its own.
bool is_foreign(const match::MatchResult& matched, const std::string& engine) {
  return std::any_of(matched.reasons.begin(), matched.reasons.end(),
                     [&](const match::Reason& reason) {
                       return reason.engine == engine && reason.reason == "nodes";
                     });
}

}  // namespace

std::string refusal_summary(const match::MatchResult& matched, std::string_view engine) {
  std::string close, foreign;
  for (const match::EngineMatch& entry : matched.engines) {
    const std::string& name = entry.engine->name;
    if (!engine.empty() && name != engine) continue;
    std::string& to = is_foreign(matched, name) ? foreign : close;
    const std::string clause = engine_clause(matched, name);
    if (!clause.empty()) to += (to.empty() ? "" : "; ") + clause;
  }
  if (!close.empty()) return close;
  return foreign.empty() ? "the descriptor set has no engine" : foreign;
}

std::string explain(const Selection& selection) {
  std::string out = "engine " + selection.chosen.engine->name + ": " +
                    rule_sentence(selection.engine_rule) + "\n";
  if (!selection.other_engines.empty()) {
    out += "other engines that could serve:";
    for (const std::string& name : selection.other_engines) out += " " + name;
    out += "\n";
  }
  for (const Knob& knob : selection.knobs)
    out += "knob " + knob.name + " = " + value_text(knob.value) + "\n";
  out += "kernel " + selection.chosen.kernel->kernel->name + ": " +
         rule_sentence(selection.kernel_rule) + "\n";
  out += "candidates, best first";
  if (!selection.score_unit.empty())
    out += cat(" (", selection.score_maximize ? "largest" : "smallest", " estimate wins)");
  out += ":\n";
  for (size_t i = 0; i < selection.ranking.size(); ++i)
    add_ranked(selection.ranking[i], selection, i + 1, out);
  if (!selection.match->reasons.empty()) out += "refused:\n";
  add_reasons(selection.match->reasons, out);
  return out;
}

std::string explain(const match::MatchResult& matched) {
  std::string out = matched.served() ? "" : "no kernel serves the graph\n";
  out += "refused:\n";
  add_reasons(matched.reasons, out);
  return out;
}

}  // namespace hipplan::select
