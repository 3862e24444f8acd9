#!/bin/sh
# Builds the known faults in, shows which gate sees which, and that they pass once removed:
#
#   drain      a sleep of up to a second and an allocation for each sample, in the drain
#   fibonacci  the loop in the XDP program
#
# Needs root, valgrind and some minutes. Ends with status 0 when each gate judged as expected.
set -u
cd "$(dirname "$0")/../.." || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
unexpected=0

cat > "$work/thresholds" <<'END'
*  latency           percentage  -  0.3    max=1
*  allocated-blocks  percentage  -  0      max=1
*  instructions      percentage  -  0.005  max=1
END

make -s BUILD=build all && make -s BUILD=build-faults INJECT="drain fibonacci" all || exit 2

# measure BUILD: results of each gate's kind, one file each
measure() {
	"$1/prof-bench" run -q --measurements 10 --time 5 --warm-up 0.1 --baseline "$work/none-$$" \
		--bmf "$work/wall.json" drain/one 2> /dev/null
	"$1/prof-bench" heap -q --iterations 3 --bmf "$work/heap.json" drain/one
	"$1/prof-bench" instr -q --iterations 3 --bmf "$work/instructions.json" drain/one xdp/classify
	"$1/prof-bench" bpf -q --object "$1/bench/suite/xdp_example.bpf.o" --test-run --repeat 100000 \
		--bmf "$work/bpf.json"
}

# expect STATUS FILE WHAT: what the gate says now
expect() {
	output=$(build/prof-bench gate --thresholds "$work/thresholds" --history "$work/history-$2" \
		--testbed here --allow-missing-baseline "$work/$2.json")
	status=$?
	verdict=as-expected
	[ "$status" = "$1" ] || { verdict=UNEXPECTED; unexpected=1; }
	printf '%-12s %-34s status %d  %s\n' "$verdict" "$3" "$status" "$2"
	printf '%s\n' "$output" | grep -E 'REGRESSED' | sed 's/^/    /'
}

measure build
for gate in wall heap instructions bpf; do expect 0 $gate "before"; done
measure build-faults
expect 1 wall "sleep in the drain"
expect 1 heap "allocation in the drain"
expect 1 instructions "Fibonacci loop, built for the host"
expect 1 bpf "Fibonacci loop in the kernel"
measure build
for gate in wall heap instructions bpf; do expect 0 $gate "removed again"; done
exit $unexpected
