// Sorting and searching.

KERNEL bitonic_sort(u32* out, const u32* x) {
  SHARED u32 s[256];
  s[item()] = x[index()];
  barrier();
  for (u32 size = 2; size <= 256; size *= 2)
    for (u32 step = size / 2; step != 0; step /= 2) {
      const u32 other = item() ^ step;
      if (other > item()) {
        const bool up = (item() & size) == 0;
        const u32 a = s[item()], b = s[other];
        if ((a > b) == up) s[item()] = b, s[other] = a;
      }
      barrier();
    }
  out[index()] = s[item()];
}
// One stable pass of a radix sort over four bits, 256 keys a group.
KERNEL radix_pass(u32* out, const u32* x, u32 shift) {
  SHARED u32 digits[256], count[16], start[16];
  const u32 key = x[index()], digit = (key >> shift) & 15u;
  digits[item()] = digit;
  if (item() < 16) count[item()] = 0;
  barrier();
  __hip_atomic_fetch_add(&count[digit], 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
  barrier();
  if (item() == 0) {
    u32 sum = 0;
    for (u32 d = 0; d < 16; ++d) start[d] = sum, sum += count[d];
  }
  barrier();
  u32 before = 0;
  for (u32 i = 0; i < item(); ++i) before += digits[i] == digit ? 1 : 0;
  out[group() * 256 + start[digit] + before] = key;
}
// First position in a sorted array of 256 whose element is not below the key.
KERNEL lower_bound(u32* out, const u32* sorted, const u32* key) {
  u32 low = 0, high = 256;
  while (low < high) {
    const u32 middle = (low + high) / 2;
    if (sorted[middle] < key[index()])
      low = middle + 1;
    else
      high = middle;
  }
  out[index()] = low;
}
// Keeps the odd elements in order; out[256 * group + 255] beyond them stays.
KERNEL compact(u32* out, u32* kept, const u32* x) {
  SHARED u32 s[256];
  const u32 v = x[index()], keep = v & 1;
  s[item()] = keep;
  barrier();
  for (u32 step = 1; step < 256; step *= 2) {
    const u32 add = item() >= step ? s[item() - step] : 0;
    barrier();
    s[item()] += add;
    barrier();
  }
  if (keep != 0) out[group() * 256 + s[item()] - 1] = v;
  if (item() == 255) kept[group()] = s[255];
}
