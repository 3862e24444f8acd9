#!/bin/sh
# JavaScript functions have their names, files and lines without any flag of node, whatever was at
# their address before, and their stacks reach the root.
. "$(dirname "$0")/../lib.sh"
need_bpf alone
[ "$(uname -m)" = x86_64 ] || skip_all "V8's frames are known on x86-64"
node=${NODE:-node}
"$node" -e 'process.exit(0)' > /dev/null 2>&1 || skip_all "there is no node"
programs="$top/tests/e2e/programs/javascript"

# Of frames of JavaScript: how many in 10,000 have name, file and line. Less than that of few is by
# chance: functions that were interrupted before they had a frame.
cat > "$work/share.py" <<'END'
import json, sys
named = others = 0
for line in open(sys.argv[1]):
    for f in json.loads(line)["stack"]:
        if f.get("object", "").startswith("[js"):
            named += bool(f.get("file") and f.get("line"))
            others += not (f.get("file") and f.get("line"))
        elif f.get("object") == "[jit]" or f["name"].startswith("Builtins_InterpreterEntryTrampoline"):
            others += 1
print(10000 * named // max(named + others, 1))
END

# A sanitized recorder comes later to memory that has changed meanwhile, and to what is mapped at the start.
least=9500
[ -z "${SAN:-}" ] || least=9000
# kinds OPTION...: each kind of function is seen, on the stack that it has.
kinds() {
	holds "kinds $*: recorded" "$record" -q -F 999 -o "$work/kinds.prf" -- "$node" "$@" "$programs/kinds.js" 2000
	"$report" -q -f jsonl "$work/kinds.prf" > "$work/samples"
	number "$(python3 "$work/share.py" "$work/samples") >= $least" \
		"kinds $*: at least $((least / 100)) % of the frames have name, file and line"
	python3 - "$work/samples" > "$work/seen" <<-'END'
	import json, sys
	seen, rooted, wrong = set(), 0, set()
	lines = {"work": 4, "Thing": 7, "method": 8, "get value": 9, "value": 9, "make": 10, "arrow": 13, "property": 15,
	         "holder.property": 15, "shorthand": 16, "generator": 18, "outer": 21, "each": 28}
	for line in open(sys.argv[1]):
	    stack = json.loads(line)["stack"]
	    # C++ code of V8 calls made code by the builtin JSEntry, and regular expressions directly.
	    for f, caller in zip(stack, stack[1:]):
	        if f.get("object") in ("[js]", "[jit]") and caller["name"].startswith("v8::") and "RegExp" not in caller["name"]:
	            wrong.add((f["name"], caller["name"]))
	    stack = [f for f in stack if f.get("object", "").startswith("[js")]
	    mine = [f for f in stack if f["file"].endswith("/kinds.js")]
	    for f, caller in zip(mine, mine[1:]):
	        seen.add(f["name"])
	        if f["name"] in lines and f["line"] != lines[f["name"]]:
	            wrong.add((f["name"], f["line"]))
	        if f["name"] == "outer" and not (caller["name"] == "(anonymous)" and caller["line"] == 1):
	            wrong.add(("outer", caller["name"]))
	    if any(f["file"] == "<anonymous>" for f in stack):
	        seen.add("made at run time")
	print(" ".join(sorted(seen)))
	print("wrong:", sorted(wrong))
	END
	like "$(tail -n 1 "$work/seen")" '^wrong: \[\]$' "kinds $*: each at its line, and called from where it is called"
}

# Interpreted, and by baseline code, functions are not inlined: all kinds are there.
kinds --no-opt --no-sparkplug
for kind in outer Thing method make arrow shorthand generator each work 'made at run time'; do
	like "$(head -n 1 "$work/seen")" "$kind" "interpreted: $kind"
done
kinds --no-opt --always-sparkplug
for kind in outer Thing method make arrow shorthand each work; do
	like "$(head -n 1 "$work/seen")" "$kind" "baseline code: $kind"
done
kinds
like "$("$report" --info "$work/kinds.prf")" 'javascript\.[0-9]* = V8: [0-9]* of [0-9]* frames named' \
	"--info says who named them"
"$report" --info --json "$work/kinds.prf" > "$work/info.json"
number "$(json "$work/info.json" '10000 * d["user_stacks"]["root"] // sum(d["user_stacks"].values())') >= $least" \
	"stacks reach the root"
# For that, V8 puts an object of its own between a function and its script.
export NODE_V8_COVERAGE="$work/coverage"
kinds --no-opt
number "$(ls "$NODE_V8_COVERAGE" | wc -l) > 0" "coverage was measured"
unset NODE_V8_COVERAGE

# judge LOG TRACE: against the program's own clock, no function has another one's name, or line. What
# is wrong goes to the file "wrong".
cat > "$work/judge.py" <<'END'
import bisect, json, sys
log = [line.split() for line in open(sys.argv[1]) if line.strip()]
begins = [int(entry[1]) for entry in log]
inside = named = inlined = 0
wrong = []
for line in open(sys.argv[2]):
    sample = json.loads(line)
    if sample["tid"] != sample["pid"]:
        continue
    at = bisect.bisect(begins, sample["time_ns"]) - 1
    # The call itself takes some microseconds.
    slack = 100000
    running = at >= 0 and int(log[at][1]) + slack < sample["time_ns"] < int(log[at][2]) - slack
    names = [f for f in sample["stack"] if f["name"].startswith("phase_")]
    inside += running
    named += running and bool(names)
    faults = []
    if running and names and names[0]["name"] != log[at][0]:
        faults.append("it is " + log[at][0])
    if running and names and str(names[0].get("line") or log[at][3]) != log[at][3]:
        faults.append("its line is " + log[at][3])
    if len(names) > 1:
        faults.append("it is there twice")
    inner = [f for f in sample["stack"] if f["name"].startswith("within_")]
    # A function may be without its name, but not what others are inlined in.
    if inner and (names or inner[0].get("inlined")) and [f["name"][6:] for f in inner] != [f["name"][5:] for f in names]:
        faults.append("what is inlined is not its own")
    if faults:
        wrong.append("%s: %s" % (", ".join(faults), [(f["name"], f.get("line"), f.get("inlined"), f.get("object"))
                                                     for f in sample["stack"][:8]]))
    inlined += len(inner) and inner[0].get("inlined", False)
open(sys.argv[3], "w").write("\n".join(wrong[:5] + ["%d in all" % len(wrong)]))
print(inside, named, inlined)
END
judge() {
	rm -f "$work/wrong"
	"$report" -q -f jsonl "$2" > "$work/samples"
	python3 "$work/judge.py" "$1" "$work/samples" "$work/wrong" > "$work/judged"
	read -r inside named inlined < "$work/judged"
}

holds "generated functions are recorded" "$record" -q -F 999 -o "$work/generated.prf" -- \
	"$node" --expose-gc "$programs/generated.js" "${SECONDS_OF_GENERATED:-4}" "$work/log"
judge "$work/log" "$work/generated.prf"
is "$(cat "$work/wrong")" "0 in all" "of $named samples of functions that were generated and collected none has a wrong name or line"
number "$inside >= 100" "the program was sampled"
number "$named * 100 >= $inside * 95" "at least 95 % of them have a name"
# What follows differs in what the machine does, not in paths of ours that sanitizers have not seen by now.
[ -z "${SAN:-}" ] || finish
# The collector moves optimized code: addresses in it are other ones then.
cat > "$work/moved.js" <<'END'
function inner(x) { let s = x; for (let i = 0; i < 60; i++) s = (s * 31 + i) | 0; return s; }
function outer(n) { let s = 0; for (let i = 0; i < n; i++) s ^= inner(i); return s; }
const end = Date.now() + Number(process.argv[2]);
while (Date.now() < end) { for (let i = 0; i < 20; i++) outer(20000); gc(); }
END
cat > "$work/moved.py" <<'END'
import json, sys
inlined = alone = 0
for line in open(sys.argv[1]):
    stack = [f for f in json.loads(line)["stack"] if f["name"] in ("inner", "outer")]
    inlined += len(stack) == 2 and stack[0].get("inlined", False)
    alone += len(stack) == 1
print(inlined, alone)
END
moved() {
	"$node" --stress-compaction -e 'process.exit(0)' > /dev/null 2>&1 ||
		{ skip "code that is moved" "node has no option for it"; return; }
	holds "code that is moved is recorded" "$record" -q -F 999 -o "$work/moved.prf" -- \
		"$node" --expose-gc --stress-compaction "$work/moved.js" 1500
	"$report" -q -f jsonl "$work/moved.prf" > "$work/samples"
	python3 "$work/moved.py" "$work/samples" > "$work/judged"
	read -r within alone < "$work/judged"
	number "$within >= 20" "its inlined functions are named"
	number "$within >= 4 * $alone" "after it was moved, too"
}

case $("$node" --version) in
v2[0-4].*)
	number "$inlined >= 20" "functions that were inlined are named, and marked as such"
	moved
	;;
*) skip "functions that were inlined" "it is not known how this version of V8 notes them" ;;
esac

# Isolates that follow each other on one thread count their scripts alike.
headers=$("$node" -p 'require("path").resolve(process.execPath, "../../include/node")')
# compile STANDARD: newer headers want C++20, which older compilers have by another name.
compile() {
	g++ "-std=$1" -shared -fPIC -I"$headers" -o "$work/isolates.node" "$programs/isolates.cc" 2>> "$work/compiled"
}
if [ ! -f "$headers/node.h" ] || ! command -v g++ > /dev/null; then
	skip "isolates that follow each other" "there are no headers of node, or no g++"
elif ! compile gnu++20 && ! compile gnu++2a; then
	skip "isolates that follow each other" "g++ does not compile an addon: $(grep -m 1 error "$work/compiled")"
else
	holds "isolates are recorded" "$record" -q -F 999 -o "$work/isolates.prf" -- \
		"$node" -e "require('$work/isolates.node').run(150, '$work/isolates')"
	judge "$work/isolates" "$work/isolates.prf"
	is "$(cat "$work/wrong")" "0 in all" "of $named samples of functions in isolates that follow each other none has a wrong name or line"
	number "$named >= 50" "they are named"
fi

# Workers have isolates of their own.
cat > "$work/workers.js" <<'END'
const { Worker, isMainThread, workerData } = require('worker_threads');
if (isMainThread)
	for (let i = 0; i < 3; i++)
		new Worker(__filename, { workerData: i });
const spin = [function workerZero() { return run(); }, function workerOne() { return run(); },
	function workerTwo() { return run(); }, function mainThread() { return run(); }];
function run() { const end = Date.now() + 1000; let s = 0; while (Date.now() < end) for (let i = 0; i < 10000; i++) s += i; return s; }
spin[isMainThread ? 3 : workerData]();
END
holds "workers are recorded" "$record" -q -F 999 -o "$work/workers.prf" -- "$node" "$work/workers.js"
"$report" -q --tid "$work/workers.prf" > "$work/folded"
for name in workerZero workerOne workerTwo mainThread; do
	is "$(grep "$name;" "$work/folded" | sed 's/;.*//' | sort -u | wc -l)" 1 "$name ran in one thread"
done

# Waits, and all processes.
cat > "$work/waits.js" <<'END'
function waitsForIt() { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20); }
const end = Date.now() + Number(process.argv[2]);
if (process.argv[3]) require('fs').writeFileSync(process.argv[3], '');
while (Date.now() < end) waitsForIt();
END
holds "waits are recorded" "$record" -q --off-cpu -o "$work/waits.prf" -- "$node" "$work/waits.js" 1500
like "$("$report" -q --off-cpu "$work/waits.prf")" 'waitsForIt;' "waits have the functions that wait"
"$node" "$work/waits.js" 60000 "$work/waits.begun" &
waiting=$!
tries=0
until [ -e "$work/waits.begun" ] || [ $tries -gt 600 ]; do sleep 0.1; tries=$((tries + 1)); done
holds "all processes are recorded" "$record" -q -a --off-cpu -d 1 -o "$work/all.prf"
kill $waiting
wait $waiting 2> /dev/null
number "$("$report" -q --off-cpu "$work/all.prf" | grep -c 'waitsForIt;') >= 1" "with -a, too"

# Without symbols of its builtins, as Debian's libnode.so, it is named as well. Without one of those
# for debuggers it keeps [jit], which is said once.
real=$(readlink -f "$(command -v "$node")")
stripped() {
	"$record" -F 999 -o "$work/stripped.prf" -- "$work/node" "$programs/kinds.js" 500 2> "$work/said" ||
		not_ok "a stripped node is recorded" "$(cat "$work/said")"
}
if strip -w -N 'Builtins_*' -o "$work/node" "$real" 2> /dev/null && "$work/node" -e 'process.exit(0)' 2> /dev/null; then
	stripped
	is "$(grep -c 'not named' "$work/said")" 0 "a node without symbols of builtins: nothing to say"
	"$report" -q -f jsonl "$work/stripped.prf" > "$work/samples"
	number "$(python3 "$work/share.py" "$work/samples") >= 9000" "and its functions have names"
	LC_ALL=C sed -i 's/v8dbg_HeapObjectTag/v8dbg_XeapObjectTag/g' "$work/node"
	stripped
	is "$(grep -c 'its JavaScript functions are not named' "$work/said")" 1 "without symbols for debuggers: said once"
	unlike "$("$report" -q "$work/stripped.prf")" 'outer;' "and no name is made up"
else
	skip "a stripped node" "it does not run"
fi
finish
