#!/usr/bin/env bash
# Measures restores and kernels on the first CUDA GPU. Usage: run.sh BINDIR PLANS…
# BINDIR holds restore_stages (built with HIPPLAN_BENCHMARKS=ON) and hipplan-run; each plan is checked against the CPU
# reference, then timed stage by stage beside bare driver calls.
set -euo pipefail
bin=$1
shift
for plan in "$@"; do
  echo "== $plan"
  "$bin/hipplan-run" "$plan" --device cuda:0 --check | tail -n 1
  "$bin/restore_stages" "$plan"
done
