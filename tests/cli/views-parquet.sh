#!/bin/sh
# -f parquet, read by tests/parquet-rows.py, which is strict: its rows are the samples, and folded they
# make the lines of -f folded.
. "$(dirname "$0")/../lib.sh"
command -v python3 > /dev/null || skip_all "no python3"
cd "$work" || exit 1
rows=$top/tests/parquet-rows.py
fixtures=$top/testdata/fixtures

# parquet TRACE... : writes out.parquet
parquet() { need "$report" -q --no-cache -f parquet "$@" -o out.parquet; }

# folds TRACE NAME: each event's rows make its folded stacks, of samples and of weights
folds() {
	parquet "$1"
	"$rows" folded out.parquet > all.got
	status=$?
	[ "$status" != 77 ] || skip_all "python3 cannot load libzstd"
	"$report" --info --json "$1" | python3 -c 'import json, sys
for e in json.load(sys.stdin)["events"]: print(e["name"])' > events
	while read -r event; do
		for value in samples weight; do
			"$report" -q --no-cache --event="$event" --value=$value "$1" > expected 2> /dev/null
			case $value in samples) what=folded ;; *) what=weights ;; esac
			holds "$2: $event by $value is what folded has" \
				sh -c '"$@" > got && cmp expected got' - "$rows" $what out.parquet "$event"
		done
	done < events
	is "$status" 0 "$2: the file is sound"
}

need "$build/testdata/trace_text" "$top/tests/cli/views/views.txt" -o views.prf
need "$build/testdata/trace_text" "$top/testdata/good-empty.txt" -o empty.prf
folds views.prf "hostile names, waits, several events"
number "$(wc -l < events) == 3" "it has three events"
folds empty.prf "no samples"
is "$(wc -c < all.got)" 0 "it has no rows"
folds "$fixtures/waits.prf" "waits"
need "$build/testdata/trace_text" "$top/tests/cli/views/python.txt" -o python.prf
folds python.prf "Python"
folds "$fixtures/cpp.prf" "C++"

# The columns.
parquet views.prf
"$rows" rows out.parquet | golden "$top/tests/cli/views/parquet.expected" "every column of every sample"

# Frames are as the options of folded stacks want them; samples are those that are selected.
parquet --annotate --no-user --event=cpu-clock views.prf
"$rows" folded out.parquet > got
"$report" -q --annotate --no-user --event=cpu-clock views.prf > expected
holds "names follow --annotate and --no-user" cmp expected got
is "$("$report" -q -f parquet --event=off-cpu -o out.parquet views.prf; "$rows" rows out.parquet weight | xargs)" \
	"{weight: 2500000} {weight: 1500000}" "--event selects"

# Two hosts. The wall clock goes with CLOCK_MONOTONIC; what nobody noted is not there.
notes='metadata "start_monotonic_ns" "900000000"
metadata "service" "web"
metadata "zone" "\\xff;b"
metadata "z\\xfe" "first"
metadata "z\\xff" "the same text"
metadata "version" "1.4"
metadata "java.17" "about a process"
metadata "javascript.17" "about a process"
metadata "jit.17" "about a process"
metadata "java.x" "a note"'
{ echo "$notes"; cat "$top/tests/cli/views/views.txt"; } > noted.txt
sed '/^metadata/d' "$top/tests/cli/views/views.txt" > bare.txt
need "$build/testdata/trace_text" noted.txt -o noted.prf
need "$build/testdata/trace_text" bare.txt -o bare.prf
parquet --cpu=1 noted.prf bare.prf
"$rows" rows out.parquet time_unix_ns host service labels | sort -u | head -n 3 > got
cat > expected <<'END'
{"time_unix_ns": 1767323045779000000, "host": "box", "service": "web", "labels": {"service": "web", "zone": "\ufffd;b", "z\ufffd": "first", "version": "1.4", "java.x": "a note"}}
{"time_unix_ns": 1767323045783000000, "host": "box", "service": "web", "labels": {"service": "web", "zone": "\ufffd;b", "z\ufffd": "first", "version": "1.4", "java.x": "a note"}}
{"time_unix_ns": 1767323045784000000, "host": "box", "service": "web", "labels": {"service": "web", "zone": "\ufffd;b", "z\ufffd": "first", "version": "1.4", "java.x": "a note"}}
END
holds "host, service and labels of a trace that has them" cmp expected got
like "$("$rows" rows out.parquet time_unix_ns host service labels | sort -u | tail -n 1)" \
	'^\{"time_unix_ns": null, "host": "", "service": "", "labels": \{\}\}$' "and of one that has none"
"$report" -q -f jsonl --cpu=1 noted.prf bare.prf > noted.jsonl
is "$(python3 -c 'import json, sys
for line in sys.stdin: print(json.loads(line).get("labels"))' < noted.jsonl | sort | uniq -c | sed "s/^ *//")" \
	"5 None
5 {'service': 'web', 'zone': '�;b', 'z�': 'the same text', 'version': '1.4', 'java.x': 'a note'}" "jsonl: labels, too"

# Row groups, dictionaries of more than a byte, samples out of order.
need "$build/testdata/make_trace" -n 140000 -k 3000 -d 3 -O "$report" -o many.prf
parquet many.prf
"$rows" folded out.parquet > got
"$report" -q --no-cache many.prf > expected
holds "two row groups" cmp expected got
number "$(wc -l < expected) > 1000" "with many stacks"
holds "to a pipe it is the same" sh -c '"$1" -q --no-cache -f parquet many.prf | cmp - out.parquet' - "$report"
{
	"$report" -q -f parquet many.prf many.prf
	echo "$?" > status
} 2> said | head -c 4 > first
is "$(cat status said first)" "0
PAR1" "a reader that stops ends it"

# The reader finds what is wrong: in the first magic, the first page's header, the last page, the footer's
# first byte, a path in it, and its size.
parquet views.prf
size=$(wc -c < out.parquet)
footer=$((size - 8 - $(od -An -tu4 -j $((size - 8)) -N 4 out.parquet)))
path=$(grep -abo time_unix_ns out.parquet | tail -n 1 | cut -d: -f1)
number "$path > $footer" "a path in the footer"
for at in 2 4 $((footer - 1)) $footer "$path" $((size - 6)); do
	cp out.parquet bad.parquet
	byte=$(od -An -tu1 -j $at -N 1 out.parquet)
	# shellcheck disable=SC2059
	printf "\\$(printf %03o $((byte ^ 85)))" | dd of=bad.parquet bs=1 seek=$at conv=notrunc 2> /dev/null
	"$rows" rows bad.parquet > /dev/null 2>&1
	is "$?" 1 "a changed byte at $at of $size is found"
done
finish
