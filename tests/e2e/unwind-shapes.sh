#!/bin/sh
# Stacks of programs without frame pointers are walked to their root, and are the right ones.
. "$(dirname "$0")/../lib.sh"
need_bpf
compile_c -O2 -g -fomit-frame-pointer -pthread -o "$work/stacks" \
	"$top/tests/e2e/programs/stacks.c" -ldl
printf 'void call_back(void (*f)(void));\nvolatile int n;\nvoid call_back(void (*f)(void)) { f(); n++; }\n' |
	"${CC:-cc}" -O2 -fPIC -shared -fomit-frame-pointer -x c -o "$work/library.so" -
strip -o "$work/stripped" "$work/stacks"

# info FILE: percentage of the user stacks that reach the root, and how many there are
info() {
	"$report" --info --json "$1" > "$work/info.json"
	json "$work/info.json" '"%.2f %d" % (100 * d["user_stacks"]["root"] / max(1, sum(d["user_stacks"].values())), sum(d["user_stacks"].values()))'
}

# Before Linux 5.17 the kernel half cannot ask what a new process maps, and the first stacks end early:
# those until the recorder has read it, which takes long in an emulator.
case $(uname -r) in
5.1[0-6].*) most=50 ;;
*) most=90 ;;
esac

# shape NAME PROGRAM ARGUMENT PATTERN [PERCENT]: most stacks of leaf() match the pattern. Others are of
# the start of programs, which takes long in an emulator.
shape() {
	"$record" -q -F 999 -o "$work/$1.prf" -- "$2" "$3" $((250 * slowness)) || { not_ok "$1: recorded"; return; }
	read -r share n << END
$(info "$work/$1.prf")
END
	number "$n >= 50" "$1: there are samples ($n)"
	number "$share >= ${5:-$most}" "$1: the stacks reach the root ($share %)"
	[ -n "$4" ] || return
	matching=$("$report" -q "$work/$1.prf" | awk -v p="$4" '{ n = $NF } $0 ~ p { a += n } /leaf/ { t += n }
		END { printf "%.2f", t ? 100 * a / t : 0 }')
	number "$matching >= ${5:-$most}" "$1: the stacks have the expected shape ($matching %)"
}

shape outer "$work/stacks" outer ';main;outer;middle;leaf'
shape library "$work/stacks" "$work/library.so" ';main;.*;call_back;outer;middle;leaf'
shape stripped "$work/stripped" outer ''
if [ -n "${SAN:-}" ]; then
	skip "seven shapes" "they differ in what the kernel half does, which has no sanitizers"
else
	shape sized "$work/stacks" sized ';main;sized;outer;middle;leaf'
	shape aligned "$work/stacks" aligned ';main;aligned;outer;middle;leaf'
	shape signal "$work/stacks" signal ';main;interrupted;.*;on_signal;leaf'
	shape alarm "$work/stacks" alarm ';main;waits_for_alarm;frameless;.*;?on_alarm;leaf'
	shape threads "$work/stacks" threads ';thread;outer;middle;leaf'
	shape fork "$work/stacks" fork ';main;child;outer;middle;leaf'
	shape exec "$work/stacks" exec ';main;outer;middle;leaf'
fi

# Each call goes through the dynamic linker, which it is resolved by.
compile_c -O2 -fno-builtin -fomit-frame-pointer -Wl,-z,lazy -o "$work/lazy" "$top/tests/e2e/programs/lazy.c"
shape lazy "$work/lazy" lazy ''
folded=$("$report" -q "$work/lazy.prf")
like "$folded" ';main;calls_lazily;[^;]*(_dl_|ld-linux)' "lazy: the dynamic linker was called"
unlike "$folded" ';main;[^;]*(_dl_|ld-linux)|incomplete\];calls_lazily' "lazy: its callers are not missing"

# Only .debug_frame describes its own code, plain or compressed.
for packed in none zlib; do
	accepts $cc -g -gz=$packed || { skip "debug_frame-$packed" "$cc does not compress so"; continue; }
	compile_c -O2 -g -gz=$packed -fomit-frame-pointer -fno-asynchronous-unwind-tables \
		-fno-unwind-tables -pthread -o "$work/$packed" "$top/tests/e2e/programs/stacks.c" -ldl
	shape "debug_frame-$packed" "$work/$packed" sized ';main;sized;outer;middle;leaf'
done

shape deep "$work/stacks" deep400 ';main;recurse;.*;recurse;leaf'
deepest=$("$report" -q "$work/deep.prf" | awk '{ n = gsub(/;recurse/, "") } n > m { m = n } END { print m + 0 }')
is "$deepest" 401 "deep: no frame is missing"

# More frames than are kept: cut off, and seen to be.
"$record" -q -F 999 -o "$work/deeper.prf" -- "$work/stacks" deep2000 $((300 * slowness))
"$report" --info --json "$work/deeper.prf" > "$work/info.json"
number "$(json "$work/info.json" 'd["user_stacks"]["too_deep"]') >= 50" "deeper: the stacks count as too deep"
like "$("$report" -q "$work/deeper.prf" | grep -c 'truncated')" '[1-9]' "deeper: the report says so"
finish
