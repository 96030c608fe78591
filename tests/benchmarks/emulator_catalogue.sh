#!/usr/bin/env bash
# How fast the emulator runs the catalogue's kernels, its memory checks on and the race detector off: a graph of each
# kind, baked and executed. Lane-instructions per second of processor time, without what the null device needs for the
# same plan (start, restore, filling the inputs); then how much sooner two threads are done than one.
# Lane-instructions are active lanes of vector, matrix and memory instructions; scalar ones count as time only.
# Times hold only on the machine they were taken on. Usage: tests/benchmarks/emulator_catalogue.sh [BUILD_FOLDER]
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/prelude.sh"
benchmark_setup "${1:-}"

# least "FORMAT" COMMAND…: the smallest of five runs of what bash's time prints.
least() {
  local format=$1
  shift
  for _ in 1 2 3 4 5; do
    { TIMEFORMAT=$format; time "$@" >/dev/null 2>&1; } 2>&1 | awk '{s = 0; for (i = 1; i <= NF; i++) s += $i; print s}'
  done | sort -n | head -n 1
}
# lanes PLAN DEVICE: what one execution counts, in all launches.
lanes() {
  hipplan-run "$1" --device "$2" -q --counters --json | sed -n 's/.*"active_lanes": \([0-9]*\).*/\1/p' |
    awk '{s += $1} END {print s}'
}

"$root/tests/benchmarks/make_graphs.sh" 5 "$work" 100000
printf '%-8s %-46s %10s %10s %12s\n' target kernel 'M lanes' 'M/s core' 'two threads'
for target in gfx942 gfx1100; do
  all=0 spent=0
  for graph in "$work"/*.json; do
    plan=$work/plan.hplan
    kernel=$(hipplan-build -q "$graph" --target "$target" -o "$plan" 2>&1 | sed -n 's/.*kernel \([^,]*\).*/\1/p')
    count=$(lanes "$plan" "emulator:$target")
    rest=$(least '%3U %3S' hipplan-run "$plan" --device "null:$target" -q -j1)
    busy=$(least '%3U %3S' hipplan-run "$plan" --device "emulator:$target" -q -j1)
    one=$(least '%3R' hipplan-run "$plan" --device "emulator:$target" -q -j1)
    two=$(least '%3R' hipplan-run "$plan" --device "emulator:$target" -q -j2)
    null=$(least '%3R' hipplan-run "$plan" --device "null:$target" -q -j1)
    awk -v t="$target" -v k="$kernel" -v n="$count" -v b="$busy" -v r="$rest" -v o="$one" -v w="$two" -v z="$null" 'BEGIN {
      s = b - r; both = (w > z ? sprintf("%.2f times", (o - z) / (w - z)) : "too short")
      printf "%-8s %-46s %10.1f %10.0f %12s\n", t, k, n / 1e6, (s > 0 ? n / s / 1e6 : 0), both }'
    all=$(awk -v a="$all" -v n="$count" 'BEGIN {print a + n}')
    spent=$(awk -v a="$spent" -v b="$busy" -v r="$rest" 'BEGIN {print a + b - r}')
  done
  awk -v t="$target" -v n="$all" -v s="$spent" 'BEGIN {
    printf "%-8s %-46s %10.1f %10.0f\n", t, "all together", n / 1e6, n / s / 1e6 }'
done
