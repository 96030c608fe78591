#!/bin/sh
# check.sh SOURCE_DIR [self-test]: the includes of lib/ and tools/ follow the table of docs/architecture.md.
# With "self-test" forbidden includes are put into a copy of one file each, and must be told.
set -eu
source_dir=$1
here=$(dirname "$0")
table=$source_dir/docs/architecture.md

# check ROOT COMPLETE TABLE: COMPLETE is 1 where all of the sources are there, so that none may miss an allowed include.
check() {
  find "$1/lib" "$1/tools" \( -name '*.h' -o -name '*.cpp' \) -print0 | sort -z |
    xargs -0 awk -v root="$1/" -v complete="$2" -f "$here/layering.awk" "$3"
}

if [ "${2:-}" != self-test ]; then
  check "$source_dir" 1 "$table"
  exit 0
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
expect_refusal() { # file in lib/, or tools/…, line, what must be told
  case $1 in tools/*) file=$work/$1 ;; *) file=$work/lib/$1 ;; esac
  rm -rf "$work/lib" "$work/tools"
  mkdir -p "$work/lib" "$work/tools" "$(dirname "$file")"
  printf '%s\n' "$2" > "$file"
  if check "$work" 0 "$table" > "$work/out"; then echo "accepted: $1: $2"; exit 1; fi
  grep -q "$3" "$work/out" || { echo "told otherwise: $1: $2"; cat "$work/out"; exit 1; }
}
expect_refusal restore/x.cpp '#include "graph/graph.h"' 'restore may not include'
expect_refusal engine/conv_fwd/dispatch.cpp '#include "graph/graph.h"' 'engine/dispatch may not include'
expect_refusal restore/x.cpp '#include "engine/registry.h"' 'restore may not include'
expect_refusal base/x.h '#include "json/json.h"' 'base may not include'
expect_refusal tools/inspect/main.cpp '#include "base/join.h"' 'tools may not include'
expect_refusal tools/common/x.cpp '#include "json/json.h"' 'tools/common may not include'
expect_refusal json/x.cpp '#include "tools/common/tool.h"' 'json may not include'
expect_refusal graph/x.cpp '#include <nlohmann/json.hpp>' 'nlohmann'
expect_refusal api/x.cpp '#include <flatbuffers/flatbuffers.h>' 'flatbuffers'
expect_refusal device/x.cpp '#include <llvm-c/Disassembler.h>' 'LLVM'
expect_refusal unheard_of/x.cpp '' 'no row for this folder'
# A row that nothing needs is told too.
sed 's/^| json | base |$/| json | base, target |/' "$table" > "$work/table.md"
if check "$source_dir" 1 "$work/table.md" > "$work/out"; then echo "accepted: an include that nothing needs"; exit 1; fi
grep -q 'json may include target, and does not' "$work/out" || { cat "$work/out"; exit 1; }
