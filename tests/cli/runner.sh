#!/bin/sh
# tests/run itself: what it cannot run fails, and so does a script whose tools are broken.
. "$(dirname "$0")/../lib.sh"
once_is_enough
cd "$top" || exit 1

is "$(grep -L '^need_bpf' $(grep -lE '\$(record|\{record)' tests/e2e/*.sh))" "" "each test that records runs alone"

# fails NAME LAST-LINE ARGUMENT...: tests/run with the arguments ends with status 1 and these counts
fails() {
	name=$1 expected=$2
	shift 2
	BUILD=$broken tests/run "$@" > "$work/log" 2>&1
	is "$?" 1 "$name: status 1"
	like "$(tail -n 1 "$work/log")" "^$expected\$" "$name: counted"
}

broken=$build
fails "a test that does not exist" "0 passed, 1 failed, 0 skipped" nosuchtest
fails "a script that does not exist" "0 passed, 1 failed, 0 skipped" tests/cli/nosuchtest.sh
fails "... beside one that passes" "[1-9][0-9]* passed, 1 failed, 0 skipped" nosuchtest buffer

mkdir "$work/full"
printf '#!/bin/sh\nexit 1\n' > "$work/full/mkdir"
chmod +x "$work/full/mkdir"
PATH=$work/full:$PATH fails "a test that cannot be begun" "0 passed, 1 failed, 0 skipped" buffer

mkdir "$work/empty"
broken=$work/empty
fails "unit tests that were not built" "0 passed, 1 failed, 0 skipped" unit

# A program of ours that does not compile is a failure; a machine without a compiler is not.
broken=$build
if command -v addr2line > /dev/null; then
	CC=false fails "a test program that does not compile" "0 passed, 1 failed, 0 skipped" tests/cli/views-inlines.sh
else
	skip "a test program that does not compile" "its test needs addr2line"
fi
output=$(CC=no-compiler-has-this-name tests/run tests/cli/views-inlines.sh)
like "$(printf '%s' "$output" | tail -n 1)" '^0 passed, 0 failed, 1 skipped$' "no compiler: skipped"

# A build of which only the tools that make and print traces fail.
broken=$work/broken
mkdir -p "$broken/testdata"
ln -s "$build"/prof-* "$broken"
for tool in make_trace trace_text print_trace; do ln -s "$work/full/mkdir" "$broken/testdata/$tool"; done
for script in $(grep -lE 'testdata/(make_trace|trace_text|print_trace)' tests/cli/*.sh); do
	[ "$script" != tests/cli/runner.sh ] || continue
	fails "$script without its tools" "[0-9]+ passed, [1-9][0-9]* failed, [0-9]+ skipped" "$script"
done
finish
