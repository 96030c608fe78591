#!/usr/bin/env bash
# Every C++, header and HIP file has the form that .clang-format gives it.
# Usage: format.sh ROOT [self-test]
set -euo pipefail
root=$1
formatter=$(command -v clang-format-19 || true)
if [ -z "$formatter" ]; then
  echo "skipped: clang-format-19 is not installed"
  exit 77
fi
if [ "${2:-}" = "self-test" ]; then
  # The check has to see a line that is wrong.
  if printf 'int  main( ){return 0;}\n' |
    "$formatter" --style="file:$root/.clang-format" --dry-run -Werror --assume-filename=a.cpp 2>/dev/null; then
    echo "a badly formed line passed"
    exit 1
  fi
  exit 0
fi
cd "$root"
find include lib tools tests kernels -type f \( -name '*.cpp' -o -name '*.h' -o -name '*.hip' \) -print0 |
  xargs -0 -n 60 -P "$(nproc)" "$formatter" --dry-run -Werror ||
  { echo "to repair: git ls-files '*.cpp' '*.h' '*.hip' | xargs clang-format-19 -i"; exit 1; }
