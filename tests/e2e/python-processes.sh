#!/bin/sh
# However a process comes to run Python code, its functions have their names.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/runtimes.sh"
need_bpf
build_python

# named COMMAND...: of how many stacks the innermost Python function is the one that makes them.
named() {
	"$record" -q -o "$work/way.prf" -e "uprobe:$work/libmark.so:mark" -- "$@" || return
	"$report" -f jsonl "$work/way.prf" > "$work/samples"
	python3 -c 'import json, sys
def leaf(line):
    return next((f["name"] for f in json.loads(line)["stack"] if f["kind"] == "script"), None)
leaves = [leaf(line) for line in open(sys.argv[1])]
print(leaves.count("here"), "of", len(leaves))' "$work/samples"
}

embedded() {
	places=$("$2" -c 'import sysconfig as s; v = s.get_config_var
print("-I" + s.get_paths()["include"], "-L" + v("LIBDIR"), "-Wl,-rpath," + v("LIBDIR"), "-lpython" + v("LDVERSION"))')
	if ! "${CC:-cc}" -o "$work/embedded" "$programs/embedded.c" $places 2> "$work/errors"; then
		skip "$1: a program with Python built in" "its headers or its library are not installed"
		return
	fi
	home=$("$2" -c 'import sys; print(sys.prefix)')
	is "$(named env "PYTHONHOME=$home" "$work/embedded" "$programs/ways.py" direct "$work/libmark.so")" \
		"10 of 10" "$1: a program with Python built in"
}

ways() {
	for way in fork spawn forkserver exec thread subinterpreter; do
		is "$(named "$2" "$programs/ways.py" $way "$work/libmark.so")" "10 of 10" "$1: $way"
	done
	embedded "$1" "$2"
}
each_python ways
finish
