#!/usr/bin/env bash
# How fast plan files are checked and looked up: hipplan-verify over many files of about 8 KB (a convolution, as it is
# baked) and of about 100 KB (attention for five GPUs, and PTX where the build has it, machine code uncompressed), and
# over libraries, against `openssl speed` SHA-256 over as many bytes; what groups of texts save, the memory of inspect,
# and lookups in a library of 100,000 plans, cold too, next to bare reads of as many pages (built with
# -DHIPPLAN_BENCHMARKS=ON).
# Usage: tests/benchmarks/plan_files.sh [BUILD_FOLDER]
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/prelude.sh"
benchmark_setup "${1:-}"

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
# files WHAT COUNT PLAN_FILE PLANS_IN_IT: copies of a file, each with bytes of its own.
files() {
  rm -rf "$work/plans"
  mkdir "$work/plans"
  for ((i = 0; i < $2; i++)); do cp "$3" "$work/plans/$i.hplan"; done
  measure hipplan-verify -q -j1 "$work/plans" >/dev/null
  report "$2 files of $(stat -c %s "$3") bytes, $1" $(($2 * $4)) $(($2 * $(stat -c %s "$3"))) \
    "$(measure hipplan-verify -q -j1 "$work/plans")"
}
hipplan-build "$root/samples/graphs/conv_fwd.json" --target gfx942 -o "$work/one.hplan" -q >/dev/null
files "a convolution each" 2000 "$work/one.hplan" 1
attention=$root/tests/cli/graphs/sdpa.json
hipplan-build "$attention" --target gfx90a,gfx942,gfx950,gfx1100,gfx1201 --plain-code -o "$work/five.hplan" -q >/dev/null
files "attention for five GPUs each" 500 "$work/five.hplan" 5
if [ -d "$build/share/hipplan/kernels/compute_80" ]; then
  mkdir -p "$work/data/kernels"
  ln -s "$build/share/hipplan/targets" "$work/data/targets"
  ln -s "$build/share/hipplan/kernels/compute_80" "$work/data/kernels/compute_80"
  hipplan-build "$attention" --target sm_90 --data "$work/data" --plain-code -o "$work/ptx.hplan" -q >/dev/null
  files "attention as PTX each" 500 "$work/ptx.hplan" 1
fi

# One library: many graphs, several targets; code objects are shared, as they are in libraries.
"$root/tests/benchmarks/make_graphs.sh" 2000 "$work/graphs"
hipplan-build -q "$work/graphs" --target gfx90a,gfx942,gfx1100 -o "$work/library.hplan" >/dev/null
plans=$(hipplan-inspect size "$work/library.hplan" | sed -n 's/.* bytes, \([0-9]*\) plans.*/\1/p')
report "one library" "$plans" "$(stat -c %s "$work/library.hplan")" "$(measure hipplan-verify -q -j1 "$work/library.hplan")"
hipplan-build -q "$work/graphs" --target gfx90a,gfx942,gfx1100 --plain-code -o "$work/plain.hplan" >/dev/null
report "one library, plain code" "$plans" "$(stat -c %s "$work/plain.hplan")" "$(measure hipplan-verify -q -j1 "$work/plain.hplan")"
hipplan-inspect size "$work/library.hplan" | grep group
peak=$({ /usr/bin/time -f %M hipplan-inspect size "$work/library.hplan" >/dev/null; } 2>&1 | tail -n 1)
echo "inspect size: peak $peak KiB of a $(($(stat -c %s "$work/library.hplan") / 1024)) KiB file"

if [ -x "$build/bin/bench_plan" ] || [ -x "$build/tests/plan/bench_plan" ]; then
  bench=$build/bin/bench_plan
  [ -x "$bench" ] || bench=$build/tests/plan/bench_plan
  "$bench" --benchmark_filter='open_find_read|pages_cold|verify_single|verify_library|hash_100_kb'
fi
