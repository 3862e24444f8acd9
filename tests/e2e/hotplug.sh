#!/bin/sh
# A CPU goes offline while it is recorded, and comes back, later or at once. Only on a machine that is there
# for the tests (tests/kernels), as others would lose the CPU, too.
. "$(dirname "$0")/../lib.sh"
[ -n "${TEST_OWN_MACHINE:-}" ] || skip_all "takes a CPU from the machine (TEST_OWN_MACHINE=1)"
need_bpf alone
cpu=/sys/devices/system/cpu/cpu1/online
[ -w $cpu ] || skip_all "CPU 1 cannot go offline"
compile_c -O1 -g -fno-omit-frame-pointer -pthread -o "$work/burn" "$top/tests/e2e/programs/burn.c"

# lose_a_cpu PARANOID SECONDS: it is away for so long, and samples of `burn` on it after that go to `back`
lose_a_cpu() {
	echo "$1" > /proc/sys/kernel/perf_event_paranoid
	trace=$work/$1-$2.prf
	"$record" -a -F 99 -o "$trace" 2> "$work/err" &
	recorder=$!
	until_begun "$trace" $recorder
	echo 0 > $cpu
	sleep "$2"
	echo 1 > $cpu
	sleep 3
	taskset -c 1 "$work/burn" 3000
	kill -INT $recorder
	wait $recorder
	is $? 0 "perf_event_paranoid $1: a recording goes on without the CPU"
	like "$(cat "$work/err")" 'warning: CPU 1 went offline' "and says so"
	back=$("$report" -f jsonl "$trace" | grep '"comm":"burn"' | grep -c '"cpu":1,')
	"$report" --info --json "$trace" > "$work/info"
	is "$(json "$work/info" 'd["samples"] + sum(d["lost"].values()) - d["fired"]')" 0 "samples + lost = fired"
}

lose_a_cpu 2 3
like "$(cat "$work/err")" 'warning: CPU 1 is back; until now nothing was recorded there' "it comes back"
number "$back > 20" "and is recorded again ($back samples)"

# All CPUs but one do so when a machine is suspended: nobody sees them offline.
lose_a_cpu 2 0
like "$(cat "$work/err")" 'warning: CPU 1 is back; until now nothing was recorded there' "one that is back at once is noticed"
number "$back > 20" "and is recorded again ($back samples)"

# Only Debian's and Ubuntu's kernels know 3.
lose_a_cpu 3 3
if [ "$back" -gt 0 ]; then
	skip "the warning" "this kernel does not refuse it"
else
	like "$(cat "$work/err")" 'CPU 1 is back, but nothing more .*perf_event_paranoid is above 2' "the warning has the cause"
fi
finish
