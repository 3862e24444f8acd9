#!/bin/sh
# However a process comes to run Python code, its functions have their names.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/runtimes.sh"
need_bpf
build_python

# build_embedded PYTHON: a program with this Python built in; fails if it has no header or library.
build_embedded() {
	places=$("$1" -c 'import os, sysconfig as s; v = s.get_config_var
include, libraries = s.get_paths()["include"], v("LIBDIR")
if os.path.exists(include + "/Python.h") and os.path.exists(libraries + "/" + v("LDLIBRARY")):
    print("-I" + include, "-L" + libraries, "-Wl,-rpath," + libraries, "-lpython" + v("LDVERSION"))')
	[ -n "$places" ] || return
	compile_c -o "$work/embedded" "$programs/embedded.c" $places
}

# leaves: of how many calls of each process the innermost Python function is which.
leaves() {
	"$report" -f jsonl "$work/ways.prf" | python3 -c 'import collections, json, sys
processes = collections.defaultdict(collections.Counter)
for line in sys.stdin:
    sample = json.loads(line)
    processes[sample["pid"]][next((f["name"] for f in sample["stack"] if f["kind"] == "script"), "none")] += 1
for names in processes.values():
    print(*(f"{name} {count} of {sum(names.values())}" for name, count in names.items()))'
}

# All ways at once, since the programs sleep before their calls.
ways() {
	set -- "$1" "$2" "$work/libmark.so"
	if build_embedded "$2"; then
		set -- "$@" "$work/embedded"
	else
		skip "$1: a program with Python built in" "its header or its library is not installed"
	fi
	need "$record" -q -o "$work/ways.prf" -e "uprobe:$3:mark" -- sh -c '
		ways=$1 python=$2 library=$3 embedded=${4:-}
		for way in fork spawn forkserver exec thread subinterpreter; do
			"$python" "$ways" $way "$library" &
		done
		[ -z "$embedded" ] ||
			PYTHONHOME=$("$python" -c "import sys; print(sys.prefix)") "$embedded" "$ways" embedded "$library"
		wait' sh "$programs/ways.py" "$2" "$3" "${4:-}"
	leaves > "$work/leaves"
	for way in fork spawn forkserver executed thread subinterpreter ${4:+embedded}; do
		is "$(grep -E "(^| )$way " "$work/leaves")" "$way 10 of 10" "$1: $way"
	done
}
each_python ways

# A shell that is recorded begins Python when the recorder has long begun: timers get the program that
# walks lists of frames only then (record/capture/full_timer).
cat > "$work/later.py" <<'END'
import sys, time
def begun_by_a_target(n):
    return sum(i * i for i in range(n))
end = time.process_time() + float(sys.argv[1])
while time.process_time() < end:
    begun_by_a_target(500)
END
later() {
	[ $found = 1 ] || return
	start_waiting sh -c ': > "$READY"; read -r _; "$1" "$2" "$3"; "$1" "$2" "$3"' sh \
		"$2" "$work/later.py" "$slowness"
	need record_waiting "$work/later.prf" -F 999
	is "$("$report" -q -f jsonl "$work/later.prf" | python3 -c 'import collections, json, sys
named = collections.defaultdict(bool)
for line in sys.stdin:
    sample = json.loads(line)
    names = [f["name"] for f in sample.get("stack", [])]
    if any("PyEval" in name or name == "begun_by_a_target" for name in names):
        named[sample["pid"]] |= "begun_by_a_target" in names
print(*named.values())')" "True True" "$1: children of -p that begin with Python have its functions"
}
each_python later
finish
