#!/bin/sh
# Children, threads, names and programs are followed from their first to their last moment.
. "$(dirname "$0")/../lib.sh"
need_bpf
for program in family burn; do
	compile_c -O1 -g -fno-omit-frame-pointer -pthread -o "$work/$program" "$top/tests/e2e/programs/$program.c"
done

# A child burns 20 ms: at 1999 Hz about 40 samples, and never none.
holds "records 60 children" "$record" -q -F 1999 -o "$work/family.prf" -- "$work/family" 60 20
"$report" "$work/family.prf" > "$work/folded"
is "$(grep -cE '^child-[0-9]+;.*child_work' "$work/folded" | awk '{ print ($1 >= 40) }')" 1 "each child has samples under its own name"
is "$(cut -d';' -f1 "$work/folded" | grep -cE '^child-' | awk '{ print ($1 >= 40) }')" 1 "of the 40 that name themselves"
n=0
for i in 0 1 3 4 6 7 9 10 57 58; do
	grep -qE "^child-$i;.*child_work" "$work/folded" && n=$((n + 1))
done
is "$n" 10 "none is missing"
like "$(grep -vE '^child-' "$work/folded")" '(family|exe);.*exec_work' "those that exec are the new program"
unlike "$(grep exec_work "$work/folded")" '^child-|child_work' "and no more what they were"

holds "records 150 threads" "$record" -q -F 999 -o "$work/threads.prf" -- "$work/burn" 10 150
"$report" "$work/threads.prf" > "$work/folded"
like "$(cat "$work/folded")" '^burn;.*work.* [0-9]+$' "threads are in it"
unlike "$(cut -d';' -f1 "$work/folded")" 'prof-record' "the recorder is not"

# Programs that are known have tables from their first instruction on. While exec works, the old
# stack is gone and there is no new one: no stack is broken then.
holds "records 400 execs" "$record" -q -F 4999 -o "$work/execs.prf" -- \
	sh -c 'i=0; while [ $i -lt 400 ]; do /bin/true; i=$((i + 1)); done'
"$report" -q --info --json "$work/execs.prf" > "$work/info.json"
is "$(json "$work/info.json" 'd["user_stacks"]["no_registers"]')" 0 "no stack is missing while exec works"
number "1000 * $(json "$work/info.json" 'd["user_stacks"]["no_table"]') <= $(json "$work/info.json" 'd["samples"]')" \
	"fewer than 0.1 % of the samples have no table"
# Before Linux 5.17 the kernel half cannot ask what is mapped where.
case $(uname -r) in
5.1[0-6].*) skip "fewer are where nothing is known to be mapped" "Linux before 5.17" ;;
*)
	number "1000 * $(json "$work/info.json" 'd["user_stacks"]["no_mapping"]') <= $(json "$work/info.json" 'd["samples"]')" \
		"fewer are where nothing is known to be mapped" ;;
esac

# A program that is gone when its samples are resolved has its name all the same.
cp "$work/burn" "$work/vanishing"
holds "records a vanishing program" "$record" -q -F 999 -o "$work/gone.prf" -- "$work/vanishing" 300 1 "$work/vanishing"
like "$("$report" "$work/gone.prf" 2> /dev/null)" 'vanishing' "a deleted program keeps its name"
like "$("$report" "$work/gone.prf" 2> /dev/null)" '^vanishing;.*seventy' "and its functions theirs: they were read in time"

# An exec that changes the privileges is recorded as if the process had ended; those that have are forgotten
# after three seconds.
cp "$work/burn" "$work/changed"
cp "$(command -v id)" "$work/id"
chown 65533 "$work/changed" "$work/id"
chmod 4755 "$work/changed" "$work/id"
chmod 755 "$work"
as_user() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
if [ "$(as_user "$work/id" -u 2> /dev/null)" = 65533 ]; then
	for all in "" -a; do
		"$record" -q $all -F 199 -o "$work/changed.prf" -- setpriv --reuid=65534 --regid=65534 --clear-groups "$work/changed" 4500
		"$report" -q "$work/changed.prf" 2> /dev/null | awk '/^changed;/ { all += $NF } /^changed;.*\[(unknown|incomplete)\]/ { cut += $NF }
			END { print all + 0, cut + 0 }' > "$work/counts"
		read -r samples cut < "$work/counts"
		number "$samples > 100 && $cut * 50 < $samples" "a set-uid program has whole stacks to its end${all:+, with -a} ($cut of $samples have not)"
	done
else
	skip "a set-uid program" "they have no effect here"
fi

# Processes that end at any moment of the attaching: recorded, or refused in one line.
i=0
bad=
while [ $i -lt 8 ]; do
	"$work/burn" $((i * 12 + 1)) &
	"$record" -q -F 999 -o "$work/racing.prf" -p $! 2> "$work/err"
	status=$?
	[ $status = 0 ] || { [ $status = 1 ] && grep -qE 'ended|no process' "$work/err"; } ||
		bad="$bad status $status: $(cat "$work/err")"
	wait
	i=$((i + 1))
done
is "$bad" "" "a process that ends meanwhile does no harm"
finish
