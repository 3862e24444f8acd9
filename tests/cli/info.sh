#!/bin/sh
# --info, --dump and --check, on whole and on damaged traces.
. "$(dirname "$0")/../lib.sh"

make=$build/testdata/make_trace
trace=$work/t.prf
need "$make" -n 120000 -t 3 -k 50 -d 12 -s 5 -o "$trace"

"$report" --info --json "$trace" > "$work/info" 2> "$work/err"
is "$?" 0 "--info --json succeeds"
is "$(cat "$work/err")" "" "and says nothing else"
is "$(json "$work/info" 'sorted(set("complete samples fired lost duration_ns file_bytes raw_bytes stacks frames objects tasks events user_stacks host kernel arch command_line version".split()) - set(d))')" \
	"[]" "all keys are there"
is "$(json "$work/info" 'd["complete"], d["samples"], d["fired"], sum(d["lost"].values())')" "(True, 120000, 120000, 0)" "the counts"
is "$(json "$work/info" 'd["file_bytes"]')" "$(wc -c < "$trace")" "file_bytes is the size of the file"
is "$(json "$work/info" 'sum(d["bytes"].values()) == d["file_bytes"], sorted(d["bytes"])')" \
	"(True, ['frames', 'names', 'other', 'samples', 'stacks'])" "and divided by what they are for"
for part in samples stacks frames; do
	is "$("$report" --dump "$trace" | awk -v type="type=$part" '/^block / && $0 ~ type { sub(/.*stored=/, ""); n += $1 + 32 } END { print n }')" \
		"$(json "$work/info" "d['bytes']['$part']")" "the bytes of $part are those of their blocks"
done
is "$(json "$work/info" '[(e["name"], e["rate"], e["samples"]) for e in d["events"]]')" "[('cpu-clock', 999, 120000)]" "events with their rate"
is "$(json "$work/info" 'd["user_stacks"]["root"] == sum(d["user_stacks"].values()) > 0')" True "user stacks by why they end"
is "$(json "$work/info" 'd["tasks"]')" 3 "tasks"
is "$("$report" --info --json - < "$trace" | grep -v '"file"' | cksum)" "$(grep -v '"file"' "$work/info" | cksum)" \
	"standard input gives the same"
like "$("$report" -q --info "$trace")" '^samples +120000$' "--info as text"
like "$("$report" -q --info "$trace")" '^ +[0-9]+ for stacks, [0-9]+\.[0-9]+ each$' "with the bytes that a stack takes"
is "$("$report" -q --info --json "$trace" "$trace" | grep -c '"samples": 120000,$')" 2 "--info of two traces"

# What may help is said once for all files, of which those with most samples are listed.
{
	echo 'event 0 "cpu-clock" "samples" 999 0'
	echo 'task 10 10 "worker"'
	for i in $(seq 0 14); do
		echo "object 0 \"/nowhere/file-$i\" \"\" \"00112233445566778899aabbccddeeff001122$((10 + i))\""
		echo "frame $i 0 4096"
		echo "stack - $i"
		for n in $(seq 0 "$i"); do echo "sample $((1000000000 + 1000000 * i + n)) 0 0 $i 0 1"; done
	done
	echo finish
} > "$work/many.txt"
need "$build/testdata/trace_text" "$work/many.txt" -o "$work/many.prf"
"$report" -q --info "$work/many.prf" > "$work/listed"
is "$(grep -c 'debug packages' "$work/listed")" 1 "--info says once what may help"
like "$(grep -A 1 'debug packages' "$work/listed" | tail -n 1)" '^ +/nowhere/file-14: no file, 15 samples$' "... with those that have most samples first"
is "$(grep -c '/nowhere' "$work/listed")" 12 "... and not with all of them"
like "$(cat "$work/listed")" '^ +and 3 more with 6 samples: see --json$' "... but with their sum"
is "$("$report" -q --info --json "$work/many.prf" | grep -c 'no file')" 15 "--json has them all"

like "$("$report" --check "$trace")" ': intact; [0-9]+ blocks, 120000 samples$' "--check of a whole trace"
"$report" --check "$trace" > /dev/null
is "$?" 0 "ends with 0"
"$report" --dump "$trace" > "$work/dump"
is "$(grep -c '^  sample ' "$work/dump")" 120000 "--dump writes every sample"
is "$(grep -c '^block ' "$work/dump")" "$(json "$work/info" 'd["blocks"]')" "and every block"
is "$(grep -c '^  stack ' "$work/dump")" "$(json "$work/info" 'd["stacks"]')" "and every stack"
like "$(tail -1 "$work/dump")" '^complete version=1\.' "and the end"

# Cut short, as when the recorder was killed.
head -c $(($(wc -c < "$trace") * 3 / 4)) "$trace" > "$work/cut.prf"
"$report" "$work/cut.prf" > "$work/folded" 2> "$work/err"
is "$?" 0 "a trace without an end is shown"
like "$(cat "$work/err")" "cut.prf: " "with a warning"
number "$(wc -l < "$work/folded") > 0" "and what is there"
"$report" --check "$work/cut.prf" > "$work/out" 2>&1
is "$?" 1 "--check says no"
is "$("$report" -q --info --json "$work/cut.prf" > "$work/info"; json "$work/info" 'd["complete"]')" False "--info says that it is not complete"

# A byte changed in a block of samples.
offset=$(sed -n 's/^block .* offset=\(0x[0-9a-f]*\) type=samples .*/\1/p' "$work/dump" | sed -n 2p)
cp "$trace" "$work/bad.prf"
printf '\377\000\377' | dd of="$work/bad.prf" bs=1 seek=$((offset + 100)) conv=notrunc 2> /dev/null
"$report" "$work/bad.prf" > "$work/folded" 2> "$work/err"
is "$?" 0 "a damaged trace is shown"
like "$(cat "$work/err")" "bad.prf: block [0-9]+ at $offset: " "the warning names block and offset"
number "$(awk '{ n += $NF } END { print n + 0 }' "$work/folded") < 120000" "without the damaged block"
out=$("$report" --check "$work/bad.prf" 2>&1)
is "$?" 1 "--check finds it"
like "$out" "at $offset" "and says where"

# Files that are not traces.
fails() {
	out=$("$report" "$1" 2>&1 > "$work/stdout")
	is "$?" 1 "$3: status 1"
	like "$out" "$2" "$3: a message"
	is "$(printf '%s\n' "$out" | wc -l)" 1 "$3: of one line"
	is "$(wc -c < "$work/stdout")" 0 "$3: nothing on standard output"
}
: > "$work/empty"
echo "hello, this is no trace at all" > "$work/text"
fails "$work/empty" "not a trace" "an empty file"
fails "$work/text" "not a trace" "some text"
fails "$work" "is a directory" "a directory"
fails "$work/none" "no such file" "no file"

# Outputs that cannot be written.
out=$("$report" -o "$work/none/x" "$trace" 2>&1)
is "$?" 1 "an output that cannot be made"
like "$out" "cannot be written" "is reported"
if [ -w /dev/full ]; then
	out=$("$report" -q "$trace" 2>&1 > /dev/full)
	is "$?" 1 "a full disk"
	like "$out" "cannot be written" "is reported too"
else
	skip "a full disk" "no /dev/full"
fi

# Options that do not go together.
wrong() {
	out=$("$report" "$@" "$trace" 2>&1 > /dev/null)
	is "$?" 2 "$*: status 2"
	like "$out" "^prof-report: " "$*: a message"
}
wrong -f nonsense
wrong --focus '('
wrong --time 5,3
wrong --csv
wrong --group-by nonsense:5
wrong --group-by comm,,pid
wrong --group-by a,b,c,d,e
wrong --group-by host,host
like "$out" "names host twice" "... which names it"
# More first frames than there were places for: each dimension, and four notes.
for keys in time:1s,a,b,c,d time:1s,a,b,c; do
	"$report" --group-by "comm,pid,tid,cpu,event,object,cgroup,trace,$keys" "$trace" > "$work/all" 2>&1
	is "$?" 1 "all that --group-by takes ($keys): the trace has no such notes"
	like "$(cat "$work/all")" '^prof-report: --group-by=a: no trace has such a note' "... which is reported"
done
wrong --group-by time
wrong --pid=x
wrong --min 101
wrong --max-depth 0
wrong --info --diff "$trace"
wrong -f script --group-by cpu
wrong -f jsonl --min 5
wrong -f pprof --diff "$trace"
wrong --function main
finish
