#!/bin/sh
# prof-report when calls of the C library fail: a few of each kind. `make faults` tries every one.
. "$(dirname "$0")/../lib.sh"
command -v python3 > /dev/null || skip_all "no python3"
readelf -d "$report" 2> /dev/null | grep -q NEEDED || skip_all "a static program takes no library into it"
points=6
[ -z "${PROF_TEST_AGAIN:-}" ] || points=3 # in another build they were six
holds "every report survives, or says what is wrong" "$top/tests/faults/run" --points $points report

# A debug file that lies in two places is not missed because one of them cannot be read.
cd "$work" || exit 1
need cc -shared -fPIC -U_FORTIFY_SOURCE -D_GNU_SOURCE -o faults.so "$top/tests/faults/faults.c"
printf 'volatile int n; __attribute__((noinline)) void hidden(void) { n++; }\nint main(void) { hidden(); return 0; }\n' > split.c
need cc -g -O1 -Wl,--build-id=0x0102030405060708 -o split split.c
for place in one two; do
	mkdir -p $place/.build-id/01
	objcopy --only-keep-debug split $place/.build-id/01/02030405060708.debug
done
cat > split.txt <<END
event 0 "cpu-clock" "samples" 1000 0
object 0 "$work/split" "" "0102030405060708"
task 1 1 "split" "" ""
frame 0 2 0x$(nm split | sed -n 's/ T hidden$//p')
stack - 0
sample 1000000 0 0 0 0 1
finish
END
strip split
need "$build/testdata/trace_text" split.txt -o split.prf
sed 's|^task.*|object 0 "/nonexistent/other" "" ""\n&\nframe 1 2 0x1000|
	s|^sample.*|stack - 1\n&\nsample 2000000 0 0 1 0 1|' split.txt > two.txt
need "$build/testdata/trace_text" two.txt -o two.prf
# names FAULT TRACE: standard output to the file names, errors to said
names() {
	ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0 LD_PRELOAD="$work/faults.so" FAULT_PROGRAM=prof-report FAULT=$1 \
		"$report" --no-cache --debug-dir=one --debug-dir=two "$2" > names 2> said
}
names "" split.prf
cp names all-names
like "$(cat names)" '^split;hidden 1$' "a name from a debug file"
needless= missed=
for n in 1 2 3 4 5 6 7 8 9 10 11 12; do
	names "open EIO $n 1" split.prf
	if grep -q 'while names were looked up' said; then
		cmp -s names all-names && needless="$needless $n" || missed="$missed $n"
	fi
done
like "$missed" '[0-9]' "an open() that fails costs names, with a warning"
is "$needless" "" "none has a warning and costs none"
names "open EMFILE 2 0" two.prf
like "$(cat said)" "^prof-report: warning: $work/split and 1 more: Too many open files while names were looked up: " \
	"a warning says how many files are concerned"
is "$(grep -c 'no names for 1 of 2 samples in .*: not all could be read; run it again$' said)" 2 "... and no other reason is given for what has no name"

# Which calls can fail is no secret of the library: each is made, and says so.
cat > calls.c <<'END'
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#define TRY(call, failed) if (failed) printf(" " #call)
int main(int argc, char **argv)
{
	FILE *file = fopen(argv[0], "r");
	int ends[2], watch = inotify_init1(0);
	char bytes[9] = "", *line = NULL;
	struct iovec piece = { bytes, 8 };
	struct signalfd_siginfo none;
	struct stat status;
	struct statx more;
	sigset_t signals;
	size_t room = 0;

	if (argc > 1 && !fork())
		abort();
	if (argc > 1)
		return wait(NULL) < 0;
	sigemptyset(&signals);
	TRY(fopen, !file);
	TRY(inotify_init1, watch < 0);
	TRY(inotify_add_watch, inotify_add_watch(watch, "/tmp", IN_CREATE) < 0);
	TRY(eventfd, eventfd(0, 0) < 0);
	TRY(signalfd, signalfd(-1, &signals, 0) < 0);
	TRY(memfd_create, memfd_create("m", 0) < 0);
	TRY(socketpair, socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0);
	TRY(dup2, dup2(1, 9) < 0);
	TRY(tmpfile, !tmpfile());
	TRY(process_vm_readv, process_vm_readv(getpid(), &piece, 1, &piece, 1, 0) != 8);
	TRY(stat, stat("/", &status));
	TRY(lstat, lstat("/", &status));
	TRY(fstat, fstat(1, &status));
	TRY(statx, statx(AT_FDCWD, "/", 0, STATX_INO, &more));
	TRY(fgets, file && !fgets(bytes, 9, file));
	TRY(getline, file && getline(&line, &room, file) < 0);
	TRY(ferror, file && ferror(file));
	return 0;
}
END
compile_c -O1 -D_GNU_SOURCE -o calls calls.c
# failing KIND HOW [ARGUMENT]: what the library lets fail
failing() {
	rm -f counts*
	LD_PRELOAD="$work/faults.so" FAULT_PROGRAM=calls FAULT="$1 $2 1 0" FAULT_COUNTS="$work/counts" ./calls ${3:-}
}
is "$(failing none EIO; ls counts*)" counts "nothing fails if nothing is to"
is "$(failing open EMFILE)" " fopen inotify_init1 inotify_add_watch eventfd signalfd memfd_create socketpair dup2 tmpfile" \
	"what makes a file can fail"
is "$(failing status EIO; ls counts.hit)" " stat lstat fstat statxcounts.hit" "so can what asks for its status, and it is noted"
is "$(failing line EIO)" " fgets getline ferror" "what reads lines can"
is "$(failing read short)" " process_vm_readv" "memory of a process can be short"
failing none EIO crash
is "$(cat counts.crash)" "calls: signal 6" "a crash of a child is noted"

# Programs that are not what they should be are found out. One call of theirs is counted.
mkdir "$work/build" "$work/build/testdata"
cp "$build/testdata/trace_text" "$work/build/testdata/"
# pretends PROGRAM SCRIPT: what it does without a fault, and after that with one
pretends() {
	cat > "$work/build/$1" <<-SCRIPT
		#!/bin/sh
		[ -z "\$FAULT" ] || : > "\$FAULT_COUNTS.hit"
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

pretends prof-report '[ -z "$FAULT" ] || exit 1; echo report 5'
judged folded report
is "$status" 1 "a failure without a message is found"
like "$output" "folded: FAULT='memory ENOMEM 1 1': status 1 without a message" "and can be repeated"

always='echo "prof-report: warning: no names for $((${#FAULT} + 1)) samples" >&2'
pretends prof-report "$always; "'[ -z "$FAULT" ] || exit 1; echo report 5'
judged folded report
like "$output" "status 1 without a message" "a warning that there is anyway is no message of a failure"

pretends prof-report "$always; "'[ -n "$FAULT" ] && echo less 5 || echo report 5'
judged folded report
is "$status" 1 "nor does it excuse another report"
like "$output" "another report, and no word of it" "which is what is found"

pretends prof-report "$always; "'[ -z "$FAULT" ] && echo report 5 ||
	{ echo less 5; echo "prof-report: warning: out of memory" >&2; }'
judged folded report
is "$status" 0 "a message that is new does"

pretends prof-report '[ -z "$FAULT" ] && echo report 5 ||
	{ echo report 4; echo "prof-report: warning: out of memory" >&2; }'
judged folded report
like "$output" ": 4 samples, not 5" "but not for samples that are missing"

pretends prof-report 'rm -f "$FAULT_COUNTS.hit"; echo report 5'
judged folded report
is "$status" 1 "a run in which no call failed shows nothing"
like "$output" "folded: FAULT: only 0 of 1 calls that were to fail were made" "... which is what is wrong"
like "$output" "^0 faults injected" "and it is not counted"

pretends prof-report '[ -z "$FAULT" ] || echo "prof-opener: signal 11" > "$FAULT_COUNTS.crash"; echo report 5'
judged folded report
is "$status" 1 "a child that crashes is found, whatever comes of it"
like "$output" "folded: FAULT='memory ENOMEM 1 1': crash of prof-opener: signal 11" "with what it was"

# annotated LINE: what annotate lists with a fault, without a message
annotated() {
	pretends prof-report "printf '# middle(int)  program\n# self 1, total 2\n'; "'[ -z "$FAULT" ] || printf "'"$1"'"'
	judged annotate report
}
annotated '# no lines: out of memory\n'
is "$status" 0 "a listing may say itself what it lacks"
annotated '# inlined into mid: 1\n'
like "$output" "another report, and no word of it" "a name in it says nothing"
annotated '# _Z6middle  program\n# self 1, total 2\n'
like "$output" "another report, and no word of it" "nor does a heading"

pretends prof-report '[ -n "$FAULT" ] && echo less 5 > out || echo report 5 > out'
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

# ended STATE WHAT: a recorder that makes a good trace, and does that when a signal asks it to end
ended() {
	printf '#!/bin/sh\ntrap "%s" INT TERM\n[ "$1" = -q ] && cp "%s/all.prf" "$5"\nwhile :; do sleep 0.1; done\n' "$2" "$work" > "$work/build/prof-record"
	output=$(BUILD=$work/build "$top/tests/faults/ends" --each 1 "$1" 2>&1)
	status=$?
}
ended recording 'exit 0'
is "$status" 0 "a recorder that leaves a complete trace ended as it should"
ended recording 'rm \"\$5\"; exit 0'
is "$status" 1 "without one it did not"
like "$output" "recording: SIGINT: status 0, 0 traces" "... whatever its status"
ended recording 'trap - INT; kill -INT \$\$'
like "$output" "recording: SIGINT: status -2, 1 traces" "nor if the signal killed it"
ended recording 'echo >> \"\$5\"; exit 0'
like "$output" "recording: SIGTERM: .*t.prf: status 1" "nor if the trace is not whole"

# outlasts COMMAND: a recorder that does that when its targets have ended
outlasts() {
	printf '#!/bin/sh\n[ "$1" = -q ] || exit 0\ncp "%s/all.prf" "$5"\nwhile kill -0 "$7" 2> /dev/null; do sleep 0.05; done\n%s\n' "$work" "$1" > "$work/build/prof-record"
	output=$(BUILD=$work/build "$top/tests/faults/ends" --each 1 --targets "a file with many symbols" 2>&1)
	status=$?
}
outlasts 'exit 0'
like "$status $output" "^0 1 ends, . found: 0 wrong" "a recorder may end when its targets do"
outlasts 'sleep 1.1'
like "$output" "^1 ends, 1 found: 0 wrong, 1 too late" "not more than a second after them"
outlasts 'exit 1'
like "$output" "a file with many symbols: its targets: status 1, 1 traces" "nor with a failure"
finish
