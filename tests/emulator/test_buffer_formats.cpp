// Formatted buffer loads and stores: every data format with every number format, against the
// formats' definitions.
#include <unistd.h>

#include "buffer_format_kernels.h"
#include "buffer_format_model.h"
#include "emulated.h"

using namespace hipplan;
using namespace hipplan::test;

namespace {

Result<void> launch(Emulated& gpu, const char* kernel, device::Address memory, const Resource& r) {
  return gpu.launch(kernel, {1}, {32}, memory, r.words[0], r.words[1], r.words[2], r.words[3]);
}

void check_loads(Emulated& gpu, const std::string& arch) {
  const auto memory = memory_of();
  const auto in = gpu.put(memory);
  const auto out = gpu.reserve(32 * 16);
  for (const Format& f : formats_of(arch)) {
    CAPTURE(f.code);
    for (const uint32_t select : {kIdentity, uint32_t{6 | 1 << 3 | 0 << 6 | 4 << 9}}) {
      const Resource r = resource(arch, in, f, 16, 30, select);
      const auto check = [&](const char* kernel, int width) {
        check_ok(launch(gpu, kernel, out, r));
        const auto got = gpu.get<uint8_t>(out, 32 * 16);
        for (size_t lane = 0; lane < 32; ++lane)
          for (size_t i = 0; i < 4; ++i) {
            uint32_t value = 0;
            std::memcpy(&value, got.data() + (lane * 4 + i) * static_cast<size_t>(width / 8),
                        static_cast<size_t>(width / 8));
            const unsigned which = select >> (3 * i) & 7u;
            const uint32_t want =
                lane < 30 ? loaded(f, memory.data() + lane * 16, which, width) : 0;
            if (!same_value(value, want, is_integer(f), width))
              FAIL_CHECK(f.number, " lane ", lane, " component ", i, " got ", value, " want ",
                         want);
          }
      };
      check("loads", 32);
      check("halves", 16);
    }
  }
}

/// The bytes of an element after a store of four registers, or of `count`.
std::vector<uint8_t> stored(const Format& f, const float* values, size_t count, int width) {
  std::vector<uint8_t> element(f.bytes());
  size_t at = 0;
  for (size_t i = 0; i < f.widths.size(); ++i) {
    const int w = f.widths[i];
    uint32_t code = 0;
    const uint32_t bits = bits_of(values[i]);
    if (i < count && is_integer(f))
      code = integer_code(f.number, w, width == 16 ? bits & 0xffffu : bits, width);
    else if (i < count && width == 16)
      code = w == 32 ? bits_of(static_cast<float>(float_value(bits & 0xffffu, 16)))
                     : code_of(f.number, w, float_value(bits & 0xffffu, 16));
    else if (i < count)
      code = w == 32 ? bits : code_of(f.number, w, static_cast<double>(values[i]));
    for (size_t b = 0; b < static_cast<size_t>(w); ++b, ++at)
      element[at / 8] = static_cast<uint8_t>(element[at / 8] | (code >> b & 1u) << (at % 8));
  }
  return element;
}
bool same_element(const Format& f, const uint8_t* got, const std::vector<uint8_t>& want) {
  for (size_t i = 0; i < f.widths.size(); ++i) {
    const uint32_t a = component(f, got, i), b = component(f, want.data(), i);
    const int w = f.widths[i];
    const bool nan =
        f.number == "FLOAT" && std::isnan(float_value(a, w)) && std::isnan(float_value(b, w));
    if (a != b && !nan) return false;
  }
  return true;
}

/// Halves of the values, each in the lower half of a word for stored(); and packed for the GPU.
struct HalfValues {
  std::vector<float> words;
  std::vector<uint16_t> packed;
  HalfValues(const std::vector<float>& values, bool integers) {
    for (const float value : values) {
      const uint32_t code =
          integers ? bits_of(value) & 0xffffu : half_code(static_cast<double>(value));
      float word = 0;
      std::memcpy(&word, &code, 4);
      words.push_back(word);
      packed.push_back(static_cast<uint16_t>(code));
    }
  }
};

void check_stores(Emulated& gpu, const std::string& arch) {
  for (const Format& f : formats_of(arch)) {
    CAPTURE(f.code);
    const auto values = is_integer(f) ? integers_of() : values_of();
    const HalfValues half(values, is_integer(f));
    const auto in = gpu.put(values), half_in = gpu.put(half.packed);
    const auto check = [&](const char* kernel, device::Address from, int width, bool parts) {
      const auto out = gpu.put(std::vector<uint8_t>(33 * 16, 0xa5));
      const Resource r = resource(arch, out, f, 16, 30);
      check_ok(launch(gpu, kernel, from, r));
      const auto got = gpu.get<uint8_t>(out, 32 * 16);
      for (size_t lane = 0; lane < 32; ++lane) {
        const float* value = (width == 16 ? half.words : values).data() + lane * 4;
        const size_t written = lane < 30 ? f.bytes() : 0, count = parts ? lane % 3 + 1 : 4;
        CHECK_MESSAGE((written == 0 ||
                       same_element(f, got.data() + lane * 16, stored(f, value, count, width))),
                      kernel, " ", f.number, " lane ", lane);
        CHECK(std::all_of(got.begin() + static_cast<ptrdiff_t>(lane * 16 + written),
                          got.begin() + static_cast<ptrdiff_t>(lane * 16 + 16),
                          [](uint8_t byte) { return byte == 0xa5; }));
      }
    };
    check("stores", in, 32, false);
    check("part_stores", in, 32, true);
    check("half_stores", half_in, 16, false);
  }
}

void check_typed(Emulated& gpu, const std::string& arch) {
  const auto memory = memory_of();
  const auto in = gpu.put(memory);
  const auto formats = formats_of(arch);
  const auto out = gpu.reserve(formats.size() * 32 * 16);
  const Resource r = resource(arch, in, {{}, "", 5}, 16, 30);
  check_ok(launch(gpu, "typed_loads", out, r));
  const auto got = gpu.get<uint32_t>(out, formats.size() * 128);
  check_ok(launch(gpu, "typed_halves", out, r));
  const auto halves = gpu.get<uint16_t>(out, formats.size() * 128);
  const auto values = values_of();
  const auto target = gpu.put(std::vector<uint8_t>(formats.size() * 512, 0x5a));
  const Resource to = resource(arch, target, {{}, "", 5}, 16, 30);
  check_ok(gpu.launch("typed_stores", {1}, {32}, gpu.put(values), to.words[0], to.words[1],
                      to.words[2], to.words[3], 512u));
  const auto elements = gpu.get<uint8_t>(target, formats.size() * 512);
  for (const Format& f : formats) {
    CAPTURE(f.code);
    for (size_t lane = 0; lane < 32; ++lane) {
      for (unsigned i = 0; i < 4; ++i) {
        const uint32_t want = lane < 30 ? loaded(f, memory.data() + lane * 16, 4 + i, 32) : 0;
        CHECK(same_value(got[(f.code * 32 + lane) * 4 + i], want, is_integer(f), 32));
        const uint32_t half = lane < 30 ? loaded(f, memory.data() + lane * 16, 4 + i, 16) : 0;
        CHECK(same_value(halves[(f.code * 32 + lane) * 4 + i], half, is_integer(f), 16));
      }
      const uint8_t* element = elements.data() + f.code * 512 + lane * 16;
      if (lane < 30 && !f.widths.empty())
        CHECK(same_element(f, element, stored(f, values.data() + lane * 4, 4, 32)));
      CHECK(std::all_of(element + (lane < 30 ? f.bytes() : 0), element + 16,
                        [](uint8_t byte) { return byte == 0x5a; }));
    }
  }
}

/// Loads of fewer components, and into either half of a register.
void check_parts(Emulated& gpu, const std::string& arch) {
  const auto memory = memory_of();
  const auto in = gpu.put(memory);
  for (const Format& f : formats_of(arch)) {
    if (f.number != "SNORM" && f.number != "FLOAT") continue;
    CAPTURE(f.code);
    const Resource r = resource(arch, in, f, 16, 32);
    const auto out = gpu.reserve(32 * 24), high = gpu.reserve(32 * 8);
    check_ok(launch(gpu, "parts", out, r));
    check_ok(launch(gpu, "high", high, r));
    const auto got = gpu.get<uint32_t>(out, 32 * 6), both = gpu.get<uint32_t>(high, 64);
    for (size_t lane = 0; lane < 32; ++lane) {
      const uint8_t* element = memory.data() + lane * 16;
      const unsigned select[] = {4, 4, 5, 4, 5, 6};
      for (size_t i = 0; i < 6; ++i)
        CHECK(same_value(got[lane * 6 + i], loaded(f, element, select[i], 32), false, 32));
      const uint32_t x = loaded(f, element, 4, 16);
      CHECK((both[lane * 2] >> 16) == 0x1111u);
      CHECK(same_value(both[lane * 2] & 0xffffu, x, false, 16));
      CHECK((both[lane * 2 + 1] & 0xffffu) == 0x4444u);
      CHECK(same_value(both[lane * 2 + 1] >> 16, x, false, 16));
    }
  }
}

std::string definitions(const std::string& arch) {
  if (arch.rfind("gfx9", 0) == 0)
    return "#define LAST 127\n#define LOW_X \"buffer_load_format_d16_x\"\n"
           "#define HIGH_X \"buffer_load_format_d16_hi_x\"\n#define WAIT \"s_waitcnt vmcnt(0)\"\n";
  const std::string wait =
      arch.rfind("gfx12", 0) == 0 ? "s_wait_loadcnt 0x0" : "s_waitcnt vmcnt(0)";
  return "#define LAST 63\n#define LOW_X \"buffer_load_d16_format_x\"\n"
         "#define HIGH_X \"buffer_load_d16_hi_format_x\"\n#define WAIT \"" +
         wait + "\"\n";
}

void run(const std::string& arch) {
  CAPTURE(arch);
  const auto code = compile(definitions(arch) + kFormatKernels, arch, "-O1");
  if (!code) return;
  Emulated gpu(device_for(arch));
  gpu.load(*code);
  check_loads(gpu, arch);
  check_stores(gpu, arch);
  check_typed(gpu, arch);
  check_parts(gpu, arch);
}

}  // namespace

TEST_CASE("formatted buffer accesses, data and number formats of gfx9") {
  run("gfx942");
}

TEST_CASE("formatted buffer accesses, unified formats") {
  run("gfx1100");
  run("gfx1201");
}

TEST_CASE("checks look at formatted accesses") {
  const std::string arch = "gfx942";
  const auto code = compile(definitions(arch) + kFormatKernels, arch, "-O1");
  if (!code) return;
  Emulated gpu(device_for(arch));
  gpu.load(*code);
  const auto out = gpu.reserve(512), small = gpu.reserve(64);
  const Format bytes{{8, 8, 8, 8}, "UNORM", 10};
  // The resource says more than there is.
  Resource r = resource(arch, small, bytes, 4, 32);
  check_fault(launch(gpu, "loads", out, r), "bad-address",
              {"buffer_load_format_xyzw", "read of 4 bytes", "lane 16"});
  check_fault(launch(gpu, "stores", out, r), "bad-address",
              {"buffer_store_format_xyzw", "write of 4 bytes", "lane 16"});

  device::OpenOptions options;
  options.check_uninitialized = true;
  Emulated strict(device_for(arch), options);
  strict.load(*code);
  const auto halves = strict.reserve(32 * 16), result = strict.reserve(32 * 24);
  std::vector<uint8_t> first(16, 1);
  for (uint64_t lane = 0; lane < 32; ++lane)
    check_ok(strict.device().copy_in(halves + lane * 16,
                                     std::as_bytes(std::span(first.data(), lane == 9 ? 11 : 16))));
  r = resource(arch, halves, {{32, 32, 32, 32}, "FLOAT", 14 | 7 << 4}, 16, 32);
  check_fault(launch(strict, "loads", result, r), "uninitialized",
              {"buffer_load_format_xyzw", "lane 9"});
  // What the instruction does not take need not be there.
  r = resource(arch, halves, {{32, 32, 32, 32}, "FLOAT", 14 | 7 << 4}, 16, 32, 4);
  check_ok(launch(strict, "loads", result, r));
}
