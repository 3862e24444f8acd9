#!/bin/sh
# Events to sample: counters of the kernel, tracepoints, uprobes, several at once.
. "$(dirname "$0")/../lib.sh"
need_bpf
cat > "$work/work.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
__attribute__((noinline)) int probed(int i) { __asm__ volatile("" : "+r"(i)); return i; }
__attribute__((noinline)) int calls(void)
{
	int sum = 0;
	for (int i = 0; i < 1000; i++)
		sum += probed(i);
	return sum;
}
__attribute__((noinline)) int touch(void)
{
	char *pages = mmap(NULL, 1000 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(pages, 1000 * 4096, MADV_NOHUGEPAGE);
	for (int i = 0; i < 1000; i++)
		pages[i * 4096] = 1;
	return pages[4096];
}
__attribute__((noinline)) int switches(void)
{
	for (int i = 0; i < 50; i++)
		usleep(1000);
	return getppid();
}
int main(void) { return calls() + touch() + switches() == -1; }
C
compile_c -O1 -g -fno-sanitize=all -o "$work/work" "$work/work.c"

# info EXPRESSION over d, with w the weights by event's name
info() { "$report" --info --json "$1" > "$work/info" && json "$work/info" "$2"; }
# weight EVENT FUNCTION FILE
weight() {
	"$report" --event="$1" --value=weight "$3" |
		awk -v f=";$2;" 'index($0 ";", f) || index($0, f) || index($0, ";" substr(f, 2, length(f) - 2) " ") { n += $NF } END { print n + 0 }'
}

list=$("$record" --list)
if [ -c /dev/full ]; then
	"$record" --list > /dev/full 2> "$work/err"
	is $? 1 "--list that cannot be written fails"
fi
like "$list" 'cpu-clock' "--list shows cpu-clock"
like "$list" 'page-faults' "and page-faults"
like "$list" 'uprobe:FILE:SYMBOL' "and how to probe"

holds "records page faults" "$record" -q -e page-faults/period=1/ -o "$work/faults.prf" -- "$work/work"
n=$(weight page-faults touch "$work/faults.prf")
number "$n >= 1000 && $n < 1100" "each of 1000 page faults in its function ($n)"
holds "records every tenth" "$record" -q -e page-faults -c 10 -o "$work/tenth.prf" -- "$work/work"
n=$(weight page-faults touch "$work/tenth.prf")
number "$n >= 900 && $n < 1150" "the weights add up to the same ($n)"
number "$(info "$work/tenth.prf" 'd["samples"]') * 5 < $(info "$work/faults.prf" 'd["samples"]')" "with fewer samples"

holds "records several at once" "$record" -q -e cpu-clock/freq=999/,page-faults/period=1/ -e context-switches/period=1/ -o "$work/several.prf" -- "$work/work"
is "$(info "$work/several.prf" '" ".join(e["name"] for e in d["events"])')" "cpu-clock page-faults context-switches" "each is an event of its own"
n=$(weight context-switches switches "$work/several.prf")
number "$n >= 50" "50 sleeps are 50 context switches or more ($n)"

mkfifo "$work/pipe"
timeout 60 "$record" -q -e "uprobe:$work/pipe:x" -o "$work/pipe.prf" -- true 2> "$work/err"
is $? 1 "a uprobe in a pipe is refused at once"
if "$record" -q -e "uprobe:$work/work:probed" -o "$work/probe.prf" -- "$work/work" 2> "$work/err"; then
	ok "records a uprobe"
	is "$(info "$work/probe.prf" 'd["samples"] + sum(d["lost"].values())')" 1000 "each of 1000 calls"
	like "$("$report" "$work/probe.prf")" '^work;_start;.*main;calls;probed [0-9]+$' "with its stack"
	holds "records every 100th call" "$record" -q -e "uprobe:$work/work:probed/period=100/" -o "$work/hundredth.prf" -- "$work/work"
	n=$(info "$work/hundredth.prf" 'd["samples"]')
	number "$n >= 8 && $n <= 10" "$n samples"
else
	skip "records a uprobe" "$(cat "$work/err")"
fi
"$record" -q -e "uprobe:$work/work:prodeb" -o "$work/none.prf" -- true 2> "$work/err"
is $? 1 "a function that is not there is an error"
like "$(cat "$work/err")" "did you mean 'probed'" "with the name that was meant"

if printf '%s\n' "$list" | grep -q '^  sched:sched_switch$'; then
	holds "records a tracepoint" "$record" -q -e sched:sched_switch -o "$work/point.prf" -- "$work/work"
	n=$(weight sched:sched_switch switches "$work/point.prf")
	number "$n >= 50" "50 sleeps are 50 switches or more ($n)"
	"$record" -q -e sched:sched_swicth -o "$work/none.prf" -- true 2> "$work/err"
	is $? 1 "one that is not there is an error"
	like "$(cat "$work/err")" "did you mean 'sched:sched_switch'" "with the name that was meant"
else
	skip "records a tracepoint" "tracefs cannot be opened"
fi

"$record" -q -e page-fautls -- true 2> "$work/err"
is $? 2 "an unknown event is wrong usage"
like "$(cat "$work/err")" "did you mean 'page-faults'" "with the name that was meant"
if ! printf '%s\n' "$list" | grep -q '^  cycles'; then
	"$record" -q -e cycles -o "$work/none.prf" -- true 2> "$work/err"
	is $? 1 "an event that this machine does not have is an error"
	like "$(cat "$work/err")" "no event 'cycles'" "which is reported"
	[ -e "$work/none.prf" ] && not_ok "no file is left" || ok "no file is left"
fi
said=$("$record" --stats -F 999 -o "$work/stats.prf" -- "$work/work" 2>&1)
like "$said" 'recorder: [0-9.]+ s of CPU' "--stats reports what the recorder cost"
like "$said" 'kernel: [0-9]+ runs|kernel: not measured' "and what it cost in the kernel"
finish
