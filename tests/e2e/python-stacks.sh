#!/bin/sh
# Python functions stand in the stacks, frame for frame as the program itself says.
. "$(dirname "$0")/../lib.sh"
need_bpf
[ "$(uname -m)" = x86_64 ] || skip_all "the thread's state is found on x86-64"
programs="$top/tests/e2e/programs/python"
compile_c -O2 -shared -fPIC -o "$work/libmark.so" "$programs/mark.c"

# compare TRACE SAID: "right of all" samples, and the first that differs.
compare() {
	"$report" -f jsonl --lines "$1" > "$work/samples"
	python3 - "$work/samples" "$2" <<-'END'
	import json, sys
	samples, right = {}, 0
	for line in open(sys.argv[1]):
	    s = json.loads(line)
	    if "stack" in s:
	        stack = [[f["name"], f.get("line", 0)] for f in s["stack"] if f["kind"] == "script"]
	        samples.setdefault(s["tid"], []).append(stack[1:])
	said = [json.loads(line) for line in open(sys.argv[2])]
	order, first = {}, ""
	for thread, stack in said:
	    n = order[thread] = order.get(thread, -1) + 1
	    got = samples.get(thread, [])
	    if n < len(got) and got[n] == stack:
	        right += 1
	    elif not first:
	        first = " first: %r instead of %r" % (got[n] if n < len(got) else None, stack)
	print("%d of %d%s" % (right, len(said), first))
	END
}

check() {
	what=$1
	shift
	holds "$what is recorded" "$record" -q -o "$work/python.prf" -e "uprobe:$work/libmark.so:mark" -- \
		"$@" "$programs/oracle.py" "$work/libmark.so" "$work/said" 300
	all=$(wc -l < "$work/said")
	is "$(compare "$work/python.prf" "$work/said")" "$all of $all" "$what: every frame and line of $all stacks"
	"$report" --info --json "$work/python.prf" > "$work/info.json"
	# But for those whose native half is cut off, as 200 calls of 3.8 are.
	is "$(json "$work/info.json" '[d["user_stacks"]["root"] - d["statistics"]["python_merged"]] + [d["statistics"]["python_" + key] for key in ("leaf_skew", "frames_unnamed")]')" \
		"[0, 0, 0]" "$what: native and Python frames match wherever both are whole"
}

# The system's, and all versions that pyenv has.
found=0
for python in "$(command -v /usr/bin/python3)" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/*/bin/python3; do
	[ -x "$python" ] || continue
	version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
	case $version in
	3.8 | 3.9 | 3.10 | 3.11 | 3.12 | 3.13) ;;
	*) continue ;;
	esac
	found=$((found + 1))
	check "Python $version ($python)" "$python"
	[ "$version" != 3.12 ] || check "Python $version -X perf" "$python" -X perf
done
[ $found -gt 0 ] || skip "CPython 3.8 to 3.13" "none is installed"
finish
