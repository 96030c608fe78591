#include "engine/batchnorm_inference/dispatch.h"

#include "engine/dispatch_support.h"

namespace hipplan::engine::batchnorm_inference {

namespace {

constexpr std::string_view kAlias = "hipplan.batchnorm_inference.dispatch.v1";

class Handler final : public DispatchHandler {
 public:
  std::string_view name() const override { return "hipplan.batchnorm_inference.dispatch"; }
  std::string_view alias() const override { return kAlias; }
  const std::vector<ValueRule>& contract() const override {
    static const std::vector<ValueRule> rules;
    return rules;
  }
  std::vector<codeobject::Argument> signature(std::string_view) const override { return {}; }
  Result<PreparedKernel> prepare(const LaunchValues&) const override {
    return launch_error(kAlias, "not served yet");
  }
};

}  // namespace

const DispatchHandler& dispatch_handler() {
  static const Handler handler;
  return handler;
}

}  // namespace hipplan::engine::batchnorm_inference
