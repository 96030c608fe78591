#!/usr/bin/env bash
# The checks of .clang-tidy over the library and the tools, by the compile commands of a clang build.
# Usage: lint.sh ROOT BUILD_FOLDER
set -euo pipefail
root=$1
build=$2
linter=$(command -v clang-tidy-19 || true)
if [ -z "$linter" ]; then
  echo "skipped: clang-tidy-19 is not installed"
  exit 77
fi
cd "$root"
# Both the files themselves and the units that a unity build joins them into are named in the database.
sed -n 's/^ *"file": "\(.*\)",\{0,1\}$/\1/p' "$build/compile_commands.json" |
  grep -E '/(lib|tools)/' | grep -v '/tests/' | sort -u >"$build/lint-files"
xargs -a "$build/lint-files" -n 1 -P "$(nproc)" "$linter" -p "$build" --quiet
