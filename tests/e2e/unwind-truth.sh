#!/bin/sh
# Stacks that are easily walked wrongly: no stack that is cut off counts as whole, and what was
# guessed is marked.
. "$(dirname "$0")/../lib.sh"
need_bpf
# compile_truth ARGUMENTS...
compile_truth() {
	set -- -O2 -fno-optimize-sibling-calls -fno-sanitize=all "$@" "$top/tests/e2e/programs/truth.c"
	! accepts $cc -mno-red-zone || set -- -mno-red-zone "$@"
	compile_c "$@"
}
compile_truth -o "$work/truth"
compile_truth -fno-asynchronous-unwind-tables -fno-unwind-tables -o "$work/truth-bare"

# shape PROGRAM SHAPE: records it and sets `folded` and `rooted`, percent of user stacks
shape() {
	"$record" -q -F 999 -o "$work/$2.prf" -- "$work/$1" "$2" 1000 || not_ok "records $2"
	folded=$("$report" -q --annotate "$work/$2.prf")
	rooted=$("$report" --info "$work/$2.prf" | sed -n 's/.*of which \([0-9]*\)[.0-9]* % reach.*/\1/p')
}
# share EXPRESSION: percent of the samples whose line matches
share() {
	printf '%s\n' "$folded" | awk -v e="$1" '{ all += $NF } $0 ~ e { some += $NF } END { print int(100 * some / all) }'
}

shape truth context
like "$folded" ';__start_context;coroutine;burn [0-9]|;\[libc[^;]*;coroutine;burn [0-9]' "a coroutine's stack begins where makecontext() put it"
number "$(share 'incomplete.*coroutine') == 0" "and is whole"
number "$rooted >= 99" "so it has reached its root"

shape truth signal
like "$folded" ';main;.*;(__restore_rt|__kernel_rt_sigreturn|\[(libc|vdso)[^;]*);handler;burn [0-9]' "a signal's trampoline lies between handler and interrupted code"
unlike "$folded" ';\[libc.so.6\+0x[0-9a-f]*f\];handler' "and is not looked for before its start"

if [ "$(uname -m)" = x86_64 ]; then
	shape truth-bare garbage
	number "$(share 'calls_garbage.*burn_frame_pointer') >= 95" "a caller is found though the frame pointer leads to zeros"
	number "$(share ';calls_garbage_\[g\];burn_frame_pointer|;main;calls_garbage;burn_frame_pointer') >= 95" "by a table, or marked as guessed"
	number "$(share 'incomplete|_start') >= 95" "a stack that ends before its root says so"
fi
# No rule for a return address of 0: what ends there was read wrongly.
cat > "$work/exc.cc" <<'C'
#include <cstdlib>
#include <stdexcept>
struct D { volatile int x; ~D() { x = 1; } };
__attribute__((noinline)) int thrower(int n) { D d; d.x = n; if (!n) throw std::runtime_error("x"); return thrower(n - 1) + d.x; }
__attribute__((noinline)) int catcher(int n) { try { return thrower(n); } catch (std::exception &e) { return e.what()[0]; } }
int main(int argc, char **argv) { long s = 0; for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 40000); i++) s += catcher(20); return s == 1; }
C
cxx=${CXX:-c++}
if command -v "${cxx%% *}" > /dev/null; then
	need $cxx -O2 -fomit-frame-pointer -o "$work/exc" "$work/exc.cc"
	"$record" -q -F 1999 -o "$work/exc.prf" -- "$work/exc"
	folded=$("$report" -q "$work/exc.prf")
	is "$(printf '%s\n' "$folded" | grep -vE ';_start;|incomplete|;_dl_|\[ld-linux|_start [0-9]|^exc;(entry_|el0t_)')" "" "no stack of a C++ exception that lost its callers looks whole"

	# While libgcc goes over to the frame with the handler, when its own return address is gone.
	what="a stack is whole while an exception enters its handler"
	if $cxx -O2 -static-libgcc -o "$work/exc-static" "$work/exc.cc" 2> "$work/err" &&
		"$record" -q -e "uprobe:$work/exc-static:_Unwind_DebugHook" -o "$work/enters.prf" -- "$work/exc-static" 200 2>> "$work/err"; then
		folded=$("$report" -q "$work/enters.prf")
		like "$folded" ';main;catcher[^;]*;_Unwind_Resume;_Unwind_DebugHook [0-9]' "$what"
		unlike "$folded" 'incomplete' "and none is cut off"
	else
		skip "$what" "$(tail -1 "$work/err")"
	fi

	# At each instruction of these functions, whose last ones restore the registers one by one.
	unwinder=$(realpath "$($cxx -print-file-name=libgcc_s.so.1)")
	for function in _Unwind_Resume _Unwind_RaiseException; do
		what="a stack is whole at each instruction of $function"
		objdump -d --no-show-raw-insn --disassemble=$function "$unwinder" | sed -n 's/^ *\([0-9a-f]*\):.*/\1/p' > "$work/addresses"
		first=$(head -n 1 "$work/addresses")
		[ -n "$first" ] || { skip "$what" "$unwinder cannot be disassembled"; continue; }
		while read -r address; do
			echo "-e uprobe:$unwinder:$function+$((0x$address - 0x$first))"
		done < "$work/addresses" > "$work/events"
		# So many events at most.
		split -l 60 "$work/events" "$work/events-$function."
		folded=
		for events in "$work/events-$function."*; do
			if ! "$record" -q $(cat "$events") -o "$work/ends.prf" -- "$work/exc" 3 2> "$work/err"; then
				skip "$what" "$(tail -1 "$work/err")"
				continue 2
			fi
			folded="$folded$("$report" -q "--event=*" --group-by=event "$work/ends.prf")
"
		done
		number "$(printf '%s' "$folded" | cut -d ';' -f 1 | sort -u | wc -l) >= 50" "there are samples at the instructions of $function"
		is "$(printf '%s' "$folded" | grep -vE ";_start;.*;main;catcher[^;]*(;thrower[^;]*)*(;__cxa_throw)?;$function [0-9]+\$")" "" "$what"
	done
else
	skip "exceptions" "no C++ compiler"
fi

# Programs of 32 bit have other registers and tables: their user stacks are refused, not half shown.
if [ "$(uname -m)" = x86_64 ] && accepts $cc -m32; then
	compile_c -m32 -O2 -fno-sanitize=all -o "$work/truth-32" "$top/tests/e2e/programs/truth.c"
	shape truth-32 tables
	number "$(share '^truth-32;\[incomplete\][; ]') >= 90" "a 32-bit program's stack is marked as missing"
	unlike "$folded" '^truth-32;(\[incomplete\];)?([^;]*\[(truth-32|libc)|main|[^;]*format)' "and nothing of it is shown"
	like "$("$report" --info "$work/tables.prf")" '[0-9]+ unsupported' "and --info says why"
else
	skip "32 bit" "nothing compiles for it"
fi

# The labels in the outputs that people look at.
if [ "$(uname -m)" = x86_64 ]; then
	compile_c -O1 -fno-omit-frame-pointer -fno-sanitize=all -o "$work/made" "$top/tests/e2e/programs/made_code.c"
	"$record" -q -F 999 -o "$work/made.prf" -- "$work/made" 500 ""
	like "$("$report" -q --annotate "$work/made.prf")" ';main_\[g\];' "--annotate marks a guessed frame"
	like "$("$report" -q -f top "$work/made.prf")" 'main \[guessed\]' "so does the table"
	"$report" -q -f pprof -o "$work/made.pprof" "$work/made.prf"
	like "$(gzip -dc < "$work/made.pprof" | strings)" 'main \[guessed\]' "and pprof"
fi
finish
