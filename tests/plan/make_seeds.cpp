// Writes the seed corpora of the plan fuzzers: make_plan_seeds FOLDER (tests/fuzz/corpus).
#include <cstdio>

#include "flat.h"
#include "plan/bundle.h"
#include "sample.h"

using namespace hipplan;
using namespace hipplan::test;

namespace {

plan::Plan small_plan(unsigned number) {
  auto out = sample_plan(number);
  out.payload.kernels = {sample_kernel("", sample_code(number, 48))};
  return out;
}

plan::Plan several_launches() {
  auto out = small_plan(3);
  out.payload.kernels.push_back(out.payload.kernels[0]);
  out.payload.kernels[0].launch_name = "main";
  out.payload.kernels[1].launch_name = "reduce";
  return out;
}

/// Enough plans for their texts to share frames.
std::vector<plan::Plan> wordy_plans() {
  std::vector<plan::Plan> out;
  for (unsigned i = 0; i < 3; ++i)
    for (const char* target : {"gfx942", "gfx1100"}) out.push_back(wordy_plan(i, target));
  return out;
}

bool put(const std::filesystem::path& path, const Result<Bytes>& bytes) {
  std::filesystem::create_directories(path.parent_path());
  return bytes.ok() && write_file(path, *bytes).ok();
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const std::filesystem::path to = arguments[1];
  bool good = put(to / "fuzz_payload/one", plan::encode_payload(small_plan(1).payload)) &&
              put(to / "fuzz_payload/several", plan::encode_payload(several_launches().payload)) &&
              put(to / "fuzz_envelope/one", plan::encode_bare_plan(small_plan(1))) &&
              put(to / "fuzz_envelope/several", plan::encode_bare_plan(several_launches())) &&
              put(to / "fuzz_container/one", file_of({small_plan(1)})) &&
              put(to / "fuzz_container/two", file_of({small_plan(1), several_launches()})) &&
              put(to / "fuzz_container/grouped", file_of(wordy_plans())) &&
              put(to / "fuzz_foreign/plan_1", hipdnn_plan(1, ingestor_payload(Bytes(20)))) &&
              put(to / "fuzz_foreign/plan_2", hipdnn_plan(2, Bytes(5))) &&
              put(to / "fuzz_foreign/container", hipdnn_container(Bytes(5), hipdnn_plan(2, {})));
  const ScratchFolder folder;
  good = good && write_file(folder / "a.hplan", file_of({small_plan(1)})).ok() &&
         write_file(folder / "b.hplan", file_of({small_plan(2)})).ok();
  std::filesystem::create_directories(to / "fuzz_bundle");
  // "two" beside it is by a writer without seals, and is kept.
  good = good && plan::write_bundle(folder.path(), to / "fuzz_bundle/sealed").ok();
  if (!good) std::fprintf(stderr, "a seed could not be made\n");
  return good ? 0 : 1;
}
