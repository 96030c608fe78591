// Text of what one wavefront does, instruction by instruction.
#pragma once

#include "device/emulator/dispatch.h"

namespace hipplan::emulator {

class Tracer {
 public:
  Tracer(device::Trace options, const Program& program);

  void before(const Wave& wave, const Op& op);
  void after(const Wave& wave, const Op& op);

 private:
  [[nodiscard]] bool watches(const Wave& wave) const;
  /// The kernel has this row of the vector registers.
  [[nodiscard]] bool owns(unsigned row) const;
  void print_all(const Wave& wave) const;

  device::Trace options_;
  const Program& program_;
  std::vector<uint32_t> scalars_;  ///< before the operation
  std::vector<Row> rows_;
  bool scc_ = false;
};

}  // namespace hipplan::emulator
