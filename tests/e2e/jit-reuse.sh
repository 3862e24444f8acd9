#!/bin/sh
# A place that holds one function after another: each sample has the name of its time, or none.
. "$(dirname "$0")/../lib.sh"
need_bpf alone
# The time of a line in a perf map is when the recorder saw it written. A sanitized recorder on a busy
# machine sees that late, and withholds more names.
most=3
[ -z "${SAN:-}" ] || most=1
[ "$(uname -m)" = x86_64 ] || skip_all "the program's code is x86-64's"
compile_c -O1 -fno-omit-frame-pointer -fno-sanitize=all -o "$work/reused" "$top/tests/e2e/programs/reused_code.c"
"$work/reused" 1 1 "$work/times"
[ $? = 77 ] && skip_all "no memory may be writable and executable here"

# Prints "RIGHT WRONG UNNAMED", of the samples within a phase; the names contain PREFIX and the phase.
cat > "$work/judge.py" <<'P'
import bisect, json, re, sys
times, prefix = sys.argv[1:]
phases = [tuple(map(int, line.split())) for line in open(times)]
starts = [p[1] for p in phases]
right = wrong = unnamed = 0
for line in sys.stdin:
    sample = json.loads(line)
    at = bisect.bisect_right(starts, sample['time_ns']) - 1
    if at < 0 or sample['time_ns'] > phases[at][2]:
        continue
    names = [f['name'] for f in sample['stack']]
    found = [m.group(1) for m in (re.search(prefix + r'(\d+)_', n) for n in names) if m]
    if found:
        good = all(n == str(phases[at][0]) for n in found)
        right, wrong = right + good, wrong + (not good)
    else:
        unnamed += '[jit]' in names
print(right, wrong, unnamed)
P
# judge TRACE PREFIX: sets right, wrong and unnamed
judge() {
	"$report" -q -f jsonl "$1" > "$work/samples"
	read -r right wrong unnamed <<E
$(python3 "$work/judge.py" "$work/times" "$2" < "$work/samples")
E
	echo "# $right right, $wrong wrong, $unnamed without a name"
}

for shape in "20 100" "40 12" "8 300"; do
	holds "records $shape" "$record" -q -F 999 -o "$work/trace.prf" -- "$work/reused" $shape "$work/times"
	judge "$work/trace.prf" phase_
	is "$wrong" 0 "no sample has a name of another time ($shape ms)"
	[ "$shape" = "40 12" ] || number "$right > $most * $unnamed" "most have their name ($shape ms)"
done

# Stops the recorder until the command has run for 0.6 s, so that it reads many samples before the first names.
cat > "$work/ahead.sh" <<'S'
for i in $(seq 1000); do
	[ "$(cut -d' ' -f14 /proc/$$/stat)" -lt 60 ] && sleep 0.02 || break
done && kill -CONT $PPID &
kill -STOP $PPID
exec "$@"
S
# record_node COMMAND...: node with its options
record_node() {
	holds "records $*" sh -c 'cd "$1" && shift && exec "$@"' - "$work" \
		"$record" -q -F 999 -o "$work/node.prf" -- "$@" --expose-gc \
		--logfile="$work/v8.log" "$top/tests/truth/phases.js" "$work/times" 120
	judge "$work/node.prf" phase_
}
if node -e 'process.exit(0)' > /dev/null 2>&1; then
	for option in --perf-basic-prof --perf-prof; do
		record_node node $option
		is "$wrong" 0 "no sample has a name of another time ($option)"
		number "$right > $most * $unnamed" "most have their name ($option)"
		record_node sh "$work/ahead.sh" node $option
		is "$wrong" 0 "nor where the recorder comes late ($option)"
		# When lines of a map were written while it was stopped is not known.
		[ $option = --perf-basic-prof ] || number "$right > $most * $unnamed" "and most have their name ($option)"
	done
else
	skip "records node" "there is no node"
fi

# Withheld names are not the runtime's fault.
"$work/reused" 1 1 "$work/times"
"$record" -q -F 4999 -o "$work/fast.prf" -- "$work/reused" 400 1 "$work/times"
output=$("$report" --info "$work/fast.prf" 2>&1)
like "$output" '\[jit\]: withheld: other code took the place' "says why there is no name"
finish
