#include "engine/check.h"

#include <algorithm>

#include "base/result.h"
#include "engine/dispatch.h"
#include "engine/registry.h"

namespace hipplan::engine {
namespace {

using descriptor::Adapter;

class NativeCheck {
 public:
  explicit NativeCheck(std::vector<Diagnostic>& out) : out_(out) {}

  void engine(const descriptor::Engine& engine) {
    if (!engine.graph_match.empty() && find_graph_matcher(engine.graph_match) == nullptr)
      unregistered(engine.origin, cat("engine '", engine.name, "': graph matcher"),
                   engine.graph_match);
    heuristic(engine, engine.heuristic);
    for (const auto& [arch, entry] : engine.heuristic_by_arch) heuristic(engine, entry);
    for (const descriptor::Pack* entry : engine.packs) pack(engine, *entry);
  }

 private:
  void add(Severity severity, const char* reason, const descriptor::Origin& origin,
           std::string text) {
    out_.push_back({severity, reason, origin.file, std::move(text)});
  }
  void unregistered(const descriptor::Origin& origin, const std::string& what,
                    const std::string& symbol) {
    add(Severity::error, "unregistered-symbol", origin,
        cat(what, " '", symbol, "' is not registered"));
  }

  void heuristic(const descriptor::Engine& engine, const descriptor::Heuristic* entry) {
    if (entry == nullptr || entry->adapter == Adapter::static_order) return;
    if (entry->adapter != Adapter::native)
      return add(
          Severity::warning, "heuristic-unusable", entry->origin,
          cat("heuristic '", entry->name, "' of engine '", engine.name,
              "' is a model that this version does not evaluate; priority and id rank instead"));
    if (find_scorer(entry->symbol) == nullptr)
      unregistered(entry->origin, cat("heuristic '", entry->name, "'"), entry->symbol);
  }

  void pack(const descriptor::Engine& engine, const descriptor::Pack& pack) {
    const bool by_graph =
        std::any_of(pack.matchers.begin(), pack.matchers.end(),
                    [](const auto* matcher) { return matcher->scope == descriptor::Scope::graph; });
    if (engine.graph_match.empty() && !by_graph)
      add(Severity::error, "no-graph-matcher", pack.origin,
          cat("pack '", pack.name, "': neither the pack nor engine '", engine.name,
              "' judges the graph"));
    for (const descriptor::Matcher* matcher : pack.matchers) {
      const bool known = matcher->scope == descriptor::Scope::graph
                             ? find_graph_matcher(matcher->symbol) != nullptr
                             : find_kernel_matcher(matcher->symbol) != nullptr;
      if (!known)
        unregistered(matcher->origin, cat("matcher '", matcher->name, "'"), matcher->symbol);
    }
    const DispatchHandler* handler = find_by_name(pack.dispatch->symbol);
    if (handler == nullptr || find_launch_maker(pack.dispatch->symbol) == nullptr)
      return unregistered(pack.dispatch->origin, cat("dispatch '", pack.dispatch->name, "'"),
                          pack.dispatch->symbol);
    for (const descriptor::PackKernel& entry : pack.kernels) kernel(*entry.kernel, *handler);
  }

  void kernel(const descriptor::Kernel& kernel, const DispatchHandler& handler) {
    std::vector<std::string> wanted = handler.launch_names(), found;
    std::sort(wanted.begin(), wanted.end());
    if (kernel.multi_launch)
      for (const descriptor::Source& source : kernel.sources) found.push_back(source.launch_name);
    if (wanted != found)
      return add(Severity::error, "launch-names", kernel.origin,
                 cat("kernel '", kernel.name, "': its launches are not those of ", handler.name()));
    for (const descriptor::Source& source : kernel.sources)
      if (source.kind == descriptor::SourceKind::kpack) signature(kernel, source, handler);
  }

  void signature(const descriptor::Kernel& kernel, const descriptor::Source& source,
                 const DispatchHandler& handler) {
    const auto wanted = handler.signature(source.launch_name);
    const bool same =
        std::equal(wanted.begin(), wanted.end(), source.signature.begin(), source.signature.end(),
                   [](const codeobject::Argument& a, const descriptor::Argument& b) {
                     return a.kind == b.kind && a.size == b.size && a.offset == b.offset;
                   });
    if (!same)
      add(Severity::error, "signature", kernel.origin,
          cat("kernel '", kernel.name, "', symbol ", source.symbol,
              ": the recorded arguments are not those that ", handler.alias(), " passes"));
  }

  std::vector<Diagnostic>& out_;
};

}  // namespace

std::vector<Diagnostic> check_natives(const descriptor::DescriptorSet& set) {
  std::vector<Diagnostic> out;
  NativeCheck check(out);
  for (const auto& engine : set.engines) check.engine(*engine);
  return out;
}

}  // namespace hipplan::engine
