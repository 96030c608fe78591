// What every device must do, whatever is behind it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "device/device.h"

namespace hipplan::test {

/// One way to open a device. A backend that cannot be opened here says why in `skip`.
struct Backend {
  std::string name;
  std::string arch;      ///< code objects are compiled for it
  bool executes = true;  ///< false: launches are recorded only
  std::function<Result<std::unique_ptr<device::Device>>()> open;
  /// Has events, gates, replays and facts. False: each of them must be refused as not supported.
  bool times = false;
};

/// Doctest checks of one backend; `code` is the conformance kernels for its architecture.
void check_memory(const Backend& backend);
void check_modules(const Backend& backend, ByteView code);
void check_launches(const Backend& backend, ByteView code);
void check_threads(const Backend& backend, ByteView code);
void check_timing(const Backend& backend, ByteView code);
void check_replays(const Backend& backend, ByteView code);
void check_facts(const Backend& backend);

}  // namespace hipplan::test
