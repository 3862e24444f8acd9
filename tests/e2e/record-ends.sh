#!/bin/sh
# However a recording ends, its trace is complete and its status is right.
. "$(dirname "$0")/../lib.sh"
need_bpf
"${CC:-cc}" -O1 -g -fno-omit-frame-pointer -pthread -o "$work/burn" \
	"$top/tests/e2e/programs/burn.c" || skip_all "no compiler"

complete() {
	"$report" --info --json "$1" > "$work/info.json" && json "$work/info.json" 'd["complete"]'
}

# until_begun FILE PID: waits until the recorder has begun its file, or has ended
until_begun() {
	n=0
	until [ -s "$1" ] || [ $n -ge 300 ] || ! kill -0 "$2" 2> /dev/null; do
		n=$((n + 1))
		sleep 0.1
	done
}

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

# The command is told too. Shells start background jobs with SIGINT ignored, so it may need SIGTERM.
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
"$record" -q -d 0.2 -o "$work/longer.prf" -- sh -c 'sleep 1; exit 3'
is $? 3 "a command may last longer than the recording"
is "$(complete "$work/longer.prf")" True "whose trace is complete"

# Under nohup a hangup is not for the recorder: signal 1, the last bit, is not taken.
(trap '' HUP; exec "$record" -q -o "$work/hangup.prf" -- "$work/burn" 0) &
recorder=$!
until_begun "$work/hangup.prf" $recorder
like "$(grep '^SigBlk' /proc/$recorder/status)" '[02468ace]$' "a hangup that is ignored is left alone"
kill -HUP $recorder
kill -TERM $recorder
wait $recorder
is "$(complete "$work/hangup.prf")" True "and the recording ends well"

"$work/burn" 300 &
holds "-p: ends with the process" "$record" -q -o "$work/ended.prf" -p $!
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
