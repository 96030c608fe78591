// Each matrix instruction, compiled from its builtin and run by the emulator, against a plain
// product.
#include "matrix_layouts.h"
#include "probe_device.h"

using namespace hipplan;
using namespace hipplan::emulator;
using namespace hipplan::test;

namespace {

struct Target {
  const char* arch;
  const char* code_object;
  unsigned lanes;
  bool fnuz;
  unsigned kernels;  ///< how many the probe has for it
};

/// Registers lane by lane, as the probe's kernels load and store them.
std::vector<uint32_t> by_lane(const Registers& registers, unsigned lanes) {
  std::vector<uint32_t> out;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    for (const Row& row : registers.rows) out.push_back(row.lane[lane]);
  }
  return out;
}
Registers from_lanes(const std::vector<uint32_t>& words, unsigned lanes) {
  const auto count = static_cast<unsigned>(words.size() / lanes);
  Registers out(count);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    for (unsigned r = 0; r < count; ++r) out.rows[r].lane[lane] = words[lane * count + r];
  }
  return out;
}

Registers run(ProbeDevice& device, const std::string& kernel, const Registers& a,
              const Registers& b, const Registers& c, unsigned lanes) {
  const auto pa = device.upload(by_lane(a, lanes));
  const auto pb = device.upload(by_lane(b, lanes));
  const auto pc = device.upload(by_lane(c, lanes));
  const std::vector<uint32_t> poison(c.rows.size() * lanes, 0xdeadbeef);
  const auto pd = device.upload(poison);
  device.launch(kernel, 1, lanes, pa, pb, pc, pd);
  return from_lanes(device.download<uint32_t>(pd, poison.size()), lanes);
}

template <class Place>
unsigned wrong_outputs(const Problem& p, const Registers& d, const Place& place) {
  unsigned wrong = 0;
  each_output(p.shape, [&](unsigned i, unsigned j, unsigned block) {
    const uint64_t got = d.get(place(i, j, block), sum_bits(p.shape.c));
    wrong += got != encode_sum(p.shape.c, p.expected(i, j, block, block));
  });
  return wrong;
}

}  // namespace

TEST_CASE("MFMA kernels") {
  constexpr Target kTargets[] = {{"gfx90a", "matrix_gfx90a", 64, true, 27},
                                 {"gfx942", "matrix_gfx942", 64, true, 32},
                                 {"gfx950", "matrix_gfx950", 64, false, 36}};
  for (const Target& target : kTargets) {
    const std::string arch = target.arch;
    CAPTURE(arch);
    ProbeDevice device(target.arch, target.code_object, true);
    unsigned kernels = 0, seed = 1;
    uint64_t flops = 0;
    for (const MatrixShape& s : mfma_shapes()) {
      const std::string kernel(s.name.substr(2));
      if (!device.has(kernel)) continue;
      CAPTURE(kernel);
      ++kernels;
      flops += s.flops();
      const Problem p(s, seed++);
      const RegisterCounts counts = mfma_registers(s);
      Registers a(counts.a), b(counts.b), c(counts.c);
      place_mfma(p, target.fnuz, a, b, c);
      const Registers d = run(device, kernel, a, b, c, 64);
      CHECK(wrong_outputs(p, d, [&](unsigned i, unsigned j, unsigned block) {
              return mfma_output(s, i, j, block);
            }) == 0);
    }
    CHECK(kernels == target.kernels);
    CHECK(device.counters().matrix_flops == flops);
  }
}

TEST_CASE("WMMA kernels") {
  struct Case {
    Target target;
    WmmaLayout layout;
  };
  const Case kCases[] = {
      {{"gfx1100", "matrix_gfx1100", 32, false, 6}, WmmaLayout::gfx11_wave32},
      {{"gfx1100", "matrix_wave64_gfx1100", 64, false, 6}, WmmaLayout::gfx11_wave64},
      {{"gfx1151", "matrix_gfx1151", 32, false, 6}, WmmaLayout::gfx11_wave32},
      {{"gfx1201", "matrix_gfx1201", 32, false, 11}, WmmaLayout::gfx12_wave32},
  };
  for (const auto& [target, layout] : kCases) {
    const std::string code_object = target.code_object;
    CAPTURE(code_object);
    ProbeDevice device(target.arch, target.code_object, false);
    unsigned kernels = 0, seed = 50;
    for (const MatrixShape& s : wmma_shapes()) {
      const std::string kernel(s.name.substr(2));
      if (!device.has(kernel)) continue;
      CAPTURE(kernel);
      ++kernels;
      const Problem p(s, seed++);
      const RegisterCounts counts = wmma_registers(s, layout);
      Registers a(counts.a), b(counts.b), c(counts.c);
      place_wmma(p, layout, false, a, b, c);
      const Registers d = run(device, kernel, a, b, c, target.lanes);
      CHECK(wrong_outputs(p, d, [&](unsigned i, unsigned j, unsigned) {
              return wmma_output(s.c, layout, i, j, false);
            }) == 0);
    }
    CHECK(kernels == target.kernels);
  }
}
