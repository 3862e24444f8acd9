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
