#!/usr/bin/env bash
# From a fresh Debian 12 to all tests: installs packages, builds, and runs
#   1. the tests under AddressSanitizer and UndefinedBehaviorSanitizer;
#   2. the threaded tests under ThreadSanitizer;
#   3. the fuzzers' short runs, a minute each where building left the time;
#   4. every test of the release build, whose ctest has the last line.
# Usage: tests/run.sh [--release-only | --lint]     --lint: clang-tidy over the library and the tools, nothing else
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
jobs=$(nproc)
release_only=
lint=
case "${1:-}" in
  "") ;;
  --release-only) release_only=1 ;;
  --lint) lint=1 ;;
  *)
    echo "usage: tests/run.sh [--release-only | --lint]" >&2
    exit 2
    ;;
esac
# Objects are found again by the compiler cache from any folder that the checkout lies in. What is not there costs no
# preprocessing: the compiler's own list of headers is the key (depend mode), which precompiled headers need too.
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1 CCACHE_SLOPPINESS=pch_defines,time_macros

step() { echo "== $* ($((SECONDS / 60)) min $((SECONDS % 60)) s)"; }

step "packages"
scripts/install-packages.sh --tests

# configure PRESET [OPTIONS…]: quick when nothing changed.
configure() {
  local preset=$1
  shift
  cmake --preset "$preset" "$@" >"build/$preset-configure.log" 2>&1 || {
    cat "build/$preset-configure.log"
    return 1
  }
}
# fuzz_seconds: a minute, or a share of what is left of the first 21 minutes, but at least 10 seconds. The release tests
# that follow take up to 4 minutes on two cores, which makes 25.
fuzz_seconds() {
  local fuzzers rounds share
  fuzzers=$(ctest --test-dir build/fuzz -N -L fuzz | sed -n 's/^Total Tests: //p')
  rounds=$(((fuzzers + jobs - 1) / jobs))
  share=$(((21 * 60 - SECONDS) / rounds))
  echo $((share < 10 ? 10 : share > 60 ? 60 : share))
}
mkdir -p build
step "release build"
# Of the code for NVIDIA GPUs only the PTX that serves all of them: machine code takes nvcc a minute and more.
configure release -DHIPPLAN_TESTS=ON -DHIPPLAN_BENCHMARKS=ON -DHIPPLAN_CUDA_ARCHS=compute_80
ninja -C build/release --quiet

archives=$root/build/release/share/hipplan/kernels
if [ -z "$release_only" ]; then
  step "sanitizer and fuzzer build"
  configure fuzz -DHIPPLAN_ARCHIVES_DIR="$archives" -DHIPPLAN_LINT="${lint:+ON}"
  if [ -n "$lint" ]; then
    step "lint"
    ninja -C build/fuzz --quiet hipplan_plan # the headers that are generated
    ctest --test-dir build/fuzz -R style_lint --output-on-failure
    exit
  fi
  ninja -C build/fuzz --quiet
  step "sanitizer tests"
  ctest --test-dir build/fuzz -LE fuzz -j "$jobs" --output-on-failure
  step "thread sanitizer build"
  configure tsan -DHIPPLAN_ARCHIVES_DIR="$archives"
  ninja -C build/tsan --quiet hipplan_thread_tests
  step "thread sanitizer tests"
  ctest --test-dir build/tsan -L threads -j "$jobs" --output-on-failure
  seconds=$(fuzz_seconds)
  step "fuzzers, $seconds s each"
  configure fuzz -DHIPPLAN_FUZZ_SECONDS="$seconds"
  ctest --test-dir build/fuzz -L fuzz -j "$jobs" --output-on-failure
fi

step "release tests"
ctest --test-dir build/release -j "$jobs" --output-on-failure
