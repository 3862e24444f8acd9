#!/bin/sh
# A trace through a pipe has the same content as one in a file.
. "$(dirname "$0")/../lib.sh"
need_bpf
"${CC:-cc}" -O1 -g -fno-omit-frame-pointer -pthread -o "$work/burn" \
	"$top/tests/e2e/programs/burn.c" || skip_all "no compiler"

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
finish
