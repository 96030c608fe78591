// The emulated address space: every byte a kernel touches lies in one of these allocations.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/hex.h"
#include "base/result.h"

namespace hipplan::emulator {

/// Generic addresses of this form reach LDS and private memory; the low 32 bits are the offset.
inline constexpr uint64_t kSharedAperture = 0x1000000000000ull;
inline constexpr uint64_t kPrivateAperture = 0x2000000000000ull;
/// Base address in the buffer resource that stands for private memory.
inline constexpr uint64_t kPrivateResource = 0x7fff00000000ull;
inline constexpr uint64_t kApertureMask = ~0xffffffffull;
/// Kind of the allocations that callers of the device make.
inline constexpr const char* kBufferKind = "buffer";

/// What checks and counters remember of an allocation's bytes.
struct Shadow {
  /// One slot per remembered access to a dword, see monitor_races.h.
  using Accesses = std::array<uint64_t, 4>;

  std::vector<uint8_t> written;    ///< one per byte: 1 once written; empty: all count as written
  std::vector<Accesses> accesses;  ///< one per dword; made by the first access of a launch
  std::vector<uint8_t> lines;      ///< one per 128 bytes: 1 once touched in the launch
};

/// One live allocation. `host` backs [base, base + size).
struct Allocation {
  uint64_t base = 0, size = 0;
  std::byte* host = nullptr;
  bool writable = true;
  Shadow* shadow = nullptr;  ///< null unless the address space was asked for shadows
  std::string kind;          ///< "buffer", "kernel arguments", "code object segment"

  [[nodiscard]] bool holds(uint64_t address, uint64_t bytes) const {
    return address - base <= size && bytes <= size - (address - base);
  }
};

/// Allocations by emulated address. Addresses rise and are never used twice, so that an address of
/// freed memory stays wrong. Changing it needs exclusive access; find() and nearest() may run on
/// many threads while nothing changes.
class AddressSpace {
 public:
  explicit AddressSpace(uint64_t capacity) : capacity_(capacity) {}

  /// Zero-filled memory, aligned to 256. Fails with machine/"device-memory", or "out-of-memory"
  /// when the host has too little.
  Result<uint64_t> allocate(uint64_t bytes, std::string kind);
  /// A range of addresses, aligned to 256, that allocate_at() may fill piece by piece.
  Result<uint64_t> reserve(uint64_t bytes);
  /// Zero-filled memory at a place inside a reserved range. Fails with damaged/"overlap".
  Result<void> allocate_at(uint64_t base, uint64_t bytes, std::string kind);
  /// Fails with machine/"bad-address" unless `base` is the first byte of a live allocation.
  Result<void> release(uint64_t base);
  /// Gives allocations made from now on a shadow; with `track_writes` buffers start unwritten.
  void keep_shadows(bool track_writes) {
    shadows_ = true;
    track_writes_ = track_writes;
  }
  /// Marks bytes of a buffer as written or not, where that is tracked.
  void mark(uint64_t address, uint64_t bytes, bool written) const;
  /// Forgets what the last launch did to all allocations.
  void forget_accesses() const;
  /// The live allocation that a host address backs, or null. Slow.
  [[nodiscard]] const Allocation* find_host(const std::byte* at) const;
  /// All live allocations, by address.
  template <class F>
  void for_each(F&& visit) const {
    for (const auto& [base, entry] : entries_) visit(entry.allocation);
  }

  /// Makes an allocation read-only for kernels.
  void protect(uint64_t base);

  /// The live allocation that `address` lies in, or null.
  [[nodiscard]] const Allocation* find(uint64_t address) const;
  /// Host bytes of [address, address + bytes), or machine/"bad-address".
  [[nodiscard]] Result<std::byte*> reach(uint64_t address, uint64_t bytes) const;
  /// What lies around a wrong address: "16 bytes past the end of buffer 0x100000000 (4096 bytes)".
  [[nodiscard]] std::string nearest(uint64_t address) const;

 private:
  struct Freed {
    uint64_t base = 0, size = 0;
  };
  struct HostFree {
    void operator()(std::byte* memory) const;
  };
  struct Entry {
    Allocation allocation;
    std::unique_ptr<std::byte, HostFree> owner;
    std::unique_ptr<Shadow> shadow;
  };

  uint64_t capacity_ = 0, used_ = 0;
  bool shadows_ = false, track_writes_ = false;
  uint64_t next_ = 0x100000000ull;
  std::map<uint64_t, Entry> entries_;
  std::vector<Freed> freed_;  ///< the last few, for messages
};

}  // namespace hipplan::emulator
