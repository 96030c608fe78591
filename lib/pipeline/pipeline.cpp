#include "pipeline/pipeline.h"

#include "match/match.h"

namespace hipplan::pipeline {

Result<Baked> bake(const graph::Graph& graph, const target::Description& target, Catalog& catalog,
                   capture::Capturer& capturer, const BakeOptions& options,
                   const DiagnosticSink& sink, std::string* explanation) {
  HIPPLAN_TRY_ASSIGN(auto descriptors, catalog.descriptors(target.arch, sink));
  match::MatchResult matched = match::match(graph, std::move(descriptors), target);
  if (explanation != nullptr && !matched.served()) *explanation = select::explain(matched);
  HIPPLAN_TRY_ASSIGN(const auto selection,
                     select::select(std::move(matched), graph, target, options.request));
  Baked out;
  if (explanation != nullptr) *explanation = select::explain(selection);
  out.engine = selection.chosen.engine->name;
  out.kernel = selection.chosen.kernel->kernel->name;
  HIPPLAN_TRY_ASSIGN(out.plan, capturer.capture(selection, graph, target, options.capture));
  return out;
}

}  // namespace hipplan::pipeline
