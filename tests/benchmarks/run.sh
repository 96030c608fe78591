#!/usr/bin/env bash
# Whole-process benchmarks of the host work. Times hold only on the machine they were taken on; compare
# lines of one run. Usage: tests/benchmarks/run.sh [BUILD_FOLDER]
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/prelude.sh"
benchmark_setup "${1:-}"

# seconds COMMAND…: user plus system time of one run.
seconds() {
  local times
  times=$({ TIMEFORMAT='%U %S'; time "$@" >/dev/null 2>&1; } 2>&1)
  awk '{printf "%.3f", $1 + $2}' <<<"$times"
}
# best N COMMAND…: smallest wall time of N runs, in milliseconds.
best() {
  local count=$1 smallest= i start stop
  shift
  for ((i = 0; i < count; i++)); do
    start=$(date +%s%N)
    "$@" >/dev/null 2>&1
    stop=$(date +%s%N)
    if [ -z "$smallest" ] || [ $((stop - start)) -lt "$smallest" ]; then smallest=$((stop - start)); fi
  done
  awk -v ns="$smallest" 'BEGIN {printf "%.2f", ns / 1e6}'
}

# peak_of COMMAND…: its largest resident size in KiB, as the kernel counted it.
peak_of() { { /usr/bin/time -f %M "$@" >/dev/null; } 2>&1 | tail -n 1; }

echo "start-up (the first line is what starting any program costs here)"
echo "  /bin/true: $(best 20 /bin/true) ms"
for tool in build inspect verify run pack; do
  echo "  hipplan-$tool --help: $(best 20 "hipplan-$tool" --help) ms"
done

echo "baking for gfx942, one thread (CPU time; the first line carries start-up and archive reading)"
for count in 1 1000 5000 20000; do
  "$root/tests/benchmarks/make_graphs.sh" "$count" "$work/graphs-$count"
  used=$(seconds hipplan-build -q -j1 "$work/graphs-$count" --target gfx942 -o "$work/$count.hplan")
  awk -v n="$count" -v s="$used" 'BEGIN {printf "  %6d graphs: %7.3f s CPU, %6.0f plans/s and core\n", n, s, n / s}'
  rm -rf "$work/graphs-$count"
done

echo "reading"
"$root/tests/benchmarks/make_graphs.sh" 300 "$work/graphs"
hipplan-build -q "$work/graphs" --target gfx90a,gfx942,gfx950,gfx1100,gfx1201 -o "$work/many.hplan" >/dev/null
hipplan-build -q "$work/graphs" --target gfx942 -o "$work/one-target.hplan" >/dev/null
bytes=$(stat -c %s "$work/one-target.hplan")
echo "  inspect of a $bytes byte library: $(best 10 hipplan-inspect "$work/one-target.hplan") ms"
bytes=$(stat -c %s "$work/many.hplan")
echo "  inspect of a $bytes byte library: $(best 10 hipplan-inspect "$work/many.hplan") ms"
echo "  inspect size of it: $(best 10 hipplan-inspect size "$work/many.hplan") ms"
used=$(seconds hipplan-verify -q -j1 "$work/20000.hplan")
awk -v s="$used" 'BEGIN {printf "  verify of 20000 plans in one file: %.3f s CPU, %.0f plans/s and core\n", s, 20000 / s}'

echo "memory"
for command in "inspect $work/20000.hplan" "verify -q $work/20000.hplan"; do
  # shellcheck disable=SC2086
  peak=$(peak_of hipplan-${command})
  mapped=$(($(stat -c %s "$work/20000.hplan") / 1024))
  echo "  hipplan-${command%% *} of a $mapped KiB file: peak $peak KiB"
done

echo "emulator"
for arch in gfx942 gfx1100; do
  hipplan-build -q "$root/samples/graphs/conv_fwd.json" --target "$arch" -o "$work/conv.hplan" >/dev/null
  echo "  convolution on emulator:$arch, whole process: $(best 5 hipplan-run "$work/conv.hplan" --device "emulator:$arch") ms"
done
