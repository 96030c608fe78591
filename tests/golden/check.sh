#!/usr/bin/env bash
# Golden files, looked at by the tools: none has changed, is missing or unlisted; all are sound; those for AMD GPUs
# still compute the right numbers; signatures are good; the bundle holds what it held.
# Usage: tests/golden/check.sh BIN_FOLDER [FOLDER]     FOLDER: a copy of tests/golden to look at instead
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export PATH=$(realpath "$1"):$PATH
unset HIPPLAN_DATA HIPPLAN_MODULES
cd "${2:-$here}" || exit 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}
# must COMMAND…: says what the command said when it fails.
must() { "$@" >"$work/said" 2>&1 || fail "$* ($(tail -n 3 "$work/said"))"; }

# Every file that is not a script or a document of this folder stands in the list, and no other.
must sha256sum --check --strict --quiet SHA256SUMS
cut -c 67- SHA256SUMS | LC_ALL=C sort >"$work/listed"
find [0-9]* formats -type f | LC_ALL=C sort >"$work/there"
must diff "$work/listed" "$work/there"

baked=1.0/baked
# Made up to be decoded: their code is none, or no handler knows their launches.
decoded_only='1\.0/(single|library|grouped|signed)|.*/decoded-only-[^/]*'
mapfile -t sound < <(grep -E '\.(hplan|tar\.zst)$' "$work/there" | grep -vE "^($decoded_only)\.hplan$")
[ "${#sound[@]}" -ge 12 ] || fail "only ${#sound[@]} files to verify"
must hipplan-verify -q "${sound[@]}"
for name in pointwise conv attention norm measured plain-code extras signed; do
  must hipplan-verify -q --execute "$baked/$name.hplan"
  grep -q 'not executed' "$work/said" && fail "$name is not executed"
done
must hipplan-run -q "$baked/no-graph.hplan" --graph "$here/../cli/graphs/matmul.json" --check
must hipplan-run -q "$baked/library.hplan" --graph-key 01cb4c4c --check

must hipplan-verify -q --require-signed --trust "$baked/trust" "$baked/signed.hplan" "$baked/pointwise.hplan"
must hipplan-inspect signatures --trust 1.0/trust 1.0/signed.hplan
must hipplan-inspect unbundle -q "$baked/bundle.tar.zst" -o "$work/out"
for member in pointwise.hplan signed.hplan below/norm.hplan; do
  must cmp "$baked/$(basename "$member")" "$work/out/$member"
done
[ "$(find "$work/out" -type f | wc -l)" = 3 ] || fail "the bundle holds other members"
exit $((failures > 0))
