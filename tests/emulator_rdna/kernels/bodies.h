// Work-items of the instruction probe: the same source runs in the emulated kernel and, as plain
// C++, in the test. Contraction is off in both, so float results agree to the bit.
#pragma once

#if defined(__HIP__) || defined(__HIP_DEVICE_COMPILE__)
#define PROBE __attribute__((device)) inline
#else
#define PROBE inline
#endif

/// Independent chains of float operations, which compilers pair into VOPD.
PROBE float float_work(const float* in, int i, int n) {
  float x = in[i], y = in[i + 1], z = in[i + 2], w = in[i + 3];
  for (int k = 0; k < n; ++k) {
    const float px = x * y + z, py = y * z + w;
    const float pz = z * 0.5f - x, pw = w * 1.25f + y;
    x = px > 4.0f ? px - 7.0f : px;
    y = py > 4.0f ? py - 5.0f : py;
    z = __builtin_fabsf(pz) > 3.0f ? pz * 0.125f : pz;
    w = __builtin_fminf(__builtin_fmaxf(pw, -3.0f), 3.0f);
  }
  return x + y * 2.0f - z / (w * w + 1.0f) + __builtin_sqrtf(x * x + 0.25f);
}

/// Rounding, conversions and exact fused multiply-add.
PROBE float rounding_work(const float* in, int i) {
  const float x = in[i] * 37.0f, y = in[i + 1] * 11.0f;
  const int whole = static_cast<int>(x);
  const unsigned positive = static_cast<unsigned>(__builtin_fabsf(y));
  float r = __builtin_floorf(x) + __builtin_ceilf(y) * 3.0f + __builtin_truncf(x - y);
  r += __builtin_fmaf(x, y, static_cast<float>(whole)) + static_cast<float>(positive);
  return r + __builtin_ldexpf(x, static_cast<int>(positive % 5u) - 2);
}

PROBE long integer_work(const int* in, int i) {
  const long a = in[i], b = in[i + 1];
  const unsigned u = static_cast<unsigned>(in[i + 2]), v = static_cast<unsigned>(in[i + 3]) | 1u;
  long r = a * b + (a << (u & 31u)) - (b >> (v & 15u));
  r += a / (b * 3 + 1 == 0 ? 1 : b * 3 + 1) + a % (static_cast<long>(v) + 5);
  r ^= static_cast<long>(u / v) << 20 | static_cast<long>(u % v);
  r += __builtin_popcount(u) * 1000 + (u == 0 ? 32 : __builtin_clz(u)) * 77 + __builtin_ctz(v) * 5;
  r += static_cast<long>((u & 0xff00u) >> 8) - static_cast<signed char>(v);
  const unsigned long wide = static_cast<unsigned long>(u) * v + static_cast<unsigned long>(a);
  return r + static_cast<long>(wide % 1000003ul) + (a < b ? 3 : -3) + (u > v ? 11 : 22);
}

PROBE double double_work(const float* in, int i) {
  const double x = in[i], y = in[i + 1], z = in[i + 2];
  const double q = x * y + z * 1.0e-3;
  return q / (y * y + 0.5) + __builtin_floor(x * 9.0) - (x < y ? q : z) + static_cast<double>(i);
}

/// Data-dependent loops and a switch: EXEC bookkeeping in every form.
PROBE int branching_work(const int* in, int i) {
  unsigned x = static_cast<unsigned>(in[i]);
  int steps = 0;
  while (x > 1 && steps < 60) {
    if ((x & 1u) != 0) {
      if (steps > 25 && x % 3u == 0) break;
      x = x * 3u + 1u;
    } else {
      x >>= 1;
    }
    ++steps;
    if (x % 11u == 7u) continue;
    switch (x & 7u) {
      case 0:
        steps += 1;
        break;
      case 3:
        x ^= 5u;
        break;
      case 5:
        steps += static_cast<int>(x & 3u);
        break;
      default:
        break;
    }
  }
  return steps * 1000 + static_cast<int>(x & 0xffu);
}

/// 16-bit integers.
PROBE short short_work(const short* in, int i) {
  const short a = in[i], b = in[i + 1];
  const unsigned short u = static_cast<unsigned short>(in[i + 2]);
  short r = static_cast<short>(a + b * 3);
  r = static_cast<short>(r ^ static_cast<short>(u >> 3));
  r = static_cast<short>(r - static_cast<short>(a > b ? a : b));
  r = static_cast<short>(r + static_cast<short>(u < 20000 ? u << 2 : u));
  return static_cast<short>(r & 0x7ff3);
}

/// An array indexed at run time, which lives in scratch memory.
PROBE int array_work(const int* in, int i) {
  int table[24];
  for (int k = 0; k < 24; ++k) table[k] = (in[i + k] & 0xffff) * (k + 1);
  int at = i % 24, sum = 0;
  for (int k = 0; k < 10; ++k) {
    table[(at + k) % 24] += k;
    at = (table[at] & 0x7fffffff) % 24;
    sum += table[at] ^ k;
  }
  return sum;
}
