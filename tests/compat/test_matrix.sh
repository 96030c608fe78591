#!/usr/bin/env bash
# Does matrix.sh tell when releases do not work together, or were not compared? Trees of made-up tools that do as if,
# with a fault each; then the build's own tools against themselves.
# Usage: tests/compat/test_matrix.sh BUILD_FOLDER      exit status 77: the sources are no checkout of git
set -uo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(realpath "$1")
if ! git -C "$root" rev-parse --verify --quiet HEAD >/dev/null 2>&1; then
  echo "skipped: $root is no checkout of git"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

# tree NAME: a folder of tools that write what is asked for and find everything good.
tree() {
  mkdir -p "$work/$1/bin"
  cat >"$work/$1/bin/hipplan-build" <<'TOOL'
#!/bin/bash
if [ "$1" = --version ]; then echo "plan file: reads and writes 1.0"; exit; fi
case "$*" in *cut) exit 3 ;; esac
while [ $# -gt 0 ]; do
  if [ "$1" = -o ]; then
    case "$2" in
      */) mkdir -p "$2"; echo made >"$2/one.hplan" ;;
      *) echo made >"$2" ;;
    esac
  fi
  shift
done
TOOL
  chmod +x "$work/$1/bin/hipplan-build"
  for tool in inspect verify run pack; do ln -s hipplan-build "$work/$1/bin/hipplan-$tool"; done
}
# replace TREE TOOL BODY
replace() {
  rm "$work/$1/bin/hipplan-$2"
  printf '#!/bin/bash\n%s\n' "$3" >"$work/$1/bin/hipplan-$2"
  chmod +x "$work/$1/bin/hipplan-$2"
}
# expect STATUS PREVIOUS PRESENT TEXT…: what matrix.sh says of two trees.
expect() {
  local status=0 wanted=$1 trees="${2##*/} and ${3##*/}" text
  "$root/tests/compat/matrix.sh" HEAD --previous "$2" --present "$3" --work "$work/none" >"$work/said" 2>&1 || status=$?
  shift 3
  for text in "$@"; do
    if [ "$status" = "$wanted" ] && grep -qF -- "$text" "$work/said"; then continue; fi
    echo "FAILED: $trees: exit status $status instead of $wanted, or not said: $text"
    cat "$work/said"
    failures=$((failures + 1))
  done
}

tree good
good=$work/good
expect 0 "$good" "$good" "both bake the same plans"

tree nothing
for tool in build inspect verify run pack; do replace nothing "$tool" 'exit 1'; done
expect 1 "$work/nothing" "$good" "previous makes no library.hplan (1)" "previous does not tell its formats"
expect 1 "$good" "$work/nothing" "present makes no bundle.tar.zst (1)"
expect 1 "$work/nothing" "$work/nothing" "not compared: inspect a library"

tree writes-nothing
replace writes-nothing build 'exit 0'
expect 1 "$work/writes-nothing" "$good" "previous makes no single.hplan (0)"
tree reads-nothing
replace reads-nothing verify 'exit 1'
expect 1 "$work/reads-nothing" "$good" "previous reads previous: hipplan-verify"
# Good at its own, and not at the other's: the reader finds out by the folder that it is asked about.
tree refuses-others
replace refuses-others run 'case "$*" in */previous/*) exit 4 ;; esac'
expect 1 "$good" "$work/refuses-others" "present reads previous: hipplan-run"
# A command that the earlier release lacks is compared one way.
tree lacks-a-command
replace lacks-a-command run 'exit 2'
expect 0 "$work/lacks-a-command" "$good" "run and check on gfx942        -              ok             -              ok"
expect 1 "$good" "$work/lacks-a-command" "present reads present: hipplan-run"

expect 0 "$build" "$build" "both bake the same plans"
if grep -q ' - ' "$work/said"; then
  echo "FAILED: the build's tools leave questions open"
  cat "$work/said"
  failures=$((failures + 1))
fi
exit $((failures > 0))
