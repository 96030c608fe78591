// Which registers and private bytes of a wavefront nothing has written.
//
// As in Valgrind's memcheck, copying and computing with an undefined value is allowed and makes an
// undefined result; telling is left to where it matters: an address, and data that leaves for LDS
// or global memory. Vector registers are followed lane by lane, private memory byte by byte, scalar
// registers as a whole, and only until they are first written. Writing a part of a register counts
// as writing all of it, and what comes from other lanes or from a register chosen at run time
// counts as defined, so that correct kernels give no report.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/emulator/program.h"
#include "device/emulator/wave.h"

namespace hipplan::emulator {

class RegisterCheck {
 public:
  /// A wavefront starts: what the launch puts into registers is defined.
  void start_wave(const Wave& wave, const Setup& setup);
  /// Before an operation. Tells of an address that nothing has written, as a message and a lane.
  struct Report {
    std::string what;
    int lane = -1;
  };
  std::optional<Report> before(const Wave& wave, const Op& op, const ProgramLine& line);
  /// A lane of a memory operation touches private bytes; call between before() and after().
  struct PrivateAccess {
    uint64_t offset = 0;
    unsigned word = 0;  ///< of what the instruction loads, where several operations load it
    int lane = 0;
    bool write = false;
  };
  void private_access(const Wave& wave, const Op& op, const PrivateAccess& access);
  /// A lane's data leave for LDS or global memory.
  std::optional<Report> stored(const Wave& wave, const Op& op, int lane) const;
  void after(const Wave& wave, const Op& op, const ProgramLine& line);

 private:
  struct State {
    std::array<uint64_t, kVectorRows> undefined{};  ///< one bit per lane
    std::array<bool, scalar::kCount> scalar_undefined{};
    std::vector<uint8_t> written;  ///< one per private byte
  };
  void mark(State& state, unsigned row, uint64_t lanes, uint64_t undefined) const;
  /// Lanes of any of the source's registers, or of the first `words`.
  [[nodiscard]] uint64_t undefined_rows(const State& state, const Wave& wave, const Source& source,
                                        unsigned which, unsigned words = kVectorRows) const;
  void flow_in(const State& state, const Wave& wave, const Op& op, const ProgramLine& line);

  std::vector<State> waves_;
  // Between before() and after():
  uint64_t exec_ = 0;
  /// Lanes whose result is undefined: its first register, and the others. Low words come from low
  /// words, as in v_mad_u64_u32 with an addend whose upper half does not matter.
  uint64_t incoming_ = 0, incoming_above_ = 0;
  std::array<uint64_t, 32> loaded_{};  ///< undefined lanes by dword of a load from private memory
};

}  // namespace hipplan::emulator
