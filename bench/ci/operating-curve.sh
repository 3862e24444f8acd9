#!/bin/sh
# How well the gates find what they should: slowdowns of known size are added to prof-report,
# and the shares of tries in which they are found are counted, by time (prof-bench ab) and by
# instructions; and how often equal programs are called different.
#
#     bench/ci/operating-curve.sh [TRIES] [A/A-RUNS] [PAIRS]     (50, 200, 20)
#
# Needs valgrind, a quiet machine, and about an hour for the defaults. Prints a table in
# Markdown for bench/README.md.
set -eu
tries=${1:-50}
equal=${2:-200}
pairs=${3:-20}
cd "$(dirname "$0")/../.."
make -s all build/prof-report-slow build/testdata/make_trace
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bench=$PWD/build/prof-bench
old=$work/old
new=$work/new
cp build/prof-report-slow "$old"
cp build/prof-report-slow "$new"
build/testdata/make_trace -n 200000 -O build/prof-report -o "$work/trace.prf"

# cpu ROUNDS: the least user time of many runs, in ms
cpu() {
	python3 - "$new" "$work/trace.prf" "$1" <<'END'
import os, resource, subprocess, sys
best = 1e9
for i in range(15):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.argv[1], "-q", "--no-cache", sys.argv[2]], stdout=subprocess.DEVNULL, check=True,
                   env=dict(os.environ, PROF_REPORT_SLOW=sys.argv[3]))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
print(best * 1000)
END
}

# instructions SEED ROUNDS
instructions() {
	build/testdata/make_trace -n 5000 -s "$1" -O build/prof-report -o "$work/small.prf"
	env -i PATH="$PATH" PROF_REPORT_SLOW="$2" valgrind -q --tool=callgrind --callgrind-out-file="$work/counts" \
		"$new" -q --no-cache --no-inlines "$work/small.prf" > /dev/null 2>&1
	sed -n 's/^totals: \([0-9]*\).*/\1/p' "$work/counts"
}

base=$(cpu 0)
million=$(cpu 20000000)
per_round=$(awk "BEGIN { print ($million - $base) / 20000000 }")
base_count=$(instructions 1 0)
printf 'prof-report on 200,000 samples: %.1f ms of CPU time; %s instructions on 5,000 samples; %s pairs\n\n' \
	"$base" "$base_count" "$pairs"
printf '| slowdown | found by time | inconclusive | found by instructions |\n|---|---|---|---|\n'

# judge ROUNDS SEED: 0 same, 1 slower, 3 inconclusive, by time
judge() {
	status=0
	printf '#!/bin/sh\nPROF_REPORT_SLOW=%s exec %s "$@"\n' "$1" "$old" > "$work/slow"
	printf '#!/bin/sh\nPROF_REPORT_SLOW=%s exec %s "$@"\n' 0 "$old" > "$work/fast"
	chmod +x "$work/slow" "$work/fast"
	"$bench" ab -q --cpu-time --seed "$2" --pairs "$pairs" --resamples 1000 \
		"$work/fast" "$work/slow" -- -q --no-cache "$work/trace.prf" || status=$?
	return $status
}

for percent in 1 2 5 10; do
	rounds=$(awk "BEGIN { printf \"%d\", $base * $percent / 100 / $per_round }")
	count_rounds=$(awk "BEGIN { printf \"%d\", $base_count * $percent / 100 / 4 }")
	found=0 unclear=0 counted=0
	for try in $(seq "$tries"); do
		status=0
		judge "$rounds" "$try" || status=$?
		case $status in 0) ;; 1) found=$((found + 1)) ;; 3) unclear=$((unclear + 1)) ;; *) exit 2 ;; esac
		before=$(instructions "$try" 0)
		after=$(instructions "$try" "$count_rounds")
		counted=$((counted + $(awk "BEGIN { print ($after > $before * 1.005) }")))
	done
	printf '| %s %% | %s of %s | %s | %s of %s |\n' "$percent" "$found" "$tries" "$unclear" "$counted" "$tries"
done

alarms=0 unclear=0 counted=0
for try in $(seq "$equal"); do
	status=0
	judge 0 "$((try + 100000))" || status=$?
	case $status in 0) ;; 1) alarms=$((alarms + 1)) ;; 3) unclear=$((unclear + 1)) ;; *) exit 2 ;; esac
	before=$(instructions "$try" 0)
	after=$(instructions "$try" 0)
	counted=$((counted + $(awk "BEGIN { print ($after > $before * 1.005) }")))
done
printf '| none: false alarms | %s of %s | %s | %s of %s |\n' "$alarms" "$equal" "$unclear" "$counted" "$equal"
