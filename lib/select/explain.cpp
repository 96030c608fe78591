// The record of a decision for people.
#include <algorithm>
#include <set>

#include "base/harmless.h"
#include "select/ranking.h"

namespace hipplan::select {
namespace {

void add_reasons(const std::vector<match::Reason>& reasons, std::string& out) {
  for (const ReasonGroup& group : grouped(reasons)) {
    const match::Reason& reason = *group.reason;
    std::string line = "  " + reason.engine;
    if (!reason.pack.empty()) line += ", pack '" + reason.pack + "'";
    if (!group.kernels.empty()) {
      line += group.kernels.size() == 1
                  ? ", kernel "
                  : ", " + std::to_string(group.kernels.size()) + " kernels (";
      for (size_t i = 0; i < group.kernels.size(); ++i)
        line += (i == 0 ? "" : ", ") + group.kernels[i];
      if (group.kernels.size() > 1) line += ")";
    }
    line += ": " + reason.text + " [" + reason.reason + ", " + reason.by + "]";
    out += harmless(line) + "\n";
  }
}

/// The reason of one engine that tells most, and how many others it has. Of reasons of one kind
/// the last stands for all; that a kernel is for another type comes after everything else.
std::string engine_clause(const match::MatchResult& matched, const std::string& engine) {
  std::vector<const match::Reason*> kinds;
  std::set<std::string> texts;
  for (const ReasonGroup& group : grouped(matched.reasons)) {
    if (group.reason->engine != engine) continue;
    texts.insert(group.reason->text);
    const auto same = std::find_if(kinds.begin(), kinds.end(), [&](const match::Reason* held) {
      return held->reason == group.reason->reason;
    });
    if (same == kinds.end())
      kinds.push_back(group.reason);
    else
      *same = group.reason;
  }
  if (kinds.empty()) return "";
  const auto telling = std::find_if(kinds.begin(), kinds.end(), [](const match::Reason* reason) {
    return reason->reason != "kernel-dtype";
  });
  const match::Reason& first = telling == kinds.end() ? *kinds.front() : **telling;
  const std::string others = texts.size() == 1 ? ""
                             : texts.size() == 2
                                 ? " (and another reason)"
                                 : cat(" (and ", texts.size() - 1, " other reasons)");
  return harmless(cat(engine, ": ", first.text, others));
}

/// Whether an engine refused only because the graph holds other nodes than its own.
bool is_foreign(const match::MatchResult& matched, const std::string& engine) {
  return std::any_of(matched.reasons.begin(), matched.reasons.end(),
                     [&](const match::Reason& reason) {
                       return reason.engine == engine && reason.reason == "nodes";
                     });
}

}  // namespace

namespace {

/// Lines of engines for other nodes than the graph's: what they all say of the graph stands once,
/// and those that name a node of the graph come first.
std::vector<std::string> foreign_lines(const std::vector<std::string>& clauses) {
  constexpr std::string_view kSays = ": the graph is ", kServes = "; this engine ";
  std::string graph;
  std::vector<std::string> with_node, others;
  for (const std::string& clause : clauses) {
    const size_t says = clause.find(kSays), serves = clause.find(kServes);
    if (says == std::string::npos || serves == std::string::npos || serves < says) return clauses;
    const std::string of_graph = clause.substr(says + 2, serves - says - 2);
    if (!graph.empty() && of_graph != graph) return clauses;
    graph = of_graph;
    const std::string served = clause.substr(serves + kServes.size());
    bool named = false;  // a node type of the graph
    for (size_t at = says + kSays.size(); at < serves;) {
      const size_t end = std::min(clause.find(", ", at), serves);
      named = named || served.find(" " + clause.substr(at, end - at)) != std::string::npos;
      at = end + 2;
    }
    (named ? with_node : others).push_back(clause.substr(0, says) + " " + served);
  }
  std::vector<std::string> out = {graph};
  out.insert(out.end(), with_node.begin(), with_node.end());
  out.insert(out.end(), others.begin(), others.end());
  return out;
}

}  // namespace

std::vector<std::string> refusal_lines(const match::MatchResult& matched, std::string_view engine) {
  std::vector<std::string> close, foreign;
  for (const match::EngineMatch& entry : matched.engines) {
    const std::string& name = entry.engine->name;
    if (!engine.empty() && name != engine) continue;
    const std::string clause = engine_clause(matched, name);
    if (!clause.empty()) (is_foreign(matched, name) ? foreign : close).push_back(clause);
  }
  if (!close.empty()) return close;
  if (foreign.empty()) return {"the descriptor set has no engine"};
  return foreign.size() == 1 ? foreign : foreign_lines(foreign);
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
