// Dispatch handlers, the restore half: named launch values -> grid, block, LDS and argument bytes.
// Nothing here sees a graph; building a plan and restoring one go through the same functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/launch_value.h"
#include "base/result.h"
#include "codeobject/codeobject.h"
#include "device/device.h"

namespace hipplan::engine {

/// What a contract says about one value. Bounds are inclusive.
struct ValueRule {
  enum class Type { boolean, integer, number, text, integer_list };
  std::string name;
  Type type = Type::integer;
  int64_t min = INT64_MIN, max = INT64_MAX;      ///< for integers and each list element
  double min_number = 0, max_number = 0;         ///< for numbers; equal: no bound
  bool exact_float32 = false;                    ///< a number must be representable as float
  std::vector<std::string> choices;              ///< for text; empty: any
  size_t min_length = 0, max_length = SIZE_MAX;  ///< for lists
};

/// A tensor pointer that a launch takes, by uid; which argument it fills is the handler's affair.
struct Binding {
  int64_t uid = 0;
  bool written = false;
  uint32_t min_alignment = 1;  ///< bytes
  uint64_t min_bytes = 0;      ///< bytes from the pointer that the kernel may touch
};

/// A launch ready to go except for the addresses.
struct PreparedLaunch {
  std::string launch_name;  ///< empty for single-launch kernels; else a key of `sources`
  device::Dim3 grid, block;
  uint32_t dynamic_lds_bytes = 0;
  Bytes arguments;  ///< explicit arguments with null pointers
  /// Offsets in `arguments` (8 bytes each) to patch: a binding's position, or kWorkspace.
  static constexpr size_t kWorkspace = SIZE_MAX;
  struct Patch {
    uint32_t offset = 0;
    size_t binding = 0;
    uint64_t add = 0;  ///< bytes added to the address
  };
  std::vector<Patch> patches;
};

/// Everything needed to run: immutable, shareable by threads.
struct PreparedKernel {
  std::vector<Binding> bindings;
  std::vector<PreparedLaunch> launches;  ///< in launch order
  uint64_t workspace_bytes = 0;
};

/// A handler. `name` is what descriptors use ("hipplan.conv_fwd.dispatch"), `alias` is what plans
/// store ("hipplan.conv_fwd.dispatch.v1"). Instances are static and immutable.
class DispatchHandler {
 public:
  virtual ~DispatchHandler() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual std::string_view alias() const = 0;
  [[nodiscard]] virtual const std::vector<ValueRule>& contract() const = 0;
  [[nodiscard]] virtual bool can_save() const { return true; }
  /// Launch names a kernel of this handler must have; empty: one launch without a name.
  [[nodiscard]] virtual std::vector<std::string> launch_names() const { return {}; }
  /// The explicit arguments a launch's kernel must take: kind, size and offset are compared.
  [[nodiscard]] virtual std::vector<codeobject::Argument> signature(
      std::string_view launch_name) const = 0;
  /// Derives the launches. Values have passed check_values(); rules between values are checked here
  /// (unusable, reason "launch-values").
  virtual Result<PreparedKernel> prepare(const LaunchValues& values) const = 0;
};

/// All handlers, in order of alias.
[[nodiscard]] const std::vector<const DispatchHandler*>& handlers();
[[nodiscard]] const DispatchHandler* find_by_alias(std::string_view alias);
[[nodiscard]] const DispatchHandler* find_by_name(std::string_view name);

/// Complete, nothing extra, right types, in range. Fails with unusable, reason "launch-values".
Result<void> check_values(const DispatchHandler& handler, const LaunchValues& values);
/// Typed access after check_values().
[[nodiscard]] int64_t integer(const LaunchValues& values, std::string_view name);
[[nodiscard]] double number(const LaunchValues& values, std::string_view name);
[[nodiscard]] bool flag(const LaunchValues& values, std::string_view name);
[[nodiscard]] const std::string& text(const LaunchValues& values, std::string_view name);
[[nodiscard]] const std::vector<int64_t>& list(const LaunchValues& values, std::string_view name);

}  // namespace hipplan::engine
