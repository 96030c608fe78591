#!/usr/bin/env bash
# Tools that write are killed at random moments: afterwards every file is an old one, a complete new one, or not there,
# and what a dead tool left goes with the next run.
# Usage: tests/plan/kill_tools.sh BIN_FOLDER [KILLS_OF_EACH]
set -uo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
export PATH=$(realpath "$1"):$PATH
kills=${2:-25}
unset HIPPLAN_DATA HIPPLAN_MODULES
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
failures=0
RANDOM=7
fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}
must() { "$@" >said 2>&1 || fail "$* ($(tail -n 2 said))"; }

# states FOLDER: a line for each visible file: digest and name. Hidden ones are temporaries.
states() { (cd "$1" 2>/dev/null && find . -type f ! -path '*/.*' ! -name '*hipplan-tmp*' -exec sha256sum {} + | LC_ALL=C sort); }
temporaries() { find "$1" -name '*hipplan-tmp*'; }

# attack NAME SETUP COMMAND: runs COMMAND in the folder `out`, which SETUP (a function) fills before each run.
attack() {
  local name=$1 setup=$2 command=$3 i start microseconds killed=0 partial=0
  rm -rf out && mkdir out && "$setup"
  states out >old
  must bash -c "$command"
  # Once more for the time it takes when the system has everything in memory.
  rm -rf out && mkdir out && "$setup"
  start=$(date +%s%N)
  must bash -c "$command"
  microseconds=$((($(date +%s%N) - start) / 1000))
  states out >new
  cmp -s old new && fail "$name changes nothing"
  LC_ALL=C sort -u old new >allowed
  for ((i = 0; i < kills; i++)); do
    # Every other run starts where the one before was killed.
    if ((i % 2 == 0)); then rm -rf out && mkdir out && "$setup"; fi
    local after=$(((RANDOM * 32768 + RANDOM) % (microseconds * 5 / 4)))
    timeout -s KILL "$(printf '%d.%06d' $((after / 1000000)) $((after % 1000000)))" bash -c "exec $command" >/dev/null 2>&1 &
    wait $! 2>/dev/null
    [ $? = 137 ] && killed=$((killed + 1))
    states out >now
    LC_ALL=C comm -13 allowed now >wrong
    [ -s wrong ] && fail "$name, killed after $after us: neither old nor new: $(cat wrong)"
    # Files that were there are there still, old or new.
    cut -c 67- old | while IFS= read -r file; do [ -e "out/$file" ] || echo "$file"; done >gone
    [ -s gone ] && fail "$name, killed after $after us: gone: $(cat gone)"
    [ -n "$(temporaries out)" ] && partial=$((partial + 1))
  done
  must bash -c "$command"
  states out >now
  cmp -s new now || fail "$name: the run after all of them gives something else: $(diff new now | head -n 4)"
  [ -z "$(temporaries out)" ] || fail "$name leaves $(temporaries out)"
  echo "$name: $killed of $kills killed in time, $partial of them left temporaries"
  [ "$killed" -gt 0 ] || fail "$name: none was killed in time"
}

# Some thirty small plans, and the same of an earlier day, which have other bytes.
"$root/tests/benchmarks/make_graphs.sh" 15 graphs
must hipplan-build -q graphs --target gfx942,gfx1100 -o library.hplan
must hipplan-build -q graphs --target gfx942,gfx1100 --plan-only -o earlier.hplan
must openssl genpkey -algorithm ed25519 -out key.pem
must hipplan-inspect split -q library.hplan -o parts/
must hipplan-inspect split -q earlier.hplan -o earlier/
must hipplan-build -q graphs --target gfx942,gfx1100 --plan-only -o earlier-build/

nothing() { :; }
old_parts() { cp earlier/*.hplan out; }
old_build() { cp earlier-build/*.hplan out; }
old_bundle() { cp library.hplan out/x.tar.zst; }
unsigned() { cp library.hplan out/x.hplan; }
attack "split into an empty folder" nothing "hipplan-inspect split -q library.hplan -o out/"
attack "split over old files" old_parts "hipplan-inspect split -q library.hplan -o out/"
attack "build into an empty folder" nothing "hipplan-build -q graphs --target gfx942,gfx1100 -o out/"
attack "build over old files" old_build "hipplan-build -q graphs --target gfx942,gfx1100 -o out/"
attack "bundle" nothing "hipplan-inspect bundle -q parts -o out/x.tar.zst"
attack "bundle over an old one" old_bundle "hipplan-inspect bundle -q parts -o out/x.tar.zst"
attack "sign" unsigned "hipplan-inspect sign -q out/x.hplan --key key.pem"
attack "sign beside" unsigned "hipplan-inspect sign -q out/x.hplan --key key.pem --detached"
exit $((failures > 0))
