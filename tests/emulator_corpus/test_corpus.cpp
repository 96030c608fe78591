// The corpus on every architecture at two levels of optimisation: once as it is, and once with the
// checks on and the wavefronts in a seeded order, where right kernels must give no report.
#include <unistd.h>

#include "corpus.h"

using namespace hipplan;
using namespace hipplan::test;

namespace {

void run_all(Emulated& gpu, uint32_t lanes) {
  run_elementwise(gpu);
  run_conversions(gpu);
  run_reductions(gpu, lanes);
  run_matrices(gpu, lanes);
  run_sorting(gpu);
  run_integers(gpu);
  run_private_memory(gpu);
}

void run_architecture(const std::string& arch) {
  const auto description = device_for(arch);
  for (const char* level : {"O1", "O3"}) {
    const std::string path =
        std::string(HIPPLAN_CORPUS_FOLDER) + "/corpus_" + arch + "_" + level + ".hsaco";
    CAPTURE(path);
    const auto code = read_file(path);
    REQUIRE(code.ok());
    for (const bool checked : {false, true}) {
      CAPTURE(checked);
      device::OpenOptions options;
      options.jobs = 1;
      options.check_races = options.check_uninitialized = checked;
      options.schedule_seed = checked ? 17 : 0;
      Emulated gpu(description, options);
      gpu.load(*code);
      run_all(gpu, description.wavefront_size);
    }
  }
}

}  // namespace

TEST_CASE("corpus on gfx90a") {
  run_architecture("gfx90a");
}
TEST_CASE("corpus on gfx942") {
  run_architecture("gfx942");
}
TEST_CASE("corpus on gfx950") {
  run_architecture("gfx950");
}
TEST_CASE("corpus on gfx1100") {
  run_architecture("gfx1100");
}
TEST_CASE("corpus on gfx1151") {
  run_architecture("gfx1151");
}
TEST_CASE("corpus on gfx1201") {
  run_architecture("gfx1201");
}
