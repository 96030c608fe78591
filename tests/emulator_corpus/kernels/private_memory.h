// Private arrays, spills, LDS whose size the launch gives, generic pointers, calls.

// An array that registers cannot hold because its index is computed.
KERNEL private_array(u32* out, const u32* x) {
  u32 a[32];
  for (u32 i = 0; i < 32; ++i) a[i] = x[index()] * (i + 1);
  for (u32 i = 0; i < 32; ++i) a[(a[i] >> 3) & 31u] ^= a[(i * 7) & 31u] + i;
  u32 sum = 0;
  for (u32 i = 0; i < 32; ++i) sum = sum * 31 + a[i];
  out[index()] = sum;
}
// Bytes and halves in private memory.
KERNEL private_bytes(u32* out, const u32* x) {
  volatile u8 a[16];
  volatile i16 b[8];
  for (u32 i = 0; i < 16; ++i) a[(x[index()] + i) & 15u] = (u8)(x[index()] >> (i & 7));
  for (u32 i = 0; i < 8; ++i) b[(x[index()] + 3 * i) & 7u] = (i16)(x[index()] * i);
  u32 sum = 0;
  for (u32 i = 0; i < 16; ++i) sum = sum * 5 + a[i];
  for (u32 i = 0; i < 8; ++i) sum = sum * 5 + (u32)(i32)b[i];
  out[index()] = sum;
}
// More live values than 24 registers hold.
extern "C" __attribute__((global))
__attribute__((amdgpu_flat_work_group_size(1, 256), amdgpu_num_vgpr(24))) void
spills(u32* out, const u32* x) {
  u32 v[48];
#pragma unroll
  for (u32 i = 0; i < 48; ++i) v[i] = x[(index() + i * 5) % 256] + i;
#pragma unroll
  for (u32 round = 0; round < 3; ++round)
#pragma unroll
    for (u32 i = 0; i < 48; ++i) v[i] = v[i] * v[(i + 17) % 48] + v[(i * 5 + 1) % 48];
  u32 sum = 0;
#pragma unroll
  for (u32 i = 0; i < 48; ++i) sum ^= v[i] + i;
  out[index()] = sum;
}
extern SHARED u32 dynamic[];
KERNEL dynamic_lds(u32* out, const u32* x, u32 n) {
  for (u32 i = item(); i < n; i += items()) dynamic[i] = x[i] * 3;
  barrier();
  out[index()] = dynamic[(index() * 7) % n];
}
// One pointer that leads to LDS in even groups and to global memory in odd ones.
KERNEL generic_pointer(u32* out, u32* x) {
  SHARED u32 s[256];
  s[item()] = item() + 1000;
  barrier();
  u32* from = group() % 2 == 0 ? (u32*)s : x;
  out[index()] = from[255 - item()];
}
struct Pair {
  u32 a, b;
};
__attribute__((device, noinline)) u32 twisted(u32 v, u32 n) {
  for (u32 i = 0; i < n; ++i) v = v * 1664525u + 1013904223u;
  return v ^ (v >> 16);
}
__attribute__((device, noinline)) void in_memory(Pair* p, u32 k) {
  p->a += twisted(p->b, k);
  p->b ^= p->a;
}
KERNEL calls(u32* out, const u32* x) {
  Pair p = {x[index()], index()};
  in_memory(&p, 3);
  if ((p.a & 1) != 0) in_memory(&p, index() % 5);
  out[index()] = p.a + p.b;
}
KERNEL function_pointers(u32* out, const u32* x) {
  u32 (*const table[2])(u32, u32) = {twisted, [](u32 v, u32 n) { return v + n * 3; }};
  out[index()] = table[group() & 1](x[index()], 4);
}
// Recursion has a stack of its own size.
__attribute__((device, noinline)) u32 fibonacci(u32 n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
KERNEL recursion(u32* out) {
  out[index()] = fibonacci(index() % 9);
}
