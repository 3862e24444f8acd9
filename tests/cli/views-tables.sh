#!/bin/sh
# top, tree, script, jsonl: they count what folded counts, and their text is well-formed.
. "$(dirname "$0")/../lib.sh"

make=$build/testdata/make_trace
trace=$work/t.prf
need "$make" -n 3000 -t 3 -k 50 -d 12 -s 5 -o "$trace"

view() { "$report" -q "$@" "$trace"; }
view > "$work/folded"

# -f top against a count of the folded lines: the last frame is self, every frame is total.
awk '{ n = $NF; sub(/ [0-9]+$/, ""); k = split($0, f, ";"); self[f[k]] += n
       delete seen; for (i = 2; i <= k; i++) if (!(f[i] in seen)) { seen[f[i]] = 1; total[f[i]] += n } }
     END { for (x in total) print x, self[x] + 0, total[x] }' "$work/folded" | sort > "$work/expected"
view -f top --csv > "$work/top.csv"
python3 - "$work/top.csv" > "$work/got" <<'PYTHON'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="")))
for r in rows:
    print(r["function"], r["self_samples"], r["total_samples"])
PYTHON
sort -o "$work/got" "$work/got"
holds "top counts self and total as the folded lines do" diff "$work/expected" "$work/got"
is "$(view -f top --csv --by comm | tail -n +2 | awk -F, '{ n += $2 } END { print n }')" 3000 "top --by comm adds up"
is "$(view -f top --csv --by thread | tail -n +2 | awk -F, '{ n += $2 } END { print n }')" 3000 "top --by thread adds up"
is "$(view -f top --csv --by object | tail -n +2 | awk -F, '{ n += $2 } END { print n }')" 3000 "top --by object adds up"
is "$(view -f top --csv --by line | tail -n +2 | awk -F, '{ n += $3 } END { print n }')" 3000 "top --by line adds up"
is "$(view -f top --csv --by object | head -1 | cut -d, -f1,2)" "object,self_samples" "and each column of the CSV has one name"
is "$(view -f top --limit 3 --csv | wc -l)" 4 "--limit"
like "$(view -f top | head -1)" '^# 3000 samples, 3\.003 s, 0 lost' "top begins with the sums"
like "$(view -f top)" '^ *[0-9]+\.[0-9]+ ±[0-9.]+ +[0-9.]+ +[0-9]+ ' "top shows shares with their interval"
unlike "$(view -f top)" "$(printf '\033')" "no colours where there is no terminal"
like "$(view -f top --color)" "$(printf '\033')" "colours when asked for"

view -f top --json > "$work/top.json"
is "$(json "$work/top.json" 'd["samples"], sum(r["self"]["samples"] for r in d["rows"])')" "(3000, 3000)" \
	"top as JSON adds up"
view -f top --function 'invented_' --json > "$work/one.json"
is "$(json "$work/one.json" 'len(d["rows"]) > 0 and all(
	sum(c["total"]["samples"] for c in r["callers"]) == r["total"]["samples"] and
	sum(c["total"]["samples"] for c in r["callees"]) == r["total"]["samples"] for r in d["rows"])')" \
	True "callers and callees each add up to the function"
like "$(view -f top --function 'invented_' )" '    from  ' "callers as text"
number "$(view -f top --function 'invented_' --csv | grep -c ',callee,') > 0" "callees as CSV"
is "$(view -f top --function . --limit 2 --csv | grep -c ',function,')" 3 "--limit with --function: two, and the heading"
number "$(view -f top --function . --min 50 --csv | wc -l) < $(view -f top --function . --csv | wc -l)" \
	"--min with --function"
holds "--min and --limit leak no memory" \
	"$report" -q -f top --function . --min 10 --limit 1 -o "$work/few" "$trace"

# -f tree
view -f tree --json --min 0 > "$work/tree.json"
is "$(json "$work/tree.json" 'd["total"], sum(c["total"] for c in d["calls"])')" "(3000, 3000)" "the tree's roots add up"
is "$(json "$work/tree.json" '(lambda f: f(f, d["calls"]))(lambda f, calls: all(
	c["total"] == c["self"] + sum(x["total"] for x in c["calls"]) and f(f, c["calls"]) for c in calls))')" \
	True "each call is its own and what it calls"
like "$(view -f tree | sed -n 3p)" '^ *[0-9.]+ +[0-9]+ +[0-9]+  worker-' "tree as text"
number "$(view -f tree --min 20 | wc -l) < $(view -f tree --min 0 | wc -l)" "--min prunes the tree"

# One sample after the other.
view -f jsonl > "$work/jsonl"
is "$(wc -l < "$work/jsonl")" 3000 "jsonl has a line for each sample"
python3 - "$work/jsonl" > "$work/from-jsonl" <<'PYTHON'
import collections, json, sys
count = collections.Counter()
for line in open(sys.argv[1]):
    sample = json.loads(line)
    frames = [f["name"] for f in reversed(sample["stack"])]
    count[";".join([sample["comm"]] + frames)] += 1
for stack in sorted(count):
    print(stack, count[stack])
PYTHON
holds "jsonl folds to the same stacks" diff "$work/folded" "$work/from-jsonl"
view -f script > "$work/script"
is "$(grep -c '^worker' "$work/script")" 3000 "script has a heading for each sample"
is "$(grep -cvE '^$|^worker-[0-9] +[0-9]+/[0-9]+ +\[[0-9]{3}\] +[0-9]+\.[0-9]{6}: +[0-9]+ cpu-clock: $|^	 *[0-9a-f]+ .* \(.+\)$' \
	"$work/script")" 0 "script has the lines of perf script"
is "$(cat "$trace" | "$report" -q -f script | cksum)" "$(cksum < "$work/script")" "script works on a pipe"
is "$(view -f jsonl --comm worker-1 | grep -c '"comm":"worker-1"')" "$(view --comm worker-1 | awk '{ n += $NF } END { print n }')" \
	"selections hold for single samples"

# Ctrl-C while samples are written: the pipe is too small for them all, so it comes in the middle.
python3 - "$report" "$trace" > "$work/interrupted" 2>&1 <<'PYTHON'
import signal, subprocess, sys
p = subprocess.Popen([sys.argv[1], "-q", "-f", "jsonl", sys.argv[2]], stdout=subprocess.PIPE,
                     preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
p.stdout.read(1)
p.send_signal(signal.SIGINT)
lines = p.stdout.read().count(b"\n")
print("ended" if p.wait(60) == 130 and lines < 3000 else (p.returncode, lines))
PYTHON
is "$(cat "$work/interrupted")" ended "Ctrl-C ends -f jsonl in the middle"
finish
