#include "device/device.h"

#include <algorithm>

#include "codeobject/codeobject.h"

namespace hipplan::device {

Result<std::unique_ptr<Module>> Device::load(ByteView code_object) {
  HIPPLAN_TRY_ASSIGN(const auto parsed, codeobject::parse(code_object, "code object"));
  return load(code_object, parsed);
}

target::Description with_facts(target::Description known, const Facts& facts) {
  const auto take = [](uint32_t& into, uint32_t told) {
    if (told != 0) into = told;
  };
  known.name = facts.name;
  known.arch = facts.arch;
  known.memory_bytes = facts.memory_bytes;
  known.last_level_cache_bytes =
      std::max(known.last_level_cache_bytes, facts.last_level_cache_bytes);
  take(known.wavefront_size, facts.wavefront_size);
  take(known.compute_units, facts.compute_units);
  take(known.max_workgroup_size, facts.max_workgroup_size);
  take(known.lds_bytes_per_workgroup, facts.lds_bytes_per_workgroup);
  if (facts.clock_khz != 0) known.clock_ghz = facts.clock_khz / 1e6;
  return known;
}

}  // namespace hipplan::device
