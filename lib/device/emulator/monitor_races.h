// Which accesses to a dword are remembered, and which two of them race.
//
// Two accesses to the same byte race when different wavefronts make them, at least one is a plain
// write, and nothing orders them: wavefronts of one workgroup are ordered by the barriers they have
// passed, and all by release and acquire through atomics (monitor_order.h). Each dword remembers
// four accesses; a fifth that none of them covers takes the place of one of them, so that a race
// can stay unseen but none is made up.
#pragma once

#include <functional>
#include <optional>

#include "device/emulator/memory.h"

namespace hipplan::emulator {

enum class AccessKind : uint8_t { read, write, atomic };

/// One access to bytes of a dword, packed into 64 bits. 0 is none.
struct RaceAccess {
  static constexpr uint64_t kGroups = 1u << 20, kOps = 1u << 16, kEpochs = 1u << 17;

  uint32_t bytes = 0;  ///< bit i: byte i of the dword
  AccessKind kind = AccessKind::read;
  uint32_t wave = 0;   ///< in its workgroup
  uint64_t group = 0;  ///< number, modulo kGroups
  uint64_t epoch = 0;  ///< barriers passed, modulo kEpochs
  uint64_t op = 0;     ///< operation number; kOps - 1 for all from there on

  [[nodiscard]] uint64_t pack() const;
  static RaceAccess unpack(uint64_t bits);
};

/// Compares `access` with what the dword remembers, and remembers it. Gives the access that it
/// races with, if any; `before` says whether an access happened before this one all the same.
std::optional<RaceAccess> note_access(Shadow::Accesses& slots, const RaceAccess& access,
                                      const std::function<bool(const RaceAccess&)>& before);

}  // namespace hipplan::emulator
