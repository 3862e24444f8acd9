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
		usleep(1000 * SLOWNESS); /* that is not over before it begins */
	return getppid();
}
/* What <sys/sdt.h> would make: two places of the probe "shop:sale", which counts who traces it. */
volatile unsigned short sale_semaphore __attribute__((section(".probes")));
#define SALE() __asm__ volatile("990: nop\n" \
	".pushsection .note.stapsdt,\"?\",\"note\"\n.balign 4\n" \
	".4byte 992f-991f, 994f-993f, 3\n991: .asciz \"stapsdt\"\n992: .balign 4\n" \
	"993: .8byte 990b, _.stapsdt.base, sale_semaphore\n" \
	".asciz \"shop\"\n.asciz \"sale\"\n.asciz \"\"\n994: .balign 4\n.popsection\n" \
	".ifndef _.stapsdt.base\n" \
	".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n" \
	".weak _.stapsdt.base\n.hidden _.stapsdt.base\n_.stapsdt.base: .space 1\n.popsection\n.endif\n")
__attribute__((noinline)) int sells(void) { SALE(); return getppid(); }
__attribute__((noinline)) int sells_more(void)
{
	for (int i = 0; i < 99; i++)
		SALE();
	return getppid();
}
int main(void)
{
	int sum = calls() + touch() + switches() + sells() + sells_more();

	printf("traced %d\n", sale_semaphore);
	return sum == -1;
}
C
compile_c -O1 -g -fno-sanitize=all "-DSLOWNESS=$slowness" -o "$work/work" "$work/work.c"

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
if [ -e /sys/bus/event_source/devices/uprobe ]; then
	holds "records a uprobe" "$record" -q -e "uprobe:$work/work:probed" -o "$work/probe.prf" -- "$work/work"
	is "$(info "$work/probe.prf" 'd["samples"] + sum(d["lost"].values())')" 1000 "each of 1000 calls"
	like "$("$report" "$work/probe.prf")" '^work;_start;.*main;calls;probed [0-9]+$' "with its stack"
	holds "records every 100th call" "$record" -q -e "uprobe:$work/work:probed/period=100/" -o "$work/hundredth.prf" -- "$work/work"
	n=$(info "$work/hundredth.prf" 'd["samples"]')
	number "$n >= 8 && $n <= 10" "$n samples"
else
	skip "records a uprobe" "this kernel has none"
fi

# has FORM: whether --list shows a kind of probe, or skips what NAME says
has() { printf '%s\n' "$list" | grep -q "^  $1:" || { skip "$2" "this kernel has no such probes"; false; }; }

if has uretprobe "records returns"; then
	holds "records returns" "$record" -q -e "uretprobe:$work/work:probed" -o "$work/return.prf" -- "$work/work"
	is "$(info "$work/return.prf" 'd["samples"] + sum(d["lost"].values())')" 1000 "each of 1000"
	like "$("$report" "$work/return.prf")" '^work;_start;.*main;calls [0-9]+$' "in the caller"
fi
if has usdt "records places that a program's notes name"; then
	is "$("$record" -q -e "usdt:$work/work:shop:sale" -o "$work/usdt.prf" -- "$work/work")" "traced 2" \
		"records places that a program's notes name, which counts them"
	is "$(info "$work/usdt.prf" 'd["samples"] + sum(d["lost"].values())')" 100 "each of 100 hits of two places"
	is "$(weight "usdt:$work/work:shop:sale" sells "$work/usdt.prf") $(weight "usdt:$work/work:shop:sale" sells_more "$work/usdt.prf")" \
		"1 99" "in its function"
	is "$("$work/work")" "traced 0" "afterwards nobody traces"
	"$record" -q -e "usdt:$work/work:shop:sail" -o "$work/none.prf" -- true 2> "$work/err"
	is $? 1 "a probe that is not there is an error"
	like "$(cat "$work/err")" "did you mean 'shop:sale'" "with the name that was meant"
fi
if has kprobe "records calls of a function of the kernel"; then
	holds "records calls of a function of the kernel" \
		"$record" -q -e kprobe:hrtimer_nanosleep -o "$work/kprobe.prf" -- "$work/work"
	is "$(info "$work/kprobe.prf" 'd["samples"] + sum(d["lost"].values())')" 50 "each of 50"
	like "$("$report" "$work/kprobe.prf")" '^work;_start;.*main;switches;.*;hrtimer_nanosleep [0-9]+$' "with its whole stack"
	holds "records its returns" \
		"$record" -q -e kretprobe:hrtimer_nanosleep -o "$work/kprobe.prf" -- "$work/work"
	is "$(info "$work/kprobe.prf" 'd["samples"] + sum(d["lost"].values())')" 50 "each of 50"
	like "$("$report" "$work/kprobe.prf")" '^work;_start;.*main;switches;.*[a-z_0-9]+ [0-9]+$' "with the stack of the caller"
	"$record" -q -e kprobe:hrtimer_nanoslepe -o "$work/none.prf" -- true 2> "$work/err"
	is $? 1 "a function that is not there is an error"
	like "$(cat "$work/err")" "did you mean 'hrtimer_nanosleep'" "with the name that was meant"
else
	"$record" -q -e kprobe:hrtimer_nanosleep -o "$work/none.prf" -- true 2> "$work/err"
	is $? 1 "a kernel without kprobes refuses them"
	like "$(cat "$work/err")" "this kernel has no kprobes" "and says so"
fi

# Probes that somebody has made with tracefs. made KIND PLACE STACK HITS
made() {
	(echo "p:prof_test_$$/$1 $2" >> "$work/tracing/$1_events") 2> /dev/null || {
		skip "records a $1 that tracefs has made" "tracefs makes none"
		return
	}
	"$record" -q -e "prof_test_$$:$1" -o "$work/made.prf" -- "$work/work" > "$work/out" 2> "$work/err"
	is "$?: $(cat "$work/err")" "0: " "records a $1 that tracefs has made"
	echo "-:prof_test_$$/$1" >> "$work/tracing/$1_events"
	n=$(info "$work/made.prf" 'd["samples"] + sum(d["lost"].values())')
	is "$n" "$4" "each of $4"
	like "$("$report" "$work/made.prf")" "main;$3" "with its stack"
}
mkdir "$work/tracing"
if mount -t tracefs tracefs "$work/tracing" 2> /dev/null; then
	place=$(nm "$work/work" | awk '$3 == "probed" { print "0x" $1 }')
	made uprobe "$work/work:$place" 'calls;probed' 1000
	made kprobe hrtimer_nanosleep 'switches;.*;hrtimer_nanosleep' 50
	umount "$work/tracing"
else
	skip "records probes that tracefs has made" "tracefs cannot be mounted"
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
