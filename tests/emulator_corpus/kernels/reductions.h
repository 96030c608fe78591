// Across work-items: trees, shuffles, DPP, scans, norms.

SHARED float scratch_f[256];
SHARED u32 scratch_u[256];

DEVICE float group_sum(float v) {
  scratch_f[item()] = v;
  barrier();
  for (u32 step = items() / 2; step != 0; step /= 2) {
    if (item() < step) scratch_f[item()] += scratch_f[item() + step];
    barrier();
  }
  const float sum = scratch_f[0];
  barrier();
  return sum;
}
DEVICE float group_max(float v) {
  scratch_f[item()] = v;
  barrier();
  for (u32 step = items() / 2; step != 0; step /= 2) {
    if (item() < step)
      scratch_f[item()] = __builtin_fmaxf(scratch_f[item()], scratch_f[item() + step]);
    barrier();
  }
  const float most = scratch_f[0];
  barrier();
  return most;
}

KERNEL tree_sum(float* out, const float* x) {
  const float sum = group_sum(x[index()]);
  if (item() == 0) out[group()] = sum;
}
// Every lane gets its wavefront's sum.
KERNEL shuffle_sum(u32* out, const u32* x) {
  u32 v = x[index()];
  for (u32 step = wave_size() / 2; step != 0; step /= 2) v += from_lane(v, lane() ^ step);
  out[index()] = v;
}
// Sum of each row of 16 lanes through DPP, in every lane of it.
KERNEL dpp_sum(u32* out, const u32* x) {
  u32 v = x[index()];
  v += (u32)__builtin_amdgcn_update_dpp(0, (i32)v, 0xb1, 15, 15, true);   // quad_perm 1,0,3,2
  v += (u32)__builtin_amdgcn_update_dpp(0, (i32)v, 0x4e, 15, 15, true);   // quad_perm 2,3,0,1
  v += (u32)__builtin_amdgcn_update_dpp(0, (i32)v, 0x141, 15, 15, true);  // row_half_mirror
  v += (u32)__builtin_amdgcn_update_dpp(0, (i32)v, 0x140, 15, 15, true);  // row_mirror
  out[index()] = v;
}
// Running sums inside each row of 16 lanes through row_shr.
KERNEL dpp_scan(u32* out, const u32* x) {
  u32 v = x[index()];
  v += (u32)__builtin_amdgcn_update_dpp(0, (i32)v, 0x111, 15, 15, false);
  v += (u32)__builtin_amdgcn_update_dpp(0, (i32)v, 0x112, 15, 15, false);
  v += (u32)__builtin_amdgcn_update_dpp(0, (i32)v, 0x114, 15, 15, false);
  v += (u32)__builtin_amdgcn_update_dpp(0, (i32)v, 0x118, 15, 15, false);
  out[index()] = v;
}
KERNEL scan(u32* out, const u32* x) {
  scratch_u[item()] = x[index()];
  barrier();
  for (u32 step = 1; step < 256; step *= 2) {
    const u32 add = item() >= step ? scratch_u[item() - step] : 0;
    barrier();
    scratch_u[item()] += add;
    barrier();
  }
  out[index()] = scratch_u[item()];
}
KERNEL softmax(float* out, const float* x) {
  const float v = x[index()], most = group_max(v);
  const float e = __builtin_exp2f((v - most) * 1.44269504f);
  out[index()] = e / group_sum(e);
}
KERNEL layer_norm(float* out, const float* x, const float* gamma, const float* beta) {
  const float v = x[index()], mean = group_sum(v) / 256.0f;
  const float d = v - mean, variance = group_sum(d * d) / 256.0f;
  out[index()] = d / __builtin_sqrtf(variance + 1e-5f) * gamma[item()] + beta[item()];
}
KERNEL rms_norm(float* out, const float* x, const float* gamma) {
  const float v = x[index()], mean = group_sum(v * v) / 256.0f;
  out[index()] = v * __builtin_amdgcn_rsqf(mean + 1e-6f) * gamma[item()];
}
// Position of each row's greatest element, the first of several.
KERNEL argmax(u32* out, const float* x) {
  scratch_f[item()] = x[index()];
  scratch_u[item()] = item();
  barrier();
  for (u32 step = 128; step != 0; step /= 2) {
    if (item() < step) {
      const float other = scratch_f[item() + step], own = scratch_f[item()];
      const u32 at = scratch_u[item() + step];
      if (other > own || (other == own && at < scratch_u[item()])) {
        scratch_f[item()] = other;
        scratch_u[item()] = at;
      }
    }
    barrier();
  }
  if (item() == 0) out[group()] = scratch_u[0];
}
// -log of the softmax at the label.
KERNEL cross_entropy(float* out, const float* x, const u32* label) {
  const float v = x[index()], most = group_max(v);
  const float sum = group_sum(__builtin_exp2f((v - most) * 1.44269504f));
  if (item() == label[group()]) out[group()] = most - v + __builtin_logf(sum);
}
KERNEL double_dot(double* out, const double* a, const double* b) {
  SHARED double s[256];
  s[item()] = a[index()] * b[index()];
  barrier();
  for (u32 step = 128; step != 0; step /= 2) {
    if (item() < step) s[item()] += s[item() + step];
    barrier();
  }
  if (item() == 0) out[group()] = s[0];
}
KERNEL histogram(u32* out, const u8* x, u32 n) {
  SHARED u32 bins[64];
  if (item() < 64) bins[item()] = 0;
  barrier();
  for (u32 i = item(); i < n; i += items())
    __hip_atomic_fetch_add(&bins[x[group() * n + i] % 64], 1u, __ATOMIC_RELAXED,
                           __HIP_MEMORY_SCOPE_WORKGROUP);
  barrier();
  if (item() < 64)
    __hip_atomic_fetch_add(&out[item()], bins[item()], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
// Which lanes hold an odd value, and how many before this one do.
KERNEL ballots(u32* before, u64* mask, const u32* x) {
  const bool odd = (x[index()] & 1) != 0;
#if defined(__GFX9__)
  const u64 ballot = __builtin_amdgcn_ballot_w64(odd);
#else
  const u64 ballot = __builtin_amdgcn_ballot_w32(odd);
#endif
  const u64 below = ballot & ((1ull << lane()) - 1);
  before[index()] = (u32)__builtin_popcountll(below);
  mask[index()] = ballot;
}
// Reads a lane's value as a scalar, in a loop over lanes.
KERNEL broadcasts(u32* out, const u32* x) {
  const u32 v = x[index()];
  u32 sum = 0;
  for (i32 i = 0; i < 32; i += 5) sum = sum * 3 + (u32)__builtin_amdgcn_readlane((i32)v, i);
  out[index()] = sum + (u32)__builtin_amdgcn_readfirstlane((i32)v);
}
// Min, max, and, or, xor, exchange and compare-and-swap on one word each.
KERNEL atomics(u32* out, i32* smallest, const u32* x) {
  const u32 v = x[index()];
  __hip_atomic_fetch_min(smallest, (i32)v - 500, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  __hip_atomic_fetch_max(out + 0, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  __hip_atomic_fetch_and(out + 1, v | 0xf0u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  __hip_atomic_fetch_or(out + 2, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  __hip_atomic_fetch_xor(out + 3, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  u32 old = __hip_atomic_load(out + 4, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  while (!__hip_atomic_compare_exchange_strong(out + 4, &old, old + v, __ATOMIC_RELAXED,
                                               __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)) {
  }
  __hip_atomic_fetch_add((u64*)(out + 6), (u64)v << 20, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
