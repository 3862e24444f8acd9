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
field() {
	number=$1
	shift
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
    elif key >> 3 == int(sys.argv[1]):
        print(value)
' "$number"
}
is "$(field 10)" 4000000000 "the duration of pprof is the recording's"
is "$(field 10 --time 1s,3s)" 2000000000 "or the window's"

# Of a window, pprof's time is the one when it begins, and so is the page's and the profiler's.
sed 's/^event 0/metadata "start_time" "2026-11-22T18:00:00.000000000Z"\n&/' "$work/late.txt" > "$work/wall.txt"
need "$build/testdata/trace_text" "$work/wall.txt" -o "$work/late.prf"
began=1795370400000000000
is "$(field 9)" $began "pprof has the wall clock at the start"
is "$(field 9 --time 1s,3s)" $((began + 1000000000)) "or when the window begins"
firefox() {
	"$report" -q -f firefox "$@" -o "$work/late.json" "$work/late.prf"
	gzip -cdf "$work/late.json" > "$work/plain.json"
	json "$work/plain.json" '(d["meta"]["startTime"], d["threads"][0]["samples"]["time"])'
}
is "$(firefox)" "(1795370400000, [1500])" "firefox counts from the start of the recording"
is "$(firefox --time 1s,3s)" "(1795370401000, [500])" "or of the window"
page() {
	"$report" -q -f html "$@" -o "$work/late.html" "$work/late.prf"
	python3 - "$work/late.html" <<'P'
import base64, re, sys, zlib
data = re.search('id="data">([^<]*)<', open(sys.argv[1]).read()).group(1)
print(re.findall(b'"duration_ns":[0-9]*', zlib.decompress(base64.b64decode(data)))[0].decode())
P
}
is "$(page)" '"duration_ns":4000000000' "the page is as long as the recording"
is "$(page --time 1s,3s)" '"duration_ns":2000000000' "or as the window"

# What was lost outside of the window is not lost there; of a loss on its edge its part is.
sed 's/^sample /loss 3000000000 4000000000 0 0 1000\n&/' "$work/late.txt" > "$work/lossy.txt"
need "$build/testdata/trace_text" "$work/lossy.txt" -o "$work/lossy.prf"
# lost WINDOW: as top, tree, the page and the profiler have it; and each mark of the last, in ms
lost() {
	"$report" -q -f top --time "$1" "$work/lossy.prf" | sed -n '1s/.*, \([0-9]* lost\).*/\1/p'
	"$report" -q -f tree --json --time "$1" "$work/lossy.prf" | grep -o '"lost": [0-9]*'
	"$report" -q -f html --time "$1" -o "$work/lossy.html" "$work/lossy.prf"
	python3 - "$work/lossy.html" <<-'P'
		import base64, re, sys, zlib
		data = re.search('id="data">([^<]*)<', open(sys.argv[1]).read()).group(1)
		head = zlib.decompress(base64.b64decode(data))
		print(re.findall(b'"lost":[0-9]*', head)[0].decode(), re.findall(rb'"losses":\[(\[?)', head)[0].decode())
	P
	"$report" -q -f firefox --time "$1" -o "$work/lossy.json" "$work/lossy.prf"
	gzip -cdf "$work/lossy.json" > "$work/plain.json"
	json "$work/plain.json" '[(m["startTime"], m["endTime"], [e["count"] for e in m["data"]])
		for m in [d["threads"][0]["markers"]]]'
}
is "$(lost 0,2s | xargs)" '0 lost lost: 0 lost:0 [([], [], [])]' "what was lost later is not lost in the window"
is "$(lost 1s,2.25s | xargs)" '250 lost lost: 250 lost:250 [ [([1000], [1250], [250])]' "on its edge a part is lost"
"$report" -f top --time 0,2s "$work/lossy.prf" > "$work/out" 2> "$work/said"
unlike "$(cat "$work/said")" 'were lost' "... and is not warned of"
"$report" -f top --time 1s,2.0004s "$work/lossy.prf" > "$work/out" 2> "$work/said"
unlike "$(cat "$work/said")" 'were lost' "... nor is less than half a sample"
"$report" -f top --time 1s,3s "$work/lossy.prf" > "$work/out" 2> "$work/said"
like "$(cat "$work/said")" 'warning: .*lossy\.prf: 1000 samples were lost' "... in whole samples"

# Each slice of time has a text of its own, however short it is.
{
	sed '/^sample /,$d' "$work/late.txt"
	for i in 00 01 02 03 10 11 12 13; do echo "sample 100${i}00000 0 0 0 0 1"; done
	echo 'sample 101000000000 0 0 0 0 1'
	echo 'statistic "duration_ns" 101000000000'
	echo finish
} > "$work/fine.txt"
need "$build/testdata/trace_text" "$work/fine.txt" -o "$work/fine.prf"
slices() { "$report" -q --group-by "time:$1" "$work/fine.prf" | cut -d';' -f1 | xargs; }
is "$(slices 1ms)" "0.000s 0.001s 100.000s" "slices of whole milliseconds"
is "$(slices 100us)" "0.0000s 0.0001s 0.0002s 0.0003s 0.0010s 0.0011s 0.0012s 0.0013s 100.0000s" "shorter ones have more decimals"

# The page has as many as are asked for, and what is asked for in vain is reported.
strip() {
	"$report" --group-by "comm,time:$1" --no-cache -o "$work/fine.html" "$work/fine.prf" 2> "$work/said"
	python3 - "$work/fine.html" <<-'P'
		import base64, re, sys, zlib
		data = re.search('id="data">([^<]*)<', open(sys.argv[1]).read()).group(1)
		print(re.findall(rb'"slices":[0-9]*,"slice_ns":[0-9]*', zlib.decompress(base64.b64decode(data)))[0].decode())
	P
}
is "$(strip 1ms)" '"slices":100001,"slice_ns":1000000' "the page has slices of the length that was asked for"
unlike "$(cat "$work/said")" 'slices of time' "... and no warning of others"
is "$(strip 50us)" '"slices":1000001,"slice_ns":100000' "... or twice as long ones"
like "$(cat "$work/said")" 'warning: --group-by: slices of time are 0\.0001 s long, as there would be too many' \
	"... and that is reported"

# Samples come in order of time, though two CPUs wrote them out of order.
sed 's/^sample .*/sample 2500003000 0 0 0 1 1\nsample 2500001000 0 0 0 0 1\nsample 2500002000 0 0 0 1 1/' \
	"$work/late.txt" > "$work/two.txt"
need "$build/testdata/trace_text" "$work/two.txt" -o "$work/late.prf"
is "$("$report" -q -f jsonl "$work/late.prf" | sed 's/.*"time_ns":250000\(.\).*/\1/' | xargs)" "1 2 3" \
	"jsonl is in order of time"
is "$("$report" -q -f script "$work/late.prf" | sed -n 's/.* 2\.50000\(.\): .*/\1/p' | xargs)" "1 2 3" "so is script"

# Who reads them may stop in the first of several traces. Sanitizers find what is used after its end.
need "$build/testdata/make_trace" -n 40000 -o "$work/many.prf"
{
	"$report" -q -f jsonl "$work/many.prf" "$work/many.prf"
	echo "$?" > "$work/status"
} 2> "$work/said" | head -n 1 > "$work/first"
is "$(cat "$work/status" "$work/said")" 0 "a reader that stops ends it"

# Of a trace without samples, too, the page has the length of the recording.
sed '/^sample /d' "$work/late.txt" > "$work/empty.txt"
need "$build/testdata/trace_text" "$work/empty.txt" -o "$work/empty.prf"
is "$(page "$work/empty.prf")" '"duration_ns":4000000000' "a trace without samples does not make it longer"

sed 's/"1000000000"/"99999999999999999999"/' "$work/late.txt" > "$work/bad.txt"
need "$build/testdata/trace_text" "$work/bad.txt" -o "$work/late.prf"
is "$(lines 0,1s)" 1 "a start that is no number is not used"
finish
