#!/bin/sh
# What perf's users type: a command without --, one that says how long, -g, -C alone, names.
. "$(dirname "$0")/../lib.sh"
need_bpf
cd "$work" || exit 1

busy='while :; do :; done'
cp "$(command -v sh)" busy-program-of-ours
./busy-program-of-ours -c "$busy" &
pid=$!
trap 'kill $pid 2> /dev/null' EXIT

# threads TRACE: the first frame of folded stacks is the thread's name.
threads() { "$report" -q "$1" | cut -d';' -f1 | sort -u; }

holds "a command needs no --" "$record" -q -F 999 -o command.prf sh -c 'i=0; while [ $i -lt 99999 ]; do i=$((i+1)); done'
is "$(threads command.prf)" sh "it is recorded"

holds "-p PID COMMAND" "$record" -q -F 499 -o paced.prf -p $pid sh -c 'i=0; while [ $i -lt 99999 ]; do i=$((i+1)); done; sleep 0.5'
is "$(threads paced.prf)" busy-program-of "the command beside -p is not recorded"
"$record" -q -o status.prf -p $pid -- sh -c 'sleep 0.2; exit 7'
is $? 7 "its status is passed on"
holds "-a -- COMMAND" "$record" -q -F 499 -o all.prf -a -- sleep 0.5
like "$(threads all.prf)" 'busy-program-of' "-a -- COMMAND records everything while it runs"

holds "-p NAME" "$record" -q -F 499 -d 0.5 -o name.prf -p busy-program-of
is "$(threads name.prf)" busy-program-of "-p NAME finds a comm"
holds "-p LONGNAME" "$record" -q -F 499 -d 0.5 -o long.prf -p busy-program-of-ours
is "$(threads long.prf)" busy-program-of "-p NAME finds a name that is longer than a comm"

# Of two processes with a name, one ends after they were found: when the recorder closes /proc.
cat > ends.c <<'C'
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int closedir(DIR *folder)
{
	int (*next)(DIR *) = (int (*)(DIR *))dlsym(RTLD_NEXT, "closedir");
	const char *victim = getenv("VICTIM");

	if (victim) {
		struct pollfd p = { (int)syscall(SYS_pidfd_open, atoi(victim), 0), POLLIN, 0 };

		kill(atoi(victim), SIGKILL);
		poll(&p, 1, -1);
		close(p.fd);
		unsetenv("VICTIM");
	}
	return next(folder);
}
C
compile_c -shared -fPIC -o ends.so ends.c -ldl
# ends PROGRAM ARGUMENT...: records while a process of this program, which it starts, ends
ends() {
	program=$1
	shift
	"./$program" -c "$busy" &
	other=$!
	i=0
	until [ "$(cat /proc/$other/comm)" = "$program" ] || [ $i = 3000 ]; do sleep 0.01; i=$((i + 1)); done
	VICTIM=$other LD_PRELOAD="$work/ends.so" ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0 \
		"$record" -F 499 -d 0.5 "$@" 2> err
	status=$?
	wait $other 2> /dev/null
}
if readelf -d "$record" | grep -q NEEDED; then
	cp busy-program-of-ours busy-program-of
	ends busy-program-of -o left.prf -p busy-program-of
	is $status 0 "-p NAME records those that are left of what it found"
	like "$(cat err)" "left out: no process $other" "and reports what was left out"
	is "$(threads left.prf)" busy-program-of "they are recorded"
	cp busy-program-of-ours the-only-one
	ends the-only-one -o none.prf -p the-only-one
	is $status 1 "if none is left there is nothing to record"
	like "$(tail -n 1 err)" 'all processes of that name have ended' "which is reported"
else
	skip "-p NAME of processes that end meanwhile" "the program is static"
fi

holds "-C alone" "$record" -q -d 0.2 -o cpu.prf -C 0
is "$("$report" -q -f jsonl cpu.prf | sed 's/.*"cpu":\([0-9]*\).*/\1/' | sort -u | grep -vc '^0$')" 0 "-C alone records that CPU"
output=$("$record" -g --call-graph dwarf -d 0.1 -o g.prf -p $pid 2>&1)
is $? 0 "-g and --call-graph are accepted"
like "$output" 'stacks are always taken' "with a word"

# The kernel then says for a perf without that option, too, that its records have build IDs.
if perf record -h 2>&1 | grep -q buildid-mmap; then
	"$record" -q -a -o beside.prf -- perf record --buildid-mmap -q -e cpu-clock -F 499 -o perf.data -- \
		./busy-program-of-ours -c 'i=0; while [ $i -lt 299999 ]; do i=$((i+1)); done' 2> /dev/null
	is $? 0 "perf record --buildid-mmap ends well beside -a"
	like "$(perf report -i perf.data --stdio --sort dso 2>&1)" 'busy-program-of-ours' "and knows the files"
else
	skip "perf beside -a" "perf is not here, or has no --buildid-mmap"
fi

# The target's end ends the recording, and the command that paces it.
"$record" -q -o end.prf -p $pid sleep 600 &
recorder=$!
until_begun end.prf $recorder
kill $pid
wait $recorder
is $? 0 "a target's end ends the recording before the command"
finish
