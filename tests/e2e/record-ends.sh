#!/bin/sh
# However a recording ends, its trace is complete and its status is right.
. "$(dirname "$0")/../lib.sh"
need_bpf
compile_c -O1 -g -fno-omit-frame-pointer -pthread -o "$work/burn" \
	"$top/tests/e2e/programs/burn.c"

complete() {
	"$report" --info --json "$1" > "$work/info.json" && json "$work/info.json" 'd["complete"]'
}

# runs PID: one that has ended and was not waited for does not
runs() { grep -q '^State:.[^ZX]' "/proc/$1/status" 2> /dev/null; }

# interrupt NAME SIGNAL ARGUMENTS...: sets status
interrupt() {
	name=$1 signal=$2
	shift 2
	"$record" -q -F 199 -o "$work/$name.prf" "$@" &
	recorder=$!
	until_begun "$work/$name.prf" $recorder
	kill -"$signal" $recorder
	wait $recorder
	status=$?
}

"$work/burn" 0 &
pid=$!
interrupt process INT -p $pid
is "$status" 0 "-p: SIGINT ends it with 0"
is "$(complete "$work/process.prf")" True "-p: the trace is complete"
holds "-p: the process goes on" kill -0 $pid
interrupt all TERM -a
is "$status" 0 "-a: SIGTERM ends it with 0"
is "$(complete "$work/all.prf")" True "-a: the trace is complete"
kill $pid

# The command gets the signal too. Shells start background jobs with SIGINT ignored, so it may need SIGTERM.
interrupt command INT -- "$work/burn" 0
case $status in
130 | 143 | 0) ok "--: SIGINT ends it with the command's status ($status)" ;;
*) not_ok "--: SIGINT ends it with the command's status" "status $status" ;;
esac
is "$(complete "$work/command.prf")" True "--: the trace is complete"

"$record" -q -o "$work/status.prf" -- sh -c 'exit 7'
is $? 7 "the command's status is the recorder's"
is "$(complete "$work/status.prf")" True "its trace is complete"
"$record" -o "$work/closed.prf" -- true 2>&-
is "$(complete "$work/closed.prf")" True "no message goes into the trace when standard error is closed"
"$record" -q -o - -- true >&- 2> "$work/err"
is $? 1 "and no trace goes elsewhere when standard output is"
"$record" -q -o "$work/killed.prf" -- sh -c 'kill -9 $$'
is $? 137 "killed by a signal: 128 and its number"
"$record" -q -d 0.2 -o "$work/longer.prf" -- "$work/burn" 0
is $? 0 "-d ends a command that would last longer"
is "$(complete "$work/longer.prf")" True "whose trace is complete"
# The signal may come before its trap is set: then once more, and longer.
for d in 0.2 2 20; do
	"$record" -q -d $d -o "$work/handles.prf" -- sh -c 'trap "exit 3" TERM; echo > "$0"; while :; do sleep 0.1; done' "$work/handles"
	status=$?
	[ -s "$work/handles" ] && break
done
is $status 3 "one that ends in its own way gives the status"
"$record" -q -d 0.2 -o "$work/stopped.prf" -- sh -c 'kill -STOP $$; exit 5'
is $? 0 "one that is stopped is not waited for"
for d in 0.2 2 20; do
	"$record" -d $d -o "$work/deaf.prf" -- sh -c 'trap "" TERM; echo $$ > "$0"; exec "$1" 0' "$work/deaf" "$work/burn" 2> "$work/err"
	status=$?
	[ -s "$work/deaf" ] && break
done
is $status 0 "one that does not want to end is left alone"
like "$(cat "$work/err")" "goes on as process $(cat "$work/deaf")" "which is reported"
kill -KILL "$(cat "$work/deaf")"

# ... and is not waited for either, if the recorder gets a second signal.
"$record" -o "$work/hurried.prf" -- sh -c 'trap "" INT TERM; echo $$ > "$0"; exec "$1" 0' "$work/hurried" "$work/burn" 2> "$work/err" &
recorder=$!
i=0
until [ -s "$work/hurried" ] || [ $i = 300 ]; do
	sleep 0.1
	i=$((i + 1))
done
kill -INT $recorder
i=0
until "$report" --info "$work/hurried.prf" 2> /dev/null | grep -q "complete *yes" || [ $i = 300 ]; do
	sleep 0.01
	i=$((i + 1))
done
kill -INT $recorder
wait $recorder
is $? 0 "a second signal: it ends, too"
like "$(cat "$work/err")" "is not waited for and goes on as process $(cat "$work/hurried")" "... and says so"
kill -KILL "$(cat "$work/hurried")"

# An existing trace is kept if the command does not exist.
"$record" -q -o "$work/kept.prf" -- true
"$record" -q -o "$work/kept.prf" -- "$work/no-such-command" 2> "$work/err"
is $? 127 "a command that is not there"
is "$(complete "$work/kept.prf")" True "costs no older trace"

# Threads: it ends with the last of those that were named, and their process goes on.
if command -v python3 > /dev/null; then
	cat > "$work/threads.py" <<'P'
import os, sys, threading, time
def wait(path):
    while not os.path.exists(path):
        time.sleep(0.01)
for name in ("one", "two"):
    t = threading.Thread(target=wait, args=(sys.argv[1] + "/" + name,))
    t.start()
    print(t.native_id, flush=True)
wait(sys.argv[1] + "/three")
P
	python3 "$work/threads.py" "$work" > "$work/tids" &
	pid=$!
	n=0
	until [ "$(wc -l < "$work/tids")" = 2 ] || [ $n -ge 300 ]; do n=$((n + 1)); sleep 0.1; done
	"$record" -q -o "$work/threads.prf" -t "$(paste -sd, "$work/tids")" &
	recorder=$!
	until_begun "$work/threads.prf" $recorder
	touch "$work/one"
	n=0
	while [ -d "/proc/$pid/task/$(head -1 "$work/tids")" ] && [ $n -lt 300 ]; do n=$((n + 1)); sleep 0.1; done
	sleep 0.5
	holds "-t: goes on while a thread is left" runs $recorder
	touch "$work/two"
	n=0
	while runs $recorder && [ $n -lt 300 ]; do n=$((n + 1)); sleep 0.1; done
	holds "-t: the process goes on" kill -0 $pid
	kill -KILL $recorder 2> /dev/null
	wait $recorder
	is $? 0 "-t: ends with the last of them"
	is "$(complete "$work/threads.prf")" True "-t: with a complete trace"
	touch "$work/three"
else
	skip "-t: ends with the last of them" "there is no python3"
fi

# Under nohup a hangup is not for the recorder: signal 1, the last bit, is not taken.
(trap '' HUP; exec "$record" -q -o "$work/hangup.prf" -- "$work/burn" 0) &
recorder=$!
until_begun "$work/hangup.prf" $recorder
like "$(grep '^SigBlk' /proc/$recorder/status)" '[02468ace]$' "a hangup that is ignored is left alone"
kill -HUP $recorder
kill -TERM $recorder
wait $recorder
is "$(complete "$work/hangup.prf")" True "and the recording ends well"

"$work/burn" 0 &
pid=$!
"$record" -q -o "$work/ended.prf" -p $pid &
recorder=$!
until_begun "$work/ended.prf" $recorder
kill $pid
wait $recorder
is $? 0 "-p: ends with the process"
is "$(complete "$work/ended.prf")" True "with a complete trace"

# Killed with no chance to end well: what was there is readable, and seen to be incomplete.
"$record" -q -F 999 -o "$work/lost.prf" -- "$work/burn" 0 &
recorder=$!
until_begun "$work/lost.prf" $recorder
n=0
until [ "$(wc -c < "$work/lost.prf")" -gt 1500 ] || [ $n -ge 300 ]; do
	n=$((n + 1))
	sleep 0.1
done
child=$(pgrep -P $recorder)
kill -KILL $recorder
wait $recorder 2> /dev/null
kill $child 2> /dev/null
is "$(complete "$work/lost.prf" 2> /dev/null)" False "kill -9: the trace is known to be incomplete"
number "$(json "$work/info.json" 'd["samples"]') > 0" "kill -9: what was written is there"
finish
