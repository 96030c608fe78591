#!/usr/bin/env bash
# Differential fuzzing of the emulator for as long as one likes: random programs on the host and on emulated GPUs.
# Usage: tests/emulator_fuzz/long_run.sh FIRST_SEED RUNS [BUILD_FOLDER [BUNDLE]]
# Each run makes 40 programs from one seed, adds those that disagreed once, and compiles them for six architectures at -O1 or -O3 in turn. 500 runs are
# 20,000 programs for each architecture. A disagreement prints the seed and keeps its files. ARCHS names fewer
# architectures. With BUNDLE nothing runs on the emulator: programs and the host's answers are appended to that file, for
# `emulator_fuzz --run BUNDLE MODULE_FOLDER JOBS` on an x86-64 machine that needs no compiler.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
first=${1:?first seed}
runs=${2:?number of runs}
build=${3:-$root/build/release}
bundle=${4:-}
archs=${ARCHS:-gfx90a gfx942 gfx950 gfx1100 gfx1151 gfx1201}
compiler=$(command -v clang++-22 || command -v amdclang++)
work=$(mktemp -d)
failed=0
for ((seed = first; seed < first + runs; seed++)); do
  text=$work/$seed.cpp
  "$build/bin/make_programs" "$seed" 40 >"$text"
  g++ -std=c++20 -O0 -w -ffp-contract=off -frounding-math -fwrapv -shared -fPIC -I"$root/tests/emulator_fuzz" -I"$root/lib" \
    "$text" "$root/lib/base/float_types.cpp" -o "$work/$seed.so"
  level=$((seed % 2 == 0 ? 3 : 1)) clean=1
  for arch in $archs; do
    code=$work/$seed.$arch.hsaco
    "$compiler" -x hip --cuda-device-only --offload-arch="$arch" -nogpuinc -nogpulib -w -O"$level" -ffp-contract=off \
      --no-gpu-bundle-output -mcode-object-version=5 -fuse-cuid=none -I"$root/tests/emulator_fuzz" -c "$text" -o "$code"
    if [ -n "$bundle" ]; then
      "$build/bin/emulator_fuzz" --pack "$bundle" "$arch" "$code" "$work/$seed.so"
    elif ! "$build/bin/emulator_fuzz" "$build/lib" "$arch" "$code" "$work/$seed.so"; then
      echo "seed $seed, -O$level, $arch: $text"
      clean=0 failed=1
    fi
  done
  if [ "$clean" = 1 ]; then rm -f "$work/$seed".*; fi
done
[ "$failed" = 0 ] && rm -rf "$work"
exit "$failed"
