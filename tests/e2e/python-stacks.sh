#!/bin/sh
# Python functions stand in the stacks, frame for frame as the program itself says.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/runtimes.sh"
need_bpf
build_python

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
	rm -f "$work/said"
	start_waiting "$@" "$programs/oracle.py" "$work/libmark.so" "$work/said" 300
	need record_waiting "$work/python.prf" -e "uprobe:$work/libmark.so:mark"
	all=$(wc -l < "$work/said")
	is "$(compare "$work/python.prf" "$work/said")" "$all of $all" "$what: every frame and line of $all stacks"
	"$report" --info --json "$work/python.prf" > "$work/info.json"
	# But for those whose native half is cut off, as 200 calls of 3.8 are.
	is "$(json "$work/info.json" '[d["user_stacks"]["root"] - d["statistics"]["python_merged"]] + [d["statistics"][key] for key in ("python_leaf_skew", "script_frames_unnamed")]')" \
		"[0, 0, 0]" "$what: native and Python frames match wherever both are whole"
}

# Which waits are for the interpreter lock. Where native functions have names, it must be those in
# take_gil() and drop_gil(), and no others.
cat > "$work/judge-waits.py" <<'END'
import json, sys
seen, wrong = set(), 0
for line in open(sys.argv[1]):
    sample = json.loads(line)
    names = [f["name"] for f in sample.get("stack", [])]
    who = next((n for n in ("busy", "sleeps", "waits_for_lock") if n in names), None)
    if sample["event"] != "off-cpu" or not who:
        continue
    waits = names[0] == "[waiting for the GIL]"
    seen.add((who, waits))
    if sys.argv[2] == "named":
        wrong += waits != bool({"take_gil", "drop_gil"} & {n.split(".")[0] for n in names})
print(("busy", True) in seen, ("sleeps", False) in seen, ("waits_for_lock", False) in seen, wrong)
END
# Who gave the lock, from the waker's leaf on: whether busy() did, and how many others than threads
# in take_gil() or drop_gil() are shown to have.
cat > "$work/judge-givers.py" <<'END'
import sys
named, wrong = False, 0
for line in sys.stdin:
    wait, _, waker = line.rpartition(";--;")
    names = waker.rpartition(" ")[0].split(";")
    if not wait.endswith("[waiting for the GIL]") or not {"_start", "start_thread"} & set(names):
        continue
    named |= "busy" in names
    if sys.argv[1] == "named":
        wrong += not {"take_gil", "drop_gil"} & {n.split(".")[0] for n in names}
print(named, wrong)
END
waits() {
	holds "Python $1: waits are recorded" "$record" -q --off-cpu --wakers -o "$work/waits.prf" -- \
		"$2" "$programs/waiting.py"
	"$report" -q -f jsonl --wall "$work/waits.prf" > "$work/samples"
	native=stripped
	grep -q '"take_gil"' "$work/samples" && native=named
	is "$(python3 "$work/judge-waits.py" "$work/samples" $native)" "True True True 0" \
		"Python $1: waits for the GIL are shown as such, and no others"
	is "$("$report" -q --wall --wakers "$work/waits.prf" | python3 "$work/judge-givers.py" $native)" \
		"True 0" "Python $1: and who gave it, with its own functions"
}

# More calls than a sample has room for, in one call of the loop, which stays where they are missing:
# native frames of a call that is 10 deep and of one that is 600 deep, and Python's.
cat > "$work/deeper.py" <<'END'
import ctypes, os, sys
with open(os.environ["READY"], "w"):
    os.read(0, 1)
mark = ctypes.CDLL(sys.argv[1]).mark
def deeper(n):
    return deeper(n - 1) if n else mark()
deeper(10)
deeper(600)
END
too_deep() {
	case $1 in 3.8 | 3.9 | 3.10) return ;; esac # the native stack is cut off, too
	start_waiting "$2" "$work/deeper.py" "$work/libmark.so"
	need record_waiting "$work/deeper.prf" -e "uprobe:$work/libmark.so:mark"
	is "$("$report" -q -f jsonl "$work/deeper.prf" | python3 -c 'import json, sys
kinds = [[f["kind"] == "script" for f in json.loads(line)["stack"]] for line in sys.stdin]
counts = [(stack.count(False), stack.count(True)) for stack in kinds]
print(counts[1][0] - counts[0][0], counts[0][1], counts[1][1])')" "1 12 512" \
		"Python $1: the loop stays where its outermost functions are missing"
}

# A program may write into its own list of frames: one that is its own caller.
cat > "$work/circle.py" <<'END'
import ctypes, os, sys
with open(os.environ["READY"], "w"):
    os.read(0, 1)
mark = ctypes.CDLL(sys.argv[1]).mark
def circle():
    frame = ctypes.c_void_p.from_address(id(sys._getframe()) + 24).value
    caller = ctypes.c_void_p.from_address(frame + (8 if sys.version_info >= (3, 12) else 48))
    before = caller.value
    caller.value = frame
    mark()
    caller.value = before
circle()
mark()
END
circle() {
	case $1 in 3.11 | 3.12 | 3.13) ;; *) return ;; esac # where that list is of this kind
	start_waiting "$2" "$work/circle.py" "$work/libmark.so"
	need record_waiting "$work/circle.prf" -e "uprobe:$work/libmark.so:mark"
	is "$("$report" -q -f jsonl "$work/circle.prf" | python3 -c 'import json, sys
names = [[f["name"] for f in json.loads(line)["stack"]] for line in sys.stdin]
print(*(stack.count("circle") > 500 for stack in names), names[1].count("<module>"))')" "True False 1" \
		"Python $1: a list of frames that goes round ends, and the next one is whole"
}

ways() {
	check "Python $1 ($2)" "$2"
	circle "$1" "$2"
	waits "$1" "$2"
	too_deep "$1" "$2"
	[ $found != 1 ] || through_new_libraries "Python $1" "$2" "$programs/new_libraries.py"
	if [ "$1" = 3.12 ]; then
		check "Python $1 -X perf" "$2" -X perf
		through_new_libraries "Python $1 -X perf" "$2" -X perf "$programs/new_libraries.py"
	fi
}
each_python ways
finish
