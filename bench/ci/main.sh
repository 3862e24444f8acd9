#!/bin/sh
# The main branch: measures BUILD, judges it by the history, and adds it to that.
#
#     bench/ci/main.sh HISTORY.jsonl [BUILD [HASH]]
#
# Status 0: fine, or the first run, which begins the history; 1: something regressed; 2: it could not be
# measured; 3: inconclusive, as there are too few values yet, or the noise of the machine could hide a
# slowdown. Set TESTBED to a name for this kind of machine, and ACCEPT=1 once to accept what regressed.
set -u
history=${1:?usage: bench/ci/main.sh HISTORY.jsonl [BUILD [HASH]]}
build=${2:-build}
hash=${3:-$(git rev-parse HEAD 2> /dev/null)}
here=$(dirname "$0")
unset BENCH_NAMES # all of them
results=$(mktemp -d) || exit 2
trap 'rm -rf "$results"' EXIT

missing=
[ -s "$history" ] || missing=--allow-missing-baseline
gate() {
	"$build/prof-bench" gate --thresholds "$here/thresholds.conf" --history "$history" --branch main \
		--hash "${hash:-unknown}" --testbed "${TESTBED:-$(uname -n)}" ${ACCEPT:+--accept} $missing "$@"
}
draw() { "$build/prof-bench" history --history "$history" --svg "${history%.jsonl}.svg" || exit 2; }

# A fault that makes a sample take a second would keep the rest busy for hours.
"$here/measure.sh" --first "$results/first" "$build" || exit 2
gate --dry-run "$results"/first/*.json > "$results/said"
case $? in
1)
	echo "main.sh: the rest is not measured" >&2
	gate "$results"/first/*.json
	draw
	exit 1
	;;
2) exit 2 ;;
esac
"$here/measure.sh" --time "$results/rest" "$build" || exit 2
gate "$results"/first/*.json "$results"/rest/*.json
status=$?
draw
exit $status
