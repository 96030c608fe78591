#!/usr/bin/env bash
# How long restoring takes, stage by stage, each time in a new process: one plan in a file of its own,
# and the same plan in a library of many (100,000 unless told otherwise). Medians, in microseconds; on an
# emulated device the stages that a driver takes part in are left out.
# Usage: tests/benchmarks/restore.sh DEVICE [BUILD_FOLDER] [PLANS_IN_LIBRARY] [GRAPH.json]
# DEVICE is hip:N, cuda:N or emulator:ARCH; TARGET (environment) names what to bake for when it is not
# the emulator's architecture.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/prelude.sh"
device=${1:?usage: restore.sh DEVICE [BUILD_FOLDER] [PLANS_IN_LIBRARY] [GRAPH.json]}
benchmark_setup "${2:-}"
plans=${3:-100000}
graph=${4:-$root/samples/graphs/conv_fwd.json}
target=${TARGET:-${device#*:}}
runs=${RUNS:-21}

# stages NAME RUN_ARGUMENT…: medians over the runs.
stages() {
  local name=$1 i
  shift
  for ((i = 0; i < runs; i++)); do hipplan-run "$@" --device "$device" --cold --json 2>/dev/null; done |
    awk -v name="$name" '
      /_us":/ { gsub(/[",:]/, ""); sub(/_us/, "", $1); if (!($1 in count)) order[++kinds] = $1
                value[$1, ++count[$1]] = $2 }
      function median(stage,   n, i, j, t) {
        n = count[stage]
        for (i = 2; i <= n; i++)
          for (j = i; j > 1 && value[stage, j - 1] + 0 > value[stage, j] + 0; j--) {
            t = value[stage, j]; value[stage, j] = value[stage, j - 1]; value[stage, j - 1] = t
          }
        return value[stage, int((n + 1) / 2)]
      }
      END {
        printf "%-16s", name
        for (i = 1; i <= kinds; i++) printf "  %s %.1f", order[i], median(order[i])
        print ""
      }'
}

hipplan-build -q "$graph" --target "$target" -o "$work/one.hplan" >/dev/null
key=$(hipplan-inspect "$work/one.hplan" --json | awk -F'"' '/"graph_key"/ {print $4; exit}')
echo "bytes: $(stat -c %s "$work/one.hplan")"
stages "one plan" "$work/one.hplan"
if [ "$plans" -gt 1 ]; then
  "$root/tests/benchmarks/make_graphs.sh" "$((plans - 1))" "$work/graphs"
  cp "$graph" "$work/graphs/the-one.json"
  hipplan-build -q "$work/graphs" --target "$target" -o "$work/many.hplan" >/dev/null
  stages "of $plans" "$work/many.hplan" --graph-key "$key"
fi
