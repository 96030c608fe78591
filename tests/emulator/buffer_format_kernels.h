// Kernels of the test of formatted buffer accesses.
#pragma once

namespace hipplan::test {

inline const char* const kFormatKernels = R"(
typedef float f4 __attribute__((ext_vector_type(4)));
typedef float f3 __attribute__((ext_vector_type(3)));
typedef float f2 __attribute__((ext_vector_type(2)));
typedef i32 i4 __attribute__((ext_vector_type(4)));
typedef _Float16 h4 __attribute__((ext_vector_type(4)));
#define INTRINSIC extern "C" __attribute__((device))
#define LOAD(NAME) __asm("llvm.amdgcn.struct.buffer.load.format." NAME)
#define STORE(NAME) __asm("llvm.amdgcn.struct.buffer.store.format." NAME)
INTRINSIC f4 load4(i4, i32, i32, i32, i32) LOAD("v4f32");
INTRINSIC f3 load3(i4, i32, i32, i32, i32) LOAD("v3f32");
INTRINSIC f2 load2(i4, i32, i32, i32, i32) LOAD("v2f32");
INTRINSIC float load1(i4, i32, i32, i32, i32) LOAD("f32");
INTRINSIC h4 half4(i4, i32, i32, i32, i32) LOAD("v4f16");
INTRINSIC void store4(f4, i4, i32, i32, i32, i32) STORE("v4f32");
INTRINSIC void store3(f3, i4, i32, i32, i32, i32) STORE("v3f32");
INTRINSIC void store2(f2, i4, i32, i32, i32, i32) STORE("v2f32");
INTRINSIC void store1(float, i4, i32, i32, i32, i32) STORE("f32");
INTRINSIC void put4(h4, i4, i32, i32, i32, i32) STORE("v4f16");
INTRINSIC f4 typed4(i4, i32, i32, i32, i32, i32) __asm("llvm.amdgcn.struct.tbuffer.load.v4f32");
INTRINSIC void typed_store4(f4, i4, i32, i32, i32, i32, i32) __asm("llvm.amdgcn.struct.tbuffer.store.v4f32");
INTRINSIC h4 typed_half4(i4, i32, i32, i32, i32, i32) __asm("llvm.amdgcn.struct.tbuffer.load.v4f16");
#define RESOURCE i4 r = {w0, w1, w2, w3};
#define WORDS i32 w0, i32 w1, i32 w2, i32 w3
KERNEL loads(f4* out, WORDS) { RESOURCE out[item()] = load4(r, item(), 0, 0, 0); }
KERNEL halves(h4* out, WORDS) { RESOURCE out[item()] = half4(r, item(), 0, 0, 0); }
KERNEL stores(const f4* in, WORDS) { RESOURCE store4(in[item()], r, item(), 0, 0, 0); }
KERNEL half_stores(const h4* in, WORDS) { RESOURCE put4(in[item()], r, item(), 0, 0, 0); }
KERNEL parts(float* out, WORDS) {
  RESOURCE
  out += item() * 6;
  f3 c = load3(r, item(), 0, 0, 0); f2 b = load2(r, item(), 0, 0, 0);
  out[0] = load1(r, item(), 0, 0, 0); out[1] = b.x; out[2] = b.y; out[3] = c.x; out[4] = c.y; out[5] = c.z;
}
KERNEL part_stores(const f4* in, WORDS) {
  RESOURCE
  f4 v = in[item()];
  if (item() % 3 == 0) store1(v.x, r, item(), 0, 0, 0);
  if (item() % 3 == 1) store2(v.xy, r, item(), 0, 0, 0);
  if (item() % 3 == 2) store3(v.xyz, r, item(), 0, 0, 0);
}
template <int F> struct Typed {
  static __attribute__((device)) void load(f4* out, i4 r) {
    out[F * 32 + item()] = typed4(r, item(), 0, 0, F, 0);
    if constexpr (F > 0) Typed<F - 1>::load(out, r);
  }
  static __attribute__((device)) void halves(h4* out, i4 r) {
    out[F * 32 + item()] = typed_half4(r, item(), 0, 0, F, 0);
    if constexpr (F > 0) Typed<F - 1>::halves(out, r);
  }
  static __attribute__((device)) void store(f4 value, i4 r, i32 bytes) {
    typed_store4(value, r, item(), 0, F * bytes, F, 0);
    if constexpr (F > 0) Typed<F - 1>::store(value, r, bytes);
  }
};
KERNEL typed_loads(f4* out, WORDS) { RESOURCE Typed<LAST>::load(out, r); }
KERNEL typed_halves(h4* out, WORDS) { RESOURCE Typed<LAST>::halves(out, r); }
KERNEL typed_stores(const f4* in, WORDS, i32 bytes) { RESOURCE Typed<LAST>::store(in[item()], r, bytes); }
KERNEL high(u32* out, WORDS) {
  RESOURCE
  u32 low = 0x11112222u, up = 0x33334444u, zero = 0, at = item();
  asm volatile("s_nop 0\n" LOW_X " %0, %2, %3, %4 idxen\n" HIGH_X " %1, %2, %3, %4 idxen\n" WAIT
               : "+v"(low), "+v"(up) : "v"(at), "s"(r), "s"(zero) : "memory");
  out[item() * 2] = low; out[item() * 2 + 1] = up;
}
)";

}  // namespace hipplan::test
