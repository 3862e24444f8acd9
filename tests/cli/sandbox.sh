#!/bin/sh
# prof-report gives up programs and sockets before it reads: shown with calls made in its place.
. "$(dirname "$0")/../lib.sh"
need test -x "$build/testdata/make_trace"
trace=$work/t.prf
need "$build/testdata/make_trace" -n 1000 -t 3 -k 60 -d 12 -s 7 -o "$trace"
grep -q '^Seccomp:' /proc/self/status || skip_all "the kernel has no filters of system calls"

# While it reads from a pipe, what /proc says.
mkfifo "$work/pipe"
"$report" -q -o "$work/out" - < "$work/pipe" &
reader=$!
exec 3> "$work/pipe"
i=0
until grep -q '^Seccomp:.*2' /proc/$reader/status || [ $i = 100 ]; do
	sleep 0.1
	i=$((i + 1))
done
like "$(cat /proc/$reader/status)" '^Seccomp:[[:space:]]+2' "its system calls are filtered"
like "$(cat /proc/$reader/status)" '^NoNewPrivs:[[:space:]]+1' "and it gets no rights back"
cat "$trace" >&3
exec 3>&-
wait $reader
is "$?" 0 "it reports in spite of that"

# A pager is a program, too. It runs when there is output, and only then.
if command -v python3 > /dev/null; then
	cat > "$work/terminal.py" <<'PYTHON'
import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))
PYTHON
	export TERM=dumb PROF_PAGER="echo ran >> '$work/ran'; sed 's/^/paged: /'"
	out=$(python3 "$work/terminal.py" "$report" -q -f top "$trace" < /dev/null)
	is "$?" 0 "a view on a terminal"
	like "$out" '^paged: .*samples' "goes through the pager"
	is "$(cat "$work/ran")" ran "which runs once"
	like "$(python3 "$work/terminal.py" "$report" -q --info "$trace" < /dev/null)" '^paged: samples' "... and so does --info"
	rm "$work/ran"
	python3 "$work/terminal.py" "$report" -q -f top "$work/none.prf" < /dev/null > "$work/said"
	is "$?" 1 "a trace that is not there"
	[ -e "$work/ran" ] && not_ok "starts no pager" || ok "starts no pager"
	like "$(cat "$work/said")" 'no such file' "and the message appears"
	PROF_PAGER='kill -INT $PPID; sleep 0.2; kill -INT $PPID; cat; echo the end' \
		python3 "$work/terminal.py" "$report" -q -f top "$trace" < /dev/null > "$work/said"
	is "$?" 0 "Ctrl-C in the pager does not end the report"
	like "$(tail -n 1 "$work/said")" '^the end' "which waits for its end"
	unset PROF_PAGER
else
	skip "a pager" "no python3"
fi

[ -z "${SAN:-}" ] || { skip "calls in its place" "the sanitizers come before any other library"; finish; }
# Code of an attacker, as far as it matters: runs inside the program when it opens the trace.
cat > "$work/attack.c" <<'SOURCE'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static void attack(const char *path)
{
	char *const none[] = { NULL };
	char memory[64];

	if (!strstr(path, "t.prf"))
		return;
	printf("socket: %s\n", socket(AF_INET, SOCK_STREAM, 0) < 0 ? strerror(errno) : "opened");
	fflush(stdout);
	execve("/bin/true", none, none);
	printf("execve: %s\n", strerror(errno));
	printf("kill: %s\n", kill(getppid(), 0) ? strerror(errno) : "sent");
	snprintf(memory, sizeof(memory), "/proc/%d/mem", (int)getppid());
	printf("memory: %s\n", syscall(SYS_openat, AT_FDCWD, memory, O_RDWR) < 0 ? strerror(errno) : "opened");
	fflush(stdout);
}

int open(const char *path, int flags, ...)
{
	int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
	va_list args;
	int mode;

	va_start(args, flags);
	mode = va_arg(args, int);
	va_end(args);
	attack(path);
	return real(path, flags, mode);
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));

/* With fortified headers it is called by this name. */
int __open_2(const char *path, int flags)
{
	return open(path, flags, 0);
}
SOURCE
cat > "$work/old.c" <<'SOURCE'
#include <errno.h>
int prctl(int option, ...)
{
	errno = 22;
	return -1;
}
SOURCE
for library in attack old; do compile_c -shared -fPIC -o "$work/$library.so" "$work/$library.c"; done
readelf -d "$report" | grep -q NEEDED || { skip "calls in its place" "the program is static"; finish; }
out=$(LD_PRELOAD="$work/attack.so" "$report" -q "$trace" | head -4)
is "$(echo "$out" | head -3)" "socket: Operation not permitted
execve: Operation not permitted
kill: Operation not permitted" "a socket, a program and a signal to another process are refused inside it"
case $("$report" -v "$trace" 2>&1 > "$work/out") in
*"does not close the memory"*) skip "other processes' memory" "the kernel has no Landlock" ;;
*) is "$(echo "$out" | tail -1)" "memory: Permission denied" "the memory of another process is closed" ;;
esac
# The files of a container are where its processes have their root.
cp "$trace" "$work/there.prf"
sleep 600 &
is "$("$report" -q "/proc/$!/root$work/there.prf" 2>&1)" "$("$report" -q "$trace")" "a trace by way of another process is read"
kill $!
like "$(LD_PRELOAD="$work/attack.so" DEBUGINFOD_URLS='' "$report" -q --debuginfod "$trace" | head -2)" \
	'^socket: opened' "--debuginfod leaves sockets"
out=$(LD_PRELOAD="$work/old.so" "$report" -v "$trace" 2>&1 > "$work/out")
like "$out" 'does not let rights be given up: Invalid argument' "a kernel without filters is reported with -v"
number "$(wc -l < "$work/out") > 10" "and its user gets the report all the same"
finish
