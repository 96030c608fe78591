#!/usr/bin/env bash
# Installs what building hipplan on Debian 12 needs and is missing. Needs root, or sudo, only then.
set -euo pipefail

packages=(
  g++ cmake ninja-build ccache git pkg-config
  libcli11-dev nlohmann-json3-dev libflatbuffers-dev flatbuffers-compiler libzstd-dev
  libarchive-dev libssl-dev zlib1g-dev doctest-dev libbenchmark-dev
  clang-22 lld-22 llvm-22-dev
)
# What only the tests and benchmarks need: a second host compiler with fuzzing, formatting and linting; the peak of memory.
test_packages=(clang-19 libclang-rt-19-dev clang-format-19 clang-tidy-19 procps time)
if [ "${1:-}" = "--tests" ]; then packages+=("${test_packages[@]}"); fi

missing=()
for package in "${packages[@]}"; do
  state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = "installed" ] || missing+=("$package")
done
[ "${#missing[@]}" -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then as_root=(sudo); fi
echo "installing: ${missing[*]}"
"${as_root[@]}" apt-get update -qq
DEBIAN_FRONTEND=noninteractive "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
