#!/bin/sh
# Stacks of Java programs reach the root, whatever their virtual machine does with frame pointers.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/runtimes.sh"
need_bpf
build_java "$top/tests/e2e/programs/java/Mix.java" "$top/tests/e2e/programs/java/Maths.java" \
	"$top/tests/e2e/programs/java/Chunks.java"

share() {
	"$report" --info --json "$1" > "$work/info.json"
	json "$work/info.json" '"%.2f" % (100 * d["user_stacks"]["root"] / max(1, sum(d["user_stacks"].values())))'
}

samples() {
	json "$work/info.json" 'sum(d["user_stacks"].values())'
}

# A process that runs already: its options, main class and arguments.
running() {
	: > "$work/says"
	"$home/bin/java" -cp "$work" "$@" > "$work/says" 2> "$work/complains" &
	pid=$!
	tries=0
	until grep -qs running "$work/says" || [ $tries -gt 600 ]; do sleep 0.1; tries=$((tries + 1)); done
	holds "java $* is recorded" "$record" -q -F 1999 -d 1 -o "$work/java.prf" -p $pid
	kill $pid
	wait $pid 2> /dev/null
	number "$(share "$work/java.prf") >= 99.5" "its stacks reach the root ($(share "$work/java.prf") % of $(samples))"
	number "$(samples) >= 100" "and there are some"
}

mix() {
	running "$@" Mix 600 "$work/libnative.so"
}

# Each way to run.
mix -XX:+UseG1GC
# They differ in what the machine does, not in paths of ours: with sanitizers one is enough.
if [ -z "${SAN:-}" ]; then
	mix -XX:+UseParallelGC
	mix -XX:+UseSerialGC
	mix -Xint
	mix -XX:TieredStopAtLevel=1
	mix -XX:-TieredCompilation
	# Among a stub's locals there are return addresses of earlier calls.
	running -Xint Maths
	# A stub without a frame is called from a small one that has the frame pointer.
	running -XX:+PreserveFramePointer -XX:CompileCommand=quiet -XX:CompileCommand=dontinline,Chunks.small Chunks
	folded=$("$report" -q "$work/java.prf")
	like "$folded" ';Chunks.outer;Chunks.small;[a-z]+ chunks' "stubs that find the method of an interface are called"
	unlike "$folded" ';Chunks.outer;[a-z]+ chunks' "and their caller is not missing"
fi

# One that is started. In its first 0.2 s the tables of libjvm.so are not there yet, nor is the machine
# known, and stacks are cut: in a program that lives no longer most are.
holds "a Java program is recorded from its start" "$record" -q -F 1999 -o "$work/short.prf" -- \
	"$home/bin/java" -cp "$work" Mix 3 "$work/libnative.so"
number "$(share "$work/short.prf") >= 90" "its stacks reach the root ($(share "$work/short.prf") %)"
finish
