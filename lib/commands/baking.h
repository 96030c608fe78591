// What every way to bake has in common.
#pragma once

#include <utility>

#include "base/version.h"
#include "pipeline/pipeline.h"

namespace hipplan::commands {

/// Options for a plan of this version's making.
[[nodiscard]] inline pipeline::BakeOptions bake_options(select::Request request, bool with_graph) {
  pipeline::BakeOptions out;
  out.request = std::move(request);
  out.capture.with_graph = with_graph;
  out.capture.provider_version = kVersion;
  return out;
}

}  // namespace hipplan::commands
