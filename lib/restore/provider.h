// What a provider offers to a plan: engines by name, and the version that diagnostics show.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace hipplan::engine {
class DispatchHandler;
}

namespace hipplan::restore {

/// A provider as restoring sees it. The built-in one is static.
struct Provider {
  std::string_view name;
  std::string_view version;
  std::vector<std::string_view> engines;
  /// Finds a dispatch handler by its versioned name; null: among those that are built in.
  const engine::DispatchHandler* (*find_handler)(std::string_view alias) = nullptr;

  /// Name of the engine with that id (FNV-1a of its name), or empty.
  [[nodiscard]] std::string_view engine_name(int64_t id) const;
};

[[nodiscard]] const Provider& built_in_provider();

}  // namespace hipplan::restore
