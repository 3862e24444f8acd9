#!/bin/sh
# A program that spends 70, 20 and 10 % of its time in three functions is seen to do so.
. "$(dirname "$0")/../lib.sh"
need_bpf alone
[ -z "${SAN:-}" ] || skip_all "the shares are the kernel half's"
compile_c -O1 -g -fno-omit-frame-pointer -pthread -o "$work/burn" \
	"$top/tests/e2e/programs/burn.c"

# shares FILE: percentages of the three functions among samples that have one of them
shares() {
	"$report" "$1" | awk '
		{ n = $NF; sub(/ [0-9]+$/, "") }
		/;seventy(;|$)/ { a += n } /;twenty(;|$)/ { b += n } /;ten(;|$)/ { c += n }
		END { t = a + b + c; if (t) printf "%.2f %.2f %.2f %d\n", 100*a/t, 100*b/t, 100*c/t, t
		      else print "0 0 0 0" }'
}

check() {
	set -- "$1" $(shares "$work/$1.prf")
	number "$5 >= 500" "$1: hundreds of samples are in one of the three ($5)"
	number "$2 > 64 && $2 < 76" "$1: seventy() has about 70 % ($2)"
	number "$3 > 15 && $3 < 25" "$1: twenty() has about 20 % ($3)"
	number "$4 > 6 && $4 < 14" "$1: ten() has about 10 % ($4)"
}

holds "records a command" "$record" -q -F 999 -o "$work/command.prf" -- "$work/burn" $((1200 * slowness))
check command
holds "records two threads" "$record" -q -F 999 -o "$work/threads.prf" -- "$work/burn" $((600 * slowness)) 2
check threads

"$work/burn" 0 &
pid=$!
holds "records a process" "$record" -q -F 999 -d $((2 * slowness)) -o "$work/process.prf" -p $pid
kill $pid
"$report" --info --json "$work/process.prf" > "$work/info.json"
# A loaded machine gives the process less than a CPU, but its shares are the same.
[ "$(json "$work/info.json" 'd["samples"]')" -ge 500 ] && check process ||
	skip process "the machine is too busy"
is "$("$report" "$work/process.prf" | cut -d';' -f1 | sort -u)" burn "no other process was sampled"

# One thread, then two: whether a sample was of a serial phase. Half a tick at either end of a phase may
# be taken for the next one.
# On a busy machine the two might never run at once, unless nothing preempts them.
compile_c -O1 -g -pthread -o "$work/phases" "$top/tests/e2e/programs/phases.c"
alone=
[ "$(nproc)" -gt 1 ] && chrt -f 50 true 2> /dev/null && alone="chrt -f 50"
holds "records phases" "$record" -q -F 999 -o "$work/phases.prf" -- $alone "$work/phases" 2 $((150 * slowness))
# beside FUNCTION NUMBERS: samples of a function at whose time so many threads ran
beside() { "$report" --focus "^$1\$" --parallelism "$2" "$work/phases.prf" 2> /dev/null | awk '{ n += $NF } END { print n + 0 }'; }
number "$(beside serial 1) > 10 && $(beside serial 2-9) <= 4" "serial() ran alone: $(beside serial 1) samples of $(beside serial 1-9)"
if [ "$alone" ]; then
	number "$(beside parallel 2) > 0" "parallel() did not: $(beside parallel 2) samples of $(beside parallel 1-9)"
else
	skip "parallel() did not" "one CPU, or no priority"
fi
three=$(beside '(serial|parallel)' 3-99)
number "$three <= 4" "hardly ever three: $three samples"
finish
