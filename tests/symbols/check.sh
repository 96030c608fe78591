#!/bin/sh
# check.sh LIBRARY LIST HEADERS: the library exports exactly the names of the list, and the public headers
# declare each of them.
set -eu
library=$1 list=$2 headers=$3
export LC_ALL=C
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Absolute symbols are the names of versions.
nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort -u > "$work/exported"
sort -u "$list" > "$work/expected"
if ! diff -u "$work/expected" "$work/exported" > "$work/diff"; then
  echo "exported symbols differ from $list (- expected, + found):"
  sed -n '3,$p' "$work/diff"
  exit 1
fi
status=0
while read -r name; do
  grep -qE "[ *]$name\(" "$headers"/*.h || { echo "$name is in no public header"; status=1; }
done < "$work/expected"
exit $status
