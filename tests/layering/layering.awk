# Reads the include table of docs/architecture.md (first file), then sources; prints every include that
# the table does not allow, and with complete=1 what it allows and nothing needs. Exit status 1 when there is one.
#
# A folder of the table covers everything below it, the longest match first. "engine/dispatch" is not a
# folder but the files whose name starts with "dispatch" anywhere below lib/engine.

function trim(text) { gsub(/^[ \t]+|[ \t]+$/, "", text); return text }

# Name in the table of a path below lib/, or of one that starts with tools/, or "" when no row covers it.
function row_of(path,    folder) {
  if (path ~ /^engine\/(.*\/)?dispatch[^\/]*$/) return "engine/dispatch"
  folder = path
  while (sub(/\/[^\/]*$/, "", folder)) if (folder in known) return folder
  return ""
}

FNR == 1 { file_number++ }

file_number == 1 {
  if (/<!-- include-table -->/) { inside = 1; next }
  if (/<!-- \/include-table -->/) inside = 0
  if (!inside || !/^\|/ || /^\| *folder/ || /^\|-/) next
  split($0, cells, "|")
  folder = trim(cells[2])
  known[folder] = 1
  rows++
  count = split(cells[3], names, ",")
  for (i = 1; i <= count; i++) if (trim(names[i]) != "") allowed[folder, trim(names[i])] = 1
  next
}

FNR == 1 {
  path = substr(FILENAME, length(root) + 1)
  sub(/^lib\//, "", path)
  from = row_of(path)
  sources++
  if (from == "") { print FILENAME ": the include table has no row for this folder"; bad++ }
}

# Libraries that one module hides from all others.
/^#include/ && /nlohmann\// && from != "json" { print FILENAME ":" FNR ": only json may include nlohmann"; bad++ }
/^#include/ && /flatbuffers\// && from != "plan" { print FILENAME ":" FNR ": only plan may include flatbuffers"; bad++ }
/^#include/ && /[<"]llvm/ && $0 !~ /"llvm\// && from != "llvm" { print FILENAME ":" FNR ": only llvm may include LLVM"; bad++ }

/^#include "/ {
  split($0, quoted, "\"")
  to = row_of(quoted[2])
  if (to == "" || to == from || from == "") next
  used[from, to] = 1
  if (!((from, to) in allowed)) {
    print FILENAME ":" FNR ": " from " may not include " quoted[2] " (" to ")"
    bad++
  }
}

END {
  if (rows == 0) { print "docs/architecture.md: no include table"; bad++ }
  if (sources == 0) { print "no sources were given"; bad++ }
  for (pair in allowed) {
    split(pair, ends, SUBSEP)
    if (complete && !(pair in used)) { print "include table: " ends[1] " may include " ends[2] ", and does not"; bad++ }
    if (!(ends[2] in known)) { print "include table: " ends[1] " may include " ends[2] ", which has no row"; bad++ }
  }
  exit bad ? 1 : 0
}
