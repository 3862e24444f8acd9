#!/bin/sh
# Measures what a gate can judge, into the folder given (default: bench-results): counts, which
# repeat from run to run (instructions.json, report-*.json, heap.json, bpf.json), with --time also
# time.json, and with --only-time that alone. With --first it is what also a build that became a thousand
# times slower does within a minute: one.json and sleep.json. Needs valgrind for the counts and root for
# the BPF part; what the machine does not allow is left out, with a message. Nothing may take longer than
# LIMIT (15m). BENCH_NAMES, if it is set, are the only benchmarks to measure.
#
#     bench/ci/measure.sh [--time | --only-time | --first] [FOLDER [BUILD]]
set -eu
what=
case ${1:-} in --time | --only-time | --first) what=$1; shift ;; esac
folder=${1:-bench-results}
build=${2:-build}
bench() { timeout "${LIMIT:-15m}" "$build/prof-bench" "$@"; }
mkdir -p "$folder"
rm -f "$folder"/*.json

measure_time() {
	bench run --filter '^(common|drain/resolve|format|xdp)|report/(read|tally|symbols|inlines|whole-1e4|demangle)' \
		--cpu-time --time 1 --warm-up 0.2 --measurements 50 --resamples 10000 --baseline "$folder/none" \
		--bmf "$folder/time.json" ${BENCH_NAMES:-}
	rm -f "$folder/none"
}
# Allocations; and elapsed time, as neither counts nor CPU time show a sleep.
measure_one() {
	bench heap --iterations 1 --bmf "$folder/one.json" drain/one
	bench run --time 1 --warm-up 0.2 --measurements 20 --resamples 10000 --baseline "$folder/none" \
		--bmf "$folder/sleep.json" drain/one
	rm -f "$folder/none"
}
case $what in
--time) measure_time ;;
--only-time) measure_time; exit ;;
--first) measure_one; exit ;;
esac

bench instr --iterations 1 --filter '^(common|drain/resolve|format|xdp)' \
	--bmf "$folder/instructions.json" ${BENCH_NAMES:-}
# Reports of real programs' traces, whole: what the report's own benchmarks cannot repeat from one
# build to the next, as they look up places in prof-bench itself.
for trace in "$(dirname "$0")"/../../testdata/fixtures/*.prf; do
	name=$(basename "$trace" .prf)
	bench instr -q --name "prof-report/$name" --bmf "$folder/report-$name.json" -- \
		"$build/prof-report" -q --no-cache "$trace"
done
bench heap --iterations 1 --filter '^(drain/resolve|format|xdp)' \
	--bmf "$folder/heap.json" ${BENCH_NAMES:-}
bench bpf --object "$build/bench/suite/xdp_example.bpf.o" --test-run --time 0.5 \
	--bmf "$folder/bpf.json" || echo "measure.sh: without what BPF programs cost" >&2
