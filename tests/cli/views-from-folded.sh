#!/bin/sh
# --from-folded: folded stacks, of a database perhaps, are shown as those of a trace are.
. "$(dirname "$0")/../lib.sh"
cd "$work" || exit 1
fixtures=$top/testdata/fixtures

# What prof-report folds, it takes back.
need "$build/testdata/trace_text" "$top/tests/cli/views/views.txt" -o views.prf
need "$build/testdata/make_trace" -n 20000 -k 3000 -O "$report" -o many.prf
for trace in views.prf many.prf "$fixtures/cpp.prf" "$fixtures/waits.prf"; do
	name=$(basename "$trace")
	"$report" -q --no-cache "$trace" > folded 2> said
	"$report" -q --from-folded folded > again 2> said
	is "$?:$(cat said)" 0: "$name: its folded stacks are read"
	holds "$name: and folded again are the same" cmp folded again
	# Not all of those of a pipe come at once.
	holds "$name: through a pipe, too" sh -c 'dd bs=7 status=none < folded | "$1" -q --from-folded | cmp - folded' - "$report"
done
# What each format makes of a few lines, the same stack twice and one that counts nothing among them.
cat > few <<'END'
make;main;parse 30
cc1;main;a b 5
make;main;parse 2
make;main;none 0
cc1 7
END
printf 'cc1;main;;emit 1' >> few
is "$("$report" --from-folded few 2>&1)" "cc1 7
cc1;main;[unknown];emit 1
cc1;main;a b 5
make;main;parse 32" "equal stacks are added up, and a newline at the end is not needed"
is "$("$report" --from-folded -f top --csv few | grep -cE '^"parse","",32,.*,32,')" 1 "-f top counts"
is "$("$report" --from-folded -f top --by=comm --csv few | grep -cE '^"(make",32|cc1",13),')" 2 "... by command"
is "$("$report" --from-folded -f tree --json few | json /dev/stdin '[c["total"] for c in d["calls"]]')" "[32, 13]" "-f tree counts"
is "$("$report" --from-folded --comm=cc1 --focus=main --hide=emit few)" "cc1;main;[unknown] 1
cc1;main;a b 5" "commands and functions select and shape"
is "$("$report" --from-folded --group-by=trace,comm few folded | cut -d';' -f1 | sort -u | xargs)" "few folded" "several texts are one profile"
echo 'a;_ZN3foo3barEv;f(int) 1' > mangled
is "$("$report" --from-folded mangled)" "$(cat mangled)" "names are as they are written"
"$report" --from-folded -f pprof few -o few.pb.gz
is "$(gzip -dc few.pb.gz | grep -acE 'parse|a b')" "$(gzip -dc few.pb.gz | grep -acE 'parse')" "-f pprof has the names"

# The page: all of them in one slice of time.
"$report" --from-folded -f html few -o few.html
python3 - few.html > page <<'PYTHON'
import base64, json, re, sys, zlib
data = re.search('id="data">([^<]*)', open(sys.argv[1]).read()).group(1)
data = zlib.decompress(base64.b64decode(data))
end = data.index(b"}", data.index(b'"kinds"'))
head = json.loads(data[data.index(b"{"):end + 1])
print(head["total"], head["unit"], head["slices"], [t[2] for t in head["threads"]])
PYTHON
is "$(cat page)" "45 samples 1 ['cc1', 'make']" "-f html has all samples, by command"
if [ "$browser" ]; then
	show few.html > shown
	like "$(cat shown)" 'parse' "a browser shows it"
else
	skip "a browser shows it" "$no_browser"
fi

# Before and after.
sed 's/parse 30/parse 300/' few > later
is "$("$report" --from-folded --diff=few later)" "cc1 7 7
cc1;main;[unknown];emit 1 1
cc1;main;a b 5 5
make;main;parse 32 302" "--diff compares two texts"
is "$("$report" --from-folded -f tree --json --diff=few later | json /dev/stdin '[d["calls"][0]["total"][k] for k in ("before", "now")]')" \
	"[32, 302]" "... as a tree, too"
"$report" -q --from-folded -f top --fail-on-regression=50 --diff=few later > out 2> said
like "$?:$(cat said)" "^1:.*parse takes 270.000 samples more" "... and says that parse takes more"

# wrong TEXT PATTERN: refused, with the line
wrong() {
	printf "$1" > text
	"$report" --from-folded text > out 2> said
	is "$?:$(cat out)" 1: "$2: no report"
	like "$(cat said)" "^prof-report: text: $2" "... $2"
}
wrong 'a;b 1\na;b\n' 'line 2 is no folded stack: it does not end in a blank'
wrong 'a;b 1x\n' 'line 1 is no folded stack: it does not end in a blank'
wrong 'a;b -1\n' 'line 1 is no folded stack: it does not end in a blank'
wrong 'a;b 1 \n' 'line 1 is no folded stack: it does not end in a blank'
wrong ' 1\n' 'line 1 is no folded stack: there is nothing but a number'
wrong 'a\0b 1\n' 'line 1 is no folded stack: it has a byte 0'
wrong 'a 9007199254740992\nb 1\n' 'line 2 is no folded stack: with it, more than 2\^53'
wrong 'a 18446744073709551616\n' 'line 1 is no folded stack: with it, more than 2\^53'
wrong '' 'there are no folded stacks'
wrong 'a 0\n' 'there are no folded stacks'
cp views.prf text
"$report" --from-folded text > out 2> said
like "$?:$(cat said)" '^1:.*line [0-9]+ is no folded stack' "a trace is none"
{ echo 'a 1'; head -c 1100000 /dev/zero | tr '\0' ';'; echo ' 1'; } > text
"$report" --from-folded text > out 2> said
like "$?:$(cat said)" '^1:.*line 2 .* more than a million bytes' "a line has a bound"
{ printf a; head -c 1000000 /dev/zero | sed 's/\x00\x00/;b/g'; echo ' 1'; } > deep
is "$("$report" -q --from-folded deep | cksum)" "$({ head -c 8193 deep; echo ' 1'; } | cksum)" \
	"of half a million functions in each other those are shown that are of a trace's"

# A name that comes again after so many others that the trace's writer has forgotten it.
awk 'BEGIN { print "cmd;hot 1"; for (i = 0; i < 300000; i++) print "cmd;f" i " 1"; print "cmd;hot 1000000" }' > many
is "$("$report" --from-folded many | grep -v ';f[0-9]')" "cmd;hot 1000001" "names are kept, however many there are"

# What folded text does not have.
for option in --pid --tid=1 --cpu --cgroup --event --time=10%, --off-cpu --wall --wakers --group-by=pid --no-kernel --script-only \
	--lines --modules --addrs '-f jsonl' '-f annotate' '-f parquet' '-f firefox' --info --check '-f top --by=object' '-f html --code' \
	--value=time; do
	# shellcheck disable=SC2086
	"$report" --from-folded $option few > out 2> said
	like "$?:$(wc -l < said):$(cat out said)" '^2:1:prof-report: --from-folded' "not with $option"
done
for view in top html; do
	like "$("$report" --from-folded -f $view --value=latency few 2>&1)" 'numbers of folded stacks are samples;' "-f $view: no latency"
done
finish
