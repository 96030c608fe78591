#!/usr/bin/env bash
# Makes the files of FOLDER as those of 1.0/baked were made, once, when format 1.0 was frozen. They are never made
# again: another build's compilers, other kernels or another zstd give other bytes, and a golden file is what an
# earlier release wrote. For the next version of the format, make a folder beside 1.0 with this script.
# Usage: tests/golden/make.sh BUILD_FOLDER FOLDER      the build has kernels for gfx942, gfx1100, sm_90 and compute_80,
#                                                      the stand-in of a HIP runtime, and make_golden_parts
# Private keys are thrown away.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(realpath "$1") to=$(realpath -m "$2")
if [ -e "$to" ]; then
  echo "make.sh: error: $to is there; golden files are not made again" >&2
  exit 2
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$to" "$to/trust"
export PATH=$build/bin:$PATH
graphs=$root/tests/cli/graphs
hipplan-build --version >"$to/made-by.txt"
bake() { hipplan-build -q "$@" >/dev/null; }

# One plan a file: pointwise, convolution for two GPUs, attention, norm.
bake "$graphs/add.json" --target gfx1100 -o "$to/pointwise.hplan"
bake "$root/samples/graphs/conv_fwd.json" --target gfx942,gfx1100 -o "$to/conv.hplan"
bake "$graphs/sdpa.json" --target gfx942 -o "$to/attention.hplan"
"$root/tests/benchmarks/make_graphs.sh" 1000 "$work/graphs"
bake "$work/graphs/g000003.json" --target gfx1100 -o "$to/norm.hplan"
# Code for NVIDIA GPUs: machine code for sm_90, and PTX, which is taken where there is no machine code.
bake "$root/samples/graphs/conv_fwd.json" --target sm_90 -o "$to/cubin.hplan"
mkdir -p "$work/data/kernels"
ln -s "$build/share/hipplan/targets" "$work/data/targets"
ln -s "$build/share/hipplan/kernels/compute_80" "$work/data/kernels/compute_80"
bake "$root/samples/graphs/conv_fwd.json" --target sm_90 --data "$work/data" -o "$to/ptx.hplan"
# Times in the plan, by a stand-in whose clock counts instructions.
bake "$graphs/matmul.json" --benchmark --device hip:0 --hip-library "$build/lib/libhipplan_hip_stand_in.so" \
  -o "$to/measured.hplan"
# Other ways to write.
bake "$graphs/matmul.json" --target gfx1100 --plain-code -o "$to/plain-code.hplan"
bake "$graphs/matmul.json" --target gfx1100 --plan-only -o "$to/no-graph.hplan"
# A library whose index has a root and two leaves, and whose texts lie in groups.
mkdir "$work/small"
for ((i = 3; i < 188; i += 5)); do cp "$work/graphs/$(printf g%06d "$i").json" "$work/small"; done
bake "$work/small" --target gfx1100 -o "$to/library.hplan"
# Signatures inside a file and beside one.
openssl genpkey -algorithm ed25519 -out "$work/key.pem" 2>/dev/null
openssl pkey -in "$work/key.pem" -pubout -out "$to/trust/baked.pem"
bake "$graphs/add.json" --target gfx942 --sign "$work/key.pem" -o "$to/signed.hplan"
hipplan-inspect sign -q "$to/pointwise.hplan" --key "$work/key.pem" --detached
# What no tool writes: evidence, parts and sections of unknown types, several launches with a workspace.
# The evidence is of a run on the emulator; its greatest relative error is only an upper bound.
out=$(hipplan-run -q "$to/attention.hplan" --check --json)
member() { sed -n "s/^ *\"$1\": \(.*[^,]\),\?$/\1/p" <<<"$out" | head -n 1; }
tensor='"data_type":"half","dims":[1,1,8,64],"strides":[512,512,64,1]'
printf '{"schema":"hipplan.evidence/1","device":{"name":"emulator","arch":"gfx942","driver_version":""},"seed":0,' >"$work/evidence"
printf '"inputs":[{"uid":1,%s},{"uid":2,%s},{"uid":3,%s}],' "$tensor" "$tensor" "$tensor" >>"$work/evidence"
printf '"outputs":[{"uid":4,%s,"sha256":%s,"max_absolute_error":%s,"max_relative_error":0.01,' \
  "$tensor" "$(member sha256)" "$(member max_abs_error)" >>"$work/evidence"
printf '"absolute_tolerance":0.01,"relative_tolerance":0.01,"not_finite":0}]}' >>"$work/evidence"
make_golden_parts extras "$to/attention.hplan" "$to/extras.hplan" "$work/evidence"
make_golden_parts launches "$to/conv.hplan" "$to/decoded-only-launches.hplan"
# A bundle of some of them.
mkdir -p "$work/folder/below"
cp "$to/pointwise.hplan" "$to/signed.hplan" "$work/folder"
cp "$to/norm.hplan" "$work/folder/below"
hipplan-inspect bundle -q "$work/folder" -o "$to/bundle.tar.zst"

# What they hold, for comparing; of the library the plans' identities only.
for file in "$to"/*.hplan; do
  name=$(basename "$file" .hplan)
  if [ "$name" = library ]; then
    (cd "$to" && hipplan-inspect list plans library.hplan --json | sed 's/^ *//') >"$to/library.list.json"
  else
    (cd "$to" && hipplan-inspect "$name.hplan" --json | sed 's/^ *//') >"$to/$name.json"
  fi
done
du -sb "$to"
