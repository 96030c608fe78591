#include "pack/served.h"

#include <algorithm>

#include "base/file.h"
#include "graph/graph.h"
#include "match/match.h"
#include "target/nvidia.h"

namespace hipplan::pack {
namespace {

constexpr size_t kMaxReasons = 8;

void refuse(const std::string& graph, const match::MatchResult& result, const std::string& target,
            ValidateReport& report) {
  std::string text = "no kernel serves the graph on " + target;
  size_t shown = 0;
  for (const match::Reason& reason : result.reasons) {
    if (shown++ == kMaxReasons) {
      text += cat("; and ", result.reasons.size() - kMaxReasons, " more");
      break;
    }
    text += cat("; ", reason.engine, reason.pack.empty() ? "" : ", " + reason.pack,
                reason.kernel.empty() ? "" : ", " + reason.kernel, ": ", reason.text);
  }
  report.diagnostics.push_back({Severity::note, "not-served", graph, std::move(text)});
}

/// Whether a set holds packs for a target at all.
bool covers(const descriptor::DescriptorSet& set, const target::Arch& arch) {
  const auto order = target::base_order(arch.base);
  return std::any_of(set.packs.begin(), set.packs.end(), [&](const auto& pack) {
    return pack->arch.empty() ||
           std::any_of(pack->arch.begin(), pack->arch.end(), [&](const std::string& entry) {
             return std::find(order.begin(), order.end(), entry) != order.end();
           });
  });
}

}  // namespace

Result<void> check_served(const std::shared_ptr<const descriptor::DescriptorSet>& set,
                          const ValidateOptions& options, ValidateReport& report) {
  for (const std::filesystem::path& path : options.graphs) {
    HIPPLAN_TRY_ASSIGN(const FileView text, FileView::open(path));
    HIPPLAN_TRY_ASSIGN(const graph::Graph graph,
                       graph::read_graph(as_text(text.view()), path.string(), {}, {}));
    std::string served;
    for (const target::Description& target : options.targets) {
      if (!covers(*set, target.arch)) continue;
      const match::MatchResult result = match::match(graph, set, target);
      if (result.served())
        served += (served.empty() ? "" : ", ") + target.arch.text();
      else
        refuse(path.string(), result, target.arch.text(), report);
    }
    if (served.empty())
      report.fault(Code::negative, "not-served", path.string(), "no kernel serves the graph");
    else
      report.diagnostics.push_back(
          {Severity::note, "served", path.string(), "served on " + served});
  }
  return {};
}

}  // namespace hipplan::pack
