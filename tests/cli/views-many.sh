#!/bin/sh
# Many traces: they are read one after the other, and what is kept is what differs. Four times as
# many traces of one program take hardly more memory, or, in formats that tell the threads of each
# trace apart, more for these only. Of very many traces those join the threads, too.
. "$(dirname "$0")/../lib.sh"

once_is_enough
command -v python3 > /dev/null || skip_all "no python3"
make_trace=$build/testdata/make_trace
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
	need "$make_trace" -n 40000 -k 3000 -d 80 -t 2 --sample-seed $i -o "$work/$i.prf"
done
cd "$work" || exit 1

# Memory that was freed is not kept back where a sanitizer would.
export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_leaks=1}:quarantine_size_mb=0:malloc_context_size=1"

# peak COMMAND...: its peak of memory in KiB; nothing where it fails
peak() {
	python3 - "$@" <<'PYTHON'
import os, sys
child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ,
                        file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
_, status, usage = os.wait4(child, 0)
if status == 0:
    print(usage.ru_maxrss)
PYTHON
}

few="1.prf 2.prf 3.prf 4.prf"
many="$few 5.prf 6.prf 7.prf 8.prf 9.prf 10.prf 11.prf 12.prf 13.prf 14.prf 15.prf 16.prf"

# compare PERCENT WHAT: $of_many is at most as much of $of_few. If all that the traces define were
# kept, 16 of these traces would take more than twice and a half of what four do.
compare() {
	holds "$2: ${3:-4} traces take ${of_few:-?} KiB, ${4:-16} take ${of_many:-?} KiB" \
		[ "${of_many:-1}" -le $((${of_few:-0} * $1 / 100)) ]
}

# bounded PERCENT OPTION...
bounded() {
	percent=$1
	shift
	of_few=$(peak "$report" -q --no-cache "$@" $few)
	of_many=$(peak "$report" -q --no-cache "$@" $many)
	compare "$percent" "$*"
}

for format in folded top tree jsonl parquet script; do
	bounded 140 -f $format
done
bounded 140 --group-by=host
bounded 140 --value=latency
for format in html pprof firefox speedscope; do
	bounded 225 -f $format
done

# Their threads are joined by command. What remains of a trace is what is new in it, and when its samples came,
# which takes 16 bytes each as long as there are fewer than 4 million.
joined="$many 1.prf 2.prf 3.prf 4.prf 5.prf"
for format in html:150 pprof:115 firefox:200 speedscope:150; do
	of_few=$(peak "$report" -q --no-cache -f ${format%:*} $joined)
	of_many=$(peak "$report" -q --no-cache -f ${format%:*} $joined $joined $joined)
	compare ${format#*:} "-f ${format%:*}" 21 63
done
"$report" --no-cache -f pprof $many -o out 2> said
unlike "$(cat said)" "joined" "threads of 16 traces are told apart"
"$report" --no-cache -f speedscope $joined -o speedscope 2> said
like "$(cat said)" "21 traces are many: their threads are joined by command; --each-thread tells them apart" \
	"those of 21 are not, which is said"
is "$(json speedscope '[p["name"] for p in d["profiles"]]')" "['all threads', 'worker-0', 'worker-1']" "... and each command is one"
"$report" -q --no-cache -f firefox $joined -o firefox
is "$(json firefox '[(t["name"], t["pid"], t["tid"], t["isMainThread"]) for t in d["threads"]]')" \
	"[('worker-0', '0', 0, True), ('worker-1', '1', 1, True)]" "... in every format"
"$report" --no-cache -f firefox --each-thread $joined -o firefox 2> said
is "$(json firefox 'len(d["threads"])')" 42 "... unless they are asked for"
unlike "$(cat said)" "joined" "... and then nothing is said"
"$report" --no-cache -f top --each-thread 1.prf > out 2> said
like "$(cat said)" "warning: --each-thread is about -f html, pprof, firefox and speedscope" "... which is for these formats"

# However the stacks are grouped, which numbers remain says nothing of a joined thread.
"$report" --no-cache -f speedscope --group-by=trace $many 1.prf -o speedscope 2> said
like "$(cat said)" "17 traces are many: their threads are joined by command" "with --group-by they are joined, too, which is said"
is "$(json speedscope '[p["name"] for p in d["profiles"]]')" "['all threads', 'worker-0', 'worker-1']" "... by command"
"$report" --no-cache -f pprof --pid $many 1.prf -o pprof 2> said
like "$(cat said)" "17 traces are many: their samples have only the labels that are asked for; --each-thread tells the traces apart" \
	"-f pprof keeps a label that is asked for"
"$report" --no-cache -f pprof --group-by=host $many 1.prf -o pprof 2> said
like "$(cat said)" "17 traces are many: their samples have only the labels that are asked for" "... and says so with --group-by"

cat > total.py <<'PYTHON'
# total.py FORMAT FILE: the samples that are in it, and those of worker-0 where its threads are told apart
import base64, gzip, json, re, sys, zlib
data = open(sys.argv[2], "rb").read()

def fields(message):
	at = 0
	def number():
		nonlocal at
		n = shift = 0
		while True:
			byte = message[at]
			at += 1
			n |= (byte & 127) << shift
			shift += 7
			if byte < 128:
				return n
	while at < len(message):
		key = number()
		value = number()
		if key & 7 == 2:
			value, at = message[at:at + value], at + value
		yield key >> 3, value

def first(packed): # number of a list
	return next(fields(b"\0" + packed))[1]

def pprof():
	message = list(fields(gzip.decompress(data)))
	texts = [text for field, text in message if field == 6]
	for field, sample in message:
		if field == 2:
			parts = list(fields(sample))
			labels = [dict(fields(label)) for field, label in parts if field == 3]
			comm = [texts[label[2]] for label in labels if texts[label[1]] == b"comm"]
			yield comm[0].decode(), first(dict(parts)[2])

if sys.argv[1] == "html":
	page = zlib.decompress(base64.b64decode(re.search(b'id="data">([^<]*)<', data).group(1)))
	print(re.search(b'"total":([0-9]+)', page).group(1).decode())
	sys.exit()
if sys.argv[1] == "pprof":
	sums = list(pprof())
elif sys.argv[1] == "firefox":
	sums = [(t["name"], sum(t["samples"]["weight"])) for t in json.loads(data)["threads"]]
else:
	profiles = [p for p in json.loads(data)["profiles"] if p["name"] != "all threads"]
	sums = [(p["name"], sum(p["weights"])) for p in profiles]
print(sum(n for _, n in sums), sum(n for name, n in sums if name.split()[0] == "worker-0"))
PYTHON
for selection in "" --comm=worker-0 --time=20%,60%; do
	all=$("$report" -q --no-cache $selection $joined | awk '{ n += $NF } /^worker-0/ { one += $NF } END { print n, one }')
	for format in html pprof firefox speedscope; do
		for each in "" --each-thread; do
			"$report" -q --no-cache -f $format $selection $each $joined -o total
			like "$all " "^$(python3 total.py $format total) " "-f $format $selection $each: samples of all and of one command"
		done
	done
done

"$report" -q --no-cache -f html $joined -o page.html
if [ -n "$browser" ]; then
	act page.html <<-'SCRIPT'
		note([...by("thread").options].map(({ textContent }) => textContent.replace(/[0-9.]+ %/, "").trim()));
		note(by("status").textContent);
	SCRIPT
	show page.html > dom
	like "$(notes dom)" '\[All 2 commands,worker-[01],worker-[01]\]\[.* · 2 commands · ' "the page has commands instead of threads"
else
	skip "the page has commands instead of threads" "$no_browser"
fi

# Both sides of a comparison: -f html has two profiles, and top tells all runs apart.
sides() { printf -- '--diff=%s ' "$@"; }
for format in html top; do
	of_few=$(peak "$report" -q --no-cache -f $format --normalize $(sides $few) $few)
	of_many=$(peak "$report" -q --no-cache -f $format --normalize $(sides $many) $many)
	compare 225 "-f $format --diff"
done

finish
