#include <doctest/doctest.h>

#include "target/code_object_target.h"
#include "target/nvidia.h"
#include "target/target.h"

using namespace hipplan;
using target::nvidia_runs;

TEST_CASE("machine code of NVIDIA GPUs runs on the same major, not on an older minor") {
  CHECK(nvidia_runs("sm_80", "sm_80"));
  CHECK(nvidia_runs("sm_80", "sm_86"));
  CHECK(nvidia_runs("sm_80", "sm_89"));
  CHECK_FALSE(nvidia_runs("sm_86", "sm_80"));
  CHECK_FALSE(nvidia_runs("sm_80", "sm_90"));
  CHECK_FALSE(nvidia_runs("sm_90", "sm_89"));
  CHECK_FALSE(nvidia_runs("sm_90", "sm_100"));
  CHECK(nvidia_runs("sm_120", "sm_121"));
}

TEST_CASE("code for one architecture alone, and for its family") {
  CHECK(nvidia_runs("sm_90a", "sm_90"));
  CHECK_FALSE(nvidia_runs("sm_100a", "sm_103"));
  CHECK(nvidia_runs("sm_100f", "sm_103"));
  CHECK_FALSE(nvidia_runs("sm_100f", "sm_110"));
  CHECK(nvidia_runs("compute_90a", "sm_90"));
  CHECK_FALSE(nvidia_runs("compute_90a", "sm_100"));
}

TEST_CASE("PTX runs on the same and on every newer GPU") {
  CHECK(nvidia_runs("compute_80", "sm_80"));
  CHECK(nvidia_runs("compute_80", "sm_90"));
  CHECK(nvidia_runs("compute_80", "sm_120"));
  CHECK_FALSE(nvidia_runs("compute_80", "sm_75"));
  CHECK_FALSE(nvidia_runs("compute_90", "sm_89"));
  CHECK_FALSE(nvidia_runs("compute_80", "compute_80"));
}

TEST_CASE("names that are no NVIDIA architecture") {
  for (const char* name : {"", "sm_", "sm_9", "sm_090", "sm_9x", "sm_90b", "sm_1000", "sm_90aa",
                           "sm_+90", "compute_", "gfx942", "sm90", "SM_90"}) {
    CAPTURE(name);
    CHECK_FALSE(target::parse_nvidia(name).has_value());
    CHECK_FALSE(nvidia_runs(name, "sm_90"));
    CHECK_FALSE(nvidia_runs("compute_80", name));
  }
  CHECK(target::Arch::parse("SM_90").ok());
  CHECK_FALSE(target::Arch::parse("sm_9").ok());
  CHECK_FALSE(target::Arch::parse("sm_90:xnack+").ok());
}

TEST_CASE("where kernels for an NVIDIA GPU are looked for") {
  using List = std::vector<std::string>;
  CHECK(target::base_order("sm_80") == List{"sm_80", "compute_80"});
  CHECK(target::base_order("sm_82") == List{"sm_82", "sm_81", "sm_80", "compute_80"});
  CHECK(target::base_order("sm_90") == List{"sm_90", "compute_80"});
  CHECK(target::base_order("sm_70") == List{"sm_70"});
  CHECK(target::base_order("gfx942") == List{"gfx942", "gfx9-4-generic"});
  CHECK(target::lookup_order(*target::Arch::parse("sm_81")) ==
        List{"sm_81", "sm_80", "compute_80"});
  CHECK(target::generic_family("sm_120") == "compute_80");
  CHECK_FALSE(target::generic_family("sm_75").has_value());
  CHECK_FALSE(target::generic_family("compute_80").has_value());
}

TEST_CASE("code_loads_on knows both makers and mixes neither") {
  const auto arch = [](const char* text) { return *target::Arch::parse(text); };
  CHECK(target::code_loads_on(arch("sm_80"), arch("sm_86")));
  CHECK(target::code_loads_on(arch("compute_80"), arch("sm_90")));
  CHECK_FALSE(target::code_loads_on(arch("gfx942"), arch("sm_90")));
  CHECK_FALSE(target::code_loads_on(arch("sm_90"), arch("gfx942")));
}
