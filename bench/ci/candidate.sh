#!/bin/sh
# A candidate: both builds are measured here and now, so that no other machine and no other day is
# in the comparison, and no history is needed.
#
#     bench/ci/candidate.sh OLD-BUILD NEW-BUILD
#
# Counts (instructions, allocations, sizes of BPF programs) must not rise beyond thresholds.conf.
# CPU time must not rise by 5 % or more, by up to MAX_PAIRS (320) pairs of runs of both builds.
# Status 0: fine; 1: something regressed; 2: it could not be measured; 3: inconclusive, as
# the noise of the machine could hide a slowdown.
set -u
old=${1:?usage: bench/ci/candidate.sh OLD-BUILD NEW-BUILD}
new=${2:?usage: bench/ci/candidate.sh OLD-BUILD NEW-BUILD}
here=$(dirname "$0")
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
regressed=0 inconclusive=0

for program in "$old/prof-bench" "$old/prof-report" "$new/prof-bench" "$new/prof-report" \
	"$new/testdata/make_trace"; do
	[ -x "$program" ] || { echo "candidate.sh: there is no $program" >&2; exit 2; }
done

# judge COMMAND...: keeps its verdict
judge() {
	"$@"
	case $? in
	0) ;;
	1) regressed=1 ;;
	3) inconclusive=1 ;;
	*) exit 2 ;;
	esac
}

# What takes more than one earlier value to judge is left to the pairs.
grep -v t_test "$here/thresholds.conf" > "$work/thresholds.conf"

# gate FILE...: by the counts of the old build, which come first
gate() {
	"$new/prof-bench" gate --thresholds "$work/thresholds.conf" --history "$work/history" \
		--testbed here "$@"
}

# counts NAME [OPTION]: what measure.sh counts of both builds
counts() {
	echo "== $1"
	"$here/measure.sh" ${2:+"$2"} "$work/old" "$old" && "$here/measure.sh" ${2:+"$2"} "$work/new" "$new" || exit 2
	rm -f "$work/history"
	gate -q --allow-missing-baseline "$work"/old/*.json || exit 2
	judge gate "$work"/new/*.json
}

# A fault that makes a sample take a second would keep the rest busy for hours.
counts "One sample" --first
[ $regressed = 0 ] || { echo "candidate.sh: the rest is not measured" >&2; exit 1; }
counts "Counts"

echo "== CPU time of a report"
"$new/testdata/make_trace" -n 100000 -O "$new/prof-report" -o "$work/trace.prf" || exit 2
ab="$new/prof-bench ab --cpu-time --noise 5 --max-pairs ${MAX_PAIRS:-320}"
judge $ab "$old/prof-report" "$new/prof-report" -- -q --no-cache "$work/trace.prf"
echo "== CPU time of the recorder's way of a sample"
judge $ab "$old/prof-bench" "$new/prof-bench" -- once --iterations 3 drain/resolve

[ $regressed = 0 ] || exit 1
[ $inconclusive = 0 ] || exit 3
