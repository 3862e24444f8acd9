#!/bin/sh
# Portable traces: names on another machine, and never the names of another file.
. "$(dirname "$0")/../lib.sh"

make_trace=$build/testdata/make_trace
need_tools gcc
cd "$work" || exit 1
python3 - > program.c <<'END'
print("volatile int sink;")
for i in range(40):
    print(f"static inline __attribute__((always_inline)) void inner{i}(int x) {{ sink = x * {i}; sink = x + {i}; }}")
    print(f"__attribute__((noinline)) void outer{i}(int x) {{ sink = x; inner{i}(x); sink = {i}; }}")
print("int main(void) {" + "".join(f"outer{i}({i});" for i in range(40)) + "return 0; }")
END
sed 's/\(inner\|outer\)/wrong_\1/g; s/sink = x;/sink = x; sink = x + 1000;/' program.c > wrong.c
mkdir machine
need gcc -g -O2 program.c -Wl,--build-id=sha1 -o machine/program
need gcc -g -O2 wrong.c -Wl,--build-id=sha1 -o wrong
"$make_trace" -n 2000 --object "$work/machine/program" -o trace.prf

direct=$("$report" --no-cache trace.prf 2>err)
like "$direct" 'outer[0-9]+' "functions are named"
like "$direct" 'inner[0-9]+' "inlined functions are named"
lines=$("$report" --lines trace.prf 2>/dev/null)
like "$lines" 'inner[0-9]+[^;]*program.c:[0-9]+' "and have lines"
plain=$("$report" --no-inlines trace.prf 2>/dev/null)
unlike "$plain" 'inner' "--no-inlines"

holds "--embed" "$report" -q --embed trace.prf -o portable.prf
holds "the copy is sound" "$report" --check portable.prf
"$report" -q --embed - -o piped.prf < trace.prf
if cmp -s portable.prf piped.prf; then ok "from a pipe as from a file"; else not_ok "from a pipe as from a file"; fi
"$report" -q --embed portable.prf -o again.prf
is "$("$report" again.prf 2>/dev/null)" "$direct" "embedded twice"

mv machine/program away
is "$("$report" portable.prf 2>err)" "$direct" "without the file: the same"
is "$("$report" --lines portable.prf 2>/dev/null)" "$lines" "with lines: the same"
is "$("$report" --no-inlines portable.prf 2>/dev/null)" "$plain" "without inlined functions: the same"
bare=$("$report" trace.prf 2>err)
unlike "$bare" 'outer|inner' "not embedded: no names"
like "$bare" '\[program\]' "but the file's"
like "$(cat err)" 'program' "and a warning"

cp wrong machine/program
other=$("$report" trace.prf 2>err)
unlike "$other" 'outer|inner' "another build at the same path: no names"
like "$other" '\[program\]' "but the file's"
like "$(cat err)" 'build-id' "and a warning says why"
is "$("$report" portable.prf 2>/dev/null)" "$direct" "embedded names come first"

mkdir -p root/"$work"/machine
cp away root/"$work"/machine/program
is "$("$report" --sysroot "$work/root" trace.prf 2>/dev/null)" "$direct" "--sysroot"

# A recording without an end: the copy has no end either.
size=$(wc -c < trace.prf)
head -c $((size - 40)) trace.prf > cut.prf
"$report" -q --embed cut.prf -o cut-copy.prf
is "$("$report" --sysroot "$work/root" cut-copy.prf 2>/dev/null)" \
	"$("$report" --sysroot "$work/root" cut.prf 2>/dev/null)" "an incomplete trace"
"$report" --info --json cut-copy.prf > info.json 2>/dev/null
is "$(json info.json "d['complete']")" False "stays incomplete"
# ... and has all that is there, though no sample says a time.
printf '%s\n' 'metadata "host" "box"' 'event 0 "clock" "samples" 99 0' 'task 1 1 "a"' \
	'sample 0 0 0 - 0 1' seal > timeless.txt
need "$build/testdata/trace_text" timeless.txt -o timeless.prf
"$report" -q --embed timeless.prf -o timeless-copy.prf
"$report" --info --json timeless-copy.prf > info.json 2>/dev/null
is "$(json info.json "d['host']") $(json info.json "d['samples']")" "box 1" "with all that is in it"
holds "what cannot be written is said" sh -c '! "$1" --embed trace.prf -o /nowhere/x 2>err && grep -q nowhere err' sh "$report"
finish
