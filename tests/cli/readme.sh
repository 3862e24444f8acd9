#!/bin/sh
# The files and options that the README names exist.
. "$(dirname "$0")/../lib.sh"
missing=
for path in $(grep -oE '\b(tests|man|bpf|record|report|format|common|bench)/[A-Za-z0-9_./-]+\.(sh|c|h|md|1|5)\b' "$top/README.md" | sort -u); do
	[ -e "$top/$path" ] || missing="$missing $path"
done
is "$missing" "" "every file that it names exists"

# The commands of its tour have options that the programs have.
unknown=
for program in prof-record prof-report; do
	"$build/$program" --help > "$work/help"
	for option in $(sed -n "s/^    $program //p" "$top/README.md" | sed 's/#.*//; s/ -- .*//; s/|.*//' | grep -oE -- '--[a-z-]+' | sort -u); do
		grep -qE -- "$option\b" "$work/help" || unknown="$unknown $program $option"
	done
done
is "$unknown" "" "every option of its tour exists"
finish
