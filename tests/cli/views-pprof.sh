#!/bin/sh
# -f pprof, firefox and speedscope: their totals are those of folded stacks, and go's pprof reads the first.
. "$(dirname "$0")/../lib.sh"

make_trace=$build/testdata/make_trace
trace=$work/trace.prf
need "$make_trace" -n 5000 -t 3 -k 100 -O "$make_trace" -o "$trace"

for format in folded pprof firefox speedscope; do
	holds "-f $format" "$report" -q --no-cache -f "$format" "$trace" -o "$work/$format"
done
is "$(awk '{ n += $NF } END { print n }' "$work/folded")" 5000 "folded stacks add up to all samples"
is "$(json "$work/speedscope" '[sum(p["weights"]) for p in d["profiles"]][0]')" 5000 "so do all threads of speedscope"
is "$(json "$work/speedscope" 'sum(sum(p["weights"]) for p in d["profiles"][1:])')" 5000 "so do its single threads"
is "$(json "$work/firefox" 'sum(sum(t["samples"]["weight"]) for t in d["threads"])')" 5000 "so does firefox"
is "$(json "$work/firefox" 'all(t["samples"]["time"] == sorted(t["samples"]["time"]) for t in d["threads"])')" \
	True "firefox: samples are in the order of time"
need "$report" -q --no-cache -f jsonl "$trace" -o "$work/samples"
is "$(json "$work/firefox" 'sorted(t for thread in d["threads"] for n, t in zip(thread["samples"]["weight"], thread["samples"]["time"]) for _ in range(n))')" \
	"$(python3 - "$work/samples" <<'P'
import json, sys
times = [json.loads(line)["time_ns"] for line in open(sys.argv[1])]
print(sorted((t - min(times)) // 10**6 for t in times))
P
)" "firefox: they have their times to the millisecond"

cat > "$work/stacks.py" <<'PYTHON'
# Folded stacks of a speedscope or Firefox profile, without the command.
import collections, json, sys
d, stacks = json.load(open(sys.argv[1])), collections.Counter()
if "profiles" in d:
	names = [f["name"] for f in d["shared"]["frames"]]
	for p in d["profiles"][1:]: # the first one is all of them
		for stack, weight in zip(p["samples"], p["weights"]):
			stacks[";".join(names[i] for i in stack)] += weight
else:
	for t in d["threads"]:
		def path(stack):
			names = []
			while stack is not None:
				func = t["frameTable"]["func"][t["stackTable"]["frame"][stack]]
				names.append(t["stringArray"][t["funcTable"]["name"][func]])
				stack = t["stackTable"]["prefix"][stack]
			return ";".join(reversed(names))
		for stack, weight in zip(t["samples"]["stack"], t["samples"]["weight"]):
			stacks[path(stack)] += weight
for stack in sorted(stacks):
	print(stack, stacks[stack])
PYTHON
"$report" -q --no-cache "$trace" | sed 's/^[^;]*;//' |
	awk '{ n = $NF; sub(/ [0-9]+$/, ""); sum[$0] += n } END { for (s in sum) print s, sum[s] }' |
	sort > "$work/expected"
for format in speedscope firefox; do
	python3 "$work/stacks.py" "$work/$format" | sort > "$work/got"
	holds "$format has the stacks of folded" cmp "$work/expected" "$work/got"
done

# labels OPTION...: which of them the profile has
labels() {
	"$report" -q --no-cache -f pprof "$@" "$trace" -o "$work/labelled"
	python3 -c 'import gzip, sys
data = gzip.open(sys.argv[1]).read()
print(*(name for name in ("comm", "pid", "tid") if b"2%c%s" % (len(name), name.encode()) in data))' "$work/labelled"
}
is "$(labels; labels --group-by=comm; labels --group-by=tid,pid)" "comm pid tid
comm
pid tid" "pprof: labels are those of the thread, or of --group-by"

# read PROFILE: its samples, each with its labels, its count and the addresses of its stack, the innermost first
cat > "$work/read.py" <<'PYTHON'
import gzip, sys

def number(data, at):
	value = shift = 0
	while True:
		value |= (data[at] & 127) << shift
		shift, at = shift + 7, at + 1
		if data[at - 1] < 128:
			return value, at

def numbers(data):
	at = 0
	while at < len(data):
		value, at = number(data, at)
		yield value

def fields(data):
	at = 0
	while at < len(data):
		key, at = number(data, at)
		value, at = number(data, at)
		if key & 7 == 2:
			value, at = data[at:at + value], at + value
		yield key >> 3, value

profile = list(fields(gzip.open(sys.argv[1]).read()))
strings = [value.decode() for key, value in profile if key == 6]
addresses = {}
for key, value in profile:
	if key == 4:
		location = dict(fields(value))
		addresses[location[1]] = location.get(3, 0)
for key, value in profile:
	if key == 2:
		sample = list(fields(value))
		labels = [dict(fields(one)) for name, one in sample if name == 3]
		stack = [addresses[id] for name, one in sample if name == 1 for id in numbers(one)]
		count = [next(numbers(one)) for name, one in sample if name == 2][0]
		print(*(f"{strings[one[1]]}={strings[one[2]]}" for one in labels if 2 in one), count, *map(hex, stack))
PYTHON

# The notes of a recording are labels, and first frames of the page. A caller is where its call ends, not where
# it returns to; where a sample was taken is exact.
for service in web batch; do
	{
		echo "metadata \"service\" \"$service\""
		sed 's/^	//' <<-'TRACE'
			event 0 "cpu-clock" "samples" 1000 0
			object 0 "/nowhere/work" "" ""
			task 1 1 "work" "" ""
			frame 0 0 0x105
			frame 0 2 0x200
			stack - 0
			stack 0 1
			names 0 "main" "" 0 0
			names 1 "leaf" "" 0 0
		TRACE
		for i in 1 2 3; do echo "sample ${i}00000000 0 0 1 0 1"; done
		[ $service = web ] || echo "sample 400000000 0 0 1 0 1"
		echo finish
	} > "$work/$service.txt"
	need "$build/testdata/trace_text" "$work/$service.txt" -o "$work/$service.prf"
done
need "$report" -q --no-cache -f pprof --group-by=service "$work/web.prf" "$work/batch.prf" -o "$work/services"
is "$(python3 "$work/read.py" "$work/services" | sort)" "trace=$work/batch.prf service=batch 4 0x200 0x104
trace=$work/web.prf service=web 3 0x200 0x104" "pprof: notes are labels, and the address of a caller lies inside its call"
need "$report" -q --no-cache -f html --group-by=service "$work/web.prf" "$work/batch.prf" -o "$work/services.html"
"$report" -q --no-cache --group-by=service "$work/web.prf" "$work/batch.prf" -o "$work/services.folded"
is "$(cat "$work/services.folded")" "batch;main;leaf 4
web;main;leaf 3" "folded stacks begin with them"
if node -e 'process.exit(parseInt(process.versions.node) < 16 ? 1 : 0)' 2> /dev/null; then
	node "$top/tests/cli/views-html.js" "$work/services.html" "$work/services.folded" > "$work/said" 2>&1
	is "$(cat "$work/said")" good "... and so do those of the page"
else
	skip "... and so do those of the page" "no node, or an old one"
fi

if command -v go > /dev/null && go tool 2> /dev/null | grep -q pprof; then
	export PPROF_TMPDIR="$work" HOME="$work"
	go tool pprof -top -sample_index=samples "$work/pprof" > "$work/top" 2> "$work/said"
	like "$(cat "$work/top")" "of 5000 total" "go tool pprof counts all samples"
	is "$(cat "$work/said")" "" "go tool pprof has nothing to complain about"
	like "$(go tool pprof -tags "$work/pprof" 2> /dev/null)" "comm: Total" "go tool pprof sees the labels"
else
	skip "go tool pprof counts all samples" "no go tool pprof"
fi
finish
