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

# The picture is small, and can be made.
like "$(sed -n '1,10p' "$top/README.md")" '^!\[.*\]\(testdata/page\.png\)$' "it begins with a picture of the page"
# picture FILE: what it is
picture() {
	python3 - "$1" <<-'END'
		import os, struct, sys
		data = open(sys.argv[1], "rb").read()
		print(data[:8] == b"\x89PNG\r\n\x1a\n" and data.endswith(b"IEND\xaeB`\x82"),
		      *struct.unpack(">II", data[16:24]), len(data) <= 100 * 1024)
	END
}
is "$(picture "$top/testdata/page.png")" "True 1160 560 True" "... of at most 100 KiB"
if [ -n "$browser" ]; then
	holds "... which can be made anew" env BUILD="$build" PROF_TEST_BROWSER="$browser" "$top/testdata/picture.py" testdata/fixtures/cpp.prf "$work/page.png"
	is "$(picture "$work/page.png")" "True 1160 560 True" "... the same size"
else
	skip "... which can be made anew" "$no_browser"
fi
finish
