#!/usr/bin/env bash
# Is baking as fast as it was? Two builds bake the same graphs in turn, in an order drawn anew each time, on one core.
# Prints the ratio of processor times (second build to first) with the bounds of a 95 % interval of its median.
# Exit status: 0 when all of the interval is at most LIMIT percent above 1, 1 when all of it is above that, 3 when the
# spread is too wide to tell, 2 when a build cannot be run.
# Usage: tests/benchmarks/baking_pair.sh EARLIER_BUILD [PRESENT_BUILD] [GRAPHS] [PAIRS] [LIMIT]
#   GRAPHS  how many are baked each time (500); PAIRS how often (161, some minutes); LIMIT in percent (3)
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/prelude.sh"
earlier=$(realpath "${1:?usage: baking_pair.sh EARLIER_BUILD [PRESENT_BUILD] [GRAPHS] [PAIRS] [LIMIT]}")
benchmark_setup "${2:-}"
build=$(realpath "$build")
for folder in "$earlier" "$build"; do
  if ! "$folder/bin/hipplan-build" --version >/dev/null; then
    echo "baking_pair.sh: error: $folder/bin/hipplan-build does not run" >&2
    exit 2
  fi
done
count=${3:-500} pairs=${4:-161} limit=${5:-3}

"$root/tests/benchmarks/make_graphs.sh" "$count" "$work/graphs"
# bake BUILD: user and system seconds of one bake; both take the kernels of the present build.
bake() {
  { TIMEFORMAT='%3U %3S'; time "$1/bin/hipplan-build" -q -j1 "$work/graphs" --target gfx942 \
    --data "$build/share/hipplan" -o "$work/out.hplan" >/dev/null; } 2>&1 | awk 'END {print $1 + $2}'
}
for which in "$earlier" "$build"; do bake "$which" >/dev/null; done # once for what the system keeps in memory
for ((i = 0; i < pairs; i++)); do
  if ((RANDOM % 2)); then
    first=$(bake "$earlier")
    second=$(bake "$build")
  else
    second=$(bake "$build")
    first=$(bake "$earlier")
  fi
  echo "$first $second"
done >"$work/times"
status=0
awk -v count="$count" -v limit="$limit" '
  function sort(v, n,   i, j, t) {
    for (i = 2; i <= n; i++) for (j = i; j > 1 && v[j - 1] > v[j]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
  }
  { a[NR] = $1; b[NR] = $2; ratio[NR] = $2 / $1 }
  END {
    n = NR; sort(a, n); sort(b, n); sort(ratio, n); middle = int((n + 1) / 2)
    # Order statistics around the median: 95 % of the binomial distribution lie between them.
    reach = int(0.98 * sqrt(n)) + 1; low = middle - reach; high = middle + reach
    if (low < 1) low = 1
    if (high > n) high = n
    printf "earlier %.3f s, present %.3f s for %d graphs (%.0f and %.0f plans/s and core; medians of %d)\n",
           a[middle], b[middle], count, count / a[middle], count / b[middle], n
    printf "ratio %.3f, from %.3f to %.3f (95 %% of its median); all from %.3f to %.3f\n",
           ratio[middle], ratio[low], ratio[high], ratio[1], ratio[n]
    edge = 1 + limit / 100
    if (ratio[high] <= edge) { print "pass: at most " limit " % slower"; exit 0 }
    if (ratio[low] > edge) { print "fail: more than " limit " % slower"; exit 1 }
    print "open: the spread is too wide to tell " limit " %; take more pairs, or an idle machine"; exit 3
  }' "$work/times" || status=$?
exit "$status"
