#!/bin/sh
# A CPU goes offline while it is recorded, and comes back. Only on a machine that is there for the tests
# (tests/kernels), as others would lose the CPU, too.
. "$(dirname "$0")/../lib.sh"
[ -n "${TEST_OWN_MACHINE:-}" ] || skip_all "takes a CPU from the machine (TEST_OWN_MACHINE=1)"
need_bpf alone
cpu=/sys/devices/system/cpu/cpu1/online
[ -w $cpu ] || skip_all "CPU 1 cannot go offline"
compile_c -O1 -g -fno-omit-frame-pointer -pthread -o "$work/burn" "$top/tests/e2e/programs/burn.c"

"$record" -a -F 99 -o "$work/a.prf" 2> "$work/err" &
recorder=$!
until_begun "$work/a.prf" $recorder
echo 0 > $cpu
sleep 3
echo 1 > $cpu
# Whatever ran there has another mask now.
taskset -c 1 "$work/burn" 3000
kill -INT $recorder
wait $recorder
is $? 0 "a recording goes on without the CPU"
like "$(cat "$work/err")" 'warning: CPU 1 went offline' "and says so"
"$report" -f jsonl "$work/a.prf" | grep '"comm":"burn"' | grep -c '"cpu":1,' > "$work/back"
number "$(cat "$work/back") > 20" "the CPU that came back is recorded again ($(cat "$work/back") samples)"
"$report" --info --json "$work/a.prf" > "$work/info"
is "$(json "$work/info" 'd["samples"] + sum(d["lost"].values()) - d["fired"]')" 0 "samples + lost = fired"
finish
