#!/bin/sh
# tests/trust-table, with other tests to run: what they find, or do not do, makes it fail and is named.
. "$(dirname "$0")/../lib.sh"
once_is_enough
need_tools python3
mkdir -p "$work/top/tests/faults" "$work/top/tests/fuzz" "$work/tools" "$work/build"
cp "$top/tests/trust-table" "$work/top/tests/"
cd "$work/top" || exit 1
touch tests/fuzz/fuzz_one.c tests/fuzz/fuzz_other.c

# pretend PATH: a program that prints standard input
pretend() {
	{ echo '#!/bin/sh'; echo "cat <<'TEXT'"; cat; echo TEXT; } > "$1"
	chmod +x "$1"
}
# made PART...: the page, and what has failed
made() { BUILD=$work/build PATH=$work/tools:$PATH PARTS="$*" tests/trust-table > page 2> log; }
failed() { sed '1,/^Failed:/d; /^$/d' page; }

# executed N M: how often the two fuzz targets ran
executed() { printf '== one\nexecuted %d times\n== other\nexecuted %d times\n' "$@" | pretend tests/fuzz/run; }
executed 10 10
RUNS=10 made fuzz
is "$? $(failed)" "0 " "fuzz targets that ran as often as was asked for"
executed 10 9
RUNS=10 made fuzz
is "$? $(failed)" "3 * fuzz_other ran 9 times
* fuzz targets (\`make fuzz\`): 1 found" "one that ran less often has failed"
made fuzz
is "$? $(failed)" "0 " "... unless a time was asked for"
executed 10 0
made fuzz
like "$(failed)" '^\* fuzz_other did not run$' "one that did not run has failed anyway"

# covered PERCENT: of the lines of format that run
covered() {
	printf '%s %% of 100 lines\n' "format $1" 'record/unwind 90.0' 'report/dwarf 99.9' 'bench 5.0' > rooms
	{ cat rooms; echo '7 passed, 0 failed, 0 skipped'; } | pretend "$work/tools/make"
}
covered 90.0
made coverage
is "$? $(failed)" "0 " "rooms of which most lines run"
like "$(cat page)" '^\| format \| 100 \| 90\.0 % \|$' "... are listed"
covered 89.9
made coverage
is "$? $(failed)" "3 * format: less than 90 % of its lines run" "one with fewer has failed"
sed -i '/^report/d' "$work/tools/make"
made coverage
like "$(failed)" '^\* report/dwarf: less than 90 % of its lines run$' "so has one that is not there"

echo '57 places, 1 with more findings than tests/analyze.txt says, 2 with fewer' | pretend "$work/tools/make"
made analyze
is "$? $(failed)" "3 * gcc's static analyser (\`make analyze\`): findings that were not looked at, or are gone: 3 found" \
	"findings of the analyser are found"

pretend tests/faults/run <<'END_OF_RUN'
html-code: FAULT='read EIO 1 1': hangs
html-code: FAULT: only 1 of 4 calls that were to fail were made
1 faults injected, 2 not survived
END_OF_RUN
made report
is "$? $(failed)" "3 * html-code: FAULT='read EIO 1 1': hangs
* html-code: FAULT: only 1 of 4 calls that were to fail were made
* calls of the C library that fail in prof-report (\`make faults\`): 2 found" "faults that are not survived, or do not happen, are named"

cat > tests/faults/ends <<'END_OF_ENDS'
#!/bin/sh
[ "$3" = --targets ] && echo '8 ends, 1 found: 0 wrong, 1 too late' || echo '4 ends, 0 found: 0 wrong, 0 too late'
echo 'a deleted file: median 0.100 s, most 1.200 s; 1 too late'
END_OF_ENDS
chmod +x tests/faults/ends
made ends targets
is "$? $(failed)" "3 * the end of targets with hostile files, until the recorder's: 1 found" "ends that take too long are found"
like "$(cat page)" "^\| the end of targets .* \| 8 ends; a deleted file: median 0\.100 s, most 1\.200 s \| 1 \|$" "... with how long they take"

for script in $(grep -oE 'tests/(cli|e2e|slow)/[a-z-]+\.sh' tests/trust-table | sort -u); do
	[ -x "$top/$script" ] || echo "$script"
done > missing
is "$(cat missing)" "" "all hostile scripts are there"
made nothing
is "$?" 2 "a part that does not exist"
finish
