#!/bin/sh
# Python functions have their own names, whatever was at their address before, and however short
# their process lives.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/runtimes.sh"
need_bpf
build_python
changes=${CHANGES:-1500}
programs_count=${PROGRAMS:-10}

# names_of PROGRAM INTERPRETER COUNT [FUNCTION TIMES]: sets right, wrong and unnamed. The leaf of each
# stack is f_N in a file that has its name and its line; N goes up and comes TIMES times; what is lost
# leaves a gap.
names_of() {
	start_waiting "$2" "$programs/$1" "$work/libmark.so" "$3"
	need record_waiting "$work/python.prf" -e "uprobe:${4:-$work/libmark.so:mark}"
	"$report" -q -f jsonl --lines "--event=uprobe:*" "$work/python.prf" > "$work/samples"
	read -r right wrong unnamed <<-E
	$(python3 "$work/judge.py" "$work/samples" "${5:-1}")
	E
}
cat > "$work/judge.py" <<'END'
import collections, json, sys
right = wrong = unnamed = 0
last, times = -1, collections.Counter()
for line in open(sys.argv[1]):
    leaf = next((f for f in json.loads(line)["stack"] if f["kind"] == "script"), {"name": "[script]"})
    place = leaf.get("file", "").strip("<>").split(" line ")
    number = int(leaf["name"][2:]) if leaf["name"].startswith("f_") else -1
    times[number] += 1
    if leaf["name"] == "[script]":
        unnamed += 1
    elif number >= last and times[number] <= int(sys.argv[2]) and place == [leaf["name"], str(leaf["line"])]:
        right += 1
        last = number
    else:
        wrong += 1
print(right, wrong, unnamed)
END

changing() {
	names_of changing.py "$2" "$changes"
	is "$wrong" 0 "$1: none of $changes functions that take each other's place has another's name"
	number "$right >= 0.97 * $changes" "$1: and they have their own ($right, $unnamed without a name)"
	names_of forking.py "$2" 20
	is "$wrong" 0 "$1: no child of one process has another's name"
	number "$right >= 18" "$1: and they have their own ($right of 20)"
}

# Interpreters of which each has the address, the code addresses and the counts of earlier ones; and
# line tables that are not whole in a sample, and gone when the recorder asks for them.
interpreters() {
	case $1 in 3.8 | 3.9 | 3.10 | 3.11 | 3.14) return ;; esac
	libc=$("$2" -c 'print(next(l.split()[5] for l in open("/proc/self/maps") if "/libc" in l))')
	MALLOC_MMAP_THRESHOLD_=4096
	export MALLOC_MMAP_THRESHOLD_
	names_of interpreters.py "$2" 300 "$libc:getppid" 3
	unset MALLOC_MMAP_THRESHOLD_
	is "$wrong" 0 "$1: no function of an interpreter has a name or line of one that was destroyed"
	number "$right >= 870" "$1: and they have their own ($right of 900, $unnamed without a name)"
}

# Programs that end after 50 ms: the samples that run Python code have its names. The loop as leaf
# may have no frame yet, or no more; 3.11 and 3.12 have for some instructions a frame that is not
# written yet.
cat > "$work/short.py" <<'END'
import time
def sum_up(n):
    return sum(i * i for i in range(n))
end = time.process_time() + 0.05
while time.process_time() < end:
    sum_up(500)
END
# Of the program that starts them, which forks each time, a page may be on its way to a copy when its
# code is to be read: it counts apart.
cat > "$work/judge-short.py" <<'END'
import json, sys
named, starter = set(), None
unnamed, without, with_names = [0, 0], [0, 0], [0, 0]
for line in open(sys.argv[1]):
    sample = json.loads(line)
    starter = starter or sample["pid"]
    short = sample["pid"] != starter
    stack = [f for f in sample.get("stack", []) if f["kind"] != "kernel"]
    names = [f["name"] for f in stack if f["kind"] == "script"]
    unnamed[short] += "[script]" in names
    if "sum_up" in names:
        named.add(sample["pid"])
    with_names[short] += len(names) > 0
    without[short] += not names and any(f["name"] == "_PyEval_EvalFrameDefault" for f in stack[1:])
print(len(named), *unnamed, *without, *with_names)
END
# The interpreter runs itself: the recorder reads the command's files before it starts it.
cat > "$work/run-often.py" <<'END'
import subprocess, sys
for _ in range(int(sys.argv[1])):
    subprocess.run([sys.executable, "-S", "-E"] + sys.argv[2:])
END
short() {
	holds "$1: short programs are recorded" "$record" -q -F 1999 -o "$work/short.prf" -- \
		"$2" "$work/run-often.py" "$programs_count" "$work/short.py"
	"$report" -f jsonl "$work/short.prf" > "$work/samples"
	read -r named starter_unnamed unnamed starter_without without starter_with with <<-E
	$(python3 "$work/judge-short.py" "$work/samples")
	E
	is "$("$report" -q --script-only -f jsonl "$work/short.prf" | python3 -c 'import json, sys
print(*{f["kind"] for line in sys.stdin for f in json.loads(line).get("stack", [])})')" script \
		"$1: --script-only leaves nothing else"
	is "$named" "$programs_count" "$1: each of $programs_count programs of 50 ms has its functions"
	number "$unnamed + $without <= 0.005 * $with" "$1: and hardly a sample lacks them ($unnamed without names, $without without frames, $with with both)"
	number "$starter_unnamed + $starter_without <= 1 + 0.1 * $starter_with" "$1: nor one of the program that starts them ($starter_unnamed without names, $starter_without without frames, $starter_with with both)"
}

# A function that the interpreter's own Python code calls from its first moment on.
early() {
	file=$("$2" -c 'import os, sys
print(next((l.split()[5] for l in open("/proc/self/maps") if "libpython" in l), os.path.realpath(sys.executable)))')
	holds "$1: starts are recorded" "$record" -q -o "$work/early.prf" -e "uprobe:$file:PyImport_ImportModuleLevelObject" -- \
		"$2" "$work/run-often.py" 10 -c 'import stat'
	"$report" -f jsonl "$work/early.prf" > "$work/samples"
	is "$(python3 - "$work/samples" <<-'END'
	import json, sys
	named = unnamed = 0
	command = None
	for line in open(sys.argv[1]):
	    sample = json.loads(line)
	    stack = sample.get("stack", [])
	    # The first of them is the command: a busy machine may start it before its file is known.
	    command = command or sample["pid"]
	    if sample["pid"] == command:
	        continue
	    if any(f["kind"] == "script" for f in stack):
	        named += 1
	    elif any(f["name"] == "_PyEval_EvalFrameDefault" for f in stack):
	        unnamed += 1
	print(named > 100, unnamed)
	END
	)" "True 0" "$1: no stack of a process that has just begun lacks its Python functions"
}

# A table and a name that are longer than what the kernel half has room for. The programs wait, so that
# the rest can be read from them: all versions at once.
cat > "$work/long.py" <<END
import ctypes, os, time
with open(os.environ["READY"], "w"):
    os.read(0, 1)
library = ctypes.CDLL("$work/libmark.so")
name = "n" * 1000
body = "".join("    x = %d if x != %d else x + 1\n" % (i, i + 1) for i in range(3000))
scope = {"mark": library.mark}
exec(compile("def %s(x):\n%s    mark()\n    return x\n" % (name, body), "<%s>" % ("p" * 500), "exec"), scope)
scope[name](1)
time.sleep(2)
END
longs=
start_long() {
	start_waiting "$2" "$work/long.py"
	longs="$longs $1:$!"
}
end_long() {
	need record_waiting "$work/long.prf" -e "uprobe:$work/libmark.so:mark"
	"$report" -f jsonl --lines "$work/long.prf" > "$work/samples"
	for long in $longs; do
		is "$(python3 -c 'import json, sys
samples = [json.loads(line) for line in open(sys.argv[1])]
f = next(f for s in samples if s["pid"] == int(sys.argv[2]) for f in s["stack"] if f["kind"] == "script")
print(len(f["name"]), len(f["file"]), f["line"])' "$work/samples" "${long#*:}")" "1000 502 3002" \
			"${long%:*}: long names, paths and tables are whole"
	done
}

# Functions that are gone before the recorder, which is stopped, sees their names.
stopped() {
	start_waiting "$1" "$programs/changing.py" "$work/libmark.so" 2500
	# The program has ended when its file is not there any more, though it is not waited for yet.
	need "$record" -q -o "$work/stopped.prf" -e "uprobe:$work/libmark.so:mark" -p "$waiting" -- \
		sh -c 'kill -STOP $PPID; echo >&3; i=0; while [ -e "/proc/$1/exe" ] && [ $i -lt 600 ]; do sleep 0.1; i=$((i + 1)); done; kill -CONT $PPID' \
		sh "$waiting"
	exec 3>&-
	wait "$waiting"
	waiting=
	"$report" -q -f jsonl --lines "$work/stopped.prf" > "$work/samples" 2> "$work/errors"
	read -r right wrong unnamed <<-E
	$(python3 "$work/judge.py" "$work/samples" 1)
	E
	is "$wrong $unnamed" "0 0" "names wait for a recorder that is stopped"
	number "$right > 1500" "and thousands of them ($right of 2500)"
}

first=
all_of() {
	first=${first:-$2}
	changing "$1" "$2"
	interpreters "$1" "$2"
	short "$1" "$2"
	early "$1" "$2"
}
each_python all_of
if [ -n "$first" ]; then
	each_python start_long
	end_long
	stopped "$first"
fi

# Programs of all kinds at once, in one recording of the whole machine.
together() {
	cat > "$work/busy.py" <<-'END'
	import sys
	def python_work(n):
	    return sum(i * i for i in range(n))
	python_work(1000)
	open(sys.argv[1], "w")
	while True:
	    python_work(1000)
	END
	cat > "$work/busy.js" <<-'END'
	function nodeWork(n) { let s = 0; for (let i = 0; i < n; i++) s += i % 7; return s; }
	nodeWork(1000);
	require("fs").writeFileSync(process.argv[2], "");
	for (;;) nodeWork(100000);
	END
	cat > "$work/busy.c" <<-'END'
	#include <fcntl.h>
	static volatile long sum;
	__attribute__((noinline)) void native_work(long n) { for (long i = 0; i < n; i++) sum += i; }
	int main(int argc, char **argv) { open(argv[1], O_CREAT, 0600); for (;;) native_work(1000000); }
	END
	compile_c -O2 -w -o "$work/busy" "$work/busy.c"
	wanted="native_work"
	"$work/busy" "$work/ready.native_work" & pids=$!
	if command -v node > /dev/null; then
		node "$work/busy.js" "$work/ready.nodeWork" & pids="$pids $!"
		wanted="$wanted nodeWork"
	fi
	"$first" "$work/busy.py" "$work/ready.python_work" & pids="$pids $!"
	wanted="$wanted python_work"
	for name in $wanted; do
		for _ in $(seq 300); do [ -e "$work/ready.$name" ] || sleep 0.1; done
	done
	holds "programs of all kinds are recorded" "$record" -q -a -F 999 -o "$work/together.prf" -- sleep 1
	kill $pids
	wait $pids 2> /dev/null
	"$report" -q -f jsonl "$work/together.prf" > "$work/samples"
	is "$(python3 - "$work/samples" $wanted <<-'END'
	import json, sys
	functions = {f["name"] for line in open(sys.argv[1]) for f in json.loads(line).get("stack", [])}
	print(*(name for name in sys.argv[2:] if name in functions))
	END
	)" "$wanted" "programs of all kinds have their functions in one trace"
}
[ -z "$first" ] || together
finish
