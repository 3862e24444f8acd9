#!/bin/sh
# A trace through a pipe has the same content as one in a file.
. "$(dirname "$0")/../lib.sh"
need_bpf
compile_c -O1 -g -fno-omit-frame-pointer -pthread -o "$work/burn" \
	"$top/tests/e2e/programs/burn.c"

"$record" -q -F 999 -o - -- "$work/burn" 500 | tee "$work/copy.prf" | "$report" - > "$work/piped"
"$report" "$work/copy.prf" > "$work/filed"
holds "the pipe and the copy fold the same" cmp "$work/piped" "$work/filed"
like "$(cat "$work/piped")" 'seventy [0-9]+$' "and hold the samples"
"$report" < "$work/copy.prf" > "$work/stdin"
holds "standard input needs no name" cmp "$work/stdin" "$work/filed"

# What the command prints must not get into the trace, nor the trace's messages into its output.
"$record" -F 99 -o "$work/out.prf" -- sh -c 'echo to-stdout; echo to-stderr >&2' > "$work/out" 2> "$work/err"
is "$(cat "$work/out")" to-stdout "the command's output is only its own"
like "$(cat "$work/err")" to-stderr "its messages too"

# Nobody reads: an error, not a hang and not a signal.
{ "$record" -F 999 -o - -- "$work/burn" 2000 2> "$work/err"; echo $? > "$work/status"; } | true
is "$(cat "$work/status")" 1 "a pipe that nobody reads ends it with status 1"
like "$(cat "$work/err")" 'standard output: cannot write: Broken pipe' "and with a message"

# until_true CONDITION...: waits for it, for half a minute at most
until_true() {
	i=0
	until "$@" || [ $i = 300 ]; do
		sleep 0.1
		i=$((i + 1))
	done
	[ $i -lt 300 ]
}

# A pipe that is open for reading, full and not read, gets the messages: they are left out.
mkfifo "$work/said"
python3 -c 'import fcntl, os, sys, time
end = os.open(sys.argv[1], os.O_RDWR)
fcntl.fcntl(end, 1031, 4096) # F_SETPIPE_SZ
os.write(end, bytes(4096))
open(sys.argv[1] + ".full", "w")
time.sleep(1000)' "$work/said" &
reader=$!
until_true [ -e "$work/said.full" ]
timeout 60 "$record" -v -F 999 -o "$work/quiet.prf" -- "$work/burn" 500 2> "$work/said"
is $? 0 "messages that nobody reads do not stop a recording"
is "$("$report" --info --json "$work/quiet.prf" > "$work/info" && json "$work/info" 'd["complete"]')" True "its trace is complete"
kill $reader

# Such a pipe gets the trace: a signal ends the recorder and its command.
mkfifo "$work/pipe"
python3 -c 'import fcntl, os, sys, time
end = os.open(sys.argv[1], os.O_RDONLY | os.O_NONBLOCK)
fcntl.fcntl(end, 1031, 4096) # F_SETPIPE_SZ
open(sys.argv[1] + ".open", "w")
time.sleep(1000)' "$work/pipe" &
reader=$!
until_true [ -e "$work/pipe.open" ]
"$record" -q -F 999 -o "$work/pipe" -- "$work/burn" 0 2> "$work/err" &
recorder=$!
waits() { grep -q futex /proc/$recorder/wchan; }
ended() { ! grep -q '^State:.[^Z]' /proc/$recorder/status 2> /dev/null; }
command_ended() { ! kill -0 $burn 2> /dev/null; }
# The blocks that may wait for the pipe have become too many.
holds "the recorder waits for the pipe" until_true waits
burn=$(pgrep -P $recorder)
kill -TERM $recorder
holds "a signal ends it while nobody reads" until_true ended
kill -KILL $recorder 2> /dev/null
wait $recorder
is $? 1 "with status 1"
like "$(cat "$work/err")" 'pipe: cannot write, as nothing is read from the pipe' "and a message"
holds "the command has ended, too" until_true command_ended
kill $reader
finish
