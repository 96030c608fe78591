// Kernels of the conformance tests. No header: they compile for every architecture with plain
// clang, and with nvcc.
#define KERNEL extern "C" __attribute__((global)) void
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

// What differs between the compilers: where a work-item stands, and the barrier.
#if defined(__NVCC__)
#define GROUP(d) blockIdx.d
#define SIZE(d) blockDim.d
#define ITEM(d) threadIdx.d
#define BARRIER() __syncthreads()
#elif defined(__CUDA__)
#define GROUP(d) __nvvm_read_ptx_sreg_ctaid_##d()
#define SIZE(d) __nvvm_read_ptx_sreg_ntid_##d()
#define ITEM(d) __nvvm_read_ptx_sreg_tid_##d()
#define BARRIER() __syncthreads()
#else
#define GROUP(d) __builtin_amdgcn_workgroup_id_##d()
#define SIZE(d) __builtin_amdgcn_workgroup_size_##d()
#define ITEM(d) __builtin_amdgcn_workitem_id_##d()
#define BARRIER()                                        \
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); \
  __builtin_amdgcn_s_barrier();                          \
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup")
#endif

static inline __attribute__((device)) u32 place_in_row() {
  return GROUP(x) * SIZE(x) + ITEM(x);
}

KERNEL add_one(u32* data, u32 count) {
  const u32 i = place_in_row();
  if (i < count) data[i] += 1;
}

struct Mixed {
  u8 small;
  u16 middle;
  u32 word;
  u64 wide;
};

/// Every kind of argument, each stored where the host can see it.
KERNEL store_arguments(u64* out, u8 a, u16 b, u32 c, u64 d, float e, double f, Mixed g) {
  if (place_in_row() != 0) return;
  out[0] = a;
  out[1] = b;
  out[2] = c;
  out[3] = d;
  out[4] = __builtin_bit_cast(u32, e);
  out[5] = __builtin_bit_cast(u64, f);
  out[6] = g.small;
  out[7] = g.middle;
  out[8] = g.word;
  out[9] = g.wide;
}

KERNEL no_arguments() {}

/// Where in grid and block each work-item stands.
KERNEL store_place(u32* out, u32 width, u32 height) {
  const u32 x = place_in_row();
  const u32 y = GROUP(y) * SIZE(y) + ITEM(y);
  const u32 z = GROUP(z) * SIZE(z) + ITEM(z);
  out[(z * height + y) * width + x] = x + 1000 * y + 1000000 * z;
}

extern __attribute__((shared)) u32 dynamic_lds[];

/// Reverses 64 words through LDS whose size comes with the launch.
KERNEL reverse(u32* data) {
  const u32 i = ITEM(x);
  dynamic_lds[i] = data[i];
  BARRIER();
  data[i] = dynamic_lds[63 - i];
}
