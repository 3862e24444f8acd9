#!/bin/sh
# The recorder on machines that do not exist, each made from a seed; `make simulate` runs more.
. "$(dirname "$0")/../lib.sh"
simulator=$build/tests/simulate/simulate
need test -x "$simulator"

output=$("$simulator" 1 12 80000)
is "$?" 0 "every sample of twelve machines says what was so at its time"
like "$output" '[1-9][0-9]* lost, [1-9][0-9]* records of the side band lost; .*; 0 of 12 seeds failed' \
	"though rings were full at times"
number "$(echo "$output" | sed 's/.*: \([0-9]*\) samples, \([0-9]*\) of them with nothing lost before,.*/\2 > 0.5 * \1/')" \
	"most samples had to be right in all that they say"
number "$(echo "$output" | sed 's/.*; \([0-9]*\) frames of made functions, \([0-9]*\) named;.*/\2 > 0.8 * \1/')" \
	"and most functions whose names were written have them"
"$simulator" 7 1 30000 > "$work/first"
"$simulator" 7 1 30000 > "$work/second"
is "$(cmp "$work/first" "$work/second" 2>&1)" "" "a seed always does the same"
output=$("$simulator" --break 1 3 30000)
is "$?" 1 "records that are missing without a word are found"
like "$output" 'seed [123]: (a frame|the name) of the sample of task [0-9]+ at [0-9]+: .* instead of ' \
	"by what becomes wrong"
finish
