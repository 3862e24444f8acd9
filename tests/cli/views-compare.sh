#!/bin/sh
# -f top --diff: what changed from function to function, and whether it is more than noise.
# Traces of one minute at 999 Hz with 300 functions, from fixed seeds: testdata/difference-curve.py.
. "$(dirname "$0")/../lib.sh"
command -v python3 > /dev/null || skip_all "no python3"
export BUILD="$build"
curve=$top/testdata/difference-curve.py
cd "$work" || exit 1

need "$curve" make before.prf 1
need "$curve" make equal.prf 2
need "$curve" make grown.prf 3 20 0.5
RATE=99 need "$curve" make slow.prf 4
compare() { "$report" -q --no-cache -f top "$@" 2> said; }

# What is sure, as "name change" lines.
sure() {
	compare --csv "$@" | python3 -c '
import csv, sys
for row in csv.DictReader(sys.stdin):
	if row["self_sure"] == "1" or row["total_sure"] == "1":
		print(row["function"], row["state"], end=";")'
}

is "$(sure --diff before.prf equal.prf)" "" "two equal programs: nothing is sure"
is "$(sure --diff before.prf grown.prf)" "function_20 ;" "half a percent of the total in one function is named"
is "$(sure --diff grown.prf before.prf)" "function_20 ;" "... and when it went away"
is "$(sure --normalize --diff before.prf grown.prf)" "function_20 ;" "... and by shares"
is "$(sure --diff before.prf --diff equal.prf grown.prf)" "function_20 ;" "... from two runs and one"
is "$(sure --diff before.prf slow.prf)" "" "a tenth of the rate is no change"

compare --diff before.prf grown.prf > text
like "$(sed -n 1p text)" '^# before: 1 run of 5[0-9.]+ s; now: 1 run of 60[0-9.]+ s$' "the text says what is compared, in seconds"
like "$(grep -v '^#' text | sed -n 2p)" ' <0\.00001\* .*function_20' "the sure one comes first"
compare --json --diff before.prf --diff equal.prf grown.prf > json
is "$(json json 'd["runs"]["before"], d["runs"]["now"], d["unit"], d["rows"][0]["name"]')" \
	"(2, 1, 's', 'function_20')" "JSON has the runs"
is "$(json json 'd["rows"][0]["self"]["low"] < 0.3 < d["rows"][0]["self"]["high"]')" True \
	"the interval holds what was planted: 0.3 s"

# What a run has lost is its own, in whatever way it is compared: of 200 samples, half of one run's.
lossy() {
	echo 'event 0 "cpu-clock" "samples" 1000 0
	object 0 "/nowhere/work" "" "00112233445566778899aabbccddeeff00112233"
	task 1 1 "work"
	frame 0 0 0x100
	stack - 0'
	i=0
	while [ $i -lt "$1" ]; do echo "sample $((1000000000 + 1000000 * i)) 0 0 0 0 1"; i=$((i + 1)); done
	[ "$1" = 200 ] || echo "loss 1000000000 1200000000 0 0 $((200 - $1))"
	echo finish
}
for n in 100 200; do
	lossy $n | sed 's/^	//' > lossy.txt
	need "$build/testdata/trace_text" lossy.txt -o lossy$n.prf
done
for format in top "tree --min=0" annotate; do
	like "$("$report" -q --no-cache -f $format --diff lossy100.prf lossy200.prf)" \
		'# before: 1 run of 0\.200 s; now: 1 run of 0\.200 s' "-f $format: lost samples are those of their run"
done

# Runs by turns, while the machine gets slower: only what differs within a pair counts.
turns() { # FILE SECOND COUNT
	{
		printf 'metadata "start_time" "2026-01-01T00:00:%02d.000000000Z"\n' "$2"
		printf 'metadata "start_monotonic_ns" "1000000"\n'
		lossy 200 | sed 's/^	//; /^sample/d; /^finish/d'
		awk -v n="$3" 'BEGIN { for (i = 1; i <= n; i++) print "sample", i "000000", 0, 0, 0, 0, 1 }'
		echo finish
	} > turns.txt
	need "$build/testdata/trace_text" turns.txt -o "$1"
}
n=0
for count in 1000 1200 950 1100 1250; do
	turns old$n.prf $((10 * n + n % 2)) $count
	turns new$n.prf $((10 * n + 1 - n % 2)) $((count * 13 / 10))
	n=$((n + 1))
done
before="--diff old3.prf --diff old1.prf --diff old0.prf --diff old4.prf --diff old2.prf"
now="new0.prf new1.prf new2.prf new3.prf new4.prf"
compare $before $now > text
like "$(sed -n 1p text)" '^# before: 5 runs of 1\.100 s; now: 5 runs of 1\.430 s, by turns$' "runs by turns are known by their times"
compare --json $before $now > json
is "$(json json 'd["runs"]["by_turns"], d["rows"][0]["self"]["sure"]')" "(True, True)" "... and what both runs of a pair have in common hides nothing"
turns old0.prf 50 1000
compare --json $before $now > json
is "$(json json 'd["runs"]["by_turns"], d["rows"][0]["self"]["sure"]')" "(False, False)" "... which runs in another order do not show"
turns old0.prf 0 1000
turns old1.prf 10 1200
turns new1.prf 11 1560
compare --json $before $now > json
is "$(json json 'd["runs"]["by_turns"]')" False "... nor runs of which the old one is mostly first"
lossy 200 | sed 's/^	//' > lossy.txt
need "$build/testdata/trace_text" lossy.txt -o old0.prf
compare --json $before $now > json
is "$(json json 'd["runs"]["by_turns"]')" False "... nor one that does not say when it began"

# New and vanished functions.
sed 's/^	//' > one.txt <<'TRACE'
	event 0 "cpu-clock" "samples" 1000 0
	object 5 "[jit]" "" ""
	task 1 1 "work" "" ""
	frame 0 0 0x100
	frame 0 0 0x200
	stack - 0
	stack 0 1
	names 0 "main" "" 0 0
TRACE
samples() { awk -v n="$1" -v stack="$2" 'BEGIN { for (i = 0; i < n; i++) print "sample", 1000000 * (i + 1), 0, 0, stack, 0, 1 }'; }
{ cat one.txt; echo 'names 1 "work.isra.0" "" 0 0'; samples 100 1; samples 100 0; echo finish; } > a.txt
{ cat one.txt; echo 'names 1 "work.constprop.1" "" 0 0'; samples 100 1; samples 100 0; echo finish; } > b.txt
{ cat one.txt; echo 'names 1 "other" "" 0 0'; samples 100 1; samples 100 0; echo finish; } > c.txt
for name in a b c; do need "$build/testdata/trace_text" $name.txt -o $name.prf; done
# Functions with another name, or inlined: by what calls them and what they call.
sed 's/^	//' > lineage.txt <<'TRACE'
	event 0 "cpu-clock" "samples" 1000 0
	object 0 "/nowhere/work" "" ""
	task 1 1 "work" "" ""
	frame 0 0 0x100
	frame 0 0 0x200
	frame 0 0 0x300
	frame 0 0 0x400
	frame 0 0 0x500
	frame 0 0 0x600
	stack - 0
	stack 0 1
	stack 1 2
	stack 1 3
	stack 0 4
	stack 4 5
	stack 0 5
	names 0 "main" "" 0 0
	names 2 "read" "" 0 0
	names 3 "sum" "" 0 0
	names 4 "step" "" 0 0
	names 5 "log" "" 0 0
TRACE
{ cat lineage.txt; echo 'names 1 "gather" "" 0 0'; samples 100 2; samples 100 3; samples 100 5; echo finish; } > gather.txt
{ cat lineage.txt; echo 'names 1 "collect" "" 0 0'; samples 200 2; samples 100 3; samples 100 6; echo finish; } > collect.txt
for name in gather collect; do need "$build/testdata/trace_text" $name.txt -o $name.prf; done
compare --json --diff gather.prf collect.prf > json
is "$(json json 'sorted((r["name"], r["state"], r["other"], r["total"]["before"], r["total"]["now"]) for r in d["rows"] if r["state"])')" \
	"[('collect', 'renamed', 'gather', 0.2, 0.3), ('step', 'inlined', 'main', 0.1, 0)]" \
	"a renamed function is one row with what was counted under both names"
is "$(json json 'sorted(r["name"] for r in d["rows"])')" "['collect', 'log', 'main', 'read', 'step', 'sum']" "... and the old name has none"
compare --csv --diff gather.prf collect.prf | python3 -c '
import csv, sys
rows = csv.DictReader(sys.stdin)
for row in sorted(rows, key=lambda row: row["function"]):
	if row["state"] or row["other"]:
		print(row["function"], row["state"], row["other"], row["total_before"], end=";")
print(rows.fieldnames[3:4], rows.fieldnames[-1:])' > out
is "$(cat out)" "collect renamed gather 0.2;step inlined main 0.1;['self_before'] ['other']" "CSV has the other name last"
compare --diff gather.prf collect.prf > text
like "$(cat text)" '  \(renamed from gather\) collect  work$' "the text says which name it had"
like "$(cat text)" '  \(inlined into main\) step  work$' "... and into what one is inlined"
compare --diff collect.prf gather.prf > text
like "$(cat text)" '  \(renamed from collect\) gather  work$' "... and the other way around"
like "$(cat text)" '  \(was inlined into main\) step  work$' "... both"
# Inlining moves what a function has itself into its caller, and is no regression.
{ cat lineage.txt; echo 'names 1 "gather" "" 0 0'; samples 300 4; samples 100 5; samples 200 0; echo finish; } > apart.txt
{ cat lineage.txt; echo 'names 1 "gather" "" 0 0'; samples 100 6; samples 500 0; echo finish; } > inlined.txt
{ cat lineage.txt; echo 'names 1 "gather" "" 0 0'; samples 100 6; samples 700 0; echo finish; } > slower.txt
for name in apart inlined slower; do need "$build/testdata/trace_text" $name.txt -o $name.prf; done
is "$(sure --diff apart.prf inlined.prf | tr ';' '\n' | sort | tr '\n' ';')" "main ;step inlined;" \
	"an inlined function: what its caller has itself grew"
for options in "--diff apart.prf inlined.prf" "--diff inlined.prf apart.prf"; do
	compare --fail-on-regression 1 $options > out
	is "$? $(cat said)" "0 " "... which --fail-on-regression does not call one: $options"
done
compare --fail-on-regression 1 --diff apart.prf slower.prf > out
is "$? $(cat said)" "1 prof-report: main takes 0.200 s more in itself and what was or is inlined into it (0.132 to 0.268), +33.33 % of the total before" \
	"... unless both together grew"
if node -e 'process.exit(parseInt(process.versions.node) < 16 ? 1 : 0)' 2> /dev/null; then
	"$report" -q --no-cache -f html --value=samples --diff gather.prf collect.prf -o lineage.html
	"$report" -q --no-cache --value=samples --diff gather.prf collect.prf > lineage.folded
	node "$top/tests/cli/views-html.js" lineage.html lineage.folded renamed collect gather > log 2>&1
	is "$(cat log)" good "the page has its change at the new name, and finds it by both"
else
	skip "the page" "no node"
fi
# By subtree: who called what takes longer.
sed 's/^	//' > calls.txt <<'TRACE'
	event 0 "cpu-clock" "samples" 1000 0
	object 5 "[jit]" "" ""
	task 1 1 "work" "" ""
	frame 0 0 0x100
	frame 0 0 0x200
	frame 0 0 0x300
	frame 0 0 0x400
	stack - 0
	stack 0 1
	stack 1 3
	stack 0 2
	stack 3 3
	names 0 "main" "" 0 0
	names 1 "early" "" 0 0
	names 2 "late" "" 0 0
	names 3 "shared" "" 0 0
TRACE
{ cat calls.txt; samples 100 2; samples 100 4; echo finish; } > calls-before.txt
{ cat calls.txt; samples 100 2; samples 200 4; echo finish; } > calls-now.txt
for name in calls-before calls-now; do need "$build/testdata/trace_text" $name.txt -o $name.prf; done
tree() { "$report" -q --no-cache -f tree "$@"; }
is "$(tree --diff calls-before.prf calls-now.prf | sed -n '/call$/,$s/^ *\([0-9.]*\) *\([0-9.]*\) *\([-+0-9.]*\) .*\*  /\1 \2 \3 /p' | tr '\n' ';')" \
	"0.200 0.300 +0.100 work;0.200 0.300 +0.100 main;0.100 0.200 +0.100 | late;0.100 0.200 +0.100 | shared;" \
	"-f tree --diff: the calls that lead to what changed, and no others"
like "$(tree --diff calls-before.prf calls-now.prf)" '^# calls that have not surely changed are not shown; --min=1' "... and says so"
is "$(tree --diff calls-now.prf calls-now.prf | sed '1,/call$/d')" "" "... of equal programs: none"
is "$(tree --min 0 --diff calls-now.prf calls-now.prf | sed '1,/call$/d' | grep -c '+0\.000')" 6 "... --min=0: all of them"
is "$(tree --diff calls-before.prf --diff calls-before.prf calls-now.prf | sed -n 1p)" \
	"# before: 2 runs of 0.200 s; now: 1 run of 0.300 s" "... of several runs"
tree --json --diff calls-before.prf calls-now.prf > json
is "$(json json 'd["runs"]["now"], [(c["name"], c["total"]["sure"]) for c in d["calls"][0]["calls"][0]["calls"]]')" \
	"(1, [('late', True)])" "... as JSON"

# A wait counts as long as it was, beside samples that are all as long.
sed 's/^	//' > wait.txt <<'TRACE'
	event 0 "cpu-clock" "samples" 1000 0
	event 1 "off-cpu" "ns" 0 1
	object 5 "[jit]" "" ""
	task 1 1 "work" "" ""
	frame 0 0 0x100
	frame 0 0 0x200
	stack - 0
	stack - 1
	names 0 "busy" "" 0 0
	names 1 "asleep" "" 0 0
TRACE
for s in 1 5; do
	{ cat wait.txt; samples 1000 0; echo "sample 1000000001 0 1 1 0 ${s}000000000"; echo finish; } > waits.txt
	need "$build/testdata/trace_text" waits.txt -o wait$s.prf
done
for format in top "tree --min=0" annotate; do
	"$report" -q --no-cache --wall -f $format --diff wait1.prf wait5.prf > text
	like "$(cat text)" '^# before: 1 run of 2\.000 s; now: 1 run of 6\.000 s' "--wall -f $format --diff: waits count in seconds"
	like "$(cat text)" '1\.000 +5\.000 +\+4\.000 .*asleep' "... and so does what changed"
	like "$(cat text)" 'known from several runs only' "... which one run does not say the noise of"
done
compare --wall --fail-on-regression 1 --diff wait1.prf --diff wait1.prf --diff wait1.prf wait5.prf wait5.prf wait5.prf > out
is "$?" 1 "--fail-on-regression sees that a wait grew"
like "$(cat said)" 'asleep takes 4\.000 s more' "... and by how much"
"$report" -q --no-cache --wall -f top wait5.prf > text
unlike "$(cat text)" '±' "--wall: one wait is no share of samples, so it has no interval"
like "$(cat text)" '83\.33 +5\.000 +1 .*asleep' "... but seconds"

is "$(sure --diff a.prf b.prf)" "" "a copy that the compiler named otherwise is the same function"
is "$(sure --diff a.prf c.prf | tr ';' '\n' | sort | tr '\n' ';')" "other new;work.isra.0 vanished;" \
	"new and vanished functions are distinguished"

# What is wrong with a recording before is reported as what is wrong with one now.
size=$(stat -c %s grown.prf)
head -c $((size * 9 / 10)) grown.prf > cut.prf
for format in folded top tree html; do
	"$report" --no-cache -f $format --diff cut.prf grown.prf -o out 2> said
	like "$(cat said)" 'warning: cut\.prf: [0-9]+ samples \([0-9.]+ s\) (before the error|outside)' \
		"$format: a damaged recording before is reported"
	"$report" --no-cache -f $format --diff lossy100.prf lossy200.prf -o out 2> said
	like "$(cat said)" 'warning: lossy100\.prf: 100 samples were lost' "$format: so is what it has lost"
done

# For scripts.
compare --diff before.prf --fail-on-regression 0.4 grown.prf > out
is "$?" 1 "--fail-on-regression: a growth of 0.5 % fails at 0.4 %"
like "$(cat said)" 'function_20 takes 0\.[0-9]+ s more in itself' "... and is named"
compare --diff before.prf --fail-on-regression 0.7 grown.prf > out
is "$?" 0 "... not at 0.7 %"
compare --diff before.prf --fail-on-regression 0 equal.prf > out
is "$?" 0 "noise does not fail"
compare --fail-on-regression 1 before.prf > out
is "$?" 2 "without --diff it makes no sense"

# Other formats: samples of different rates are different times.
total() { awk -v column="$1" '{ sum += $(NF - 2 + column) } END { print sum }'; }
"$report" --no-cache --diff before.prf slow.prf > out 2> said
like "$(cat said)" 'the sampling rates differ: CPU time is compared' "folded: rates that differ are said"
number "$(total 1 < out) > 55e6 && $(total 1 < out) < 65e6 && $(total 2 < out) > 55e6 && $(total 2 < out) < 65e6" \
	"... and both columns are CPU time in us"
"$report" -q --no-cache --value samples --diff before.prf slow.prf > out
number "$(total 1 < out) > 8 * $(total 2 < out)" "... unless samples are asked for"

# One table of both: no number of seconds is that of each sample, and time is not the number of samples.
"$report" -q --no-cache -f top --csv before.prf slow.prf > out
unlike "$(head -n 1 out)" 'seconds' "-f top: of rates that differ samples have no seconds"
"$report" -q --no-cache -f top --json --by comm --value time before.prf slow.prf > json
number "$(json json 'sum(r["self"]["seconds"] for r in d["rows"])') > 110" "... but times have"
is "$(json json '"plus_minus" in d["rows"][0]["self"]')" False "... without an interval, as samples are worth different times"

# Lengths that differ are said by every format, and in the page itself, which outlives the message.
# recording SECONDS NAME: a trace of one stack, recorded for so long
recording() {
	{
		echo 'metadata "start_monotonic_ns" "1000000000"'
		echo 'event 0 "cpu-clock" "samples" 1000 0'
		printf 'object 0 "/bin/it" "" ""\ntask 100 100 "it" "" ""\nframe 0 0 0x1000\nstack - 0\n'
		for i in 1 2 3 4 5 6 7 8 9; do
			echo "sample 1${i}00000000 0 0 0 0 1"
		done
		printf 'statistic "duration_ns" %s000000000\nfinish\n' "$1"
	} > "$2.txt"
	need "$build/testdata/trace_text" "$2.txt" -o "$2.prf"
}
sed 's/^	//' > same.txt <<'TRACE'
	event 0 "cpu-clock" "samples" 1000 0
	object 0 "/nowhere/one.so" "" ""
	object 0 "/nowhere/two.so" "" ""
	task 1 1 "work" "" ""
	frame 0 0 0x100
	frame 1 0 0x200
	stack - 0
	stack - 1
	names 0 "same" "" 0 0
	names 1 "same" "" 0 0
	sample 1000 0 0 0 0 1
	sample 2000 0 0 1 0 1
	sample 3000 0 0 1 0 1
	finish
TRACE
need "$build/testdata/trace_text" same.txt -o same.prf
recording 2 short
recording 6 long
for format in folded top html; do
	"$report" --no-cache -f $format --diff short.prf long.prf -o out 2> said
	like "$(cat said)" 'recorded for 6\.0 s, before for 2\.0 s: --normalize compares shares' "$format: lengths that differ are said"
	"$report" --no-cache -f $format --normalize --diff short.prf long.prf -o out 2> said
	unlike "$(cat said)" 'recorded for' "$format: ... unless shares are compared"
done
like "$(python3 -c '
import base64, re, zlib
data = re.search("id=\"data\">([^<]*)<", open("out").read()).group(1)
print(re.findall(rb"\"diff\":{[^}]*}", zlib.decompress(base64.b64decode(data)))[0].decode())')" \
	'"duration_ns":2000000000' "the page knows how long it was recorded before"
if [ -n "$browser" ]; then
	"$report" -q --no-cache -f html --diff short.prf long.prf -o lengths.html
	act lengths.html <<-'SCRIPT'
		note(by("status").textContent);
		press("n");
		note(`shares ${by("status").textContent}`);
	SCRIPT
	show lengths.html > dom
	like "$(notes dom)" '^<pre>\[[^]]*before: recorded for 2\.00 s; key n compares shares of the total\]\[shares ' "and says so where they differ"
	unlike "$(notes dom)" '\[shares [^]]*recorded for 2\.00 s' "but not for shares"
	# A function of two objects has a listing for each.
	"$report" -q --no-cache -f html --code --diff same.prf same.prf -o same.html
	act same.html <<-'SCRIPT'
		const listing = () => note(/# same +[a-z.]+/.exec(document.querySelector("#code pre").textContent)[0]);
		listing();
		document.querySelectorAll("#code .list tr")[1].click();
		listing();
		press("s");
		press("r");
		note(by("callers-caption").textContent);
		press("h");
		press("f");
		await sleep(20);
		note(`then ${location.hash}`);
	SCRIPT
	show 'same.html#view=code&zoom=2' > dom
	like "$(notes dom)" '^<pre>\[# same +two\.so\]\[# same +one\.so\]' "each listing of a name can be chosen"
	like "$(notes dom)" '; all threads, all of the time, all stacks\]' "what is of all stacks says so where others are shown"
	like "$(notes dom)" '\[then #hide=[0-9]+&amp;once=true\]' "a zoom that was not yet shown does not outlive its tree"
	"$report" -q --no-cache -f html --diff before.prf --diff equal.prf grown.prf -o three.html
	show 'three.html#view=changes' > dom
	# Titles have two lines, and so have rows.
	like "$(tr '\n' ' ' < dom | grep -o '<tr data-row="0".*' | sed 's|</tr>.*||')" \
		'^<tr data-row="0"[^>]*>.*\+0\.[0-9]{3}\*</td>.*&lt;0\.00001</td>.*<td class="name">function_20</td>' \
		"the page lists what changed by function, the sure one first"
	like "$(cat dom)" 'before: 2 runs of [56][0-9.]+ s; now: 1 run of 60[0-9.]+ s; 1 surely changed ' "... and how many are sure"
	like "$(cat dom)" ', 2 runs scaled to 1' "... boxes compare one run with one"
	show 'three.html#view=changes&search=function_7$' > dom
	like "$(cat dom)" '<tr data-row="[0-9]+" title="function_7' "... the search filters it"
	unlike "$(cat dom)" '<tr data-row="0"' "... and leaves out others"
	show 'three.html#view=sandwich' > dom
	like "$(tr '\n' ' ' < dom | grep -o '<tr data-fn="[0-9]*" title="function_20 .*')" "[+]0\.[0-9]{3}\*</td>" \
		"the sandwich's table has the change, too"
	like "$(grep -o 'id="callers-caption">[^<]*' dom)" \
		'Callers of function_[0-9]+ · self [0-9.]+ → [0-9.]+ s: (\+|−)[0-9.]+ \[[^]]*\], p [0-9.]+ · total ' \
		"... and the chosen function all that is known of it"
else
	skip "and says so where they differ" "$no_browser"
fi

# fits COLUMNS OPTIONS [TRACE]: no line of a table is longer
fits() {
	script -qec "stty cols $1; $report -q --no-cache --no-pager --color=never $2 ${3:-grown.prf}" /dev/null < /dev/null > out
	is "$(tr -d '\r' < out | grep -v '^#' | LC_ALL=C.UTF-8 python3 -c '
import sys
print(sum(len(line.rstrip("\n")) > int(sys.argv[1]) for line in sys.stdin))' "$1")" 0 "$2 fits $1 columns"
}

# Terminals.
if command -v script > /dev/null; then
	for columns in 64 80 100 120 150 180; do
		for options in "-f top --diff before.prf" "-f top" "-f tree"; do
			fits $columns "$options"
		done
	done
	# Stacks that are deeper than there is room, and functions that are new or vanished.
	need "$build/testdata/make_trace" -n 300 -k 20 -d 60 -O "$build/prof-report" -o deep.prf
	need "$build/testdata/make_trace" -n 300 -k 20 -d 60 -s 2 -O "$build/prof-record" -o other.prf
	# A call alone stands below its caller without another bar, so each has two.
	awk 'BEGIN { for (i = 0; i < 100; i++) { all = all "call_number_" i "_of_a_hundred;"; print all "aside 7" } }' > deep.folded
	for columns in 64 80 120; do
		fits $columns "-f tree --from-folded" deep.folded
		number "$(grep -c '  +[0-9]* *| ' out) >= 10" "... with bars that are counted"
		fits $columns "-f tree --diff deep.prf" other.prf
		number "$(grep -c '  +[0-9]*  *[^ ]' out) >= 1 || $columns > 64" "... those of a comparison, too"
		fits $columns "-f top --diff deep.prf" other.prf
		number "$(grep -c '(vanished) ' out) >= 10" "... with functions that are not there any more"
	done
	fits 57 "-f top"
	fits 40 "-f top"
	for format in html pprof speedscope firefox parquet; do
		script -qec "$report -q -f $format grown.prf" /dev/null < /dev/null > out
		is "$?" 2 "-f $format is not for terminals"
		like "$(cat out)" "use -o FILE or a pipe" "... and says so"
	done
else
	skip "terminals" "no script"
fi
"$report" -q --no-cache grown.prf -o page.html
like "$(head -c 15 page.html)" '^<!DOCTYPE html>' "-o FILE.html is a page"
"$report" -q --no-cache grown.prf -o x.svg 2> err
is "$?: $(ls x.svg 2> /dev/null)" "2: " "-o FILE.svg is not folded stacks"
like "$(cat err)" '-o does not say the format; -f FORMAT does' "... and says so"
holds "unless -f says so" "$report" -q --no-cache -f folded grown.prf -o x.svg
"$report" -q --no-cache grown.prf -o x.speedscope.json
is "$(json x.speedscope.json '"speedscope" in d["$schema"]')" True "-o FILE.speedscope.json is for speedscope"
"$report" -q --no-cache -f folded grown.prf -o folded.html
like "$(head -n 1 folded.html)" '^work;main;' "-f decides where it is given"
finish
