#!/usr/bin/env bash
# How fast plan files are checked and looked up: hipplan-verify over many files of about 100 KB against
# `openssl speed` SHA-256, and lookups in a library of 100,000 plans (built with -DHIPPLAN_BENCHMARKS=ON).
# Usage: tests/benchmarks/plan_files.sh [BUILD_FOLDER]
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$root/build/release}
export PATH=$build/bin:$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

hipplan-build "$root/samples/graphs/conv_fwd.json" --target gfx942 -o "$work/one.hplan" -q >/dev/null
mkdir "$work/plans"
for ((i = 0; i < 2000; i++)); do ln "$work/one.hplan" "$work/plans/$i.hplan"; done
bytes=$(stat -c %s "$work/one.hplan")
times=$({ TIMEFORMAT='%U %S'; time hipplan-verify -q "$work/plans" >/dev/null; } 2>&1)
sha=$(openssl speed -seconds 2 -bytes 16384 -evp sha256 2>/dev/null | awk '/^sha256/ {sub("k", "", $NF); print $NF}')
awk -v t="$times" -v n=2000 -v bytes="$bytes" -v sha="$sha" 'BEGIN {
  split(t, s, " "); cpu = s[1] + s[2]
  printf "verify: %d files of %d bytes, %.0f plans/s and core, %.0f MB/s; openssl SHA-256 %.0f MB/s\n",
         n, bytes, n / cpu, n * bytes / cpu / 1e6, sha / 1e3 }'

if [ -x "$build/bin/bench_plan" ] || [ -x "$build/tests/plan/bench_plan" ]; then
  bench=$build/bin/bench_plan
  [ -x "$bench" ] || bench=$build/tests/plan/bench_plan
  "$bench" --benchmark_filter='open_find_read|verify_single|hash_100_kb'
fi
