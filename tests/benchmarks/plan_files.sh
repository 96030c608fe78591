#!/usr/bin/env bash
# How fast plan files are checked and looked up: hipplan-verify over many files of about 100 KB and over one
# library against `openssl speed` SHA-256, what groups of texts save, the memory of inspect, and lookups in a library of
# 100,000 plans, cold too, next to bare reads of as many pages (built with -DHIPPLAN_BENCHMARKS=ON).
# Usage: tests/benchmarks/plan_files.sh [BUILD_FOLDER]
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/prelude.sh"
benchmark_setup "${1:-}"

hipplan-build "$root/samples/graphs/conv_fwd.json" --target gfx942 -o "$work/one.hplan" -q >/dev/null
mkdir "$work/plans"
for ((i = 0; i < 2000; i++)); do ln "$work/one.hplan" "$work/plans/$i.hplan"; done
bytes=$(stat -c %s "$work/one.hplan")
sha=$(openssl speed -seconds 2 -bytes 16384 -evp sha256 2>/dev/null | awk '/^sha256/ {sub("k", "", $NF); print $NF}')
# report WHAT PLANS BYTES TIMES
report() {
  awk -v what="$1" -v n="$2" -v bytes="$3" -v t="$4" -v sha="$sha" 'BEGIN {
    split(t, s, " "); cpu = s[1] + s[2]; if (cpu == 0) cpu = 0.001
    printf "verify: %s: %d plans, %d bytes, %.0f plans/s and core, %.0f MB/s (%.0f %% of openssl SHA-256, %.0f MB/s)\n",
           what, n, bytes, n / cpu, bytes / cpu / 1e6, bytes / cpu / 10 / sha, sha / 1e3 }'
}
# measure COMMAND…: user and system seconds.
measure() { { TIMEFORMAT='%U %S'; time "$@" >/dev/null; } 2>&1 | tail -n 1; }
report "2000 files" 2000 $((2000 * bytes)) "$(measure hipplan-verify -q -j1 "$work/plans")"

# One library: many graphs, several targets; code objects are shared, as they are in libraries.
"$root/tests/benchmarks/make_graphs.sh" 2000 "$work/graphs"
hipplan-build -q "$work/graphs" --target gfx90a,gfx942,gfx1100 -o "$work/library.hplan" >/dev/null
plans=$(hipplan-inspect size "$work/library.hplan" | sed -n 's/.* bytes, \([0-9]*\) plans.*/\1/p')
report "one library" "$plans" "$(stat -c %s "$work/library.hplan")" "$(measure hipplan-verify -q -j1 "$work/library.hplan")"
hipplan-inspect size "$work/library.hplan" | grep group
peak=$({ /usr/bin/time -f %M hipplan-inspect size "$work/library.hplan" >/dev/null; } 2>&1 | tail -n 1)
echo "inspect size: peak $peak KiB of a $(($(stat -c %s "$work/library.hplan") / 1024)) KiB file"

if [ -x "$build/bin/bench_plan" ] || [ -x "$build/tests/plan/bench_plan" ]; then
  bench=$build/bin/bench_plan
  [ -x "$bench" ] || bench=$build/tests/plan/bench_plan
  "$bench" --benchmark_filter='open_find_read|pages_cold|verify_single|verify_library|hash_100_kb'
fi
