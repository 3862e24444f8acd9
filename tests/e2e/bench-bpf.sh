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
is "$?" 2 "an XDP program needs an interface"
like "$output" 'name an interface with --interface' "which is asked for"
output=$("$bench" bpf --object "$object" --interface no-such --time 0.2 2>&1)
is "$?" 2 "one that is there"

# Attached to a place of each kind, with traffic made by a command; in a network of its own.
compile() { # SOURCE ARGUMENTS...
	source=$top/tests/e2e/programs/$1.bpf.c
	shift
	clang -target bpf -O2 -g -idirafter "/usr/include/$(cc -dumpmachine)" -c "$@" "$source" ||
		not_ok "$source is compiled"
}
compile places -o places.o
cat > traffic <<'END'
#!/bin/sh
tc filter show dev lo egress > egress 2> /dev/null
getent hosts localhost > /dev/null
python3 -c 'import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for i in range(200): s.sendto(b"x" * 100, ("127.0.0.1", 9))'
END
chmod +x traffic
cgroup=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
place() { # NAME ARGUMENTS...: attaches the program
	program=$1
	shift
	output=$(unshare -n -m sh -c 'ip link set lo up
		[ -e /sys/kernel/tracing/events ] || mount -t tracefs none /sys/kernel/tracing 2> /dev/null
		"$@"; status=$?; tc qdisc show dev lo; exit $status' \
		sh "$bench" bpf --object places.o --name "$program" "$@" --time 0.2 --resamples 200 -- ./traffic 2>&1)
	status=$?
	case $output in
	*"cannot attach"*"No such file"* | *"there is no"*) skip "$program" "this kernel cannot attach it"; return ;;
	*"missing BPF prog type"*) skip "$program" "this libbpf does not know its section"; return ;;
	esac
	is "$status" 0 "$program is attached and measured"
	like "$output" "bpf/$program +time: +\[.* per run" "with a time per run"
	unlike "$output" 'clsact' "and leaves nothing attached"
}
if unshare -n ip link set lo up 2> /dev/null; then
	place at_xdp --interface lo
	place at_tc --interface lo
	unlike "$(cat egress)" 'at_tc' "to what comes in"
	place at_egress --interface lo
	[ "$status" != 0 ] || like "$(cat egress)" 'at_egress' "to what goes out"
	if [ -n "$cgroup" ]; then place at_cgroup --cgroup "$cgroup"; else skip "at_cgroup" "no cgroup2 is mounted"; fi
	place at_socket --interface lo
	place at_raw_tp
	place at_tracepoint
	place at_uprobe
	place at_kprobe
	place at_clock
	# A tc program stays attached when its loader ends, so a signal ends only the measurement.
	output=$(unshare -n sh -c 'ip link set lo up; "$@"; status=$?; tc qdisc show dev lo; exit $status' \
		sh "$bench" bpf --object places.o --name at_tc --interface lo --time 0.2 --resamples 200 \
		-- sh -c './traffic; kill -TERM $PPID' 2>&1)
	status=$?
	case $output in
	*"cannot attach"*"No such file"*) skip "a signal" "this kernel cannot attach at_tc" ;;
	*)
		is "$status:$(printf '%s\n' "$output" | grep -c 'interrupted$')" 2:1 "one that a signal interrupts has no cost"
		like "$output" '^qdisc noqueue' "and leaves the interface as it was"
		unlike "$output" 'clsact' "and nothing attached" ;;
	esac
	# As many packets as were sent: each of the command's runs sends 200 through the interface.
	runs=$(unshare -n sh -c 'ip link set lo up; "$@"' sh "$bench" bpf --object places.o --name at_xdp --interface lo \
		--time 0.2 --resamples 200 -- ./traffic 2>&1 | sed -n 's/^ *\([0-9,]*\) runs in .*/\1/p' | tr -d ,)
	number "$runs > 0 && $runs % 200 == 0" "every packet was a run"
	output=$(unshare -n "$bench" bpf --object places.o --name at_xdp --interface lo --time 0.2 -- true 2>&1)
	is "$?" 2 "a program that nothing makes run has no cost"
	like "$output" 'did not run within the window' "and that is said"
	output=$("$bench" bpf --object places.o --name at_raw_tp --time 0.2 -- false 2>&1)
	is "$?" 2 "a command that fails makes no traffic"
else
	skip "places" "a network of its own cannot be made here"
fi

# Which instructions of a program take the time, and which source lines they belong to.
compile hot -o hot.o
cat > calls <<'END'
#!/bin/sh
exec dd if=/dev/zero of=/dev/null bs=1 count=20000
END
chmod +x calls
output=$("$bench" bpf --object hot.o --time 1 --resamples 200 --hits -- ./calls 2>&1)
is "$?" 0 "a program is sampled while it runs"
case $output in
*"hits  "*" not available: "*) skip "hits" "the kernel does not show the code, or there is no disassembler" ;;
*)
	like "$output" '[0-9,]+ of [0-9,]+ samples lie in it, [0-9,]+ more in what it called$' "and samples lie in it"
	printf '%s\n' "$output" > hits
	# Shares in a column, self or total, below lines of the source with that text.
	share() { # FIRST_CHARACTER TEXT
		awk -v at="$1" -v text="$2" '
			BEGIN { within = text == "" }
			/^ *; / { within = text == "" || index($0, text) }
			within && substr($0, at, 8) ~ /%/ { sum += substr($0, at, 8) }
			END { print sum + 0 }' hits
	}
	self=1
	total=10
	number "$(share $self 'the division') > 20" "the line that divides has them ($(share $self 'the division') %)"
	number "$(share $total 'the update') > 10" "as does the one that calls the kernel ($(share $total 'the update') %)"
	number "$(share $self 'the update') < 0.5 * $(share $total 'the update')" "which are not its own"
	like "$output" '^divide, [0-9,]+ bytes of machine code' "each function is shown"
	case $(uname -m) in
	x86_64) like "$output" 'call +[a-z_]+_update_elem$' "and what it calls has a name" ;;
	*) skip "the names of calls" "their addresses are in registers" ;;
	esac
	number "$(share $total '') <= 101" \
		"no sample counts twice" ;;
esac
output=$("$bench" bpf --object hot.o --test-run --hits 2>&1)
is "$?" 2 "test runs are not sampled"
"$bench" bpf --object hot.o --time 0.3 --resamples 200 --hits --bmf - > hits.json 2> hits
is "$?" 0 "without a command, it is sampled for a time"
like "$(cat hits)" 'samples lie in it|no hits: of' "which is said on standard error where results go to standard output"
is "$(json hits.json 'list(d)')" "['bpf/hot']" "and is no result"
output=$("$bench" bpf --object places.o --name at_tracepoint --time 0.2 --resamples 200 --hits -- true 2>&1)
case $output in
*"cannot attach"*) skip "hits of a tracepoint" "this kernel cannot attach it" ;;
*) like "$output" 'no hits: of .* while a program of its type runs|hits +not available' "programs of tracepoints have no hits" ;;
esac
printf '#!/bin/sh\n[ "$(cat /proc/$PPID/comm)" != prof-record ] && exec ./calls\n' > picky
chmod +x picky
"$bench" bpf --object hot.o --time 0.3 --resamples 200 --hits --bmf lost.json -- ./picky > lost 2>&1
is "$?" 2 "a recording that fails is an error"
is "$(grep -c 'per run' lost):$(json lost.json 'list(d)')" "1:['bpf/hot']" "but what was measured before stays"

# All programs of an object, and some of them.
compile several -o several.o
output=$("$bench" bpf --object several.o --time 0.2 --resamples 200 --bmf several.json 2>&1)
is "$?" 0 "all programs of an object are measured"
like "$output" 'bpf/runs +time: +\[.* per run' "one that runs has a time"
like "$output" 'bpf/waits +not available: it did not run within the window' "one that does not has none"
is "$(json several.json 'list(d)')" "['bpf/runs']" "nor a result"
output=$("$bench" bpf --object several.o --name runs,waits --time 0.2 2>&1)
is "$?" 2 "those that were asked for must run"
like "$output" 'waits did not run within the window' "or it is said which did not"
output=$("$bench" bpf --object several.o --name runs,other --time 0.2 2>&1)
is "$?" 2 "one that is not in the object"
like "$output" 'holds no program other; it holds runs, waits$' "is told from those that are"
compile several -DREFUSED -o refused.o
output=$("$bench" bpf --object refused.o --time 0.2 2>&1)
is "$?" 2 "one that the kernel refuses"
like "$output" "refused.*; R[0-9]+ invalid mem access" "comes with the verifier's reason"
holds "the others can be chosen" "$bench" bpf --object refused.o --name runs --time 0.2 --resamples 200
compile several -DNOWHERE -o nowhere.o
output=$("$bench" bpf --object nowhere.o --name nowhere --time 0.2 2>&1)
is "$?" 2 "one whose section names no place"
like "$output" 'its section "uprobe" does not say where|this kernel|Operation not' "is not attached"

# The recipe for a project of somebody else.
recipe() { PROF_BENCH=$bench TESTBED=test COUNTS=1 "$top/bench/ci/bpf-object.sh" own.jsonl "$@" --test-run --time 0.1 2>&1; }
output=$(DRY_RUN=1 recipe "$object")
is "$?" 3 "bpf-object.sh does not pass a candidate where the history was lost"
output=$(recipe "$object")
is "$?" 0 "it begins a history"
output=$(recipe "$object")
is "$?" 0 "the same program is fine"
clang -target bpf -O2 -g -DINJECT_fibonacci -I"$top" -idirafter "/usr/include/$(cc -dumpmachine)" -c -o slow.o \
	"$top/bench/suite/xdp_example.bpf.c" || not_ok "a slower program is compiled"
output=$(DRY_RUN=1 recipe slow.o)
is "$?" 1 "one with a loop has regressed"
like "$output" 'REGRESSED +bpf/xdp_example verified-instructions:' "by what the verifier counts"
is "$(wc -l < own.jsonl)" 2 "a candidate is not in the history"
output=$(PROF_BENCH=$bench TESTBED=test "$top/bench/ci/bpf-object.sh" own.jsonl "$object" --test-run --time 0.1 2>&1)
is "$?" 3 "with times it is inconclusive after two runs"
recipe missing.o > /dev/null
is "$?" 2 "an object that is not there is an error"

output=$("$bench" bpf --id 4294967295 2>&1)
is "$?" 2 "a program that is not there"
output=$("$bench" bpf --name no-such-program 2>&1)
is "$?" 2 "nor one of that name"
printf 'x' > short
output=$("$bench" bpf --object "$object" --test-run --data short 2>&1)
is "$?" 2 "a packet that the kernel refuses"
unlike "$output" 'time:' "gives no number"

# A peer that fails says how.
mkdir peers
printf '#!/bin/sh\necho no way >&2\nexit 7\n' > peers/perf
chmod +x peers/perf
output=$(PATH=$PWD/peers:$PATH "$bench" peers --time 0.1 --measurements 2 2>&1)
is "$?" 0 "prof is measured without its peers"
like "$output" '^perf record -g +not available: exit status 7: no way$' "whose failure is said"

if [ -n "${SAN:-}" ]; then
	skip "kernel" "under sanitizers other page faults come between"
	finish
fi
output=$("$bench" kernel --time 0.1 --bmf kernel.json 2>&1)
status=$?
# Without what it needs of the machine it reports what is missing.
if [ "$status" != 0 ]; then
	like "$output" '^prof-bench: kernel/[a-z-]+: ' "the kernel path says why it cannot be measured"
	skip "kernel" "$(printf '%s' "$output" | tail -n 1)"
	finish
fi
ok "samples are measured in the kernel"
like "$output" 'run-time +a = \[.*\] \+ b = \[.*\] x user frames' "as a line over frames"
like "$output" 'test-run +a = |by test runs: not available: .' "a wait is measured by test runs, or why it is not"
like "$output" '  python +a = \[.*\] \+ b = \[.*\] x Python frames \([0-9.]+\)|  python +not available: .' "so are the frames of Python, or why they are not"
like "$output" '  ruby +a = \[.*\] \+ b = \[.*\] x Ruby frames \([0-9.]+\)|  ruby +not available: .' "and those of Ruby"
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
like "$output" 'frames of runtimes +[0-9.]+ [num]?s ' "and what a process pays that has no runtime"
like "$output" 'kernel stack +[0-9.]+ [num]?s ' "also that of the kernel's stack"
is "$(json phases.json 'd["kernel/tables/depth-110/user-stack"]["latency"]["value"] > 0')" True \
	"and in BMF"
finish
