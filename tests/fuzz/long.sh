#!/usr/bin/env bash
# The fuzzers' long runs: each fuzzer in turn, as many processes of it as there are jobs, until it has made the
# executions asked for, those of earlier runs counted in, or the time is up. Prints a table; finds are kept as
# NAME-crash-… files: put each into tests/fuzz/corpus/NAME when its cause is mended. A run that is stopped goes on with
# the next call, from the inputs it has found.
# Usage: tests/fuzz/long.sh [--runs COUNT] [--seconds SECONDS] [--jobs COUNT] [--max-len BYTES] [--bin FOLDER] [NAME…]
#   --runs      executions of each fuzzer (default 10000000)
#   --seconds   at most, for each fuzzer (default: no limit)
#   --jobs      processes (default: one per processor)
#   --max-len   size of the largest inputs (default 0: that of the largest in the corpus); shorter ones are quicker
#   --bin       built fuzzers, with corpus/ beside the folder or in the source tree; built here else
# Inputs, logs, finds and counts are in the folder long beside the built fuzzers; remove it to start over.
# Exit status 1 when a fuzzer found something, 2 when one did not reach its count.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
runs=10000000 seconds=0 jobs=$(nproc) longest=0 bin='' names=()
while [ $# -gt 0 ]; do
  case "$1" in
    --runs) runs=$2; shift 2 ;;
    --seconds) seconds=$2; shift 2 ;;
    --jobs) jobs=$2; shift 2 ;;
    --max-len) longest=$2; shift 2 ;;
    --bin) bin=$(cd "$2" && pwd); shift 2 ;;
    -*) sed -n '2,15p' "$0"; exit 2 ;;
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
mkdir -p "$work/finds" "$work/logs" "$work/made"
# No stack is kept for an allocation and none is filled, which takes most of the time: the find run again with the
# fuzzer's own options tells them. Leaks are left to the short runs of the test suite.
quick=symbolize=0:malloc_context_size=0:detect_leaks=0:quarantine_size_mb=8:max_malloc_fill_size=0
status=0

# What the processes of one fuzzer have made and found, from their logs: each line begins with "#" and the count.
executions() {
  local log last sum=0
  for log in "$@"; do
    last=$(grep -o '^#[0-9][0-9]*' "$log" | tail -n 1 | tr -d '#')
    sum=$((sum + ${last:-0}))
  done
  echo "$sum"
}
# Inputs that are only slow are kept and do not count: a machine that sleeps makes them too.
finds_of() { find "$work/finds" -name "$1-*" ! -name "$1-slow-unit-*" | wc -l; }
coverage() { grep -ho ' cov: [0-9]*' "$@" | awk '$2 > most {most = $2} END {printf "%d", most}'; }

# count NAME EARLIER START: the line of the table, and the sum for the next call.
count() {
  local made finds
  made=$(executions "$work/logs/$1".*)
  echo $(($2 + made)) >"$work/made/$1"
  finds=$(finds_of "$1")
  awk -v name="$1" -v all=$(($2 + made)) -v made="$made" -v ns=$(($(date +%s%N) - $3)) -v finds="$finds" \
    -v cov="$(coverage "$work/logs/$1".*)" 'BEGIN {
      s = ns / 1e9; printf "%-18s %12d %8.0f %8.0f %10d %6d\n", name, all, s, made / s, cov, finds }'
  if [ "$finds" -ne 0 ]; then status=1; fi
  if [ $(($2 + made)) -lt "$runs" ] && [ "$status" -eq 0 ]; then status=2; fi
}

printf '%-18s %12s %8s %8s %10s %6s\n' fuzzer executions seconds "per s" coverage finds
for name in "${names[@]}"; do
  mkdir -p "$work/$name"
  earlier=$(cat "$work/made/$name" 2>/dev/null || echo 0)
  if [ "$earlier" -ge "$runs" ]; then
    finds=$(finds_of "$name")
    printf '%-18s %12d %35d\n' "$name" "$earlier" "$finds"
    [ "$finds" -eq 0 ] || status=1
    continue
  fi
  rm -f "$work/logs/$name".*
  start=$(date +%s%N)
  each=$(((runs - earlier + jobs - 1) / jobs))
  children=()
  for ((job = 0; job < jobs; job++)); do
    # A seed of its own for each run: what is tried next is not what was tried before.
    ASAN_OPTIONS=${ASAN_OPTIONS:-$quick} "$bin/$name" -runs="$each" -seed=$((earlier + job + 1)) \
      -max_total_time="$seconds" -max_len="$longest" -rss_limit_mb=2048 -timeout=20 -reload=60 \
      -artifact_prefix="$work/finds/$name-" "$work/$name" "$corpus/$name" >"$work/logs/$name.$job" 2>&1 &
    children+=($!)
  done
  trap 'kill "${children[@]}" 2>/dev/null || true; wait || true; count "$name" "$earlier" "$start"; exit 130' INT TERM
  wait
  trap - INT TERM
  count "$name" "$earlier" "$start"
done
echo "finds and logs: $work"
exit "$status"
