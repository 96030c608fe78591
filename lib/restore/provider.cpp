#include "restore/provider.h"

#include "base/hash.h"
#include "base/version.h"

namespace hipplan::restore {

std::string_view Provider::engine_name(int64_t id) const {
  for (const std::string_view engine : engines)
    if (engine_id(engine) == id) return engine;
  return {};
}

const Provider& built_in_provider() {
  static const Provider kProvider = {"hipplan",
                                     kVersion,
                                     {"hipplan:BatchnormInference", "hipplan:ConvFwd",
                                      "hipplan:Matmul", "hipplan:Pointwise", "hipplan:SdpaFwd"}};
  return kProvider;
}

}  // namespace hipplan::restore
