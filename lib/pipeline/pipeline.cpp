#include "pipeline/pipeline.h"

namespace hipplan::pipeline {

Result<Baked> bake_matched(match::MatchResult matched, const graph::Graph& graph,
                           const target::Description& target, capture::Capturer& capturer,
                           const BakeOptions& options, std::string* explanation) {
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

Result<Baked> bake(const graph::Graph& graph, const target::Description& target, Catalog& catalog,
                   capture::Capturer& capturer, const BakeOptions& options,
                   const DiagnosticSink& sink, std::string* explanation) {
  HIPPLAN_TRY_ASSIGN(auto descriptors, catalog.descriptors(target.arch, sink));
  return bake_matched(match::match(graph, std::move(descriptors), target), graph, target, capturer,
                      options, explanation);
}

}  // namespace hipplan::pipeline
