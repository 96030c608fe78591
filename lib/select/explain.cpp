// The record of a decision for people.
#include <algorithm>

#include "select/ranking.h"

namespace hipplan::select {
namespace {

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
  return explain_record(print_reasons(selection), "selection").value();
}

std::string explain(const match::MatchResult& matched) {
  std::string out = matched.served() ? "" : "no kernel serves the graph\n";
  out += "refused:\n";
  add_reasons(matched.reasons, out);
  return out;
}

}  // namespace hipplan::select
