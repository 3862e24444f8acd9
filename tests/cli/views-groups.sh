#!/bin/sh
# First frames of --group-by and of --cpu and the like: the same stacks in every format that
# shows stacks.
. "$(dirname "$0")/../lib.sh"

make_trace=$build/testdata/make_trace
trace=$work/now.prf
need "$make_trace" -n 4000 -t 3 -k 60 -d 12 -s 7 -o "$trace"
command -v python3 > /dev/null || skip_all "no python3"
if node -e 'process.exit(parseInt(process.versions.node) < 16 ? 1 : 0)' 2> /dev/null; then
	node=yes
else
	node=
fi

# stacks FILE: the folded stacks of a file of -f speedscope or -f firefox, over all threads
cat > "$work/stacks.py" <<'PYTHON'
import collections, json, sys
with open(sys.argv[1]) as f:
    data = json.load(f)
lines = collections.Counter()

def speedscope():
    names = [frame["name"] for frame in data["shared"]["frames"]]
    for profile in data["profiles"][:1]:
        for stack, weight in zip(profile["samples"], profile["weights"]):
            lines[";".join(names[i] for i in stack)] += weight

def firefox():
    for thread in data["threads"]:
        strings = thread.get("stringArray") or data["shared"]["stringArray"]
        table, frames, functions = thread["stackTable"], thread["frameTable"], thread["funcTable"]
        names = []
        for prefix, frame in zip(table["prefix"], table["frame"]):
            name = strings[functions["name"][frames["func"][frame]]]
            names.append(name if prefix is None else names[prefix] + ";" + name)
        samples = thread["samples"]
        for stack, weight in zip(samples["stack"], samples["weight"]):
            lines["" if stack is None else names[stack]] += weight

speedscope() if "$schema" in data else firefox()
for line in sorted(f"{stack} {weight}\n" for stack, weight in lines.items()):
    sys.stdout.write(line)
PYTHON
stacks() { python3 "$work/stacks.py" "$1"; }

# same OPTION...: the formats have the stacks that folded has
same() {
	"$report" -q --no-cache "$@" "$trace" -o "$work/folded"
	LC_ALL=C sort "$work/folded" > "$work/sorted"
	for format in speedscope firefox; do
		"$report" --no-cache -f $format "$@" "$trace" -o "$work/$format" 2> "$work/said"
		stacks "$work/$format" | LC_ALL=C sort > "$work/stacks"
		holds "$*: the stacks of -f $format" cmp "$work/sorted" "$work/stacks"
		unlike "$(cat "$work/said")" "group-by|first|before stacks" "$*: -f $format has no warning"
	done
	"$report" -q --no-cache -f html "$@" "$trace" -o "$work/html"
	if [ "$node" ]; then
		is "$(node "$top/tests/cli/views-html.js" "$work/html" "$work/folded" 2>&1)" good \
			"$*: the stacks of -f html"
	else
		skip "$*: the stacks of -f html" "no node, or an old one"
	fi
}

same --cpu
like "$(head -1 "$work/stacks")" '^cpu-0;worker-[0-9];' "--cpu: the CPU, then the command"
same --tid --event --cgroup
same --pid
same --group-by cpu,tid
same --group-by object
same --group-by parallelism,comm
same --group-by time:200ms,comm
same --group-by host,trace --max-depth 2
same --group-by cpu --root 'libinvented-1'
is "$(stacks "$work/speedscope" | cut -d';' -f1 | sort -u | tr '\n' ' ')" "cpu-0 cpu-1 " \
	"--group-by=cpu: below each CPU stands its part"

# Without being asked, what shows threads as such puts nothing there.
"$report" -q --no-cache -f speedscope "$trace" -o "$work/plain"
is "$(stacks "$work/plain" | grep -cE '^(worker|cpu)-')" 0 "no first frame unless asked for"

# Formats without stacks of frames say that they do nothing with it.
like "$("$report" -f top --group-by cpu "$trace" 2>&1 > "$work/none")" "warning: --group-by.*--by" \
	"--group-by of -f top is reported to do nothing"
for format in top script jsonl; do
	like "$("$report" -f $format --cpu "$trace" 2>&1 > "$work/none")" "warning: .*--cpu.* no place" \
		"--cpu of -f $format is reported to do nothing"
done
finish
