#!/bin/sh
# Waits: each cause with its own stack and the right time, those before and after the recording too.
. "$(dirname "$0")/../lib.sh"
need_bpf alone
compile_c -O1 -g -pthread -o "$work/waits" "$top/tests/e2e/programs/waits.c"
"$record" -q --off-cpu -o "$work/try.prf" -- true 2> "$work/err"
is "$(cat "$work/err")" "" "records waits"

# sum EVENT FUNCTION: microseconds in stacks with that function
sum() {
	"$report" --event="$1" --value=time "$work/waits.prf" |
		awk -v f=";$2;" 'index($0 ";", f) { n += $NF } END { print n + 0 }'
}

# told KIND: what the program says, by its clocks
told() { awk -v k="$1" '$1 == k { print int($2 / 1000) }' "$work/told"; }
# measure KIND: whether it was recorded as told
measure() {
	told=$(told "$1")
	waited=$(sum off-cpu "$1")
	lost_cpu=$(sum preempted "$1")
	as_told="$waited + $lost_cpu > $told * 0.85 - 2000 && $waited + $lost_cpu < $told * 1.1 + 2000"
	awk "BEGIN { exit !($as_told) }"
}

# Where a virtual machine is stopped while the kernel switches threads, that time is the thread's CPU time, too:
# then once more.
kinds="in_sleep in_mutex in_pipe in_disk"
for try in 1 2 3; do
	need sh -c '"$1" -q --off-cpu=0 -F 999 -o "$2/waits.prf" -- "$2/waits" "$2/file" > "$2/told"' - "$record" "$work"
	right=yes
	for kind in $kinds; do measure $kind || right=; done
	[ -z "$right" ] || break
done
for kind in $kinds; do
	measure $kind
	number "$as_told" "$kind: $waited us waited and $lost_cpu us runnable of $told us"
done
told=$(told in_competition)
lost_cpu=$(sum preempted in_competition)
number "$lost_cpu > $told * 0.8 - 3000 && $lost_cpu < $told * 1.15 + 3000" \
	"in_competition: preempted for $lost_cpu us of $told us"
number "$(sum off-cpu in_competition) < $told * 0.2 + 3000" "which is not called a wait"
like "$("$report" --off-cpu "$work/waits.prf")" 'waits;_start;.*main;in_sleep;.*nanosleep' "stacks go from the root to the kernel"
unlike "$("$report" --off-cpu "$work/waits.prf")" 'bpf_prog|bpf_trace_run' "and show nothing of ours"
info=$("$report" --info "$work/waits.prf")
like "$info" 'complete +yes' "the trace is complete"
samples=$("$report" --info --json "$work/waits.prf" > "$work/info"; json "$work/info" 'd["samples"] + sum(d["lost"].values())')
is "$samples" "$(json "$work/info" 'd["fired"]')" "samples and losses are what fired"

# A threshold passes over what is shorter. Where the machine stops for a while, a short wait is a long one:
# then once more.
for try in 1 2 3; do
	need "$record" -q --off-cpu=200ms -F 99 -o "$work/waits.prf" -- "$work/waits" "$work/file"
	[ "$(sum off-cpu in_sleep)" != 0 ] || break
done
is "$(sum off-cpu in_sleep)" 0 "waits of 30 ms are below 200 ms"
number "$(sum off-cpu in_pipe) > 200000" "one of 300 ms is not"

# Alone: no timer.
holds "records waits alone" "$record" -q -e off-cpu,preempted -o "$work/alone.prf" -- sleep 0.1
"$report" --info --json "$work/alone.prf" > "$work/info"
is "$(json "$work/info" '",".join(e["name"] for e in d["events"])')" "off-cpu,preempted" "then there is no other event"

# Longer than the recording: begun before it, not ended when it ends.
cat > "$work/forever.c" <<'C'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static int fds[2];
__attribute__((noinline)) void blocked_in_read(void)
{
	char c;
	if (read(fds[0], &c, 1) < 0)
		return;
	__asm__ volatile("");
}
static void *run(void *unused) { blocked_in_read(); return unused; }
int main(void)
{
	pthread_t thread;
	if (pipe(fds))
		return 1;
	pthread_create(&thread, NULL, run, NULL);
	puts("ready");
	fflush(stdout);
	pthread_join(thread, NULL);
	return 0;
}
C
compile_c -O1 -g -pthread -o "$work/forever" "$work/forever.c"
"$work/forever" > "$work/ready" &
forever=$!
i=0
until grep -q ready "$work/ready" || [ $i = 300 ]; do sleep 0.1; i=$((i + 1)); done
holds "records a process that only waits" "$record" -q --off-cpu -d 0.5 -o "$work/forever.prf" -p $forever
kill $forever
folded=$("$report" --off-cpu "$work/forever.prf")
case $(uname -r) in
5.*) skip "a wait that began before and does not end" "Linux 5 cannot look at waiting tasks" ;;
*) like "$folded" 'forever;.*run;blocked_in_read;.*read.* [0-9]{6,}$' "a wait that began before and does not end is there, from its root on" ;;
esac

# Who ended it.
# Twice: for the first one the unwind tables may come too late on a slow machine.
holds "records wakers" "$record" -q --off-cpu --wakers -o "$work/waits.prf" -- \
	sh -c '"$1" "$2" && "$1" "$2"' - "$work/waits" "$work/file"
"$report" --off-cpu --wakers "$work/waits.prf" > "$work/folded"
like "$(grep ';in_pipe;' "$work/folded")" ';--;.*(pipe|vfs)_write;.*;write_late;[^;]+;[^;]+;writer [0-9]+$' \
	"the pipe's reader was woken by a write of the writer, with its user stack"
like "$(grep ';in_mutex;' "$work/folded")" ';--;.*futex_wake.*;hold_mutex;[^;]+;[^;]+;holder [0-9]+$' \
	"the mutex was let go by its holder, with its user stack"
slept=$(grep ';in_sleep;' "$work/folded")
like "$slept" ';--;.*hrtimer' "the sleeper was woken by a timer"
unlike "$slept" ';--;.*;(waits|write_late|hold_mutex|main|start_thread|do_idle|entry_SYSCALL_64_after_hwframe)[; ]' "which is not the doing of whom it interrupted"

# Not of a target: its user stack is not walked.
mkfifo "$work/fifo"
cat "$work/fifo" > "$work/copy" &
reader=$!
exec 3> "$work/fifo"
"$record" -q --off-cpu --wakers -o "$work/one.prf" -p $reader 3>&- &
recorder=$!
until_begun "$work/one.prf" $recorder
for i in 1 2 3 4 5 6; do
	sleep 0.5
	echo >&3
done
exec 3>&-
wait $recorder $reader
"$report" --off-cpu --wakers "$work/one.prf" > "$work/folded"
woken=$(grep '^cat;.*;--;.*pipe_write' "$work/folded")
like "$woken" ';off-cpu[.]sh [0-9]+$' "a waker that is not recorded is named"
unlike "$woken" ';--;.*(_start|[[](da)?sh)' "... with its kernel stack alone"
finish
