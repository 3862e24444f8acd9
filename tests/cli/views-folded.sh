#!/bin/sh
# Folded stacks: the conventions of stackcollapse-perf.pl, selections, shapes and groups.
. "$(dirname "$0")/../lib.sh"

make=$build/testdata/make_trace
trace=$work/t.prf
need "$make" -n 4000 -t 3 -k 60 -d 12 -s 7 -o "$trace"

fold() { "$report" -q "$@" "$trace"; }
total() { awk '{ sum += $NF } END { print sum + 0 }'; }

fold > "$work/folded"
is "$(total < "$work/folded")" 4000 "counts add up to the samples"
holds "lines are sorted bytewise" sort -c "$work/folded"
is "$(sed 's/ [0-9]*$//' "$work/folded" | sort | uniq -d | wc -l)" 0 "each stack has one line"
is "$(grep -cvE '^[^;]+(;[^;]+)* [0-9]+$' "$work/folded")" 0 "every line is frames and a count"
is "$(grep -cE ' 0$' "$work/folded")" 0 "no line counts nothing"
like "$(head -1 "$work/folded")" '^worker-[0-9];' "the first frame is the command"

is "$(fold -f folded | cksum)" "$(cksum < "$work/folded")" "-f folded is the default"
is "$("$report" -q - < "$trace" | cksum)" "$(cksum < "$work/folded")" "- reads standard input"
is "$(cat "$trace" | "$report" -q | cksum)" "$(cksum < "$work/folded")" "no name and a pipe reads the pipe"
is "$(fold -j 1 | cksum)" "$(cksum < "$work/folded")" "the number of threads changes nothing"

fold -o "$work/out"
is "$(cksum < "$work/out")" "$(cksum < "$work/folded")" "-o writes the same to a file"
is "$(find "$work" -name 'out*' | wc -l)" 1 "and leaves no temporary file"

# Frames before the stack.
like "$(fold --pid | head -1)" '^worker-[0-9]-[0-9]+;' "--pid is comm-PID"
like "$(fold --tid | head -1)" '^worker-[0-9]-[0-9]+/[0-9]+;' "--tid is comm-PID/TID"
like "$(fold --cpu | head -1)" '^cpu-0;worker-' "--cpu comes first"
like "$(fold --event | head -1)" '^cpu-clock;worker-' "--event comes first"
is "$(fold --pid --cpu --event --cgroup | total)" 4000 "with all of them nothing is lost"
like "$(fold --group-by cpu,tid | head -1)" '^cpu-0;tid-[0-9]+;' "--group-by keeps the order given"
like "$(fold --group-by time:200ms | head -1)" '^0\.000s;' "--group-by=time begins at 0"
is "$(fold --group-by time:200ms,comm | total)" 4000 "--group-by=time loses nothing"
number "$(fold --group-by time:200ms | cut -d';' -f1 | sort -u | wc -l) >= 8" "2 s at 200 ms are many slices"
like "$(fold --group-by object | head -1)" '^(\[kernel\]|[a-z][a-z0-9.-]*);' "--group-by=object names the leaf's file"

# Selections: the parts add up to the whole.
part() { fold "$@" | total; }
is "$(($(part --cpu=0) + $(part --cpu=1)))" 4000 "--cpu=0 and --cpu=1 are all"
is "$(part --cpu=0-7)" 4000 "--cpu takes ranges"
is "$(($(part --comm worker-0) + $(part --comm 'worker-[12]')))" 4000 "--comm takes patterns"
is "$(part --comm worker-0,worker-1,worker-2)" 4000 "--comm takes a list"
tids=$("$report" -q --dump "$trace" | sed -n 's/^  task .* tid=\([0-9]*\) .*/\1/p' | sort -u)
sum=0
for tid in $tids; do sum=$((sum + $(part --tid="$tid"))); done
is "$sum" 4000 "--tid splits by thread"
is "$(part --pid=999999)" 0 "--pid of nobody is nothing"
is "$(part --event=cpu-clock)" 4000 "--event by name"
is "$(part --event="cpu-*"):$(part --event="*-x")" 4000:0 "or by a shell pattern"
is "$(part --on-cpu)" 4000 "--on-cpu"
is "$(part --off-cpu)" 0 "--off-cpu"
is "$(($(part --time ,30%) + $(part --time 30%,)))" 4000 "--time in percent splits exactly"
is "$(($(part --time ,500ms) + $(part --time 500ms,)))" 4000 "--time since the start splits exactly"
is "$(cat "$trace" | "$report" -q --time ,30% | total)" "$(part --time ,30%)" "--time works on a pipe"
first=$("$report" -q --info --json "$trace" | python3 -c 'import json,sys; print(json.load(sys.stdin)["first_ns"])')
is "$(part --time "@$((first + 1))ns,")" 3999 "--time @ is absolute"

# nothing NAME PATTERN ARGUMENT...: no report, status 1, and a line that says why
nothing() {
	name=$1
	pattern=$2
	shift 2
	out=$("$report" "$@" "$trace" 2>&1 > "$work/none")
	is "$?:$(wc -c < "$work/none" | tr -d ' ')" 1:0 "$name: no report"
	like "$out" "$pattern" "$name: says why"
}
nothing "a window outside of the recording" "no sample lies in .* is 2\.[0-9]+ s long" --time 1h,2h
nothing "a selection of nothing" "none of [0-9]+ samples fits --comm, --cpu;" --comm=nobody --cpu=0
nothing "no waits" "no waits were recorded; prof-record --off-cpu" --off-cpu
nothing "a function that is not there" "functions that --focus asks for" --focus nowhere
nothing "functions that are not there" "--root, --caller-of ask for" -f html --root nowhere --caller-of no
printf 'event 0 "cpu-clock" "samples" 999 0\nfinish\n' > "$work/idle.txt"
"$build/testdata/trace_text" "$work/idle.txt" -o "$work/idle.prf"
out=$("$report" "$work/idle.prf" 2>&1)
is "$?" 1 "a recording without samples: no report"
like "$out" "there are no samples: .*--off-cpu" "a recording without samples: says why"
out=$("$report" --wakers "$trace" 2>&1 > "$work/none")
like "$out" "warning: --wakers: no wait here knows" "--wakers without any is reported"

# Shapes.
is "$(part --no-kernel)" 4000 "--no-kernel keeps the samples"
is "$(fold --no-kernel | grep -c ';invented_')" 0 "--no-kernel leaves no kernel frame"
is "$(fold --no-user | grep -cF '[')" 0 "--no-user leaves only kernel frames"
is "$(part --no-user)" 4000 "--no-user keeps the samples"
is "$(fold --max-depth 3 | awk -F';' 'NF > 4' | wc -l)" 0 "--max-depth cuts above"
is "$(part --max-depth 3)" 4000 "--max-depth keeps the samples"
number "$(fold --delimiter | grep -cE '\];-;invented_') > 0" "--delimiter separates user and kernel"
is "$(fold --annotate | grep -cE ';invented_[0-9]+_\[k\]')" "$(grep -cE ';invented_' "$work/folded")" \
	"--annotate marks the kernel"
focus=$(part --focus 'libinvented-1')
is "$focus" "$(grep -F '[libinvented-1' "$work/folded" | total)" "--focus keeps stacks with the function"
is "$(fold --hide libinvented | grep -c libinvented)" 0 "--hide leaves out"
is "$(part --hide 'libinvented')" 4000 "--hide keeps the samples"
is "$(fold --root libinvented-1 | grep -cvE '^worker-[0-9];\[libinvented-1')" 0 "--root begins there"
is "$(fold --caller-of libinvented-1 | grep -cvE 'libinvented-1[^;]* [0-9]+$')" 0 "--caller-of ends there"
is "$(fold --collapse-recursion | grep -cE ';(\[[^;]*\]);\1( |;)')" 0 "--collapse-recursion leaves no call of itself"
is "$(part --min 5)" 4000 "--min keeps the samples"
number "$(fold --min 5 | wc -l) < $(wc -l < "$work/folded")" "--min cuts small stacks"
like "$(fold --addrs | head -1)" '\[[^];]* <[0-9a-f]+>\]' "--addrs shows where unnamed code is"

# Values.
is "$(part --value time)" 4004004 "--value=time is in microseconds"
out=$("$report" --value bytes "$trace" 2>&1)
is "$?" 1 "bytes of an event that has none fail"
like "$out" "not bytes" "and say so"
like "$("$report" -v "$trace" 2>&1 > /dev/null)" "4000 samples" "-v reports the unit"

# Several traces.
"$make" -n 1000 -t 3 -k 60 -d 12 -s 7 -o "$work/u.prf"
is "$("$report" -q "$trace" "$work/u.prf" | total)" 5000 "two traces are one profile"
like "$("$report" -q --group-by trace "$trace" "$work/u.prf" | cut -d';' -f1 | sort -u | tr '\n' ' ')" \
	'^t\.prf u\.prf $' "--group-by=trace distinguishes them"

is "$("$report" -q --group-by host "$trace" "$work/u.prf" | cut -d';' -f1 | cut -d' ' -f1 | sort -u)" invented \
	"--group-by=host joins what one host recorded"

# What the user noted of a trace (prof-record --metadata).
for service in web batch; do
	sed "1s/^/metadata \"service\" \"$service\"\nmetadata \"zone\" \"north; 1\"\n/" \
		"$top/testdata/good-small.txt" > "$work/$service.txt"
	need "$build/testdata/trace_text" "$work/$service.txt" -o "$work/$service.prf"
done
is "$("$report" -q --group-by service,zone "$work/web.prf" "$work/web.prf" "$work/batch.prf" "$trace" |
	cut -d';' -f1,2 | cut -d' ' -f1 | sort -u | tr '\n' ' ')" '[unknown];[unknown] batch;north:_1 web;north:_1 ' \
	"--group-by takes the keys of notes"
like "$("$report" -q --group-by zone "$work/web.prf" "$work/batch.prf" | cut -d' ' -f1 | cut -d';' -f1 |
	sort -u)" '^north:_1$' \
	"... and joins what has the same"
# In a comparison either side may have them.
"$report" -q --group-by service --diff "$trace" "$work/web.prf" > "$work/later"
is "$?" 0 "a note that only the newer side has"
like "$(cat "$work/later")" '^web;' "... is there"
"$report" -q --group-by service --diff "$work/web.prf" "$trace" > "$work/earlier"
is "$?" 0 "a note that only the base has"
like "$(cat "$work/earlier")" '^web;' "... is there"
out=$("$report" --group-by servcie --diff "$trace" "$work/web.prf" 2>&1)
is "$?" 1 "a note that neither has"
grep -v '^metadata "host"' "$work/web.txt" > "$work/hostless.txt"
need "$build/testdata/trace_text" "$work/hostless.txt" -o "$work/hostless.prf"
like "$("$report" --group-by host "$work/hostless.prf")" '^\[unknown\];' "another writer's trace may lack the host"
sed '1s/^/metadata "a" "1"\nmetadata "b" "2"\nmetadata "c" "3"\nmetadata "d" "4"\n/' "$top/testdata/good-small.txt" > "$work/four.txt"
need "$build/testdata/trace_text" "$work/four.txt" -o "$work/four.prf"
for n in 3 4; do
	like "$("$report" --group-by "comm,pid,tid,cpu,event,object,cgroup,trace,time:1s,$(echo a,b,c,d | cut -d, -f1-$n)" "$work/four.prf" | head -n 1)" \
		"^[^;]*(;[^;]*){7};0.000s;$(echo '1;2;3;4' | cut -d';' -f1-$n);" "--group-by with all dimensions and $n notes"
done
out=$("$report" --group-by servcie "$work/web.prf" 2>&1)
is "$?" 1 "a note that no trace has"
like "$out" '--group-by=servcie: no trace has such a note' "... is reported"

# Ctrl-C: no partial file remains. (A shell starts background programs with SIGINT ignored.)
if command -v python3 > /dev/null; then
	python3 - "$report" "$work" <<'PYTHON'
import os, signal, subprocess, sys
report, work = sys.argv[1:]
read, write = os.pipe()
p = subprocess.Popen([report, "-q", "-", "-o", work + "/interrupted"], stdin=read,
                     preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
os.close(read)
trace = open(work + "/t.prf", "rb").read()
os.write(write, trace[: len(trace) // 2])
p.send_signal(signal.SIGINT)
os.close(write)
status = p.wait(60)
sys.exit(0 if status in (130, -signal.SIGINT) else 1)
PYTHON
	is "$?" 0 "Ctrl-C ends it"
	is "$(find "$work" -name 'interrupted*' | wc -l)" 0 "and leaves no file"
fi

# SIGTERM while it writes: the file that is not whole goes, too. It waits for the second half.
if command -v python3 > /dev/null; then
	python3 - "$report" "$work" <<'PYTHON'
import glob, os, signal, subprocess, sys, time
report, work = sys.argv[1:]
read, write = os.pipe()
trace = open(work + "/t.prf", "rb").read()
p = subprocess.Popen([report, "-q", "--embed", "-", "-o", work + "/ended"], stdin=read)
os.close(read)
os.write(write, trace[: len(trace) // 2])
limit = time.time() + 60
while not glob.glob(work + "/ended.*") and time.time() < limit:
    time.sleep(0.01)
if not glob.glob(work + "/ended.*"):
    sys.exit("no temporary file was seen")
p.send_signal(signal.SIGTERM)
sys.exit(0 if p.wait(60) == -signal.SIGTERM else 1)
PYTHON
	is "$?" 0 "SIGTERM ends it"
	is "$(find "$work" -name 'ended*' | wc -l)" 0 "and it removes what it began to write"
fi

# A report never takes the place of a trace that it reads.
cp "$trace" "$work/kept.trace"
ln -s kept.trace "$work/kept.link"
for arguments in "$work/kept.trace -o $work/kept.trace" "$trace $work/kept.trace -o $work/kept.link" \
	"--diff $work/kept.trace $trace -o $work/kept.trace" "--info $work/kept.trace -o $work/kept.trace"; do
	out=$("$report" -q $arguments 2>&1)
	is "$?" 2 "refused: $(echo "$arguments" | sed "s|$work/||g")"
	like "$out" 'would replace the trace' "and says why"
done
"$report" -q -o "$work/kept.trace" < "$work/kept.trace" 2> /dev/null
is "$?" 2 "nor that on its standard input"
is "$(cmp "$trace" "$work/kept.trace")" "" "and the trace is as it was"
holds "an older report is replaced" "$report" -q "$trace" -o "$work/folded"

# Whoever waits at a terminal for more than a second sees how far it is.
if command -v script > /dev/null; then
	slowly="(head -c 2000 '$trace'; sleep 4; tail -c +2001 '$trace') | '$report' --no-cache - > '$work/slow'"
	like "$(script -qec "$slowly" /dev/null < /dev/null)" 'reading: [0-9.]+ MB' "a long reading is shown on a terminal"
	holds "and nothing of that in the report" grep -q '^[^ ]*;' "$work/slow"
	unlike "$(script -qec "$slowly -q" /dev/null < /dev/null)" 'reading' "with -q it is not"
	# A file that takes three seconds to open.
	if command -v strace > /dev/null && strace -o /dev/null true 2> /dev/null; then
		cp "$build/testdata/make_trace" "$work/object"
		need "$work/object" -n 100 -k 9 -O "$work/object" -o "$work/object.prf"
		slowly="ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 strace -f -o /dev/null -P '$work/object' -e trace=openat \
			-e inject=openat:delay_enter=3000000 '$report' --no-cache '$work/object.prf' -o '$work/slow'"
		like "$(script -qec "$slowly" /dev/null < /dev/null)" 'finding names: files, [0-9]+ of [0-9]+' "so is a long search for names"
		holds "which is complete" grep -q ';' "$work/slow"
		unlike "$(script -qec "$slowly -q" /dev/null < /dev/null)" 'finding' "with -q it is not"
	else
		skip "a long search for names" "strace is not here or may not trace"
	fi
else
	skip "a long reading" "no script"
fi

# The reader closes the pipe early.
"$report" -q "$trace" 2> "$work/err" | head -1 > /dev/null
is "$(cat "$work/err")" "" "a closed pipe is no error"
finish
