#!/usr/bin/env bash
# Compares the dynamic symbols that a library defines with a list. Usage: check_exports.sh LIBRARY LIST
set -euo pipefail
found=$(nm -D --defined-only "$1" | awk '$2 != "A" {print $3}' | sed 's/@.*//' | sort)
if ! diff <(sort "$2") <(printf '%s\n' "$found"); then
  echo "the exported symbols differ from $2: '<' is missing, '>' is not in the list"
  exit 1
fi
