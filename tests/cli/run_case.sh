#!/usr/bin/env bash
# Runs one command-line test: a text file with commands, what they print, and how they exit.
#
#   # comment
#   $ command            run by bash in an empty folder; the tools are on PATH
#   expected line        of standard output
#   ! expected line      of standard error
#   ? 3                  exit status (0 when not given)
#
# In expected lines <*> stands for any text; a line that is just <...> stands for any number of lines.
# $GRAPHS is tests/cli/graphs, $SAMPLES is samples/graphs, $UPSTREAM the upstream data or empty, $SOURCE the
# repository, $KERNELS the packed kernels, $STAND_IN a HIP runtime over an emulated GPU,
# $CUDA_STAND_IN a CUDA driver that keeps memory and loads code.
# A first line "needs upstream" skips the file when that data is not there.
# Usage: run_case.sh CASE BIN_FOLDER SOURCE_FOLDER
set -uo pipefail
case_file=$(realpath "$1")
bin=$(realpath "$2")
source_folder=$(realpath "$3")
export PATH=$bin:$source_folder/tests/cli:$PATH GRAPHS=$source_folder/tests/cli/graphs SAMPLES=$source_folder/samples/graphs
export SOURCE=$source_folder KERNELS=$bin/../share/hipplan/kernels
export STAND_IN=$bin/../lib/libhipplan_hip_stand_in.so CUDA_STAND_IN=$bin/../lib/libhipplan_cuda_stand_in.so
UPSTREAM=${HIPPLAN_UPSTREAM_DATA:-$source_folder/../shared/upstream-data}
[ -d "$UPSTREAM" ] || UPSTREAM=
export UPSTREAM
unset HIPPLAN_UPSTREAM_DATA HIPPLAN_DATA HIPPLAN_MODULES HIPPLAN_HIP_LIBRARY HIPPLAN_CUDA_LIBRARY
if head -n 1 "$case_file" | grep -q '^needs upstream$' && [ -z "$UPSTREAM" ]; then
  echo "skipped: the upstream data is not there"
  exit 77
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/here"
cd "$work/here" || exit 1
failures=0

# matches EXPECTED_FILE ACTUAL_FILE
matches() {
  awk -v expected="$1" -v actual="$2" '
    function fits(pattern, text,   at, piece, first) {
      first = 1
      while ((at = index(pattern, "<*>")) > 0) {
        piece = substr(pattern, 1, at - 1)
        pattern = substr(pattern, at + 3)
        if (first) { if (substr(text, 1, length(piece)) != piece) return 0; text = substr(text, length(piece) + 1) }
        else { at = index(text, piece); if (at == 0) return 0; text = substr(text, at + length(piece)) }
        first = 0
      }
      if (first) return pattern == text
      if (length(text) < length(pattern)) return 0
      return substr(text, length(text) - length(pattern) + 1) == pattern
    }
    BEGIN {
      while ((getline line < expected) > 0) want[++wants] = line
      while ((getline line < actual) > 0) have[++haves] = line
      w = 1; h = 1
      while (w <= wants) {
        if (want[w] == "<...>") {
          w++
          if (w > wants) { h = haves + 1; break }
          while (h <= haves && !fits(want[w], have[h])) h++
        }
        if (h > haves) { print "missing: " want[w]; exit 1 }
        if (!fits(want[w], have[h])) { print "expected: " want[w]; print "found:    " have[h]; exit 1 }
        w++; h++
      }
      if (h <= haves) { print "not expected: " have[h]; exit 1 }
    }'
}

check() {
  [ -n "${command:-}" ] || return 0
  bash -c "$command" >"$work/stdout" 2>"$work/stderr"
  local got=$?
  # How far a long execution has come is told or not, as slow as the machine is.
  sed -i -E '/^hipplan-[a-z]+: .*, steps done: [0-9]+ of [0-9]+$/d' "$work/stderr"
  local why=""
  if [ "$got" != "$status" ]; then why="exit status $got instead of $status"; fi
  local stream
  for stream in stdout stderr; do
    local said
    said=$(matches "$work/expected-$stream" "$work/$stream") || why="$why
$stream: $said"
  done
  if [ -n "$why" ]; then
    echo "FAILED: \$ $command"
    echo "$why"
    echo "--- standard output"; head -n 40 "$work/stdout"
    echo "--- standard error"; head -n 40 "$work/stderr"
    failures=$((failures + 1))
  fi
}

start() {
  : >"$work/expected-stdout"
  : >"$work/expected-stderr"
  status=0
}

command=
start
while IFS= read -r line || [ -n "$line" ]; do
  case "$line" in
    '#'* | 'needs upstream') ;;
    '$ '*) check; start; command=${line:2} ;;
    '! '*) printf '%s\n' "${line:2}" >>"$work/expected-stderr" ;;
    '? '*) status=${line:2} ;;
    '') ;;
    *) printf '%s\n' "$line" >>"$work/expected-stdout" ;;
  esac
done <"$case_file"
check
exit $((failures > 0 ? 1 : 0))
