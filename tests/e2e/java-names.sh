#!/bin/sh
# Methods of Java programs have their names and lines, as the virtual machine itself reports them.
. "$(dirname "$0")/../lib.sh"
. "$top/tests/runtimes.sh"
need_bpf
# Ways to run differ in what the machine does, not in paths of ours: with sanitizers one is enough.
build_java "$top"/tests/e2e/programs/java/*.java

# The program writes each stack before it calls what is probed. ROUNDS of 14 stacks.
agrees() {
	rounds=$1
	shift
	holds "java $* is recorded" "$record" -q -m 64M -e "uprobe:$work/libnative.so:Java_Oracle_marker" -o "$work/oracle.prf" -- \
		"$home/bin/java" -XX:+UnlockDiagnosticVMOptions -XX:+ShowHiddenFrames "$@" -cp "$work" \
		Oracle "$rounds" "$work/libnative.so" "$work/said"
	"$report" -f jsonl "$work/oracle.prf" > "$work/oracle.jsonl"
	python3 "$top/tests/e2e/java_oracle.py" "$work/said" "$work/oracle.jsonl" > "$work/verdict"
	is "$(cat "$work/verdict")" "$((14 * rounds)) of $((14 * rounds)), $((14 * rounds)) samples" \
		"each stack is the one that the virtual machine reports"
}

if [ -z "${SAN:-}" ]; then
	agrees 700
	agrees 70 -Xint
	agrees 700 -XX:TieredStopAtLevel=1
fi
# Other JDKs, where there are some.
for java in /usr/lib/jvm/*/bin/java; do
	other=$(dirname "$(dirname "$(readlink -f "$java")")")
	[ -z "${SAN:-}" ] && [ "$other" != "$home" ] && [ ! -h "${java%/bin/java}" ] || continue
	"$java" -version 2>&1 | grep -qE 'OpenJDK .*Server VM|HotSpot' || continue
	"$java" --dry-run -cp "$work" Oracle > "$work/dry" 2>&1 || continue
	usual=$home home=$other
	agrees 200 --enable-native-access=ALL-UNNAMED
	home=$usual
done
agrees 700 -XX:-TieredCompilation
like "$("$report" --lines "$work/oracle.prf")" 'Oracle.main \(Oracle.java:[0-9]+\).*Oracle..Lambda[^;]*\.go;Oracle.tiny' \
	"packages, classes and lambdas are written as people write them"

# The comparison can fail.
sed 's/Oracle.tiny/Oracle.tidy/' "$work/said" > "$work/wrong"
unlike "$(python3 "$top/tests/e2e/java_oracle.py" "$work/wrong" "$work/oracle.jsonl")" "^9800 of 9800" "a wrong name is found"

# Classes whose memory is used again for other ones: no name rather than a wrong one.
unloads() {
	holds "java $* is recorded while it makes and unloads classes" "$record" -q -m 64M -F 999 -e cpu-clock \
		-e "uprobe:$work/libnative.so:Java_Unloading_mark" -o "$work/unloading.prf" -- \
		"$home/bin/java" "$@" -cp "$work" Unloading "${SECONDS_OF_CLASSES:-2}" "$work/libnative.so" "$work/said"
	for event in cpu-clock "uprobe:$work/libnative.so:Java_Unloading_mark"; do
		"$report" -f jsonl --event="$event" "$work/unloading.prf" > "$work/unloading.jsonl"
		like "$(python3 "$top/tests/e2e/java_unloading.py" "$work/said" "$work/unloading.jsonl")" "^0 wrong" \
			"no sample of ${event%%:*} has a wrong name"
	done
}

if [ -z "${SAN:-}" ]; then
	unloads -XX:+UseSerialGC
	unloads -Xint
fi
unloads -XX:+UseG1GC
sed 's/[13579]$/0/' "$work/said" > "$work/wrong"
unlike "$(python3 "$top/tests/e2e/java_unloading.py" "$work/wrong" "$work/unloading.jsonl")" "^0 wrong" "a wrong name is found"

like "$("$report" --info "$work/oracle.prf")" 'java\.[0-9]+ = HotSpot [0-9]+: [0-9]+ of [0-9]+ frames named by the machine itself' \
	"--info says where the names come from"

# By samples of time: nearly all of it has names.
holds "a program is recorded" "$record" -q -F 999 -o "$work/mix.prf" -- "$home/bin/java" -cp "$work" Mix 3 "$work/libnative.so"
"$report" "$work/mix.prf" > "$work/folded"
number "$(grep -c '\[jit\]' "$work/folded") * 20 <= $(wc -l < "$work/folded")" "hardly any stack has code without a name"
like "$(cat "$work/folded")" ';Mix.main;Mix.work;Mix.all;.*java\.util\.stream\.' "the stacks are the program's"
finish
