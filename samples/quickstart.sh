#!/usr/bin/env bash
# From a fresh Debian 12 to a plan that ran: installs packages, builds, bakes a convolution graph for two
# GPUs, looks into the file, verifies it, and runs it on emulated GPUs against the CPU reference.
# Usage: samples/quickstart.sh [GRAPH.json]
set -euo pipefail
case "${1:-}" in
  -*)
    sed -n '2,4s/^# //p' "$0"
    exit 2
    ;;
esac
root=$(cd "$(dirname "$0")/.." && pwd)
graph=${1:-$root/samples/graphs/conv_fwd.json}
if [ ! -f "$graph" ]; then
  echo "quickstart.sh: $graph: no such file; give a graph in hipDNN's JSON, or nothing for the sample" >&2
  exit 2
fi
build=$root/build/release
work=$build/quickstart

"$root/scripts/install-packages.sh"
# Objects are found again by the compiler cache from any folder that the checkout lies in.
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1 CCACHE_SLOPPINESS=pch_defines,time_macros
if [ ! -f "$build/build.ninja" ]; then
  cmake -S "$root" --preset release -DHIPPLAN_TESTS=OFF -DHIPPLAN_BENCHMARKS=OFF >/dev/null
fi
[ -x "$build/bin/hipplan-run" ] || echo "building: about ten minutes, a second call takes a second"
quiet=--quiet
[ ! -t 1 ] || quiet=
ninja -C "$build" $quiet

mkdir -p "$work"
plan=$work/$(basename "$graph" .json).hplan
bin=$build/bin
step() {
  echo
  echo "\$ $(basename "$1") ${*:2}"
  "$@"
}
step "$bin/hipplan-build" "$graph" --target gfx942,gfx1100 -o "$plan"
step "$bin/hipplan-inspect" show "$plan"
step "$bin/hipplan-verify" "$plan" --target gfx942,gfx1100
step "$bin/hipplan-run" "$plan" --device emulator:gfx942 --check
step "$bin/hipplan-run" "$plan" --device emulator:gfx1100 --check
echo
echo "The plan is $plan"
