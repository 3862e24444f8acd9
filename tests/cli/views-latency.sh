#!/bin/sh
# How many threads of a process ran: --parallelism, --group-by=parallelism and --value=latency, on a trace of a
# program whose first 100 ms are serial, and whose next 100 ms are not.
. "$(dirname "$0")/../lib.sh"
trace=$work/t.prf
view() { "$report" -q "$@" "$trace"; }

# A timer of 1000 Hz on three CPUs, whose ticks lie 20 us apart. Another process runs on the third.
{
	sed 's/^	//' <<'TRACE'
	event 0 "cpu-clock" "samples" 1000 0
	event 1 "off-cpu" "ns" 0 1
	object 5 "[jit]" "" ""
	task 1 1 "work"
	task 1 2 "work"
	task 3 3 "other"
	frame 0 0 0x100
	frame 0 0 0x200
	frame 0 0 0x300
	frame 0 0 0x400
	stack - 0
	stack 0 1
	stack 0 2
	stack 0 3
	names 0 "main" "" 0 0
	names 1 "serial" "" 0 0
	names 2 "parallel" "" 0 0
	names 3 "waiting" "" 0 0
TRACE
	awk 'BEGIN {
		for (tick = 1000; tick < 1200; tick++) {
			print "sample", tick * 1000000, 0, 0, tick < 1100 ? 1 : 2, 0, 1
			if (tick >= 1100)
				print "sample", tick * 1000000 + 20000, 1, 0, 2, 1, 1
			print "sample", tick * 1000000 + 40000, 2, 0, 0, 2, 1
		}
		print "sample", 1100010000, 1, 1, 3, 1, 100000000
		print "finish"
	}'
} > "$work/t.txt"
need "$build/testdata/trace_text" "$work/t.txt" -o "$trace"

is "$(view --group-by parallelism --comm work)" "parallelism-1;main;serial 100
parallelism-2;main;parallel 200" "--group-by=parallelism: threads of the same process at the same time"
is "$(view --group-by comm,parallelism --comm other)" "other;parallelism-1;main 200" "... and not those of others"
is "$(view --parallelism 1)" "other;main 200
work;main;serial 100" "--parallelism=1: what ran alone"
is "$(view --parallelism 2-64)" "work;main;parallel 200" "--parallelism=2-64: what did not"
is "$(view --parallelism 2 --tid=2)" "work;main;parallel 100" "threads that are left out have run all the same"
is "$(view --parallelism 2 --cpu=0)" "work;main;parallel 100" "... and CPUs"
is "$(view --wall --group-by parallelism --comm work)" "parallelism-1;main;serial 100000
parallelism-2;main;parallel 200000
parallelism-unknown;main;waiting 100000" "waits have none"
is "$(view --wall --parallelism 1-9 --comm work | grep -c waiting)" 0 "... and are left out"
is "$(view --parallelism 1 -f top --csv | sed -n 's/^"\(serial\)",[^,]*,\([0-9]*\),.*/\1 \2/p')" "serial 100" \
	"in tables, too"

is "$(view --value latency --comm work)" "work;main;parallel 100000
work;main;serial 100000" "--value=latency: each sample is its share of the time"
view -f top --value latency --comm work > "$work/top"
like "$(head -1 "$work/top")" '^# 300 samples, 0\.200 s of latency, 0\.300 s of CPU time, 0 lost' "-f top says both sums"
like "$(sed -n 2p "$work/top")" '^self %    seconds      CPU %  total %    seconds      CPU %  function$' "... has both columns"
like "$(grep serial "$work/top")" '^ 50\.00      0\.100      33\.33   50\.00      0\.100      33\.33  serial' \
	"... and shows the serial phase"
unlike "$(cat "$work/top")" '±' "... without an interval, which is that of equal samples"
view -f top --value latency --comm work --json > "$work/json"
is "$(json "$work/json" '[(r["self"]["seconds"], r["self"]["samples"]) for r in d["rows"] if r["name"] == "serial"][0]')" \
	"(0.1, 100)" "... as JSON"
view -f pprof --value latency -o "$work/pb.gz"
is "$(gzip -dc "$work/pb.gz" | grep -ac latency)" 1 "pprof has its name"
if [ -n "$browser" ]; then
	view -f html --value latency --comm work -o "$work/page.html"
	like "$(show page.html | grep -o 'id="status">[^<]*')" '>200\.00 ms of latency ' "the page says so"
	act page.html <<-'SCRIPT'
		const seen = () => `${by("running").value} ${by("status").textContent.replace(/ · 2 threads.*/, "")}`;
		note(`at first ${seen()}`);
		note([...by("running").options].map((option) => option.textContent).join(", "));
		const steps = history.length;
		by("running").value = "2";
		by("running").dispatchEvent(new Event("change"));
		await sleep(20);
		note(`chosen ${seen()} ${location.hash} ${history.length - steps} ${document.activeElement.id}`);
		press("p");
		note(`turned ${seen()}`);
		press("p");
		note(`again ${seen()}`);
		press("0");
		note(`reset ${seen()}`);
	SCRIPT
	show "page.html#running=1" > "$work/dom"
	keys=$(notes "$work/dom")
	like "$keys" '\[at first 1 100\.00 ms of latency · while 1 thread runs · 50\.0 % of 200\.00 ms\]' "... chooses by it as its address says"
	like "$keys" '\[Any number of threads, 50\.0 %  1 thread runs, 50\.0 %  2 threads run\]' "... with shares of the time"
	like "$keys" '\[chosen 2 100\.00 ms of latency · while 2 threads run · [^]]* #running=2 1 graph\]' "... as a step for Back"
	like "$keys" '\[turned all 200\.00 ms of latency\]\[again 1 100\.00 ms ' "... and by a key"
	like "$keys" '\[reset all 200\.00 ms of latency\]' "... until all is shown again"
	unlike "$keys" '\[error' "no error"
	show "page.html#running=3-4" > "$work/dom"
	like "$(notes "$work/dom")" '\[at first all 200\.00 ms' "a number that there is not is left out of the address"
	for alone in "--value=latency --parallelism=1" "--group-by=comm"; do
		view -f html --on-cpu $alone -o "$work/alone.html"
		like "$(show alone.html | grep -o '<select id="running"[^>]*>')" ' hidden' "$alone: there is nothing to choose"
	done
else
	skip "the page says so" "$no_browser"
fi

# The page chooses as the options do, and shows shares of the time; of 17 threads in ranges.
{
	sed '/^\(sample\|finish\)/d' "$work/t.txt"
	seq 10 24 | sed 's/.*/task 1 & "work"/'
	awk 'BEGIN {
		for (tick = 1000; tick < 1100; tick++)
			for (cpu = 0; cpu < (tick < 1055 ? 1 : tick < 1080 ? 3 : tick < 1092 ? 4 : 17); cpu++)
				print "sample", tick * 1000000 + cpu, cpu < 2 ? cpu : cpu + 1, 0, cpu ? 2 : 1, cpu, 1
		print "finish"
	}'
} > "$work/many.txt"
need "$build/testdata/trace_text" "$work/many.txt" -o "$work/many.prf"
# chooses TRACE RANGE SHARE OPTION...: in a page with these options, and what --parallelism=RANGE has in place of its own
chooses() {
	of=$1 range=$2 share=$3
	shift 3
	"$report" -q -f html "$@" "$of" -o "$work/chosen.html"
	# shellcheck disable=SC2046
	"$report" -q $(echo "$@" | sed 's/--parallelism=[^ ]*//') --parallelism="$range" "$of" -o "$work/chosen"
	node "$top/tests/cli/views-html.js" "$work/chosen.html" "$work/chosen" running "$range" "$share" > "$work/log" 2>&1
	is "$(cat "$work/log")" "good" "a page of $* chooses $range, $share of the time"
}
if node -e 'process.exit(parseInt(process.versions.node) < 16 ? 1 : 0)' 2> /dev/null; then
	chooses "$trace" 1 "50.0 %" --value=latency --comm=work
	chooses "$trace" 2 "50.0 %" --parallelism=1-99 --comm=work
	chooses "$trace" 2 "100.0 %" --parallelism=2 --tid=2
	chooses "$trace" 1 "75.0 %" --wall --group-by=comm,parallelism
	chooses "$work/many.prf" 1 "55.0 %" --value=latency
	chooses "$work/many.prf" 3-4 "37.0 %" --parallelism=1-99
	chooses "$work/many.prf" 17-32 "8.00 %" --parallelism=1-99
else
	skip "a page chooses by it" "no node, or an old one"
fi
is "$(view --value latency --group-by time:100ms --comm work)" "0.000s;main;serial 100000
0.100s;main;parallel 100000" "... by time"
like "$("$report" --value latency --comm work --wall "$trace" 2>&1)" \
	'how many threads ran beside samples of event off-cpu is not known; use --on-cpu' "latency of waits: refused"
is "$(view --value latency --comm work --on-cpu | wc -l)" 2 "... not with --on-cpu"
like "$(view -f top --diff "$trace" --value latency)" 'known from several runs' "compared, its noise is not known"

"$report" -q --parallelism 3 "$trace" > "$work/out" 2> "$work/err"
like "$?: $(cat "$work/err")" '^1: prof-report: .*none of 501 samples fits --parallelism;' "what no sample has"
"$report" --parallelism few "$trace" > "$work/out" 2> "$work/err"
like "$?: $(cat "$work/err")" '^2: prof-report: --parallelism few: must be numbers of threads: 1 or 2-64' "no numbers"
# fields FORMAT OPTION...: event, comm and parallelism of the rows, each with its count
fields() {
	format=$1
	shift
	view -f "$format" "$@" -o "$work/rows.$format"
	case $format in
	parquet) python3 "$top/tests/parquet-rows.py" rows "$work/rows.parquet" ;;
	*) cat "$work/rows.$format" ;;
	esac | python3 -c '
import collections, json, sys
rows = [json.loads(line) for line in sys.stdin]
counts = collections.Counter((r["event"], r["comm"], r.get("parallelism")) for r in rows)
for key, n in sorted(counts.items(), key=str):
    print(*key, n)
print("in order" if rows == sorted(rows, key=lambda r: r.get("time_ns", 0)) else "not in order")'
}
for format in jsonl parquet; do
	is "$(fields $format --event='*')" "cpu-clock other 1 200
cpu-clock work 1 100
cpu-clock work 2 200
off-cpu work None 1
in order" "-f $format has it"
	is "$(fields $format --parallelism 1)" "cpu-clock other 1 200
cpu-clock work 1 100
in order" "-f $format --parallelism=1: these samples"
done
finish
