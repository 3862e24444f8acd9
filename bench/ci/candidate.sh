#!/bin/sh
# A candidate: both builds are measured here and now, so that no other machine and no other day is
# in the comparison, and no history is needed.
#
#     bench/ci/candidate.sh OLD-BUILD NEW-BUILD
#
# Counts (instructions, allocations, sizes of BPF programs) must not rise beyond thresholds.conf.
# CPU time must not rise by 5 % or more, nor the elapsed time of the recorder's way of a sample, which a
# sleep would add to, by 30 % or more, by up to MAX_PAIRS (320) pairs of runs of both builds. For root,
# the functions are named that CPU time went to. Benchmarks that one of the builds lacks are not judged.
# Status 0: fine; 1: something regressed; 2: it could not be measured; 3: inconclusive, as
# the noise of the machine could hide a slowdown, or one build lacks drain/one or drain/resolve.
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

# What one build lacks has nothing to be compared with.
for side in old new; do
	eval "build=\$$side"
	"$build/prof-bench" run --list > "$work/unsorted" && LC_ALL=C sort "$work/unsorted" > "$work/$side.names" || exit 2
	for name in drain/one drain/resolve; do
		grep -qxF "$name" "$work/$side.names" && continue
		echo "candidate.sh: $build/prof-bench lacks $name, so the recorder's way of a sample cannot be judged" >&2
		exit 3
	done
done
LC_ALL=C comm -13 "$work/old.names" "$work/new.names" | sed 's/^/candidate.sh: it is new, and not judged: /' >&2
LC_ALL=C comm -23 "$work/old.names" "$work/new.names" | sed 's/^/candidate.sh: it was removed, and is not judged: /' >&2
BENCH_NAMES=$(LC_ALL=C comm -12 "$work/old.names" "$work/new.names")
export BENCH_NAMES

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
grep -v min= "$here/thresholds.conf" > "$work/thresholds.conf"

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
unless_regressed() {
	[ $regressed = 0 ] || { echo "candidate.sh: the rest is not measured" >&2; exit 1; }
}
ab="$new/prof-bench ab --max-pairs ${MAX_PAIRS:-320}"
counts "One sample" --first
unless_regressed
echo "== Elapsed time of the recorder's way of a sample"
judge $ab --noise 30 --benchmark drain/one "$old/prof-bench" "$new/prof-bench"
unless_regressed
counts "Counts"

echo "== CPU time of a report"
"$new/testdata/make_trace" -n 100000 -O "$new/prof-report" -o "$work/trace.prf" || exit 2
ab="$ab --cpu-time --noise 5"
[ "$(id -u)" != 0 ] || ab="$ab --explain"
judge $ab "$old/prof-report" "$new/prof-report" -- -q --no-cache "$work/trace.prf"
echo "== CPU time of the recorder's way of a sample"
judge $ab --benchmark drain/resolve "$old/prof-bench" "$new/prof-bench"

[ $regressed = 0 ] || exit 1
[ $inconclusive = 0 ] || exit 3
