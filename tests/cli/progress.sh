#!/bin/sh
# What takes longer than a second says on the terminal how far it is. Here that is as slow as the pipe that
# it reads from or writes to.
. "$(dirname "$0")/../lib.sh"

once_is_enough
command -v script > /dev/null || skip_all "no script"
need "$build/testdata/make_trace" -n 100000 -k 3000 -t 2 -o "$work/it.prf"
cd "$work" || exit 1
half=$(($(stat -c %s it.prf) / 2))

# shows WHAT COMMAND...: a terminal shows it while the trace comes from a pipe that waits in the middle
shows() {
	what=$1
	shift
	rm -f pipe
	mkfifo pipe
	{
		head -c $half it.prf
		sleep 1.2
		tail -c +$((half + 1)) it.prf
	} > pipe &
	script -qec "$* < pipe" /dev/null < /dev/null > said
	wait
	like "$(tr '\r' '\n' < said)" "$what" "prof-report${*#"$report"}"
}

shows '^reading: [0-9.]+ MB' "$report" -f folded - -o out
shows '^reading: [0-9.]+ MB' "$report" --check -
shows '^reading: [0-9.]+ MB' "$report" --dump - -o out
shows '^reading: [0-9.]+ MB' "$report" --embed - -o out.prf
shows ': intact; [0-9]+ blocks' "$report" -q --check -
unlike "$(cat said)" "reading" "... which says nothing of it"

# drains FORMAT: a terminal shows how much of the samples is written, to a pipe that is read slowly until it does
drains() {
	rm -f pipe
	mkfifo pipe
	: > said
	{
		i=0
		until grep -q writing said || [ $((i += 1)) -gt 600 ]; do
			head -c 1000000
			sleep 0.1
		done
		cat
	} < pipe > out &
	script -qfec "$report -f $1 it.prf -o pipe" /dev/null < /dev/null > said
	wait
	like "$(tr '\r' '\n' < said)" '^writing: [0-9]+ %, [0-9]+ s left' "-f $1 says how much is written"
}

drains jsonl
drains script
finish
