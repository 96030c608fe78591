#include "codeobject/architectures.h"

#include <iterator>

#include "base/hex.h"

namespace hipplan::codeobject {
namespace {

struct Machine {
  uint8_t number;
  std::string_view name;
};

// LLVM's AMDGPU user guide, "EF_AMDGPU_MACH values".
constexpr Machine kMachines[] = {
    {0x20, "gfx600"},          {0x21, "gfx601"},          {0x22, "gfx700"},
    {0x23, "gfx701"},          {0x24, "gfx702"},          {0x25, "gfx703"},
    {0x26, "gfx704"},          {0x28, "gfx801"},          {0x29, "gfx802"},
    {0x2a, "gfx803"},          {0x2b, "gfx810"},          {0x2c, "gfx900"},
    {0x2d, "gfx902"},          {0x2e, "gfx904"},          {0x2f, "gfx906"},
    {0x30, "gfx908"},          {0x31, "gfx909"},          {0x32, "gfx90c"},
    {0x33, "gfx1010"},         {0x34, "gfx1011"},         {0x35, "gfx1012"},
    {0x36, "gfx1030"},         {0x37, "gfx1031"},         {0x38, "gfx1032"},
    {0x39, "gfx1033"},         {0x3a, "gfx602"},          {0x3b, "gfx705"},
    {0x3c, "gfx805"},          {0x3d, "gfx1035"},         {0x3e, "gfx1034"},
    {0x3f, "gfx90a"},          {0x41, "gfx1100"},         {0x42, "gfx1013"},
    {0x43, "gfx1150"},         {0x44, "gfx1103"},         {0x45, "gfx1036"},
    {0x46, "gfx1101"},         {0x47, "gfx1102"},         {0x48, "gfx1200"},
    {0x49, "gfx1250"},         {0x4a, "gfx1151"},         {0x4c, "gfx942"},
    {0x4e, "gfx1201"},         {0x4f, "gfx950"},          {0x51, "gfx9-generic"},
    {0x52, "gfx10-1-generic"}, {0x53, "gfx10-3-generic"}, {0x54, "gfx11-generic"},
    {0x55, "gfx1152"},         {0x58, "gfx1153"},         {0x59, "gfx12-generic"},
    {0x5a, "gfx1251"},         {0x5f, "gfx9-4-generic"},
};

constexpr uint32_t kMachineMask = 0xff;
constexpr uint32_t kXnackShift = 8, kSrameccShift = 10;
constexpr uint32_t kGenericVersionShift = 24;

/// Two-bit feature settings: 0 unsupported, 1 any, 2 off, 3 on.
void add_feature(target::Arch& arch, const char* name, uint32_t setting) {
  if (setting >= 2) arch.features.emplace_back(name, setting == 3);
}

}  // namespace

std::string_view machine_name(uint32_t e_flags) {
  for (const Machine& machine : kMachines)
    if (machine.number == (e_flags & kMachineMask)) return machine.name;
  return {};
}

std::optional<uint32_t> machine_number(std::string_view name) {
  for (const Machine& machine : kMachines)
    if (machine.name == name) return machine.number;
  return std::nullopt;
}

Result<target::Arch> arch_of_flags(uint32_t e_flags, uint32_t version, const std::string& where) {
  const auto fail = [&](std::string what, std::string expected) {
    return Error{Code::damaged,
                 "code-object-flags",
                 where + ": ELF header, e_flags",
                 std::move(what),
                 std::move(expected),
                 hex(e_flags),
                 ""};
  };
  target::Arch arch;
  arch.base = std::string(machine_name(e_flags));
  if (arch.base.empty()) {
    Error error = fail("the machine number is not of an AMD GPU known here",
                       hex(kMachines[0].number) + " to " +
                           hex(std::prev(std::end(kMachines))->number) + ", where assigned");
    error.code = Code::unusable;  // most likely a GPU that came later
    error.reason = "code-object-version";
    error.found = hex(e_flags & kMachineMask) + " in e_flags " + hex(e_flags);
    error.advice = kNewerReader;
    return error;
  }
  const uint32_t generic_version = e_flags >> kGenericVersionShift;
  if (arch.base.ends_with("-generic")) {
    if (version < 6) return fail("a generic architecture needs code object version 6", "version 6");
    if (generic_version == 0)
      return fail("a generic code object has no generic version", "1 or more");
  } else if (generic_version != 0) {
    return fail("a generic version on an architecture that is not generic", "0 in bits 24 to 31");
  }
  if ((e_flags & 0x00fff000u) != 0) return fail("reserved bits are set", "0 in bits 12 to 23");
  // Sorted by name, as target::Arch wants them.
  add_feature(arch, "sramecc", (e_flags >> kSrameccShift) & 3);
  add_feature(arch, "xnack", (e_flags >> kXnackShift) & 3);
  return arch;
}

}  // namespace hipplan::codeobject
