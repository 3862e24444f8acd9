#!/bin/sh
# prof-bench bpf and kernel with real programs. No number is expected to have any size.
. "$(dirname "$0")/../lib.sh"
need_bpf

cd "$work" || exit 1
object=$build/bench/suite/xdp_example.bpf.o

output=$("$bench" bpf --object "$object" --test-run --time 0.1 --repeat 1000 --resamples 200 --bmf x.json 2>&1)
status=$?
case $output in
*"not available"*denied* | *"cannot load"*) skip_all "the kernel does not let us load programs" ;;
esac
is "$status" 0 "the XDP example is run"
like "$output" 'bpf/xdp_example +time: .* returns 2' "and passes the packet"
like "$output" 'instructions: (not available|[0-9.]+ per run)' "hardware counters are counted or not available"
is "$(json x.json 'd["bpf/xdp_example"]["latency"]["value"] > 0 and d["bpf/xdp_example"]["verified-instructions"]["value"] > 0')" \
	True "with time and size"

output=$("$bench" bpf --object "$object" --time 0.2 2>&1)
is "$?" 2 "a program that nobody runs has no cost"
like "$output" 'did not run within the window' "and that is said"
output=$("$bench" bpf --id 4294967295 2>&1)
is "$?" 2 "a program that is not there"
output=$("$bench" bpf --name no-such-program 2>&1)
is "$?" 2 "nor one of that name"
printf 'x' > short
output=$("$bench" bpf --object "$object" --test-run --data short 2>&1)
is "$?" 2 "a packet that the kernel refuses"
unlike "$output" 'time:' "gives no number"

if [ -n "${SAN:-}" ]; then
	skip "kernel" "under sanitizers other page faults come between"
	finish
fi
output=$("$bench" kernel --time 0.1 --bmf kernel.json 2>&1)
status=$?
# What it needs of the machine is a lot, and it says so when that is not there.
if [ "$status" != 0 ]; then
	like "$output" '^prof-bench: kernel/[a-z-]+: ' "the kernel path says why it cannot be measured"
	skip "kernel" "$(printf '%s' "$output" | tail -n 1)"
	finish
fi
ok "samples are measured in the kernel"
like "$output" 'run-time +a = \[.*\] \+ b = \[.*\] x user frames' "as a line over frames"
like "$output" 'test-run +a = |by test runs: not available: .' "a wait is measured by test runs, or why it is not"
is "$(json kernel.json 'd["kernel/tables/run-time/frame"]["latency"]["value"] > 0')" True "in BMF, too"
holds "which is valid" "$top/tests/bmf-valid.py" kernel.json

output=$("$bench" kernel --phases --bmf phases.json 2>&1)
if [ "$?" != 0 ]; then
	like "$output" '^prof-bench: kernel --phases: ' "the phases say why they cannot be measured"
	skip "kernel --phases" "$(printf '%s' "$output" | tail -n 1)"
	finish
fi
ok "the phases of samples are measured"
like "$output" 'user stack +[0-9.]+ [num]?s .* [0-9.]+' "with a histogram"
like "$output" 'kernel stack +[0-9.]+ [num]?s ' "also that of the kernel's stack"
is "$(json phases.json 'd["kernel/tables/depth-110/user-stack"]["latency"]["value"] > 0')" True \
	"and in BMF"
finish
