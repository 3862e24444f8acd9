#!/bin/sh
# What the kernel or a program may do to a recording, and a recording must bear: programs that are
# stopped, give up their rights, or write more names than can be read, full places, and clocks that
# jump. Those that are cheap to try are in tests/e2e.
. "$(dirname "$0")/../lib.sh"
need_bpf
need_tools gcc setpriv
cd "$work" || exit 1

# Also when the time is over, or after Ctrl-C: a frozen process cannot end, and a cgroup that has one stays.
cgroup=
strict=/tmp/prof-strict-$$
cleanup() {
	if [ "$cgroup" ]; then
		echo 0 > "$cgroup/cgroup.freeze"
		for pid in $(cat "$cgroup/cgroup.procs"); do kill -KILL "$pid"; done
		for n in 1 2 3 4 5 6 7 8 9; do rmdir "$cgroup" 2> /dev/null && break; sleep 0.1; done
		cgroup=
	fi
	# Each command of a recording has written its number there before it made a map.
	[ ! -e "$work/names.pid" ] || while read -r pid; do rm -f "/tmp/perf-$pid.map"; done < "$work/names.pid"
	rm -f "$strict"
	pkill -KILL -P $$ 2> /dev/null
	rm -rf "$work"
}
trap 'exit 130' INT TERM HUP

# spins TRACE REGEX: how many samples have such a stack
spins() {
	timeout 60 "$report" -q "$1" 2> /dev/null |
		awk -v name="$2" '$0 ~ name { n += $NF } END { print n + 0 }'
}

# -------- rights --------
cat > strict.c <<'END'
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

volatile long sum;

__attribute__((noinline)) static void spin_in_strict_mode(void)
{
	for (long i = 0; i < 500000000; i++)
		sum += i;
}

int main(void)
{
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	spin_in_strict_mode();
	syscall(SYS_exit, 0);
}
END
compile_c -O1 strict.c -o strict
"$record" -q -F 199 -o strict.prf -- ./strict
is $? 0 "a program in seccomp's strict mode is recorded"
number "$(spins strict.prf 'main;spin_in_strict_mode') > 10" "... and named"
cp strict "$strict"
chmod 755 "$strict"
"$record" -q -F 199 -o other.prf -- setpriv --reuid 65534 --clear-groups --no-new-privs "$strict"
is $? 0 "so is one that has become somebody else"
number "$(spins other.prf 'main;spin_in_strict_mode') > 10" "... and named"
rm "$strict"

# A file that makes whoever runs it somebody else, as sudo's does: its process may not be looked at by
# those who started it. The second one may not even be read by them.
cat > changed.c <<'END'
#include <stdio.h>
#include <unistd.h>

volatile long sum;

__attribute__((noinline)) static void spin_as_another(void)
{
	for (long i = 0; i < 500000000; i++)
		sum += i;
}

int main(void)
{
	printf("%d %d\n", (int)getuid(), (int)geteuid());
	fflush(stdout);
	spin_as_another();
}
END
compile_c -O1 changed.c -o changed
cp changed "$strict"
chown 65533 "$strict"
as_user() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
chmod 755 "$work"
mkdir -m 777 theirs
cp "$record" theirs/prof-record
for mode in 4755 4711; do
	chmod $mode "$strict"
	[ "$(as_user "$strict")" = "65534 65533" ] || { skip "set-uid programs" "they have no effect here"; break; }
	is "$("$record" -q -F 199 -o set.prf -- setpriv --reuid=65534 --regid=65534 --clear-groups "$strict")" \
		"65534 65533" "a set-uid program of mode $mode runs as its owner when root records it"
	number "$(spins set.prf 'main;spin_as_another') > 10" "... and what it does has its name"
	# Whoever may not read the file has no unwind table of it.
	[ $mode = 4755 ] && known='main;spin_as_another' || known='\[incomplete\];spin_as_another'
	if [ -n "${SAN:-}" ]; then
		skip "with file capabilities" "the sanitizers' leak check cannot run with them"
	elif setcap cap_bpf,cap_perfmon,cap_sys_ptrace,cap_syslog+ep theirs/prof-record 2> /dev/null &&
		as_user theirs/prof-record --version > /dev/null 2>&1 && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ]; then
		rm -f theirs/set.prf
		is "$(as_user theirs/prof-record -q -F 199 -o theirs/set.prf -- "$strict" 2> log)" "65534 65533" \
			"... also when a user with file capabilities records it"
		is "$(cat log)" "" "... who is told of nothing that failed"
		is "$(stat -c %u theirs/set.prf)" 65534 "... and has the trace"
		number "$(spins theirs/set.prf "$known") > 10" "... with its names"
	else
		skip "with file capabilities" "they cannot be given or used here"
	fi
done
rm -f "$strict"

# -------- names --------
cat > names.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* names ENTRIES BYTES: runs made code whose map has so many other entries; its own name is so long. */
int main(int argc, char **argv)
{
	static const unsigned char code[] = { 0xb9, 0, 0, 0, 0x10, 0xff, 0xc9, 0x75, 0xfc, 0xc3 };
	void *made = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long entries = argc > 2 ? atol(argv[1]) : 0, bytes = argc > 2 ? atol(argv[2]) : 0;
	char path[64];
	FILE *map;

	memcpy(made, code, sizeof(code));
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	map = fopen("names.pid", "a");
	fprintf(map, "%d\n", getpid());
	fclose(map);
	map = fopen(path, "w");
	fprintf(map, "%lx 1000 made_", (unsigned long)made);
	for (long i = 0; i < bytes; i++)
		fputc('x', map);
	for (long i = 0; i < entries; i++)
		fprintf(map, "\n%lx 10 other_%ld", 0x10000000000L + i * 16, i);
	fputc('\n', map);
	fclose(map);
	for (int i = 0; i < 5; i++)
		((void (*)(void))made)();
	unlink(path);
	return 0;
}
END
compile_c -O1 names.c -o names
if [ "$(uname -m)" = x86_64 ]; then
	for amounts in "10 10" "10000000 10" "10 100000000"; do
		# shellcheck disable=SC2086
		( ulimit -v 4000000 && exec timeout 120 "$record" -q -F 199 -o names.prf -- ./names $amounts )
		is $? 0 "a map of \"entries, bytes of the name\" $amounts: recorded"
		number "$(spins names.prf 'main;') > 50" "... and its samples are there"
		[ "$amounts" = "10 10" ] ||
			like "$("$report" names.prf 2>&1 > names.folded)" 'no names for [0-9]* of [0-9]* samples in \[jit\]' \
				"... and those without a name are told"
	done
else
	skip "maps of names" "the program is x86-64 code"
fi

# -------- mappings --------
# A page that becomes executable is a record of the side band, as a mapping is; when it is that no longer, there is none.
cat > mappings.c <<'END'
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define PAGES 60000
#define CHILDREN 500
#define APART 16384

volatile long sum;

__attribute__((noinline)) static void spin_beside_others(void)
{
	for (;;)
		sum++;
}

static void map(char *page)
{
	mprotect(page, 4096, PROT_READ | PROT_EXEC);
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

/* Many mappings, then many children with one more each, then more mappings without end. */
int main(int argc, char **argv)
{
	char *from = argc < 2 ? NULL
			      : mmap(NULL, (size_t)(PAGES + 1) * APART, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (!from)
		spin_beside_others();
	for (size_t i = PAGES; i > 0; i--)
		map(from + i * APART);
	for (int i = 0; i < CHILDREN; i++)
		if (!fork()) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			map(from);
			for (;;)
				pause();
		}
	puts("forked");
	fflush(stdout);
	for (;;)
		for (size_t i = PAGES; i > 0; i--)
			map(from + i * APART + 8192);
}
END
compile_c -O1 mappings.c -o mappings
chmod 755 mappings
"$record" -q -a -F 199 -o mappings.prf 2> log &
recorder=$!
until_begun mappings.prf $recorder
./mappings &
spinning=$!
as_user ./mappings many > forked &
mapping=$!
for n in $(seq 600); do
	[ ! -s forked ] || break
	sleep 0.1
done
sleep 3
peak=$(awk '$1 == "VmHWM:" { print $2 }' /proc/$recorder/status)
kill -INT $recorder
wait $recorder
is "$?: $(cat forked)" "0: forked" "children of a program with many mappings: all is recorded until Ctrl-C"
kill -KILL $mapping $spinning
wait $mapping $spinning 2> /dev/null
number "$(spins mappings.prf 'main;spin_beside_others') > 100" "... with the samples of others"
[ -n "${SAN:-}" ] || number "$peak < 600000" "... in bounded memory, here in KiB"

# -------- places --------
# One program, as definitions of many would fill it before the first sample, is recorded into a file system of
# 32 KiB, and what is there is copied.
fill() {
	unshare -m sh -c 'mkdir -p place && mount -t tmpfs -o size=32k none place &&
		"$0" -q -p "$1" -F 4999 -d 60 -o place/full.prf; status=$?; cp place/full.prf .; exit $status' "$record" "$1" 2> log
}
if unshare -m true 2> /dev/null; then
	sh -c 'while :; do :; done' &
	spinning=$!
	fill $spinning
	status=$?
	kill $spinning
	is "$status: $(cat log)" "1: prof-record: place/full.prf: cannot write: No space left on device" \
		"a full file system ends a recording"
	number "$("$report" full.prf 2> log | awk '{ n += $NF } END { print n + 0 }') > 100" "... whose samples up to then are there"
	like "$(cat log)" 'full.prf: block [0-9]* at 0x[0-9a-f]*: the bytes end|has no end' "... and the report says where it ends"
else
	skip "a full file system" "unshare does not work"
fi
"$record" -q -F 199 -o daemon.prf -- sh -c './strict & exit 3'
is $? 3 "a recording ends with its command"
like "$("$report" --info daemon.prf)" '^complete  *yes' "... also when that leaves a daemon"

# -------- clocks --------
cat > jumps.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

/* The wall clock goes an hour ahead and a day back each time it is asked. */
int clock_gettime(clockid_t clock, struct timespec *t)
{
	static int (*real)(clockid_t, struct timespec *), calls;
	int status;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
	status = real(clock, t);
	if (clock == CLOCK_REALTIME)
		t->tv_sec += calls++ % 2 ? 3600 : -86400;
	return status;
}
END
if [ -n "${SAN:-}" ]; then
	skip "a wall clock that jumps" "a preloaded library does not go with sanitizers"
else
	compile_c -shared -fPIC jumps.c -o jumps.so
	LD_PRELOAD=$work/jumps.so timeout 60 "$record" -q -F 199 --switch-output=1s -o jumps.prf -d 3 -a 2> log ||
		cat log
	for file in jumps.prf*; do
		timeout 60 "$report" --info "$file"
	done > info
	is "$(grep -c '^complete  *yes' info)" "$(grep -c '^complete' info)" "a wall clock that jumps: all files of a series are whole"
	number "$(grep -c '^complete' info) >= 3" "... and there are as many as there should be"
	unlike "$(grep '^duration ' info)" '[0-9][0-9][0-9]\.|-' "... and each is as long as it was"
fi

# -------- the freezer --------
mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
if [ "$mount" ] && mkdir "$mount/prof-test-$$" 2> /dev/null && cgroup=$mount/prof-test-$$ && [ -e "$cgroup/cgroup.freeze" ]; then
	sh -c 'while :; do :; done' &
	spinning=$!
	echo $spinning > "$cgroup/cgroup.procs"
	echo 1 > "$cgroup/cgroup.freeze"
	timeout 60 "$record" -q -F 99 -p $spinning -d 1 -o frozen.prf
	is $? 0 "a frozen process is recorded: it has no samples"
	like "$("$report" --info frozen.prf)" '^samples  *0$' "... and says so"
	(sleep 0.5 && echo 0 > "$cgroup/cgroup.freeze") &
	timeout 60 "$record" -q -F 99 -p $spinning -d 2 -o thawed.prf
	number "$(spins thawed.prf .) > 10" "one that thaws has those of the time after"
	kill $spinning
	"$record" -q -F 99 -o command.prf -- sh -c "echo \$\$ > $cgroup/cgroup.procs; while :; do :; done" &
	recorder=$!
	until_begun command.prf $recorder
	for n in $(seq 300); do
		[ -z "$(cat "$cgroup/cgroup.procs")" ] || break
		sleep 0.1
	done
	echo 1 > "$cgroup/cgroup.freeze"
	kill -INT $recorder
	sleep 1
	kill -TERM $recorder 2> /dev/null
	for n in $(seq 300); do
		kill -0 $recorder 2> /dev/null || break
		sleep 0.1
	done
	kill -KILL $recorder 2> /dev/null
	wait $recorder
	like "$("$report" --info command.prf)" '^complete  *yes' "a recording whose command is frozen ends when it is told to"
else
	skip "frozen processes" "cgroup2 is not mounted, or cannot be written"
fi
finish
