#!/usr/bin/env bash
# The fuzzers' long runs: each fuzzer in turn, as many processes of it as there are jobs, until all of them
# together have made the executions asked for or the time is up. Prints a table; finds are kept as
# NAME-crash-… files: put each into tests/fuzz/corpus/NAME when its cause is mended.
# Usage: tests/fuzz/long.sh [--runs COUNT] [--seconds SECONDS] [--jobs COUNT] [--bin FOLDER] [NAME…]
#   --runs      executions of each fuzzer (default 10000000)
#   --seconds   at most, for each fuzzer (default: no limit)
#   --jobs      processes (default: one per processor)
#   --bin       built fuzzers, with corpus/ beside the folder or in the source tree; built here else
# Exit status 1 when a fuzzer found something, 2 when one did not reach its count.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
runs=10000000 seconds=0 jobs=$(nproc) bin='' names=()
while [ $# -gt 0 ]; do
  case "$1" in
    --runs) runs=$2; shift 2 ;;
    --seconds) seconds=$2; shift 2 ;;
    --jobs) jobs=$2; shift 2 ;;
    --bin) bin=$(cd "$2" && pwd); shift 2 ;;
    -*) sed -n '2,12p' "$0"; exit 2 ;;
    *) names+=("$1"); shift ;;
  esac
done
corpus=$here/corpus
if [ "${#names[@]}" -eq 0 ]; then
  for folder in "$corpus"/*/; do names+=("$(basename "$folder")"); done
fi
if [ -z "$bin" ]; then
  root=$(cd "$here/../.." && pwd)
  build=$root/build/fuzz-long
  archives=$root/build/release/share/hipplan/kernels
  cmake -S "$root" -B "$build" --preset fuzz -DCMAKE_CXX_FLAGS_DEBUG="-O2 -g1" -DHIPPLAN_LINT=OFF \
    -DHIPPLAN_ARCHIVES_DIR="$([ -d "$archives" ] && echo "$archives")" >/dev/null
  ninja -C "$build" --quiet "${names[@]}"
  bin=$build/bin
fi
work=$(dirname "$bin")/long
mkdir -p "$work/finds"
each=$(((runs + jobs - 1) / jobs))
# No stack is kept for each allocation, which takes most of the time: the find run again with the fuzzer's own options
# tells them. Leaks are left to the short runs of the test suite.
quick=symbolize=0:malloc_context_size=0:detect_leaks=0:quarantine_size_mb=8
status=0

# stat LOG… : the sum of the executions that the processes report.
executions() { awk '/^stat::number_of_executed_units:/ {sum += $2} END {printf "%d", sum}' "$@"; }
coverage() { grep -ho ' cov: [0-9]*' "$@" | awk '$2 > most {most = $2} END {printf "%d", most}'; }

printf '%-18s %12s %8s %8s %10s %6s\n' fuzzer executions seconds "per s" coverage finds
for name in "${names[@]}"; do
  mkdir -p "$work/$name" "$work/logs"
  rm -f "$work/logs/$name".*
  start=$(date +%s%N)
  for ((job = 0; job < jobs; job++)); do
    ASAN_OPTIONS=${ASAN_OPTIONS:-$quick} "$bin/$name" -runs="$each" -seed=$((job + 1)) \
      -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=20 -print_final_stats=1 -reload=60 \
      -artifact_prefix="$work/finds/$name-" "$work/$name" "$corpus/$name" >"$work/logs/$name.$job" 2>&1 &
  done
  wait
  made=$(executions "$work/logs/$name".*)
  finds=$(find "$work/finds" -name "$name-*" | wc -l)
  awk -v name="$name" -v made="$made" -v ns=$(($(date +%s%N) - start)) -v cov="$(coverage "$work/logs/$name".*)" \
    -v finds="$finds" 'BEGIN {
      s = ns / 1e9; printf "%-18s %12d %8.0f %8.0f %10d %6d\n", name, made, s, made / s, cov, finds }'
  [ "$finds" -eq 0 ] || status=1
  if [ "$made" -lt "$runs" ] && [ "$status" -eq 0 ]; then status=2; fi
done
echo "finds and logs: $work"
exit "$status"
