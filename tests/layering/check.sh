#!/bin/sh
# check.sh SOURCE_DIR [self-test]: the includes of lib/ follow the table of docs/architecture.md.
# With "self-test" forbidden includes are put into a copy of one file each, and must be told.
set -eu
source_dir=$1
here=$(dirname "$0")
table=$source_dir/docs/architecture.md

# check ROOT COMPLETE TABLE: COMPLETE is 1 where all of the sources are there, so that none may miss an allowed include.
check() {
  find "$1/lib" \( -name '*.h' -o -name '*.cpp' \) -print0 | sort -z |
    xargs -0 awk -v complete="$2" -f "$here/layering.awk" "$3"
}

if [ "${2:-}" != self-test ]; then
  check "$source_dir" 1 "$table"
  exit 0
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
expect_refusal() { # file below lib/, line, what must be told
  rm -rf "$work/lib"
  mkdir -p "$work/lib/$(dirname "$1")"
  printf '%s\n' "$2" > "$work/lib/$1"
  if check "$work" 0 "$table" > "$work/out"; then echo "accepted: $1: $2"; exit 1; fi
  grep -q "$3" "$work/out" || { echo "told otherwise: $1: $2"; cat "$work/out"; exit 1; }
}
expect_refusal restore/x.cpp '#include "graph/graph.h"' 'restore may not include'
expect_refusal engine/conv_fwd/dispatch.cpp '#include "graph/graph.h"' 'engine/dispatch may not include'
expect_refusal restore/x.cpp '#include "engine/registry.h"' 'restore may not include'
expect_refusal base/x.h '#include "json/json.h"' 'base may not include'
expect_refusal graph/x.cpp '#include <nlohmann/json.hpp>' 'nlohmann'
expect_refusal api/x.cpp '#include <flatbuffers/flatbuffers.h>' 'flatbuffers'
expect_refusal device/x.cpp '#include <llvm-c/Disassembler.h>' 'LLVM'
expect_refusal unheard_of/x.cpp '' 'no row for this folder'
# A row that nothing needs is told too.
sed 's/^| json | base |$/| json | base, target |/' "$table" > "$work/table.md"
if check "$source_dir" 1 "$work/table.md" > "$work/out"; then echo "accepted: an include that nothing needs"; exit 1; fi
grep -q 'json may include target, and does not' "$work/out" || { cat "$work/out"; exit 1; }
