#!/bin/sh
# `make demo`: records a real program for five seconds and shows what it was doing.
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-$PWD/build}

mkdir -p "$build/demo"
${CC:-cc} -O2 -g -pthread -o "$build/demo/amicable" testdata/demo/amicable.c

"$build/prof-record" -F 999 -o "$build/demo/demo.prf" -- "$build/demo/amicable" 5
"$build/prof-report" "$build/demo/demo.prf" > demo.folded
"$build/prof-report" -f html "$build/demo/demo.prf" > demo.html

echo
echo "The ten hottest stacks (samples, frames from root to leaf):"
awk '{ n = $NF; $NF = ""; print n, $0 }' demo.folded | sort -rn | head -n 10 |
	awk '{ n = $1; $1 = ""; printf "%6d %s\n", n, $0 }'
echo
echo "all stacks, for flamegraph.pl: $PWD/demo.folded"
echo "open in a browser:             $PWD/demo.html"
