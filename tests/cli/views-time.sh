#!/bin/sh
# Times count from the start of the recording, which may be long before the first sample.
. "$(dirname "$0")/../lib.sh"

cat > "$work/late.txt" <<'T'
metadata "start_monotonic_ns" "7"
metadata "start_monotonic_ns" "1000000000"
event 0 "cpu-clock" "samples" 1000 0
object 0 "/bin/late" "" ""
task 100 100 "late" "" ""
frame 0 0 0x1000
stack - 0
sample 2500000000 0 0 0 0 1
statistic "duration_ns" 4000000000
finish
T
need "$build/testdata/trace_text" "$work/late.txt" -o "$work/late.prf"

# lines WINDOW: samples in it
lines() {
	"$report" -q -f jsonl --time "$1" "$work/late.prf" | wc -l
}
is "$(lines 0,1s)" 0 "the first second of the recording has no sample"
is "$(lines 1s,2s)" 1 "the second one has it"
is "$(lines 0%,30%)" 0 "nothing lies in the first 30 percent"
is "$(lines 30%,40%)" 1 "but in the next ten"
duration() {
	"$report" -q -f pprof "$@" -o "$work/late.pb.gz" "$work/late.prf"
	gzip -dc "$work/late.pb.gz" | python3 -c '
import sys
data, at = sys.stdin.buffer.read(), 0
def varint():
    global at
    value = shift = 0
    while True:
        byte = data[at]; at += 1
        value |= (byte & 127) << shift; shift += 7
        if byte < 128:
            return value
while at < len(data):
    key = varint()
    value = varint()
    if key & 7 == 2:
        at += value
    elif key >> 3 == 10:
        print(value)
'
}
is "$(duration)" 4000000000 "the duration of pprof is the recording's"
is "$(duration --time 1s,3s)" 2000000000 "or the window's"

sed 's/"1000000000"/"99999999999999999999"/' "$work/late.txt" > "$work/bad.txt"
need "$build/testdata/trace_text" "$work/bad.txt" -o "$work/late.prf"
is "$(lines 0,1s)" 1 "a start that is no number is not believed"
finish
