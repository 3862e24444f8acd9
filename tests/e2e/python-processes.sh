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
finish
