#!/bin/sh
# The text of the views, to the letter, on a small trace that has something of everything.
# ACCEPT=1 rewrites what is expected.
. "$(dirname "$0")/../lib.sh"

here=$top/tests/cli/views
cd "$work" || exit 1
need "$build/testdata/trace_text" "$here/views.txt" -o views.prf

# shows NAME OPTIONS...
shows() {
	name=$1
	shift
	# Sizes depend on the compression and are not compared.
	"$report" -q "$@" views.prf 2>&1 | sed 's/^\(block .*\) offset=.* type=/\1 type=/; s/ stored=.*//
		/^size  /d; /"file_bytes"/d; /"raw_bytes"/d; /"blocks"/d; s/ blocks=.*//' | golden "$here/$name.expected" "$name: prof-report $*"
}

shows folded
shows folded-everything --annotate --tid --cpu --event --cgroup --addrs --lines --modules --delimiter
shows folded-waits --off-cpu --wakers --annotate
shows folded-wall --wall --no-kernel
shows folded-faults --event=page-faults --value weight
shows top -f top
shows top-lines -f top --by line --limit 5
shows top-callers -f top --function '^work$'
shows top-csv -f top --csv
shows tree -f tree
shows tree-json -f tree --json
shows script -f script
shows jsonl -f jsonl
shows info --info
shows info-json --info --json
shows dump --dump
"$report" views.prf 2>&1 > folded | golden "$here/messages.expected" "messages"

# Firefox's source view counts each sample for the line of its leaf's frame, in the file of its function.
cat > lines.py <<'PYTHON'
import collections, json
hits = collections.Counter()
for thread in json.load(open("firefox"))["threads"]:
    strings, frames = thread["stringArray"], thread["frameTable"]
    for stack, weight in zip(thread["samples"]["stack"], thread["samples"]["weight"]):
        frame = None if stack is None else thread["stackTable"]["frame"][stack]
        line = None if frame is None else frames["line"][frame]
        if line is not None:
            hits[strings[thread["funcTable"]["fileName"][frames["func"][frame]]], line] += weight
recorded = collections.Counter()
for sample in open("jsonl"):
    for frame in json.loads(sample)["stack"][:1]:
        if frame.get("line"):
            recorded[frame["file"], frame["line"]] += 1
print("same" if hits == recorded and hits else f"firefox {hits}, jsonl {recorded}")
PYTHON
"$report" -q -f firefox views.prf -o firefox
"$report" -q -f jsonl views.prf -o jsonl
is "$(python3 lines.py)" same "firefox: lines have the samples that lie in them"
finish
