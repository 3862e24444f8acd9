#!/bin/sh
# Selecting threads, CPUs, cgroups, children or not, and the time.
. "$(dirname "$0")/../lib.sh"
need_bpf alone
compile_c -O1 -g -pthread -o "$work/burn" "$top/tests/e2e/programs/burn.c"

# Threads of a process: only the one that is named.
"$work/burn" 0 3 &
burn=$!
i=0
until [ "$(ls /proc/$burn/task | wc -l)" = 3 ] || [ $i = 300 ]; do sleep 0.1; i=$((i + 1)); done
tid=$(ls /proc/$burn/task | sort -n | tail -1)
holds "records one thread" "$record" -q -F 499 -d 0.6 -o "$work/tid.prf" -t "$tid"
is "$("$report" --tid "$work/tid.prf" | cut -d';' -f1 | sort -u | sed 's/.*[^0-9]//')" "$tid" "and no other"
like "$("$record" -q -t $tid -p $burn 2>&1)" 'only one of -p and -t' "-t and -p do not go together"
"$record" -q -o "$work/none.prf" -t 2147483646 2> "$work/err"
is $? 1 "a thread that does not exist is an error"
like "$(cat "$work/err")" 'no thread 2147483646' "which is reported"

# CPUs.
first=$(sed 's/[-,].*//' /sys/devices/system/cpu/online)
holds "records one CPU" "$record" -q -F 499 -d 2 -C "$first" -o "$work/cpu.prf" -p $burn
is "$("$report" --cpu "$work/cpu.prf" | sed 's/;.*//; s/.*[^0-9]//' | sort -u)" "$first" "and no other"
kill $burn
if command -v taskset > /dev/null && [ "$(nproc)" -gt 1 ]; then
	# It begins, and maps everything, on another CPU than the one that is sampled.
	other=$(sed 's/.*[-,]//' /sys/devices/system/cpu/online)
	holds "records a program that moves to it" "$record" -q -F 999 -C "$first" -o "$work/moves.prf" -- \
		sh -c 'taskset -pc '"$other"' $$ > /dev/null; "$0" 50; taskset -pc '"$first"' $$ > /dev/null; "$0" 500' "$work/burn"
	like "$("$report" --comm=burn "$work/moves.prf")" '^burn;_start;.*work;seventy' "what it mapped on the other is known"
	holds "records one that does not" taskset -c "$other" "$record" -q -F 999 -d 1 -C "$first" -o "$work/elsewhere.prf" -- \
		taskset -c "$other" "$work/burn" 300
	unlike "$("$report" "$work/elsewhere.prf" 2>&1)" work "what runs elsewhere is not recorded"
fi
"$record" -q -o "$work/none.prf" -C 4000 -a 2> "$work/err"
is $? 1 "a CPU that is not there is an error"
like "$(cat "$work/err")" 'none of the CPUs 4000 is online' "which is reported"

# Children.
holds "records with children" "$record" -q -F 999 -o "$work/with.prf" -- sh -c '"$0" 200; :' "$work/burn"
like "$("$report" "$work/with.prf")" '^burn;' "they are there"
holds "records without children" "$record" -q -F 999 --no-inherit -o "$work/without.prf" -- sh -c '"$0" 200; :' "$work/burn"
unlike "$("$report" "$work/without.prf" 2> /dev/null)" '^burn;' "they are not"

# Those that run already: a child of two threads, and one that has children of its own.
cp "$work/burn" "$work/child"
cp "$work/burn" "$work/grandchild"
sh -c '"$0/child" 0 2 & sh -c "while :; do \"\$0/grandchild\" 30; done" "$0" & wait; :' "$work" &
parent=$!
i=0
until { [ "$(pgrep -c -P $parent)" = 2 ] && pgrep -x grandchild > /dev/null; } || [ $i = 300 ]; do
	sleep 0.1
	i=$((i + 1))
done
"$record" -F 999 -d 0.3 -p $parent -o "$work/parent.prf" 2> "$work/err"
like "$(cat "$work/err")" '^prof-record: [23] children that run already are not recorded; --children' \
	"says how many children run already"
unlike "$("$report" "$work/parent.prf" 2> /dev/null)" child "they are not recorded"
holds "records children that run already" "$record" -F 999 -d 2 --children -p $parent -o "$work/children.prf"
unlike "$output" "not recorded" "then nothing is left out"
is "$("$report" -f jsonl "$work/children.prf" | python3 -c '
import json, sys
threads, processes = set(), set()
for line in sys.stdin:
    sample = json.loads(line)
    if sample["comm"] == "child":
        threads.add(sample["tid"])
    if sample["comm"] == "grandchild":
        processes.add(sample["pid"])
print(len(threads), len(processes) > 1)')" "2 True" "with their threads, and children of children, as they come and go"
pkill -STOP -P $parent # it forks no more
pkill -KILL -P "$(pgrep -d, -P $parent)"
pkill -KILL -P $parent
kill -KILL $parent 2> /dev/null
wait

# Those that fork all the time: there is no moment without new children, and some end meanwhile.
cat > "$work/storm.c" <<'END'
#include <signal.h>
#include <unistd.h>
int main(void)
{
	signal(SIGCHLD, SIG_IGN);
	for (int i = 0; i < 3; i++)
		fork();
	for (;;) {
		if (!fork()) {
			usleep(20000);
			_exit(0);
		}
		usleep(100);
	}
}
END
compile_c -O1 -o "$work/prof-storm" "$work/storm.c"
"$work/prof-storm" &
parent=$!
sleep 0.3
for i in 1 2; do
	holds "children that come and go meanwhile ($i)" \
		timeout -k 5 60 "$record" -q -d 0.1 --children -p $parent -o "$work/storm.prf"
done
while pkill -KILL -f "^$work/prof-storm$"; do :; done
wait

# A delay: no sample is from before its end.
"$work/burn" 0 &
burn=$!
began=$(python3 -c 'import time; print(time.monotonic_ns())')
holds "records after a delay" "$record" -q -F 999 -D 700 -d 0.5 -o "$work/late.prf" -p $burn
kill $burn
first=$("$report" --dump "$work/late.prf" | sed -n 's/^ *sample time_ns=\([0-9]*\) .*/\1/p' | sort -n | head -1)
number "${first:-0} >= $began + 700000000" "its first sample is from after it"

# Cgroups: the tasks of one and those below it, whenever they enter.
mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
group=$mount/prof-test-$$
if [ -n "$mount" ] && mkdir "$group" 2> /dev/null; then
	mkdir "$group/inner" "$group-other"
	cp "$work/burn" "$work/outside"
	cp "$work/burn" "$work/within"
	cp "$work/burn" "$work/below"
	sh -c 'echo $$ > "$1/cgroup.procs" && exec "$2" 0' - "$group-other" "$work/outside" &
	a=$!
	sh -c 'echo $$ > "$1/cgroup.procs" && exec "$2" 0' - "$group" "$work/within" &
	b=$!
	"$record" -q -F 499 -G "prof-test-$$" -o "$work/group.prf" &
	recorder=$!
	until_begun "$work/group.prf" $recorder
	sh -c 'echo $$ > "$1/cgroup.procs" && exec "$2" 0' - "$group/inner" "$work/below" &
	c=$!
	# All have run for a while by then: ticks of 10 ms.
	ran() { for pid; do [ "$(awk '{ print $14 + $15 }' "/proc/$pid/stat")" -ge 30 ] || return 1; done; }
	i=0
	until ran $a $b $c || [ $i = 300 ]; do sleep 0.1; i=$((i + 1)); done
	kill -INT $recorder
	wait $recorder
	is $? 0 "records a cgroup"
	kill -KILL $a $b $c
	wait $a $b $c 2> /dev/null
	is "$("$report" --event=cpu-clock --event=cycles "$work/group.prf" | cut -d';' -f1 | grep -vE '^(sh|sleep)$' | sort -u | tr '\n' ' ')" "below within " "its tasks and those below it, and no others"
	is "$("$report" --cgroup "$work/group.prf" | cut -d';' -f1 | grep -c 'other')" 0 "by the trace's own account too"
	# In a cgroup namespace the hierarchy begins somewhere below its root.
	cat > "$work/namespace.sh" <<'S'
umount "$1" && mount -t cgroup2 none "$1" && exec "$2" -q -F 999 -G /inner -o "$3" -d 60 --max-size=1G
S
	if sh -c 'echo $$ > "$1/cgroup.procs" && exec unshare -Cm --propagation private sh -c "umount $2 && mount -t cgroup2 none $2"' - "$group" "$mount" 2> /dev/null; then
		sh -c 'echo $$ > "$1/cgroup.procs" && exec unshare -Cm --propagation private sh "$2" "$3" "$4" "$5"' - \
			"$group" "$work/namespace.sh" "$mount" "$record" "$work/namespace.prf" &
		recorder=$!
		until_begun "$work/namespace.prf" $recorder
		sh -c 'echo $$ > "$1/cgroup.procs" && exec "$2" 300' - "$group/inner" "$work/below"
		sh -c 'echo $$ > "$1/cgroup.procs" && exec "$2" 300' - "$group-other" "$work/outside"
		kill -INT $recorder
		wait $recorder
		is $? 0 "records a cgroup of a cgroup namespace"
		is "$("$report" "$work/namespace.prf" | cut -d';' -f1 | grep -v '^sh$' | sort -u | tr '\n' ' ')" "below " "with its tasks and no others"
	else
		skip "records a cgroup of a cgroup namespace" "namespaces may not be made here"
	fi
	i=0
	until rmdir "$group/inner" "$group" "$group-other" 2> /dev/null || [ $i = 100 ]; do sleep 0.1; i=$((i + 1)); done
else
	skip "records a cgroup" "no cgroup v2 hierarchy that may be written to"
fi
"$record" -q -o "$work/none.prf" -G no-such-group -d 1 2> "$work/err"
is $? 1 "a cgroup that does not exist is an error"
like "$(cat "$work/err")" 'cgroup' "which is reported"
finish
