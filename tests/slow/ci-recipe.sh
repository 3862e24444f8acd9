#!/bin/sh
# The recipes of bench/ci as a CI service would run them: the main branch and a candidate, without
# a fault and with one. Times are judged, too, but no verdict on them is expected on a busy machine.
. "$(dirname "$0")/../lib.sh"

[ -z "${SAN:-}" ] || skip_all "valgrind and sanitizers do not go together"
command -v valgrind > /dev/null || skip_all "valgrind is not installed"
"$bench" instr -q xdp/classify 2> /dev/null || skip_all "valgrind cannot read this build"
recipes=$top/bench/ci
export MAX_PAIRS=20

# The candidate is another build of the same source, the faulty one has a slow loop in an XDP program.
cp -a "$build" "$work/same"
make -s -C "$top" BUILD="$work/faulty" CFLAGS="${CFLAGS:--O2 -g}" INJECT=fibonacci all \
	"$work/faulty/testdata/make_trace" > "$work/make.log" 2>&1
is "$?" 0 "the faulty candidate is built"

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
