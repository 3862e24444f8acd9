#!/bin/sh
# Every sample that fired is in the trace or counted as lost, exactly, whatever the load.
. "$(dirname "$0")/../lib.sh"
need_bpf
compile_c -O1 -g -fno-omit-frame-pointer -pthread -o "$work/burn" \
	"$top/tests/e2e/programs/burn.c"

# sums NAME: checks that fired = samples + lost, and sets fired, samples and lost
sums() {
	"$report" --info --json "$work/$1.prf" > "$work/info.json"
	samples=$(json "$work/info.json" 'd["samples"]')
	fired=$(json "$work/info.json" 'd["fired"]')
	lost=$(json "$work/info.json" 'sum(n for why, n in d["lost"].items() if "side" not in why)')
	is "$((samples + lost))" "$fired" "$1: samples + lost = fired ($samples + $lost)"
	is "$(json "$work/info.json" 'd["complete"]')" True "$1: the trace is complete"
}

holds "records with the default ring" "$record" -q -F 999 -o "$work/default.prf" -- "$work/burn" 500 2
sums default
is "$((lost - $(json "$work/info.json" 'd["lost"]["skipped"]')))" 0 "nothing is lost that fired"
like "$("$report" --dump "$work/default.prf")" 'object .*path="[^"]*/libc[^"]*" build_id=[0-9a-f]{16,}' "files are known by their build-ids"
holds "records everything" "$record" -q -F 4999 -a -d 1 -o "$work/all.prf"
sums all
is "$("$report" --dump "$work/all.prf" | sed -n 's/^block .* stored=\([0-9]*\) raw=\([0-9]*\).*/\1 \2/p' | awk '$1 < $2 { n++ } END { print (n > 0) }')" 1 \
	"its blocks are compressed"
# A recorder that is stopped for a while cannot empty its ring.
"$record" -F 20000 -m 64K -o "$work/small.prf" -- "$work/burn" 0 4 2> "$work/said" &
recorder=$!
n=0
# More than a header: samples are being written.
until [ "$(wc -c < "$work/small.prf" || echo 0)" -gt 1000 ] || [ $n -ge 300 ]; do
	n=$((n + 1))
	sleep 0.1
done 2> /dev/null
kill -STOP $recorder
sleep 1
kill -CONT $recorder
kill -INT $recorder
wait $recorder
sums small
if [ "$lost" -gt 0 ]; then
	like "$(cat "$work/said")" 'a larger one \(-m\)' "says that a larger ring helps"
	number "$(json "$work/info.json" 'sum(n for why, n in d["lost"].items() if "full" in why)') > 0" \
		"the reason is a full ring"
	"$report" --dump "$work/small.prf" | grep '^ *loss ' | grep -v 'reason=side' > "$work/losses"
	is "$(sed 's/.* count=\([0-9]*\) .*/\1/' "$work/losses" | awk '{ n += $1 } END { print n }')" "$lost" \
		"all of it is reported"
	is "$(grep -cvE ' from_ns=[0-9]+ to_ns=[0-9]+ cpu=[0-9]+$' "$work/losses")" 0 "with its time and CPU"
	like "$(cat "$work/said")" " $samples samples, $lost lost," "has the same numbers"
else
	skip "says that a larger ring helps" "the program did not run meanwhile"
fi
holds "records with a page for a ring" "$record" -q -F 9999 -m 4K -o "$work/page.prf" -- "$work/burn" 300
sums page
finish
