#!/bin/sh
# The main branch: measures BUILD, judges it by the history, and adds it to that.
#
#     bench/ci/main.sh HISTORY.jsonl [BUILD [HASH]]
#
# Status 0: fine, or the first run, which begins the history; 1: something regressed; 2: it could not be
# measured; 3: inconclusive, as there are too few values yet, or the noise of the machine could hide a
# slowdown. Set TESTBED to a name for this kind of machine.
set -u
history=${1:?usage: bench/ci/main.sh HISTORY.jsonl [BUILD [HASH]]}
build=${2:-build}
hash=${3:-$(git rev-parse HEAD 2> /dev/null)}
here=$(dirname "$0")
results=$(mktemp -d) || exit 2
trap 'rm -rf "$results"' EXIT

"$here/measure.sh" --time "$results" "$build" || exit 2
missing=
[ -s "$history" ] || missing=--allow-missing-baseline
"$build/prof-bench" gate --thresholds "$here/thresholds.conf" --history "$history" --branch main \
	--hash "${hash:-unknown}" --testbed "${TESTBED:-$(uname -n)}" $missing \
	"$results"/*.json
status=$?
"$build/prof-bench" history --history "$history" --svg "${history%.jsonl}.svg" || exit 2
exit $status
