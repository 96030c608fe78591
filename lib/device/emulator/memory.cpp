#include "device/emulator/memory.h"

#include <cstdlib>
#include <cstring>
#include <functional>

#include "device/errors.h"

namespace hipplan::emulator {

namespace {

constexpr uint64_t kAlignment = 256;
constexpr uint64_t kGap = 0x10000;  ///< unmapped bytes between two allocations
constexpr size_t kRemembered = 256;

}  // namespace

void AddressSpace::HostFree::operator()(std::byte* memory) const {
  std::free(memory);
}

Result<uint64_t> AddressSpace::reserve(uint64_t bytes) {
  const auto rounded = checked_add<uint64_t>(bytes, kGap + kAlignment);
  if (!rounded || next_ + *rounded < next_ || next_ + *rounded >= kSharedAperture)
    return Error{.code = Code::machine,
                 .reason = "device-memory",
                 .what = "the emulated address space is used up",
                 .found = cat(bytes, " bytes")};
  const uint64_t base = next_;
  next_ += (*rounded + kAlignment - 1) / kAlignment * kAlignment;
  return base;
}

Result<void> AddressSpace::allocate_at(uint64_t base, uint64_t bytes, std::string kind) {
  if (bytes > capacity_ - used_) return device::no_memory("", bytes, capacity_ - used_, capacity_);
  const auto above = entries_.lower_bound(base);
  const bool hits_above = above != entries_.end() && above->first - base < bytes + (bytes == 0);
  const bool hits_below = above != entries_.begin() &&
                          base - std::prev(above)->first < std::prev(above)->second.allocation.size;
  if (hits_above || hits_below)
    return Error{
        .code = Code::damaged, .reason = "overlap", .what = "two pieces of memory overlap"};
  auto* host = static_cast<std::byte*>(std::calloc(bytes == 0 ? 1 : bytes, 1));
  if (host == nullptr)
    return Error{.code = Code::machine,
                 .reason = "out-of-memory",
                 .what = "the host has not enough memory",
                 .found = cat(bytes, " bytes")};
  Entry entry;
  entry.owner.reset(host);
  entry.allocation = {
      .base = base, .size = bytes, .host = host, .writable = true, .kind = std::move(kind)};
  if (shadows_) {
    entry.shadow = std::make_unique<Shadow>();
    entry.allocation.shadow = entry.shadow.get();
    if (track_writes_ && entry.allocation.kind == kBufferKind) entry.shadow->written.resize(bytes);
  }
  used_ += bytes;
  entries_.emplace(base, std::move(entry));
  return {};
}

Result<uint64_t> AddressSpace::allocate(uint64_t bytes, std::string kind) {
  if (bytes > capacity_ - used_) return device::no_memory("", bytes, capacity_ - used_, capacity_);
  HIPPLAN_TRY_ASSIGN(const uint64_t base, reserve(bytes));
  HIPPLAN_TRY(allocate_at(base, bytes, std::move(kind)));
  return base;
}

Result<void> AddressSpace::release(uint64_t base) {
  const auto found = entries_.find(base);
  if (found == entries_.end()) {
    Error error = device::not_allocated("", base);
    error.found = nearest(base);
    return error;
  }
  const Allocation& gone = found->second.allocation;
  used_ -= gone.size;
  if (freed_.size() == kRemembered) freed_.erase(freed_.begin());
  freed_.push_back({gone.base, gone.size});
  entries_.erase(found);
  return {};
}

void AddressSpace::mark(uint64_t address, uint64_t bytes, bool written) const {
  const Allocation* found = find(address);
  if (found == nullptr || found->shadow == nullptr || !found->holds(address, bytes)) return;
  std::vector<uint8_t>& bits = found->shadow->written;
  if (bits.empty() || bytes == 0) return;
  std::memset(bits.data() + (address - found->base), written ? 1 : 0, bytes);
}

void AddressSpace::forget_accesses() const {
  for (const auto& [base, entry] : entries_) {
    if (!entry.shadow) continue;
    entry.shadow->accesses.clear();
    entry.shadow->lines.clear();
  }
}

const Allocation* AddressSpace::find_host(const std::byte* at) const {
  for (const auto& [base, entry] : entries_) {
    const Allocation& one = entry.allocation;
    if (std::less_equal<>()(one.host, at) && std::less<>()(at, one.host + one.size)) return &one;
  }
  return nullptr;
}

void AddressSpace::protect(uint64_t base) {
  const auto found = entries_.find(base);
  if (found != entries_.end()) found->second.allocation.writable = false;
}

const Allocation* AddressSpace::find(uint64_t address) const {
  auto above = entries_.upper_bound(address);
  if (above == entries_.begin()) return nullptr;
  const Allocation& candidate = std::prev(above)->second.allocation;
  return candidate.holds(address, 0) ? &candidate : nullptr;
}

Result<std::byte*> AddressSpace::reach(uint64_t address, uint64_t bytes) const {
  const Allocation* found = find(address);
  if (found == nullptr || !found->holds(address, bytes))
    return Error{.code = Code::machine,
                 .reason = "bad-address",
                 .what = cat(hex(address), " with ", bytes, " bytes is not inside one allocation"),
                 .found = nearest(address)};
  return found->host + (address - found->base);
}

std::string AddressSpace::nearest(uint64_t address) const {
  for (const Freed& freed : freed_)
    if (address - freed.base < freed.size)
      return cat(address - freed.base, " bytes into freed memory at ", hex(freed.base), " (",
                 freed.size, " bytes)");
  const auto name = [](const Allocation& one) {
    return cat(one.kind, " at ", hex(one.base), " (", one.size, " bytes)");
  };
  const auto above = entries_.upper_bound(address);
  const Allocation* below =
      above == entries_.begin() ? nullptr : &std::prev(above)->second.allocation;
  if (below != nullptr && address - below->base < below->size)
    return cat(address - below->base, " bytes into the ", name(*below));
  const uint64_t past = below == nullptr ? UINT64_MAX : address - below->base - below->size;
  const uint64_t before = above == entries_.end() ? UINT64_MAX : above->first - address;
  if (below != nullptr && past <= before)
    return cat(past, " bytes past the end of the ", name(*below));
  if (above != entries_.end())
    return cat(before, " bytes before the ", name(above->second.allocation));
  return "no allocation is live";
}

}  // namespace hipplan::emulator
