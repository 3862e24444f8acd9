#!/bin/sh
# prof-record --embed: a trace that needs no other file, as soon as it is recorded.
. "$(dirname "$0")/../lib.sh"
need_bpf
need_tools gcc
cd "$work" || exit 1
cat > program.c <<'END'
#include <time.h>
volatile int sink;
static inline __attribute__((always_inline)) void inner(void) { for (int i = 0; i < 1000; i++) sink = i; }
__attribute__((noinline)) void outer(void) { inner(); sink = 0; }
static double now(void) { struct timespec t; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); return t.tv_sec + t.tv_nsec / 1e9; }
int main(void) { while (now() < 0.3) for (int i = 0; i < 1000; i++) outer(); return 3; }
END
need gcc -g -O2 program.c -o program
"$record" --embed -F 499 -o trace.prf -- ./program > out 2>&1
is $? 3 "the command's status"
mv program away
like "$("$report" trace.prf 2>/dev/null)" 'main;outer;inner' "named without the program"
holds "whole" "$report" --check trace.prf
is "$(find . -name 'trace.prf*' | wc -l)" 1 "nothing else is left"
is "$(stat -c %a trace.prf)" 600 "and is nobody else's to read"

mv away program
"$record" --embed -o - -- ./program > out 2>err
is $? 2 "not into a pipe"

# Without prof-report the trace stays as it was recorded, and the message names the remedy.
mkdir alone
cp "$record" alone/prof-record
alone/prof-record --embed -F 499 -o plain.prf -- ./program > out 2>&1
is $? 3 "the command's status all the same"
like "$(cat out)" 'prof-report --embed plain.prf' "what to do is said"
like "$("$report" plain.prf 2>/dev/null)" 'outer' "and the trace is there"

# The path of the program itself may be longer than any buffer: then prof-report is not found beside it.
if command -v python3 >/dev/null 2>&1; then
	python3 - "$record" "$work" > out 2>&1 <<'END'
import os, shutil, sys
for _ in range(20):
    os.mkdir("d" * 250)
    os.chdir("d" * 250)
shutil.copy(sys.argv[1], "prof-record")
os.execv("./prof-record", ["prof-record", "--embed", "-o", sys.argv[2] + "/deep.prf", "--", "true"])
END
	like "$(cat out)" 'not embedded: cannot find prof-report beside this program: File name too long' \
		"a program in too deep a folder says why"
else
	skip "a program in too deep a folder" "python3 is not here"
fi
finish
