#!/bin/sh
# A second reader, written from man/prf.5 alone, agrees with libprf on every definition and sample.
. "$(dirname "$0")/../lib.sh"
cd "$top" || exit 1
tool=$build/testdata/trace_text
print=$build/testdata/print_trace
command -v python3 > /dev/null || skip_all "no python3"
need test -x "$tool"
need test -x "$print"

# agree TRACE NAME
agree() {
	python3 tests/second-reader.py "$1" > "$work/second" 2> "$work/errors"
	status=$?
	[ "$status" != 77 ] || skip_all "python3 cannot load libzstd or libxxhash"
	"$print" "$1" > "$work/first"
	if [ "$status" = 0 ] && difference=$(diff "$work/first" "$work/second"); then
		ok "$2"
	else
		not_ok "$2" "$(cat "$work/errors")
$(printf '%s' "$difference" | head -n 20)"
	fi
}

for description in testdata/good-*.txt; do
	name=$(basename "$description" .txt)
	"$tool" "$description" -o "$work/$name.prf" && agree "$work/$name.prf" "$name"
	"$tool" -z 3 "$description" -o "$work/z.prf" && agree "$work/z.prf" "$name compressed"
done
"$build/testdata/make_trace" -n 100000 -k 3000 -t 20 -C 5 -o "$work/made.prf"
agree "$work/made.prf" "100,000 samples"
number "$(grep -c '^sample ' "$work/second") == 100000" "they were all there"

# It would notice a difference.
printf 'sample 1\n' | diff -q - "$work/second" > /dev/null
is "$?" 1 "the comparison can fail"
finish
