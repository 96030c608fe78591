// Every kind of kernel as the packer built it, on emulated GPUs, against plain formulas. What is
// not built (archives, emulator module) is skipped with a message.
#include <doctest/doctest.h>

#include <filesystem>

#include "archive/kpack.h"
#include "base/file.h"
#include "descriptor/loader.h"
#include "device_runner.h"
#include "target/target.h"

using namespace hipplan;
using namespace hipplan::test;

namespace {

const std::filesystem::path kBuild = HIPPLAN_BINARY_DIR;

/// The packed kernels of one architecture.
struct Catalogue {
  descriptor::Loaded loaded;
  std::string arch;

  Result<Image> find(const std::string& name) const {
    for (const auto& kernel : loaded.set->kernels) {
      if (kernel->name != name) continue;
      const auto& source = kernel->sources.front();
      HIPPLAN_TRY_ASSIGN(const auto archive, archive::Kpack::open(source.path));
      const std::vector<std::string> arches = {arch};
      HIPPLAN_TRY_ASSIGN(auto found,
                         archive::read_checked(archive, source.toc_key, arches, source.sha256));
      return Image{std::move(found.code), source.symbol};
    }
    return Error{Code::bad_input, "no-kernel", name, "the packed descriptors have no such kernel"};
  }
};

struct Gpu {
  std::unique_ptr<device::Device> device;
  Catalogue catalogue;
};

std::unique_ptr<Gpu> open_gpu(const std::string& target_file, const std::string& arch,
                              device::OpenOptions options) {
  const auto folder = kBuild / "share" / "hipplan" / "kernels" / arch;
  if (!std::filesystem::exists(folder)) {
    MESSAGE("skipped: no packed kernels in " << folder.string());
    return nullptr;
  }
  const auto text = read_file(std::filesystem::path(HIPPLAN_SOURCE_DIR) / "descriptors" /
                              "targets" / target_file);
  REQUIRE(text.ok());
  const auto description = target::parse_description(as_text(*text), target_file);
  REQUIRE(description.ok());
  options.module_folder = (kBuild / "lib").string();
  auto device = device::open_emulator(*description, options);
  if (!device && device.error().reason == "no-emulator") {
    MESSAGE("skipped: " << device.error().text());
    return nullptr;
  }
  REQUIRE_MESSAGE(device.ok(), (device ? "" : device.error().text()));
  auto loaded = descriptor::load({folder});
  REQUIRE(loaded.ok());
  REQUIRE(!loaded->has_errors());
  return std::make_unique<Gpu>(Gpu{std::move(*device), {std::move(*loaded), arch}});
}

void check_all(const std::string& target_file, const std::string& arch, const std::string& matrix,
               const device::OpenOptions& options = {}) {
  const auto gpu = open_gpu(target_file, arch, options);
  if (!gpu) return;
  const auto runner = device_runner(
      *gpu->device, [&](const std::string& name) { return gpu->catalogue.find(name); });
  for (const auto& cases : {pointwise_cases(), conv_fwd_cases(), matmul_cases(""),
                            matmul_cases(matrix), batchnorm_inference_cases(), sdpa_fwd_cases()}) {
    for (const auto& test : cases) check_case(test, runner);
  }
}

}  // namespace

TEST_CASE("kernels on an emulated MI300X") {
  check_all("mi300x.json", "gfx942", "mfma");
}
TEST_CASE(
    "kernels on an emulated RX 7900 XTX, in a seeded order: none races or reads unwritten memory") {
  device::OpenOptions options;
  options.check_races = options.check_uninitialized = true;
  options.schedule_seed = 5;
  check_all("rx7900xtx.json", "gfx1100", "wmma", options);
}
