#!/bin/sh
# What prof-bench's commands write with --bmf is valid Bencher Metric Format.
. "$(dirname "$0")/../lib.sh"

cd "$work" || exit 1
export XDG_CACHE_HOME="$work/cache"

valid() { holds "$1" "$top/tests/bmf-valid.py" "$2"; }

# The check itself can fail.
bad() {
	printf '%s' "$2" > bad.json
	"$top/tests/bmf-valid.py" bad.json > /dev/null 2>&1
	unlike "$?" '^0$' "refused: $1"
}
bad "a bound that is null" '{"b": {"latency": {"value": 1, "lower_value": null}}}'
bad "a value that is no number" '{"b": {"latency": {"value": NaN}}}'
bad "a measure without value" '{"b": {"latency": {"lower_value": 1}}}'
bad "a name of older versions" '{"b": {"latency": {"value": 1, "lower_bound": 1}}}'
bad "a list" '[]'
printf '%s' '{"b": {"latency": {"value": 1, "upper_value": 2.5}}}' > good.json
valid "and what is good is taken" good.json

"$bench" mock --count 3 --bmf mock.json > mock.txt 2>&1
valid "mock" mock.json
"$bench" run --time 0.05 --warm-up 0.01 --measurements 10 --resamples 200 --bmf run.json \
	xdp/classify common/uleb format/encode > run.txt 2>&1
valid "run" run.json
"$bench" ab true true --pairs 8 --max-pairs 8 --resamples 1000 --bmf ab.json > ab.txt 2>&1
valid "ab" ab.json
is "$(json ab.json 'sorted(d["true"])')" "['old-old-ratio', 'ratio']" "which has both ratios"

"$bench" once --bmf once.json xdp/classify > once.txt 2>&1
valid "once" once.json
echo '* latency static - 1e9' > thresholds
"$bench" gate --thresholds thresholds --history history --testbed here --bmf gate.json mock.json \
	> gate.txt 2>&1
valid "gate" gate.json
is "$(cat gate.json)" "$(cat mock.json)" "which has what was judged"
"$bench" history --history history --bmf last.json > last.txt 2>&1
valid "history" last.json
is "$(json last.json 'sorted(d)')" "$(json mock.json 'sorted(d)')" "which has the last entry"

# written FILE NAME COMMAND...: what it could measure here; a command that says that it cannot
# measure, writes nothing.
written() {
	file=$1
	name=$2
	shift 2
	output=$("$bench" "$@" --bmf "$file" 2>&1)
	if [ -e "$file" ]; then
		valid "$name" "$file"
	else
		skip "$name" "$(printf '%s' "$output" | tail -n 1)"
	fi
}
if [ -z "${SAN:-}" ]; then
	written instr.json "instr" instr --iterations 1 xdp/classify
	written heap.json "heap" heap --iterations 1 format/encode
	written bpf.json "bpf" bpf --object "$build/bench/suite/xdp_example.bpf.o" --test-run --time 0.1 \
		--repeat 1000 --resamples 200
	written ring.json "ring" ring --time 0.1
else
	skip "instr, heap, bpf, ring" "what they measure is not for sanitizers"
fi
finish
