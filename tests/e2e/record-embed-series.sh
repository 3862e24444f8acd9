#!/bin/sh
# prof-record --embed with --switch-output: each file of the series gets its names while the next one is
# recorded, and is called whole only then.
. "$(dirname "$0")/../lib.sh"
need_bpf alone
need_tools gcc python3
cd "$work" || exit 1
cat > program.c <<'END'
#include <stdlib.h>
#include <time.h>
volatile int sink;
static inline __attribute__((always_inline)) void inner(void) { for (int i = 0; i < 1000; i++) sink = i; }
__attribute__((noinline)) void outer(void) { inner(); sink = 0; }
static double now(void) { struct timespec t; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); return t.tv_sec + t.tv_nsec / 1e9; }
int main(int argc, char **argv) { while (now() < atof(argv[1])) for (int i = 0; i < 1000; i++) outer(); }
END
need gcc -g -O2 program.c -o program
mkdir empty

# elsewhere OPTIONS...: as on a machine that has none of the programs, nor names that were found earlier
elsewhere() { XDG_CACHE_HOME="$work/none" "$report" --sysroot="$work/empty" "$@" 2> /dev/null; }

# nameless FILE...: those that are damaged, or have samples of the program but not its names
nameless() {
	for file; do
		"$report" --check "$file" > /dev/null 2>&1 || echo "$file: damaged"
		elsewhere "$file" | grep '^program' > folded || continue
		grep -q 'main;outer;inner' folded || echo "$file: $(head -n 1 folded)"
	done
}

# samples FILE...: the sum, with words before it when a file has no end
samples() {
	for file; do "$report" --info --json "$file"; done | python3 -c '
import json, sys
text, at, sum = sys.stdin.read().strip(), 0, 0
while at < len(text):
    d, at = json.JSONDecoder().raw_decode(text, at)
    while text[at:at + 1].isspace():
        at += 1
    if not d["complete"]:
        print("no end", end=" ")
    sum += d["samples"]
print(sum)'
}

# left: files that are not sealed
left() { find . -name '*.partial' -o -name '*.names'; }

said=$("$record" --embed --switch-output=300ms -F 499 -o t.prf -- ./program 1 2>&1)
set -- t.prf.*
number "$# >= 3" "$# files"
mv program away
is "$(nameless "$@")" "" "each has all names, without the program"
like "$(elsewhere "$2")" '^program;.*main;outer;inner' "... also of inlined functions"
is "$(samples "$@")" "$(printf '%s' "$said" | sed -n 's/.*: \([0-9]*\) samples.*/\1/p')" "no sample is lost or doubled"
is "$(left)" "" "and nothing else is left"
is "$(stat -c %a "$@" | sort -u)" 600 "they are nobody else's to read"
mv away program

"$record" -q --embed --switch-output=200ms --max-files=2 -F 499 -o few.prf -- ./program 1
set -- few.prf.*
is $# 2 "--max-files keeps the newest"
is "$(nameless "$@")" "" "... with their names"

"$record" -q --embed=code --switch-output=500ms -F 499 -o code.prf -- ./program 0.7 > out 2>&1
is "$?: $(cat out)" "0: " "--embed=code"
set -- code.prf.*
if "$report" -q -f annotate --function=outer "$1" > listing 2> err; then
	mkdir hidden
	mv program program.c hidden
	elsewhere -f annotate --function=outer "$1" > same
	like "$(cat same)" 'sink = i' "has source lines"
	like "$(cat same)" '^ .*(jmp|ret|b\.)' "and instructions"
	mv hidden/* .
else
	skip "has source lines and instructions" "$(cat err)"
fi
"$record" --embed=all --switch-output=1s -o x.prf -- ./program 0 > out 2>&1
like "$?: $(cat out)" '^2: prof-record: --embed all: must be names or code' "--embed of something else"
"$record" -q --embed -o /dev/null -- ./program 0 > out 2>&1
like "$?: $(cat out)" '^1: .*names are not embedded: /dev/null is no regular file' "what is no file gets no names"
is "$(stat -c %F /dev/null), $(find /dev -maxdepth 1 -name 'null.*')" "character special file, " "... and stays what it is"

# What prof-report does is up to a script from here on.
mkdir alone
cp "$record" alone/prof-record
pretend() {
	{ echo '#!/bin/sh'; cat; } > alone/prof-report
	chmod 755 alone/prof-report
}

pretend <<END
ps -o ni= -p \$\$ >> nice
cat /proc/\$\$/status /proc/\$\$/oom_score_adj > status
sleep 0.2
exec "$report" "\$@"
END
said=$(alone/prof-record --embed --switch-output=500ms -F 499 -o slow.prf -- ./program 1.5 2>&1)
set -- slow.prf.*
number "$# >= 3" "names that take their time: $# files"
is "$(nameless "$@")" "" "they have them"
is "$(samples "$@")" "$(printf '%s' "$said" | sed -n 's/.*: \([0-9]*\) samples.*/\1/p')" "and all samples"
unlike "$said" "did not fit into the ring" "none waited too long for them"
is "$(sort -u nice | tr -d ' ')" 10 "names are found with a low priority"
is "$(tail -n 1 status)" 1000 "by the first process to be killed for its memory"
is "$(awk '/^Cap(Inh|Prm|Eff|Amb)/ { printf "%s ", $2 } /^NoNewPrivs/ { print $2 }' status)" \
	"0000000000000000 0000000000000004 0000000000000004 0000000000000000 1" "that may read files and no more"
rm nice
alone/prof-record -q --embed -F 499 -o one.prf -- ./program 0.1
is "$(sort -u nice | tr -d ' ')" 0 "but once the recording has ended with that of others"

# With that it reads what is another user's.
mkdir theirs
need gcc -g -O2 -Douter=hers program.c -o theirs/program
chown -R 54321 theirs
chmod 700 theirs theirs/program
alone/prof-record -q --embed -F 499 -o theirs.prf -- theirs/program 0.3
like "$(elsewhere theirs.prf)" '^program;.*main;hers;inner' "programs that only another user may read have their names"

pretend <<'END'
echo of this nothing must be left
exit 1
END
alone/prof-record -q --embed --switch-output=300ms -F 499 -o fails.prf -- ./program 0.7 2> err
is $? 1 "where it fails, the status is 1"
set -- fails.prf.*
like "$(samples "$@")" '^[1-9][0-9]*$' "the files are whole all the same"
is "$(left)" "" "and sealed"
is "$(sed -n 's/.*embedded: prof-report failed; prof-report --embed \([^ ]*\) -o FILE does it later.*/\1/p' err | sort | xargs)" "$*" \
	"a message for each says what to do"

# One that never ends: files go on, and a second signal ends it with the recorder.
pretend <<'END'
echo $$ >> pids
exec sleep 1000
END
./program 1000 &
pid=$!
alone/prof-record --embed --switch-output=100ms -F 499 -o hangs.prf -p $pid 2> err &
recorder=$!
n=0
until [ "$(grep -c 'longer than recording' err)" -ge 3 ] || [ $n -ge 300 ]; do
	n=$((n + 1))
	sleep 0.1
done
like "$(cat err)" 'finding them takes longer than recording; prof-report --embed hangs\.prf\.[0-9T.]* -o FILE' "it does not hold up files"
# What killed recorders have left is removed, but not what one that runs still writes.
stale=hangs.prf.20260102T030405.678.partial.names
touch "$stale" "other.$stale" hangs.prf.54321.partial.names
chown 54321 hangs.prf.54321.partial.names
"$record" -q --embed --switch-output=10s -o hangs.prf -- true
is "$(ls "$stale" "other.$stale" hangs.prf.54321.partial.names 2> /dev/null | xargs)" "hangs.prf.54321.partial.names other.$stale" \
	"a copy that was left is removed, and no other file"
rm -f "other.$stale" hangs.prf.54321.partial.names
is "$(find . -name 'hangs.prf.*.names' | wc -l)" 1 "... nor that of a recorder that runs"
n=0
while kill -INT $recorder 2> /dev/null && [ $n -lt 300 ]; do
	n=$((n + 1))
	sleep 0.1
done
wait $recorder
is $? 1 "nor the end"
is "$(left)" "" "all files are sealed"
like "$(samples hangs.prf.*)" '^[1-9][0-9]*$' "and whole"
# gone: whether the only one that was started has ended
gone() { [ "$(grep -c . pids)" = 1 ] && ! ps -o stat= -p "$(cat pids)" | grep -qv Z; }
holds "only one was tried, and it is gone" gone
rm pids
alone/prof-record -q --embed --switch-output=100ms -F 499 -o orphan.prf -p $pid 2> err &
recorder=$!
n=0
until [ -s pids ] || [ $n -ge 300 ]; do
	n=$((n + 1))
	sleep 0.1
done
kill -KILL $recorder
wait $recorder 2> /dev/null
n=0
until gone || [ $n -ge 50 ]; do
	n=$((n + 1))
	sleep 0.1
done
holds "it ends with a recorder that is killed" gone

is "$(find . -name 'orphan.prf.*.names' | wc -l)" 1 "and leaves its copy"

# until_tried: waits until names are looked for
until_tried() {
	n=0
	until [ -s pids ] || [ $n -ge 300 ]; do
		n=$((n + 1))
		sleep 0.1
	done
}

# ends: waits for the end of the recorder; sets $status, which is 137 if it does not end by itself
ends() {
	n=0
	while kill -0 $recorder 2> /dev/null && [ $n -lt 300 ]; do
		n=$((n + 1))
		sleep 0.1
	done
	kill -KILL $recorder 2> /dev/null
	wait $recorder 2> /dev/null
	status=$?
}

rm pids
alone/prof-record -q --embed -F 499 -o 'odd[1]*.prf' -- ./program 0.1 2> err &
recorder=$!
until_tried
kill -KILL $recorder
ends
touch odd1x.prf.names
is "$(ls odd*.prf* | xargs)" "odd1x.prf.names odd[1]*.prf odd[1]*.prf.names" "so does that of a single file"
"$record" -q --embed -o 'odd[1]*.prf' -- true
is "$?: $(ls odd*.prf* | xargs)" "0: odd1x.prf.names odd[1]*.prf" "the next one with that name removes it"

# Whoever stops a service does not wait for names.
rm -f pids
alone/prof-record -q --embed --switch-output=100ms -F 499 -o TERM.prf -p $pid 2> err &
recorder=$!
until_tried
kill -TERM $recorder
ends
is "$status, $(left | grep -F TERM.prf)" "1, " "SIGTERM ends it, and seals all files"
like "$(cat err)" 'names are not embedded: the recorder ends; prof-report --embed TERM\.prf\.[0-9T.]* -o FILE' "... without names"
like "$(samples TERM.prf.*)" '^[1-9][0-9]*$' "... but with all samples"
alone/prof-record -q --embed -F 499 -o HUP.prf -p $pid 2> err &
recorder=$!
until_begun HUP.prf $recorder
kill -HUP $recorder
ends
is "$status, $(ls HUP.prf*)" "1, HUP.prf" "so does SIGHUP with a single file"
like "$(samples HUP.prf)" '^[0-9]*$' "... which is whole"

# Who presses Ctrl-C waits, and is told so. (A shell would unblock signals.)
cat > alone/prof-report <<END
#!/usr/bin/env python3
import os, sys, time
print(os.getpid(), file=open("pids", "w"))
time.sleep(2)
os.execv("$report", sys.argv)
END
rm -f pids
alone/prof-record --embed -F 499 -o INT.prf -p $pid 2> err &
recorder=$!
until_begun INT.prf $recorder
sleep 0.3
kill -INT $recorder
until_tried
kill -INT "$(cat pids)"
kill -TERM "$(cat pids)"
ends
is "$status, $(ls INT.prf*)" "0, INT.prf" "SIGINT ends it once names are found, whatever signals others get with it"
like "$(elsewhere INT.prf)" '^program;.*main;outer;inner' "... and they are in the file"
like "$(cat err)" 'still finding names to embed; Ctrl-C ends without them' "which is said when it takes long"

# A file that waits for its names longer than others that come after it is still one that is too old.
pretend <<END
[ -e first ] || { : > first; until [ -e go ]; do sleep 0.1; done; }
exec "$report" "\$@"
END
alone/prof-record --embed --switch-output=100ms --max-files=2 -F 499 -o old.prf -p $pid 2> err &
recorder=$!
n=0
until [ "$(grep -c 'longer than recording' err)" -ge 4 ] || [ $n -ge 300 ]; do
	n=$((n + 1))
	sleep 0.1
done
is "$(find . -name 'old.prf.*' | sort | head -n 1 | grep -c partial)" 1 "--max-files keeps a file that waits for names"
touch go
kill -INT $recorder
ends
set -- old.prf.*
is "$#, $(left | grep -F old.prf)" "2, " "but not once it has them"

# runs FILE: whether a prof-report still works on it
runs() { pgrep -f "prof-report .*$1" > /dev/null; }

# inspect NAME: what is wrong with the files that a killed recorder has left
inspect() {
	: > starts
	last=$(find . -name "$1.*.partial" | sort | tail -n 1)
	for file in "$1".*; do
		case $file in
		*.names) continue ;;
		*.partial)
			partial=$((partial + 1))
			# Into the newest one it still wrote.
			[ "./$file" = "$last" ] || "$report" --check "$file" > /dev/null 2>&1 || echo "$file: damaged" >> wrong ;;
		*)
			# Where all is slow, as with sanitizers, names may take longer than files.
			if ! grep -q "longer than recording; prof-report --embed $file " err; then
				sealed=$((sealed + 1))
				nameless "$file" >> wrong
			fi ;;
		esac
		"$report" -q --info "$file" 2> /dev/null | grep '^start_monotonic_ns' >> starts
	done
	sort starts | uniq -d >> wrong
	[ "$(find . -name "$1.*.names" | wc -l)" -le 1 ] || find . -name "$1.*.names" >> wrong
	! runs "$1" || echo "prof-report runs on for $1" >> wrong
}

# Killed at any moment, what is sealed has its names, and what is not can be read; nothing is there twice.
sealed=0 partial=0
: > wrong
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
	"$record" -q --embed --switch-output=100ms -F 499 -o "kill$i.prf" -p $pid 2> err &
	recorder=$!
	n=0
	until [ "$(find . -name "kill$i.prf.*" | wc -l)" -ge 2 ] || [ $n -ge 300 ]; do
		n=$((n + 1))
		sleep 0.05
	done
	sleep "$(awk -v seed=$i 'BEGIN { srand(seed); print rand() / 2 }')"
	kill -KILL $recorder
	wait $recorder 2> /dev/null
	n=0
	while runs "kill$i.prf" && [ $n -lt 25 ]; do
		n=$((n + 1))
		sleep 0.2
	done
	inspect "kill$i.prf"
done
kill $pid
number "$sealed > 0 && $partial >= 12" "12 kills left $sealed sealed files, and $partial others"
is "$(cat wrong)" "" "after a kill each of them is as it should be"
finish
