#!/bin/sh
# prof-report when calls of the C library fail: a few of each kind. `make faults` tries every one.
. "$(dirname "$0")/../lib.sh"
command -v python3 > /dev/null || skip_all "no python3"
readelf -d "$report" 2> /dev/null | grep -q NEEDED || skip_all "a static program takes no library into it"
points=6
[ -z "${PROF_TEST_AGAIN:-}" ] || points=3 # in another build they were six
holds "every report survives, or says what is wrong" "$top/tests/faults/run" --points $points report

# Programs that are not what they should be are found out. One call of theirs is counted.
mkdir "$work/build" "$work/build/testdata"
cp "$build/testdata/trace_text" "$work/build/testdata/"
# pretends PROGRAM SCRIPT: what it does without a fault, and after that with one
pretends() {
	cat > "$work/build/$1" <<-SCRIPT
		#!/bin/sh
		for kind in memory open map read write close name fork wait message bpf; do echo \$kind 0; done |
			sed 's/memory 0/memory 1/' > "\$FAULT_COUNTS"
		$2
	SCRIPT
	chmod +x "$work/build/$1"
}
# judged RUN KIND: runs it with one way to fail
judged() {
	output=$(BUILD=$work/build "$top/tests/faults/run" --only "memory ENOMEM 1" --run "$1" "$2" 2>&1)
	status=$?
}

pretends prof-report '[ -z "$FAULT" ] || exit 1; echo report'
judged folded report
is "$status" 1 "a failure without a message is found"
like "$output" "folded: FAULT='memory ENOMEM 1 1': status 1 without a message" "and can be repeated"

always='echo "prof-report: warning: no names for $((${#FAULT} + 1)) samples" >&2'
pretends prof-report "$always; "'[ -z "$FAULT" ] || exit 1; echo report'
judged folded report
like "$output" "status 1 without a message" "a warning that there is anyway is no message of a failure"

pretends prof-report "$always; "'[ -n "$FAULT" ] && echo less || echo report'
judged folded report
is "$status" 1 "nor does it excuse another report"
like "$output" "another report, and no word of it" "which is what is found"

pretends prof-report "$always; "'[ -z "$FAULT" ] && echo report ||
	{ echo less; echo "prof-report: warning: out of memory" >&2; }'
judged folded report
is "$status" 0 "a message that is new does"

pretends prof-report '[ -n "$FAULT" ] && echo less > out || echo report > out'
judged lines report
like "$output" "another report, and no word of it" "files are compared, too"

# trace NAME LOSS: a recording of three samples, where five fired
trace() {
	cat > "$work/trace.txt" <<-TEXT
		event 0 "cpu-clock" "samples" 999 0
		task 1 1 "program" "" ""
		sample 1000 0 0 - 0 1
		sample 2000 0 0 - 0 1
		sample 3000 0 0 - 0 1
		${2:-}
		statistic "fired" 5
		finish
	TEXT
	"$build/testdata/trace_text" "$work/trace.txt" -o "$work/$1"
}
trace all.prf "loss 1000 3000 0 0 2"
trace less.prf
ln -sf "$report" "$work/build/prof-report"
pretends prof-record "cp '$work/all.prf' out"
judged record record
is "$status" 0 "a recording that accounts for what fired is good"
pretends prof-record "[ -n \"\$FAULT\" ] && cp '$work/less.prf' out || cp '$work/all.prf' out"
judged record record
is "$status" 1 "one that does not is found"
like "$output" "5 samples fired, of which 3 were recorded and 0 lost" "with what is missing"
finish
