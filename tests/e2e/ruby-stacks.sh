#!/bin/sh
# Ruby methods stand in the stacks, frame for frame as the program itself says, under their own names,
# however they come to run and whatever was at their address before.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/runtimes.sh"
need_bpf
build_ruby
changes=${CHANGES:-600}
programs_count=${PROGRAMS:-6}

# record_marks TRACE: the calls of mark() in the programs that wait.
record_marks() {
	need record_waiting "$1" -e "uprobe:$work/libmark.so:mark"
	"$report" -q -f jsonl --lines "$1" > "$work/samples"
}

# A method in C has no file; Ruby gives it the line of its caller.
cat > "$work/compare.py" <<'END'
import json, sys
samples, right = {}, 0
for line in open(sys.argv[1]):
    s = json.loads(line)
    stack = [[f["name"], f.get("line", 0), f.get("file", "")] for f in s["stack"] if f["kind"] == "script"]
    samples.setdefault(s["tid"], []).append(stack[1:])
said = [json.loads(line) for line in open(sys.argv[2])]
order, first, methods_in_c = {}, "", set()
for thread, stack in said:
    n = order[thread] = order.get(thread, -1) + 1
    got = samples.get(thread, [])
    got = got[n] if n < len(got) else []
    if len(got) == len(stack) and all(g[0] == s[0] and g[1:] in (s[1:], [0, ""]) for g, s in zip(got, stack)):
        right += 1
        methods_in_c |= {name for name, _, file in got if not file}
    elif not first:
        first = " first: %r instead of %r" % (got, stack)
known = {"each", "map", "each_with_index", "sort_by", "each_pair", "times", "call", "upto", "send", "public_send",
         "instance_eval", "catch", "throw", "resume", "eval", "new", "initialize", "gsub", "inject", "first", "next",
         "loop", "[]", "=="}
print("%d of %d%s, %d" % (right, len(said), first, len(methods_in_c & known) > 15))
END
start_waiting ruby "$programs/oracle.rb" "$work/libmark.so" "$work/said" 100
record_marks "$work/oracle.prf"
all=$(wc -l < "$work/said")
is "$(python3 "$work/compare.py" "$work/samples" "$work/said")" "$all of $all, 1" \
	"Ruby $version: every frame and line of $all stacks"
"$report" --info --json "$work/oracle.prf" > "$work/info.json"
is "$(json "$work/info.json" 'd["statistics"]["ruby_unmerged"] + d["user_stacks"]["root"] - sum(d["user_stacks"].values())')" 0 \
	"Ruby $version: native and Ruby frames match wherever both are whole"
is "$(json "$work/info.json" 'd["statistics"]["script_frames_unnamed"]')" 0 "Ruby $version: no frame lacks its name"

# What the library calls back stands above the library: six times.
is "$(python3 - "$work/samples" <<'END'
import json, re, sys
deepest = 0
for line in open(sys.argv[1]):
    stack = json.loads(line)["stack"]
    names = [f["name"] for f in reversed(stack) if f["name"] == "call_back" or f.get("file")]
    if "call_back" in names:
        assert re.search(r" everything( call_back call)+ snap$", " ".join(names)), names
        deepest = max(deepest, names.count("call_back"))
print(deepest)
END
)" 6 "Ruby $version: native functions keep their place between Ruby methods"

through_new_libraries "Ruby $version" ruby "$programs/new_libraries.rb"

# Where Ruby's own compiler has made the code, the native stack may end in it.
if ruby --yjit -e 'exit RubyVM::YJIT.enabled?' 2> "$work/errors"; then
	start_waiting ruby --yjit --yjit-call-threshold=2 "$programs/oracle.rb" "$work/libmark.so" "$work/said" 20
	record_marks "$work/yjit.prf"
	all=$(wc -l < "$work/said")
	is "$(python3 "$work/compare.py" "$work/samples" "$work/said")" "$all of $all, 1" \
		"Ruby $version --yjit: every frame and line of $all stacks"
	"$report" --info --json "$work/yjit.prf" > "$work/info.json"
	number "$(json "$work/info.json" 'd["user_stacks"]["root"]') < $all" "Ruby $version --yjit: native stacks end in what it made"
else
	skip "Ruby $version --yjit" "this one is built without it"
fi

# The leaf of each stack is f_N in a file that has its name and its line, where N goes up; what is
# lost leaves a gap.
cat > "$work/judge.py" <<'END'
import json, sys
right = wrong = unnamed = 0
last = -1
for line in open(sys.argv[1]):
    stack = [f for f in json.loads(line)["stack"] if f["kind"] == "script"]
    if any(f.get("file", "").endswith("ways.rb") for f in stack):
        continue
    leaf = stack[1] if len(stack) > 1 else {"name": "[script]"}
    place = leaf.get("file", "").strip("<>").split(" line ")
    number = int(leaf["name"][2:]) if leaf["name"].startswith("f_") else -1
    if leaf["name"] == "[script]":
        unnamed += 1
    elif number > last and place == [leaf["name"], str(leaf["line"])]:
        right += 1
        last = number
    else:
        wrong += 1
print(right, wrong, unnamed)
END
# All ways to run code at once.
for way in fork exec thread fiber; do
	start_waiting ruby "$programs/ways.rb" $way "$work/libmark.so"
done
start_waiting ruby "$programs/changing.rb" "$work/libmark.so" "$changes"
record_marks "$work/ways.prf"
read -r right wrong unnamed <<-E
	$(python3 "$work/judge.py" "$work/samples")
	E
is "$wrong" 0 "Ruby $version: none of $changes methods that take each other's place has another's name"
number "$right >= 0.97 * $changes" "Ruby $version: and they have their own ($right, $unnamed without a name)"
is "$(python3 - "$work/samples" <<'END'
import collections, json, sys
# What begins while it is recorded is judged once it has been noticed.
ways, noticed, wrong = collections.Counter(), set(), []
for line in open(sys.argv[1]):
    sample = json.loads(line)
    stack = [f for f in sample["stack"] if f["kind"] == "script"]
    names = [f["name"] for f in stack]
    if any(f.get("file", "").endswith("ways.rb") for f in stack):
        noticed.add(sample["pid"])
    if sample["pid"] not in noticed:
        continue
    way = (names + [""] * 5)[4]
    if names[:4] == ["call", "block in here", "block in " + way, "times"]:
        ways[way] += 1
    else:
        wrong.append(names)
print(*sorted(way for way in ways if ways[way] >= 10), wrong)
END
)" "executed fiber fork thread []" "Ruby $version: in a child, after exec, in a thread, in a fiber"

# Programs that end after 50 ms, and what they wait for: those that the recorder could notice in time.
# Ruby itself starts them, as the recorder reads the command's files before it starts it.
cat > "$work/short.rb" <<'END'
def sum_up(n) = (1..n).map { |i| i * i }.sum
def rest = sleep(0.001)
finish = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) + 0.05
sum_up(500) while Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) < finish
rest
END
need "$record" -q -F 1999 --off-cpu -o "$work/short.prf" -- \
	ruby -e 'ARGV[0].to_i.times { system(RbConfig.ruby, "--disable=gems", ARGV[1]) }' "$programs_count" "$work/short.rb"
short_programs "Ruby $version" "$work/short.prf" sleep
finish
