#!/bin/sh
# The recipes of bench/ci as a CI service would run them: the main branch and a candidate, without
# a fault and with each of five. Times are judged, too, but no verdict on them is expected on a busy
# machine.
. "$(dirname "$0")/../lib.sh"

[ -z "${SAN:-}" ] || skip_all "valgrind and sanitizers do not go together"
command -v valgrind > /dev/null || skip_all "valgrind is not installed"
"$bench" instr -q xdp/classify 2> /dev/null || skip_all "valgrind cannot read this build"
recipes=$top/bench/ci
export MAX_PAIRS=20

# The candidate is another build of the same source, the faulty one has a slow loop in an XDP program.
cp -a "$build" "$work/same"
faulty() { # FOLDER FAULT CPPFLAGS TARGET...
	folder=$work/$1 fault=$2 flags=$3
	shift 3
	make -s -j2 -C "$top" BUILD="$folder" CFLAGS="${CFLAGS:--O2 -g}" INJECT="$fault" CPPFLAGS="$flags" "$@" > "$work/make.log" 2>&1
	is "$?" 0 "a candidate with the fault $fault is built"
}
faulty faulty fibonacci '' all "$work/faulty/testdata/make_trace"

TESTBED=test "$recipes/main.sh" "$work/history.jsonl" "$build" one > "$work/main.log" 2>&1
is "$?" 0 "the first run on the main branch is fine: there is no history"
is "$(wc -l < "$work/history.jsonl")" 1 "which it begins"
holds "and draws" test -s "$work/history.svg"
counts=$(json "$work/history.jsonl" 'sum("instructions" in m for m in d["results"].values())')
number "$counts >= 8" "instructions are counted"
number "$(json "$work/history.jsonl" 'sum("cpu-time" in m for m in d["results"].values())') >= 10" "CPU time is measured"
TESTBED=test "$recipes/main.sh" "$work/history.jsonl" "$work/faulty" two > "$work/main.log" 2>&1
is "$?" 1 "a fault on the main branch has regressed"
like "$(cat "$work/main.log")" 'REGRESSED +xdp/classify instructions:' "by its instructions"

"$recipes/candidate.sh" "$build" "$work/same" > "$work/same.log" 2>&1
status=$?
like "$status" '^[03]$' "a candidate that is equal is fine, or the machine too noisy"
like "$(cat "$work/same.log")" ', 0 regressed, 0 inconclusive' "by its counts it is fine"
like "$(cat "$work/same.log")" '^new/old ' "its time is judged by pairs"
"$recipes/candidate.sh" "$build" "$work/faulty" > "$work/faulty.log" 2>&1
is "$?" 1 "the faulty one has regressed"
like "$(cat "$work/faulty.log")" 'REGRESSED +xdp/classify instructions:' "by its instructions"

# A sleep and an allocation for each sample: the rest would take hours with it.
faulty drain drain '' all "$work/drain/testdata/make_trace"
"$recipes/candidate.sh" "$build" "$work/drain" > "$work/drain.log" 2>&1
is "$?" 1 "one that allocates for each sample has regressed"
like "$(cat "$work/drain.log")" 'REGRESSED +drain/one allocated-blocks:' "by its allocations"
TESTBED=test "$recipes/main.sh" "$work/history.jsonl" "$work/drain" four > "$work/main.log" 2>&1
is "$?" 1 "on the main branch, too"
like "$(cat "$work/main.log")" '^main.sh: the rest is not measured$' "before all of it is measured"

# A short sleep for each sample, which takes no CPU time.
faulty nap nap '' all "$work/nap/testdata/make_trace"
"$recipes/candidate.sh" "$build" "$work/nap" > "$work/nap.log" 2>&1
is "$?" 1 "one that sleeps for each sample has regressed"
unlike "$(cat "$work/nap.log")" '^REGRESSED' "not by its counts"
like "$(cat "$work/nap.log")" '^SLOWER by' "but by its elapsed time"
python3 - "$work/history.jsonl" > "$work/sleepless" <<'END'
import json, sys
first = json.loads(open(sys.argv[1]).readline())
for i in range(8):
    value = first["results"]["drain/one"]["latency"]["value"] * (1 + i / 100)
    print(json.dumps(dict(first, results={"drain/one": {"latency": {"value": value}}})))
END
"$recipes/measure.sh" --first "$work/napping" "$work/nap" > "$work/nap.log" 2>&1
"$bench" gate --thresholds "$recipes/thresholds.conf" --history "$work/sleepless" --testbed test --dry-run \
	"$work/napping/sleep.json" > "$work/nap.log" 2>&1
is "$?" 1 "after eight runs the main branch's history shows it, too"

# Some more instructions for each sample of the report; and a bit more than 3 % of all that the longest of the reports takes.
most=0
for trace in "$top"/testdata/fixtures/*.prf; do
	"$bench" instr -q --name x --bmf "$work/one.json" -- "$build/prof-report" -q --no-cache "$trace"
	one=$(json "$work/one.json" 'int(d["x"]["instructions"]["value"])')
	[ "$one" -le "$most" ] || most=$one
done
for fault in tally rounds; do
	faulty $fault $fault "-DROUNDS=$((most * 31 / 1000 / 7))" "$work/$fault/prof-report"
	cp -a "$work/same/prof-bench" "$work/same/testdata" "$work/same/bench" "$work/$fault"
	"$recipes/candidate.sh" "$build" "$work/$fault" > "$work/$fault.log" 2>&1
	is "$?" 1 "the report with the fault $fault has regressed"
done
like "$(cat "$work/tally.log")" 'REGRESSED +prof-report/[a-z]+ instructions:' "by the instructions of a report on few samples"
is "$(grep -cE '^REGRESSED .*prof-report/[a-z]* instructions:.*change \+([3-9]|[1-9][0-9])[.]' "$work/rounds.log")" \
	"$(ls "$top"/testdata/fixtures/*.prf | wc -l)" "3 % more instructions have regressed, in each report"
rm "$work/same/prof-report"
"$recipes/candidate.sh" "$build" "$work/same" > "$work/broken.log" 2>&1
is "$?" 2 "one that cannot be measured is an error, not fine"

# The workflows run these very scripts.
for file in .github/workflows/bench.yml .gitlab-ci.yml; do
	for script in main candidate; do
		like "$(cat "$top/$file")" "bench/ci/$script\.sh " "$file runs $script.sh"
	done
done
finish
