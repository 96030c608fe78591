// Kernels of the conformance tests. No header: they compile for every architecture with plain
// clang.
#define KERNEL extern "C" __attribute__((global)) void
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

static inline __attribute__((device)) u32 index() {
  return __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() +
         __builtin_amdgcn_workitem_id_x();
}

KERNEL add_one(u32* data, u32 count) {
  const u32 i = index();
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
  if (index() != 0) return;
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
  const u32 x = __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() +
                __builtin_amdgcn_workitem_id_x();
  const u32 y = __builtin_amdgcn_workgroup_id_y() * __builtin_amdgcn_workgroup_size_y() +
                __builtin_amdgcn_workitem_id_y();
  const u32 z = __builtin_amdgcn_workgroup_id_z() * __builtin_amdgcn_workgroup_size_z() +
                __builtin_amdgcn_workitem_id_z();
  out[(z * height + y) * width + x] = x + 1000 * y + 1000000 * z;
}

extern __attribute__((shared)) u32 dynamic_lds[];

/// Reverses 64 words through LDS whose size comes with the launch.
KERNEL reverse(u32* data) {
  const u32 i = __builtin_amdgcn_workitem_id_x();
  dynamic_lds[i] = data[i];
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  data[i] = dynamic_lds[63 - i];
}
