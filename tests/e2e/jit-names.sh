#!/bin/sh
# Code made at run time has its names, though process and map are gone when it is looked at.
. "$(dirname "$0")/../lib.sh"
need_bpf
compile_c -O1 -fno-omit-frame-pointer -fno-sanitize=all -o "$work/made" "$top/tests/e2e/programs/made_code.c"
"$work/made" 1
[ $? = 77 ] && skip_all "no memory may be writable and executable here"

holds "records a process with a map" "$record" -q -F 999 -o "$work/map.prf" -- "$work/made" 800
like "$("$report" "$work/map.prf")" '^made;.*main;made up: by a compiler [0-9]' "its code has the name of the map"
like "$("$report" --annotate "$work/map.prf")" 'made up: by a compiler_\[j\] ' "and is known to be made"
like "$("$report" --info "$work/map.prf" 2>&1 | grep "^jit\|ERROR")" 'jit\.[0-9]+ = perf map \(functions: 1\): names used: [1-9]' "--info says where it comes from"
# Half of the time the frame pointer is a counter; it is on the stack.
"$report" "$work/map.prf" > "$work/folded"
number "$(awk '/incomplete/ { n += $NF } END { print n + 0 }' "$work/folded") * 10 <= $(awk '{ n += $NF } END { print n }' "$work/folded")" \
	"hardly any stack is cut"

# Processes that live shorter than samples wait.
cat > "$work/short.sh" <<'S'
i=0
while [ $i -lt 20 ]; do
	"$1" 40 "" &
	echo $! >> "$2"
	wait $!
	i=$((i + 1))
done
S
holds "records processes that live for 40 ms" "$record" -q -F 999 -o "$work/short.prf" -- sh "$work/short.sh" "$work/made" "$work/pids"
while read -r pid; do rm -f "/tmp/perf-$pid.map"; done < "$work/pids"
"$report" --tid "$work/short.prf" > "$work/folded"
number "$(grep 'made up: by a compiler' "$work/folded" | cut -d';' -f1 | sort -u | wc -l) >= 5" "their code has names"

holds "records a process with a dump" "$record" -q -F 999 -o "$work/dump.prf" -- "$work/made" 800 "$work"
like "$("$report" "$work/dump.prf")" '^made;.*main;made_by_dump [0-9]' "its code has the name of the dump"
like "$("$report" --info "$work/dump.prf" 2>&1 | grep "^jit\|ERROR")" 'jit\.[0-9]+ = jitdump \(functions: 1\): names used: [1-9]' "--info says so"

# In a mount and a pid namespace of its own, the map is somewhere else and has another number.
if unshare -mpf --propagation private true 2> /dev/null; then
	cat > "$work/inner.sh" <<'S'
mkdir "$1/in" && mount -t tmpfs none "$1/in" && cp "$1/made" "$1/in" && mount --bind "$1/in" /tmp && exec /tmp/made 800
S
	holds "records a process in namespaces" "$record" -q -F 999 -o "$work/inner.prf" -- \
		unshare -mpf --propagation private sh "$work/inner.sh" "$work"
	like "$("$report" "$work/inner.prf")" 'made;.*main;made up: by a compiler [0-9]' "its code and program have names that only it could see"
else
	skip "records a process in namespaces" "namespaces may not be made here"
fi

# A map that another user planted is not used.
cat > "$work/planted.sh" <<'S'
rm -f "/tmp/perf-$$.map"
ln -s "$1" "/tmp/perf-$$.map"
exec "$2" 700 "$3"
S
printf '0 7fffffffffff planted\n' > "$work/planted.map"
output=$("$record" -F 999 -o "$work/planted.prf" -- sh "$work/planted.sh" "$work/planted.map" "$work/made" "$work" 2>&1)
like "$output" 'warning: process [0-9]+: /tmp/perf-[0-9]+.map is ignored' "a link in its place is reported"
unlike "$("$report" "$work/planted.prf")" 'planted' "and not read"

# Python's own trampolines have neither tables nor frame pointers.
if python3 -X perf -c 'import sys; sys.exit(not sys.is_stack_trampoline_active())' 2> /dev/null; then
	cat > "$work/hot.py" <<'P'
import time
def leaf_function(n):
    return sum([i * i for i in range(n)])
def outer_function():
    end = time.time() + 1.5
    while time.time() < end:
        leaf_function(2000)
outer_function()
P
	# "py::" is in the map's names, and not in those that are read from the interpreter itself.
	holds "records python" "$record" -q -F 499 -o "$work/python.prf" -- python3 -X perf "$work/hot.py"
	like "$("$report" "$work/python.prf")" '_start;.*;(py::)?outer_function[^;]*;.*;(py::)?leaf_function' "its functions have their names, with whole stacks"
else
	skip "records python" "no python3 that knows -X perf"
fi

if node -e 'process.exit(0)' > /dev/null 2>&1; then
	cat > "$work/hot.js" <<'J'
function hotLoopAlpha(n) { let s = 0; for (let i = 0; i < n; i++) s += Math.sqrt(i) * i % 7; return s; }
const end = Date.now() + 1000;
let x = 0;
while (Date.now() < end) x += hotLoopAlpha(1e5);
require('fs').unlinkSync('/tmp/perf-' + process.pid + '.map');
J
	holds "records node" "$record" -q -F 999 -o "$work/node.prf" -- node --perf-basic-prof --logfile="$work/v8.log" "$work/hot.js"
	like "$("$report" "$work/node.prf")" 'hotLoopAlpha' "its functions have their names, and its map is gone"
else
	skip "records node" "there is no node"
fi
finish
