#!/bin/sh
# --diff: two columns, as difffolded.pl writes them.
. "$(dirname "$0")/../lib.sh"

make_trace=$build/testdata/make_trace
need "$make_trace" -n 3000 -t 2 -k 50 -O "$make_trace" -o "$work/before.prf"
need "$make_trace" -n 5000 -t 3 -k 60 -O "$make_trace" -o "$work/now.prf"
"$report" -q --no-cache "$work/before.prf" > "$work/before"
"$report" -q --no-cache "$work/now.prf" > "$work/now"

cat > "$work/difffolded.py" <<'PYTHON'
# What difffolded.pl does; "-n" scales the first file to the second one's total.
import sys
def read(path):
	return {line.rsplit(" ", 1)[0]: int(line.rsplit(" ", 1)[1]) for line in open(path)}
a, b = read(sys.argv[-2]), read(sys.argv[-1])
scale = "-n" in sys.argv and sum(a.values()) != sum(b.values())
for stack in set(a) | set(b):
	x, y = a.get(stack, 0), b.get(stack, 0)
	print(stack, int(x * sum(b.values()) / sum(a.values())) if scale else x, y)
PYTHON

python3 "$work/difffolded.py" "$work/before" "$work/now" | sort > "$work/expected"
"$report" -q --no-cache --diff "$work/before.prf" "$work/now.prf" > "$work/got"
is "$(sort "$work/got" | cmp - "$work/expected" && echo same)" same "--diff has both columns of every stack"
is "$(sed 's/ [0-9]* [0-9]*$//' "$work/got" | sort -c 2>&1)" "" "its stacks are sorted"

python3 "$work/difffolded.py" -n "$work/before" "$work/now" | sort > "$work/expected"
"$report" -q --no-cache --normalize --diff "$work/before.prf" "$work/now.prf" | sort > "$work/got"
holds "--normalize scales the first column" cmp "$work/got" "$work/expected"

"$report" -q --no-cache --diff "$work/now.prf" "$work/now.prf" > "$work/got"
is "$(awk '$(NF - 1) != $NF' "$work/got")" "" "a trace does not differ from itself"

"$report" -q --diff "$work/before.prf" -f pprof "$work/now.prf" > /dev/null 2> "$work/said"
is "$?" 2 "a format that cannot compare says so"
like "$(cat "$work/said")" "cannot show a difference; folded, top, tree, annotate and html can" "and which ones can"
"$report" -q --diff "$work/none.prf" "$work/now.prf" > /dev/null 2> "$work/said"
is "$?" 1 "a base that is not there"
like "$(cat "$work/said")" "none.prf" "is named"
finish
