#!/bin/sh
# prof-bench libraries: our readers of ELF and DWARF answer as libelf and libdw do.
. "$(dirname "$0")/../lib.sh"
[ -z "${SAN:-}" ] || skip_all "the times of a sanitized build are of no use, and symbols-*.sh read such files, too"
for tool in cc objcopy awk; do
	command -v $tool > /dev/null || skip_all "$tool is not here"
done
"$bench" libraries > "$work/table" 2> "$work/log"
is $? 0 "all answers are the same"
is "$(cat "$work/log")" "" "no complaint"
is "$(sed -n 1p "$work/table")" "| function | ours | library | ratio | whole report | decision |" "a table"
rows=$(sed 1,2d "$work/table")
is "$(printf '%s\n' "$rows" | wc -l)" 14 "of 14 functions"
# A row has both times, or the reason why one is missing.
is "$(printf '%s\n' "$rows" | grep -vcE '^\| [^|]+ \| ([0-9.]+ .?s \| [0-9.]+ .?s \| [0-9.]+ \| ([0-9.]+|-) \||[0-9.]+ .?s \| not possible \||not available \|)')" 0 \
	"each has times, or says what is missing"
for function in 'ELF headers' 'sections of DWARF' 'all rows' '2,000 places'; do
	like "$rows" "^\\| $function[^|]*\\| [0-9.]+ .?s \\| [0-9.]+ .?s \\|" "$function are timed on both sides"
done
finish
