#!/usr/bin/env bash
# Do two releases read each other's files? Builds the tools of a release (a git tag or commit) and those of the
# present tree, bakes the sample graphs with each, inspects, verifies, runs and signs with the other, and prints
# the matrix. Exit status 0: every question was answered and everything works that the formats promise; 1: something
# does not, was not baked, or was compared in neither direction; 2: usage or a build failed.
#
# Usage: tests/compat/matrix.sh RELEASE [--work FOLDER] [--previous BUILD_FOLDER] [--present BUILD_FOLDER]
#                               [--archives FOLDER] [--jobs COUNT]
#   --work      where the release is unpacked and built (default build/compat; kept, so that a second run is quick)
#   --previous  the release's tools where they are built already
#   --present   the same of the present tree (default: built in the work folder)
#   --archives  kernel archives for both (default: each compiles its own)
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
release='' work=$root/build/compat previous='' present='' archives='' jobs=$(nproc)
while [ $# -gt 0 ]; do
  case "$1" in
    --work) work=$(realpath -m "$2"); shift 2 ;;
    --previous) previous=$(realpath "$2"); shift 2 ;;
    --present) present=$(realpath "$2"); shift 2 ;;
    --archives) archives=$(realpath "$2"); shift 2 ;;
    --jobs) jobs=$2; shift 2 ;;
    -*) sed -n '2,14p' "$0" >&2; exit 2 ;;
    *) release=$1; shift ;;
  esac
done
if [ -z "$release" ] || ! commit=$(git -C "$root" rev-parse --verify --quiet "$release^{commit}"); then
  echo "matrix.sh: error: name a git tag or commit of an earlier release" >&2
  exit 2
fi

# build SOURCE BUILD: the tools, the emulator and the kernels, nothing else.
build() {
  if ! {
    cmake -S "$1" -B "$2" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=12 \
      -DHIPPLAN_TESTS=OFF -DHIPPLAN_BENCHMARKS=OFF -DHIPPLAN_LINT=OFF ${archives:+-DHIPPLAN_ARCHIVES_DIR="$archives"} &&
      ninja -C "$2" -j "$jobs" --quiet
  } >"$2.log" 2>&1; then
    tail -n 20 "$2.log" >&2
    echo "matrix.sh: error: $1 does not build; see $2.log" >&2
    exit 2
  fi
}

mkdir -p "$work"
if [ -z "$previous" ]; then
  if [ "$(cat "$work/previous.commit" 2>/dev/null)" != "$commit" ]; then
    rm -rf "$work/previous" "$work/previous-build"
    mkdir "$work/previous"
    git -C "$root" archive "$commit" | tar -x -C "$work/previous"
    echo "$commit" >"$work/previous.commit"
  fi
  build "$work/previous" "$work/previous-build"
  previous=$work/previous-build
fi
if [ -z "$present" ]; then
  build "$root" "$work/present-build"
  present=$work/present-build
fi
declare -A bin=([previous]=$previous/bin [present]=$present/bin)

files=$(mktemp -d)
trap 'rm -rf "$files"' EXIT
openssl genpkey -algorithm ed25519 -out "$files/key.pem" 2>/dev/null
mkdir "$files/trust"
openssl pkey -in "$files/key.pem" -pubout -out "$files/trust/key.pem"
# Graphs that both releases have.
graphs=()
for graph in "$root"/samples/graphs/*.json "$root"/tests/cli/graphs/*.json; do
  if git -C "$root" cat-file -e "$commit:${graph#"$root"/}" 2>/dev/null; then graphs+=("$graph"); fi
done

if [ "${#graphs[@]}" -lt 3 ]; then
  echo "matrix.sh: error: $release has only ${#graphs[@]} of the present graphs" >&2
  exit 2
fi

# told WHAT: a failure, with what $files/said holds of it.
told() { { echo "== $1"; tail -n 3 "$files/said"; } >>"$files/failures"; }
# make BY FILE TOOL ARGUMENT…: a file that questions are about; it must be there afterwards.
make() {
  local by=$1 file=$2 tool=$3 status=0
  shift 3
  "${bin[$by]}/$tool" "$@" -o "$file" >"$files/said" 2>&1 || status=$?
  if [ "$status" != 0 ] || [ ! -s "$file" ]; then told "$by makes no $(basename "$file") ($status)"; fi
}
for by in previous present; do
  to=$files/$by
  mkdir "$to"
  make "$by" "$to/library.hplan" hipplan-build -q "${graphs[@]}" --target gfx942,gfx1100
  make "$by" "$to/single.hplan" hipplan-build -q "${graphs[0]}" --target gfx942
  make "$by" "$to/signed.hplan" hipplan-build -q "${graphs[0]}" --target gfx942 --sign "$files/key.pem"
  mkdir "$to/folder"
  cp "$to/single.hplan" "$to/library.hplan" "$to/folder/" 2>/dev/null || true
  make "$by" "$to/bundle.tar.zst" hipplan-inspect bundle "$to/folder"
done

# The rows: what is asked of the reader, and the command; FILES and OUT stand for folders.
questions=(
  "inspect a library|hipplan-inspect FILES/library.hplan"
  "inspect as JSON|hipplan-inspect FILES/library.hplan --json"
  "sizes|hipplan-inspect size FILES/library.hplan"
  "why|hipplan-inspect why FILES/single.hplan"
  "verify one plan|hipplan-verify FILES/single.hplan --target gfx942"
  "verify a library|hipplan-verify FILES/library.hplan --target gfx942,gfx1100"
  "verify a bundle|hipplan-verify FILES/bundle.tar.zst"
  "verify a signature|hipplan-verify FILES/signed.hplan --require-signed --trust TRUST"
  "run and check on gfx942|hipplan-run FILES/single.hplan --device emulator:gfx942 --check"
  "run every plan|hipplan-verify FILES/library.hplan --execute"
  "split and merge again|sh -c 'hipplan-inspect split FILES/library.hplan -o OUT/parts/ && hipplan-inspect merge OUT/parts/*.hplan -o OUT/merged.hplan && hipplan-inspect diff FILES/library.hplan OUT/merged.hplan'"
  "same bytes when saved again|sh -c 'hipplan-inspect merge FILES/single.hplan -o OUT/again.hplan && cmp FILES/single.hplan OUT/again.hplan'"
  "take out an envelope|hipplan-inspect extract FILES/single.hplan --envelope -o OUT/envelope"
  "tell a cut-off file|sh -c 'head -c 999 FILES/single.hplan >OUT/cut; hipplan-verify OUT/cut; test \$? = 3'"
)

# ask READER BAKER COMMAND: "ok", or FAILED and the exit status; what was said goes to $files/said.
ask() {
  local out=$files/out command=$3 status=0
  rm -rf "$out"
  mkdir "$out"
  command=${command//FILES/$files/$2}
  command=${command//OUT/$out}
  command=${command//TRUST/$files/trust}
  PATH=${bin[$1]}:$PATH timeout 300 bash -c "$command" >"$files/said" 2>&1 || status=$?
  if [ "$status" = 0 ]; then echo ok; else echo "FAILED ($status)"; fi
}

# own BY COMMAND: the same of one's own files. A release that does not know the command (exit status 2) is not asked
# any further: "-"; the present one knows all.
own() {
  local answer
  answer=$(ask "$1" "$1" "$2")
  if [ "$1" = previous ] && [ "$answer" = "FAILED (2)" ]; then answer=-; fi
  echo "$answer"
  case "$answer" in FAILED*) told "$1 reads $1: $2" ;; esac
}

# cross READER BAKER COMMAND OWN: the same of another release's files.
cross() {
  local answer
  if [ "$4" != ok ]; then
    echo -
    return
  fi
  answer=$(ask "$1" "$2" "$3")
  echo "$answer"
  if [ "$answer" != ok ]; then told "$1 reads $2: $3"; fi
}

version() {
  "${bin[$1]}/hipplan-inspect" --version 2>"$files/said" | awk '/^plan file/ {sub("plan file: ", ""); print; found = 1} END {exit !found}' ||
    told "$1 does not tell its formats"
}
echo "previous: $release ($(git -C "$root" log -1 --format=%cs "$commit")), plan files: $(version previous)"
echo "present:  $(git -C "$root" describe --always --dirty 2>/dev/null), plan files: $(version present)"
echo
row() { printf '%-30s %-14s %-14s %-14s %-14s\n' "$@"; }
row "read by" previous present previous present
row "baked by" present previous previous present
for question in "${questions[@]}"; do
  command=${question#*|}
  old=$(own previous "$command")
  new=$(own present "$command")
  back=$(cross previous present "$command" "$old")
  forth=$(cross present previous "$command" "$new")
  row "${question%%|*}" "$back" "$forth" "$old" "$new"
  if [ "$back" = - ] && [ "$forth" = - ]; then
    : >"$files/said"
    told "not compared: ${question%%|*}"
  fi
done
echo
if "${bin[present]}/hipplan-inspect" diff "$files/previous/library.hplan" "$files/present/library.hplan" >/dev/null 2>&1; then
  echo "both bake the same plans from the same graphs"
else
  echo "they bake different plans from the same graphs, which no format promises"
fi
if [ -f "$files/failures" ]; then
  echo
  cat "$files/failures"
  exit 1
fi
