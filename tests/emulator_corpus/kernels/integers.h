// Whole numbers: bits, wide products, division, hashing.

KERNEL bit_tricks(u32* out, const u32* x) {
  const u32 v = x[index()];
  u32 r = (u32)__builtin_popcount(v);
  r = r * 33 + (v == 0 ? 32u : (u32)__builtin_clz(v));
  r = r * 33 + (v == 0 ? 32u : (u32)__builtin_ctz(v));
  r ^= __builtin_bitreverse32(v) + __builtin_bswap32(v);
  r += (v << 7 | v >> 25) ^ ((v >> 5) & 0x3ffu);
  out[index()] = r;
}
KERNEL division(u32* out, i32* sout, const u32* a, const u32* b) {
  const u32 x = a[index()], y = b[index()] | 1u;
  out[index()] = x / y * 7 + x % y;
  sout[index()] = (i32)x / ((i32)y >> 3 | 1) + (i32)x % ((i32)(y >> 9) | 1);
}
KERNEL long_math(u64* out, const u64* a, const u64* b) {
  const u64 x = a[index()], y = b[index()];
  u64 r = x * y + (x >> (y & 63)) - (y << (x & 31));
  r ^= (u64)((i64)x >> 7);
  r += x > y ? x - y : (u64)__builtin_popcountll(x);
  out[index()] = r;
}
KERNEL long_division(u64* out, const u64* a, const u64* b) {
  out[index()] = a[index()] / (b[index()] | 1) + a[index()] % (b[index()] >> 40 | 1);
}
KERNEL high_products(u32* u, i32* s, const u32* a, const u32* b) {
  u[index()] = (u32)(((u64)a[index()] * b[index()]) >> 32);
  s[index()] = (i32)(((i64)(i32)a[index()] * (i32)b[index()]) >> 32);
}
KERNEL saturating(u16* out, i16* sout, const u16* a, const u16* b) {
  const u16 x = a[index()], y = b[index()];
  out[index()] = __builtin_elementwise_add_sat(x, y);
  sout[index()] = __builtin_elementwise_sub_sat((i16)x, (i16)y);
}
KERNEL bytes(u32* out, const u8* a, const i8* b) {
  i32 sum = 0;
  for (u32 i = 0; i < 4; ++i) sum += (i32)a[index() * 4 + i] * b[index() * 4 + i];
  out[index()] = (u32)sum;
}
KERNEL collatz(u32* out) {
  u32 v = index() + 1, steps = 0;
  while (v != 1) {
    v = (v & 1) != 0 ? 3 * v + 1 : v / 2;
    ++steps;
  }
  out[index()] = steps;
}
KERNEL xorshift(u32* out, u32 rounds) {
  u32 v = index() * 2654435761u + 1;
  for (u32 i = 0; i < rounds; ++i) {
    v ^= v << 13;
    v ^= v >> 17;
    v ^= v << 5;
  }
  out[index()] = v;
}
KERNEL switches(u32* out, const u32* x) {
  const u32 v = x[index()];
  u32 r;
  switch (v % 9) {
    case 0:
      r = v + 3;
      break;
    case 1:
      r = v * 5;
      break;
    case 2:
      r = v ^ 0x55555555u;
      break;
    case 3:
      r = v >> 3;
      break;
    case 4:
      r = v << 2;
      break;
    case 5:
      r = ~v;
      break;
    case 6:
      r = v & 0xff00ffu;
      break;
    case 7:
      r = v * v;
      break;
    default:
      r = 1;
      break;
  }
  out[index()] = r;
}
