#!/usr/bin/env bash
# Packs the built fuzzers with their seeds and every shared library that is not the C library's, so that they
# run on another x86-64 machine with a C library at least as new.
# Usage: tests/fuzz/pack.sh OUT.tar.gz [BUILD_FOLDER]     (default build/fuzz-long, which long.sh builds)
# There: tar xf OUT.tar.gz && LD_LIBRARY_PATH=fuzz/lib fuzz/long.sh --bin fuzz/bin --jobs 16
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$(realpath -m "$1")
build=$(realpath "${2:-$here/../../build/fuzz-long}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/fuzz/bin" "$work/fuzz/lib"
cp -r "$here/corpus" "$here/long.sh" "$work/fuzz/"
for folder in "$here"/corpus/*/; do
  name=$(basename "$folder")
  if [ ! -x "$build/bin/$name" ]; then
    echo "pack.sh: note: $name is not built" >&2
    rm -r "$work/fuzz/corpus/$name"
    continue
  fi
  strip --strip-debug -o "$work/fuzz/bin/$name" "$build/bin/$name"
  ldd "$build/bin/$name" | awk '$3 ~ /^\// {print $3}' | while read -r library; do
    case "$(basename "$library")" in
      libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | librt.so.* | libresolv.so.* | ld-linux*) ;;
      *) cp -nL "$library" "$work/fuzz/lib/" ;;
    esac
  done
done
tar -C "$work" -czf "$out" fuzz
echo "$out: $(find "$work/fuzz/bin" -type f | wc -l) fuzzers, $(stat -c %s "$out") bytes"
