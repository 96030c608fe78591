# shellcheck shell=bash
# Sourced by the benchmarks of this folder: settings, the folder of the sources ($root), and $build, $work and PATH by
# benchmark_setup.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

# benchmark_setup [BUILD_FOLDER]: finds the tools, and makes a folder that goes when the script ends.
benchmark_setup() {
  build=${1:-$root/build/release}
  export PATH=$build/bin:$PATH
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
}
