#!/usr/bin/env bash
# The fuzzers' long runs, optimised, one after the other over all processors. Finds stay in build/fuzz-long/finds
# as NAME-crash-… files; put each into tests/fuzz/corpus/NAME when its cause is mended.
# Usage: tests/fuzz/long.sh [SECONDS_PER_FUZZER] [NAME…]     (default 600, all)
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
seconds=${1:-600}
shift || true
build=$root/build/fuzz-long
archives=$root/build/release/share/hipplan/kernels
cmake -S "$root" -B "$build" --preset fuzz -DCMAKE_CXX_FLAGS_DEBUG="-O1 -g1" -DHIPPLAN_LINT=OFF \
  -DHIPPLAN_ARCHIVES_DIR="$([ -d "$archives" ] && echo "$archives")" >/dev/null
names=("$@")
if [ "${#names[@]}" -eq 0 ]; then
  for folder in "$root"/tests/fuzz/corpus/*/; do names+=("$(basename "$folder")"); done
fi
ninja -C "$build" --quiet "${names[@]}"
mkdir -p "$build/finds"
status=0
for name in "${names[@]}"; do
  work=$build/fuzz/$name
  mkdir -p "$work"
  echo "== $name"
  "$build/bin/$name" -fork="$(nproc)" -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=10 \
    -artifact_prefix="$build/finds/$name-" "$work" "$root/tests/fuzz/corpus/$name" 2>&1 | tail -n 3 || status=1
done
exit "$status"
