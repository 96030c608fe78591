#!/usr/bin/env bash
# From a fresh Debian 12 to all tests: installs packages, builds, and runs the tests of the AddressSanitizer
# and UndefinedBehaviorSanitizer build with the fuzzers' short runs, then those of the release build, whose
# ctest has the last line. With --threads the threaded tests also run under ThreadSanitizer.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
jobs=$(nproc)
# Objects are found again by the compiler cache from any folder that the checkout lies in.
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1

scripts/install-packages.sh --tests

# configure PRESET [OPTIONS…]: only when it is new, so that a second call is quick.
configure() {
  local preset=$1
  shift
  cmake --preset "$preset" "$@" >"build/$preset-configure.log" 2>&1 || {
    cat "build/$preset-configure.log"
    return 1
  }
}
mkdir -p build
configure release -DHIPPLAN_TESTS=ON -DHIPPLAN_BENCHMARKS=ON
ninja -C build/release --quiet

archives=$root/build/release/share/hipplan/kernels
if [ -z "${HIPPLAN_SKIP_SANITIZERS:-}" ]; then
  configure fuzz -DHIPPLAN_ARCHIVES_DIR="$archives"
  ninja -C build/fuzz --quiet
  ctest --test-dir build/fuzz -j "$jobs" --output-on-failure
fi
if [ "${1:-}" = "--threads" ]; then
  configure tsan -DHIPPLAN_ARCHIVES_DIR="$archives"
  ninja -C build/tsan --quiet hipplan_thread_tests
  ctest --test-dir build/tsan -L threads -j "$jobs" --output-on-failure
fi

ctest --test-dir build/release -j "$jobs" --output-on-failure
