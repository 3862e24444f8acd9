#!/bin/sh
# Samples and lost ones together are CPU time times rate, also where stacks take longer than a period;
# so seconds in reports are CPU seconds.
. "$(dirname "$0")/../lib.sh"
need_bpf alone
[ -z "${SAN:-}" ] || skip_all "the sums are the kernel half's"
compile_c -O1 -fno-optimize-sibling-calls -pthread -o "$work/deep" "$top/tests/e2e/programs/deep.c"
mkfifo "$work/go"

# What the kernel accounts is exact for programs that nothing preempts.
alone=
chrt -f 50 true 2> /dev/null && alone="chrt -f 50"

# Records `deep $depth 1 $threads` in one of these ways, at the rate that the other arguments say,
# and sets cpu to the seconds that the kernel accounted for it.
a_command() {
	"$record" -q "$@" -o "$work/t.prf" -- $alone "$work/deep" $depth 1 $threads < /dev/null > "$work/cpu"
}

a_process() {
	$alone "$work/deep" $depth 1 $threads < "$work/go" > "$work/cpu" &
	deep=$!
	exec 9> "$work/go"
	"$record" "$@" -p $deep -o "$work/t.prf" 2> /dev/null &
	until_begun "$work/t.prf" $!
	echo >&9
	wait
}

# One CPU: the others would lose ticks of their own.
a_cpu() {
	taskset -c 0 $alone "$work/deep" $depth 1 $threads < "$work/go" > "$work/cpu" &
	deep=$!
	exec 9> "$work/go"
	"$record" "$@" -a -C 0 -o "$work/t.prf" 2> /dev/null &
	recorder=$!
	until_begun "$work/t.prf" $recorder
	echo >&9
	wait $deep
	kill -INT $recorder
	wait
}

# Counts as promised: within the percentage, and a tick at either end.
promised() {
	"$report" --info --json "$work/t.prf" > "$work/info.json" 2> /dev/null
	lost=$(json "$work/info.json" 'sum(n for why, n in d["lost"].items() if "side" not in why)')
	skipped=$(json "$work/info.json" 'd["lost"]["skipped"]')
	samples=$(json "$work/info.json" 'd["samples"]')
	[ "$how" != a_cpu ] || samples=$("$report" -q --comm deep -f top "$work/t.prf" | sed -n '1s/^# \([0-9]*\) .*/\1/p')
	seconds=$("$report" -q -f top "$work/t.prf" | sed -n '1s/^# .* samples, \([0-9.]*\) s.*/\1/p')
	cpu=$(cat "$work/cpu")
	awk "BEGIN { sum = $samples + $lost; should = $cpu * $rate; off = sum - should
		exit !(off * off < (should * $1 / 100 + 2) ^ 2) }"
}

# counts NAME PERCENT HOW RATE-OPTION...; where a hypervisor stops the machine, it is tried again.
counts() {
	name=$1 percent=$2 how=$3
	shift 2
	for try in 1 2 3 4 5 6; do
		rm -f "$work/t.prf"
		: > "$work/cpu"
		"$@"
		promised "$percent" && break
		sleep 1
	done
	number "($samples + $lost - $cpu * $rate) ^ 2 < ($cpu * $rate * $percent / 100 + 2) ^ 2" \
		"$name: $samples samples + $lost lost are $cpu s x $rate Hz"
}

threads=1
for depth in 10 500 2000; do
	for rate in 999 50000; do
		counts "depth $depth" 1 a_command -F $rate
	done
	number "($seconds - ($samples + $lost) / $rate) ^ 2 < 0.002 ^ 2" "depth $depth: they are $seconds s in top"
done
if [ "$skipped" -gt 0 ]; then
	like "$("$report" -f folded "$work/t.prf" 2>&1 > /dev/null)" "$lost samples were lost" "the report says so"
	like "$("$report" --info "$work/t.prf" 2> /dev/null | grep ^lost)" "$skipped skipped" "and why"
else
	skip "the report says so" "the machine is so fast that no tick was skipped"
fi
depth=500 rate=99
counts "the default rate" 1 a_command
rate=50000
counts "by period" 1 a_command -c 20000
threads=2
counts "two threads" 1 a_command -F $rate
counts "a process" 1 a_process -F $rate
threads=1
counts "a CPU" 2 a_cpu -F $rate
# Ticks of a CPU that is idle are nobody's: a virtual one gets none then.
cat > "$work/naps.py" <<'P'
import time
for _ in range(100):
    end = time.monotonic() + 0.01
    while time.monotonic() < end:
        pass
    time.sleep(0.01)
P
holds "records a program that sleeps every other moment" "$record" -q -F 999 -o "$work/naps.prf" -- python3 "$work/naps.py"
"$report" --info --json "$work/naps.prf" > "$work/info.json" 2> /dev/null
number "50 * $(json "$work/info.json" 'd["lost"]["skipped"]') <= $(json "$work/info.json" 'd["samples"]')" \
	"its naps are not taken for skipped ticks"
# Slow enough for ticks not to be skipped: nobody knows in which code those were that fell between the two. Virtual
# machines that are held up for fractions of a millisecond skip a twentieth of those of 4,999 Hz.
rate=999
counts "user and kernel code" 1 a_command -e cpu-clock:u,cpu-clock:k -F $rate
finish
