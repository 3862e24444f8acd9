#!/bin/sh
# The option tables and the manual pages agree, and every page is well-formed.
. "$(dirname "$0")/../lib.sh"

# The long and short options of --help, one a line.
of_help() {
	"$build/$1" --help | sed -n 's/^  \(-.\|  \)\(, \|  \)\{0,1\}\(--[a-z-]*\)\{0,1\}.*/\1 \3/p' |
		tr ' ' '\n' | grep -E '^-' | sort -u
}

# Those that have an entry in the page: the lines after .TP that begin with .B, .BR or .BI.
of_page() {
	sed 's/\\-/-/g; s/"//g' "$top/man/$1.1" |
		awk '/^\.TP/ { entry = 1; next } entry && /^\.B/ { print } { entry = 0 }' |
		grep -oE '(^|[ ,])--?[A-Za-z][a-z-]*' | tr -d ' ,' | sort -u
}

for program in prof-record prof-report prof-bench; do
	of_help "$program" > "$work/help"
	of_page "$program" > "$work/page"
	number "$(wc -l < "$work/help") > 5" "$program --help lists options"
	if difference=$(diff "$work/help" "$work/page"); then
		ok "$program: help and page list the same options"
	else
		not_ok "$program: help and page list the same options" "$difference"
	fi
done

for page in prof-record.1 prof-report.1 prof-bench.1 prof-ship.1 prof.7 prof-fleet.7 prf.3 prf.5; do
	if command -v groff > /dev/null; then
		is "$(groff -t -man -Tutf8 -ww -z "$top/man/$page" 2>&1)" "" "$page is well-formed"
	else
		skip "$page is well-formed" "no groff"
	fi
	for section in NAME DESCRIPTION; do
		like "$(cat "$top/man/$page")" "^\.SH \"?$section" "$page has a section $section"
	done
done

# The limits in the pages are those of common/limits.h.
commas() { sed -E ':more; s/([0-9])([0-9]{3})(,|$)/\1,\2\3/; t more'; }
limit() {
	sed -n "s/^#define $1 (*\([^)]*\))*.*/\1/p" "$top/common/limits.h" | awk -F ' << ' '{ print $2 ? $1 * 2 ^ $2 : $1 }' |
		commas
}
for page in prof-record.1 prof-report.1; do
	for name in SEGMENTS SECTIONS SYMBOLS; do
		like "$(cat "$top/man/$page")" " $(limit "LIMIT_$name") " "$page has LIMIT_$name"
	done
done
for name in SOURCE_BYTES FUNCTION_BYTES CODE_BYTES; do
	like "$(cat "$top/man/prof-report.1")" " $(limit "LIMIT_$name") " "prof-report.1 has LIMIT_$name"
done
for name in SYMBOL_NAME_BYTES UNHASHED_SYMBOLS; do
	like "$(cat "$top/man/prof-record.1")" " $(limit "LIMIT_$name") " "prof-record.1 has LIMIT_$name"
done
for name in JIT_BYTES JIT_ROUND_BYTES JIT_END_BYTES; do
	mib=$(sed -n "s/^#define LIMIT_$name (UINT64_C(\([0-9]*\)) << 20)$/\1/p" "$top/common/limits.h")
	like "$(cat "$top/man/prof-record.1")" " ${mib:-no} MiB" "prof-record.1 has LIMIT_$name"
done
# Those of the kernel half's maps are in bpf/abi/.
for name in SCRIPT_MAX_PROCESSES UNWIND_MAX_PROCESSES UNWIND_MAX_SEGMENTS UNWIND_MAX_RUN; do
	number=$(cat "$top"/bpf/abi/*.h | sed -n "s/^#define $name \([0-9]*\).*/\1/p" | commas)
	like "$(cat "$top/man/prof-record.1")" "(^|[ ])${number:-none}( |;|$)" "prof-record.1 has $name"
done
finish
