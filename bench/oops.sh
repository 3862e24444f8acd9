#!/bin/sh
# `make oops`: a recorder that sleeps and allocates for each sample, as one of this kind once did, is
# profiled by the good one. Then benchmarks show the same of the way of one sample.
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-$PWD/build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What the faulty one records: five samples a second, of which each takes it up to a second.
printf '#!/bin/sh\ni=0\nwhile [ $i -lt 500000 ]; do i=$((i + 1)); done\n' > "$work/load"
chmod +x "$work/load"
"$build/prof-record" -q -F 99 --off-cpu -o "$work/oops.prf" -- \
	"$build/oops/prof-record" -q -F 5 -o "$work/out.prf" -- "$work/load"
"$build/prof-report" -q -f html "$work/oops.prf" > "$build/oops.html"

echo "Where the recorder's first thread spends its time, running and waiting (ns, frames from root to leaf):"
"$build/prof-report" -q --wall -f folded "$work/oops.prf" | awk '{ n = $NF; $NF = ""; print n, $0 }' |
	grep '^[0-9]* prof-record;_start;' | sort -rn | head -n 5

# sample FOLDER: time and allocations of the way of one sample
sample() {
	"$1/prof-bench" run --measurements 10 --time 1 --warm-up 0.1 --resamples 1000 \
		--baseline "$work/baseline" drain/one 2> /dev/null | grep 'time:'
	"$1/prof-bench" heap drain/one 2> /dev/null | grep -E 'allocated-blocks|  oops'
}
echo
echo "The way of one sample through the good recorder:"
sample "$build"
echo "and through the faulty one:"
sample "$build/oops"
echo
echo "open in a browser: $build/oops.html"
