// Answers to kernels/elementwise.h about number formats and their arithmetic.
#include "base/float_types.h"
#include "corpus.h"

namespace hipplan::test {
namespace {

/// OCP E4M3 without infinities.
float from_fp8(uint8_t code) {
  const int exponent = (code >> 3) & 15, fraction = code & 7;
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, -9) : std::ldexp(8 + fraction, exponent - 10);
  return static_cast<float>((code & 0x80) != 0 ? -magnitude : magnitude);
}

void quantized(Emulated& gpu) {
  const auto x = Numbers(11).reals(512, -20, 20);
  const auto out = gpu.reserve(2048), px = gpu.put(x);
  std::vector<int8_t> bytes;
  std::vector<float> back;
  for (const float v : x) {
    bytes.push_back(
        static_cast<int8_t>(std::fmin(std::fmax(std::rint(v * 10.0f), -128.0f), 127.0f)));
    back.push_back(static_cast<float>(bytes.back()) * 0.1f);
  }
  check_ok(gpu.launch("quantize_int8", {2}, {256}, out, px, 10.0f));
  check_equal("quantize_int8", gpu.get<int8_t>(out, 512), bytes);
  const auto floats = gpu.reserve(2048);
  check_ok(gpu.launch("dequantize_int8", {2}, {256}, floats, out, 0.1f));
  check_equal("dequantize_int8", gpu.get<float>(floats, 512), back);
}

void fp8(Emulated& gpu) {
  auto x = Numbers(12).reals(512, -8, 8);
  for (size_t i = 0; i < 512; ++i) x[i] = std::ldexp(x[i], static_cast<int>(i % 20) - 12);
  std::vector<uint8_t> wanted;
  for (const float v : x) {  // the nearest of all codes, an even one of two
    uint8_t best = 0;
    for (int code = 1; code < 0x7f; ++code) {
      const float here = std::fabs(from_fp8(static_cast<uint8_t>(code)) - std::fabs(v));
      const float least = std::fabs(from_fp8(best) - std::fabs(v));
      if (here < least || (here == least && code % 2 == 0)) best = static_cast<uint8_t>(code);
    }
    wanted.push_back(static_cast<uint8_t>(best | (std::signbit(v) ? 0x80 : 0)));
  }
  const auto codes = gpu.reserve(512), floats = gpu.reserve(2048);
  check_ok(gpu.launch("quantize_fp8", {2}, {256}, codes, gpu.put(x)));
  check_equal("quantize_fp8", gpu.get<uint8_t>(codes, 512), wanted);
  std::vector<float> back;
  for (const uint8_t code : wanted) back.push_back(from_fp8(code));
  check_ok(gpu.launch("dequantize_fp8", {2}, {256}, floats, codes));
  check_equal("dequantize_fp8", gpu.get<float>(floats, 512), back);
}

uint16_t half(double value) {
  return double_to_half(value);
}
double wide(uint16_t bits) {
  return half_to_float(bits);
}

void halves(Emulated& gpu) {
  Numbers numbers(13);
  std::vector<uint16_t> a, b, pairs, scalars;
  for (const float v : numbers.reals(512, -3, 3)) a.push_back(half(v));
  for (const float v : numbers.reals(512, -3, 3)) b.push_back(half(v));
  for (size_t i = 0; i < 512; ++i) {
    const double x = wide(a[i]), y = wide(b[i]);
    const double r = wide(half(wide(half(x * y)) + x));
    pairs.push_back(half(std::fmax(r, y) - std::fmin(x, y)));
    scalars.push_back(half(x > y ? x - y : x * y));
  }
  const auto pa = gpu.put(a), pb = gpu.put(b), out = gpu.reserve(1024);
  check_ok(gpu.launch("half2_math", {1}, {256}, out, pa, pb));
  check_equal("half2_math", gpu.get<uint16_t>(out, 512), pairs);
  check_ok(gpu.launch("half_scalar", {2}, {256}, out, pa, pb));
  check_equal("half_scalar", gpu.get<uint16_t>(out, 512), scalars);
}

void conversions(Emulated& gpu) {
  const auto x = Numbers(14).reals(256, -30000, 30000);
  const auto i = gpu.reserve(1024), u = gpu.reserve(1024), h = gpu.reserve(512),
             w = gpu.reserve(512);
  check_ok(gpu.launch("conversions", {1}, {256}, i, u, h, w, gpu.put(x)));
  std::vector<int32_t> wi;
  std::vector<uint32_t> wu;
  std::vector<uint16_t> wh, ww;
  for (const float v : x) {
    wi.push_back(static_cast<int32_t>(v));
    wu.push_back(static_cast<uint32_t>(std::fabs(v)));
    wh.push_back(half(v));
    ww.push_back(static_cast<uint16_t>(static_cast<int16_t>(v)));
  }
  check_equal("conversions: int", gpu.get<int32_t>(i, 256), wi);
  check_equal("conversions: unsigned", gpu.get<uint32_t>(u, 256), wu);
  check_equal("conversions: half", gpu.get<uint16_t>(h, 256), wh);
  check_equal("conversions: short", gpu.get<uint16_t>(w, 256), ww);
}

void doubles(Emulated& gpu) {
  Numbers numbers(15);
  const auto a = numbers.reals<double>(256, -100, 100), b = numbers.reals<double>(256, -100, 100);
  const auto words = numbers.words(256);
  const auto out = gpu.reserve(2048), f = gpu.reserve(1024), i = gpu.reserve(1024), pa = gpu.put(a);
  std::vector<double> wanted, halved;
  std::vector<float> narrowed;
  std::vector<int32_t> whole;
  for (size_t k = 0; k < 256; ++k) {
    wanted.push_back(std::sqrt(a[k] * a[k] + b[k] * b[k]) / (1.0 + std::fabs(b[k])) +
                     std::floor(a[k]));
    halved.push_back(static_cast<double>(words[k]) * 0.5);
    narrowed.push_back(static_cast<float>(a[k]));
    whole.push_back(static_cast<int32_t>(a[k]));
  }
  check_ok(gpu.launch("double_math", {1}, {256}, out, pa, gpu.put(b)));
  check_equal("double_math", gpu.get<double>(out, 256), wanted);
  check_ok(gpu.launch("double_conversions", {1}, {256}, out, f, i, pa, gpu.put(words)));
  check_equal("double_conversions: double", gpu.get<double>(out, 256), halved);
  check_equal("double_conversions: float", gpu.get<float>(f, 256), narrowed);
  check_equal("double_conversions: int", gpu.get<int32_t>(i, 256), whole);
}

void functions(Emulated& gpu) {
  Numbers numbers(16);
  auto a = numbers.reals(256, -10, 10), b = numbers.reals(256, 0.001, 10);
  a[0] = INFINITY, a[1] = 0.0f, b[1] = 0.0f, a[2] = -0.0f, a[3] = 0x1p-140f, b[3] = 3.0f,
  b[4] = INFINITY;
  const auto out = gpu.reserve(4096), pa = gpu.put(a), pb = gpu.put(b), more = gpu.reserve(1024);
  std::vector<float> quotients, roots, two, natural, rounded;
  for (size_t i = 0; i < 256; ++i) {
    quotients.push_back(a[i] / b[i]);
    roots.push_back(std::sqrt(b[i]));
    two.push_back(static_cast<float>(std::log2(static_cast<double>(b[i] + 1.0f))));
    natural.push_back(static_cast<float>(std::log(static_cast<double>(b[i] + 1.0f))));
    for (const float v : {std::floor(a[i]), std::ceil(a[i]), std::trunc(a[i]), std::round(a[i])})
      rounded.push_back(v);
  }
  check_ok(gpu.launch("float_division", {1}, {256}, out, pa, pb));
  auto got = gpu.get<float>(out, 256);
  CHECK(std::isnan(got[1]));
  got[1] = quotients[1];
  check_equal("float_division", got, quotients);
  check_ok(gpu.launch("roots", {1}, {256}, out, pb));
  check_equal("roots", gpu.get<float>(out, 256), roots);
  for (auto& v : b) v += 1.0f;
  b[4] = 7.0f, two[4] = std::log2(7.0f), natural[4] = std::log(7.0f);
  check_ok(gpu.launch("logarithms", {1}, {256}, out, more, gpu.put(b)));
  check_near("logarithms: 2", gpu.get<float>(out, 256), two, 1e-6);
  check_near("logarithms: e", gpu.get<float>(more, 256), natural, 1e-6);
  check_ok(gpu.launch("rounding", {1}, {256}, out, pa));
  check_equal("rounding", gpu.get<float>(out, 1024), rounded);
}

}  // namespace

void run_conversions(Emulated& gpu) {
  quantized(gpu);
  fp8(gpu);
  halves(gpu);
  conversions(gpu);
  doubles(gpu);
  functions(gpu);
}

}  // namespace hipplan::test
