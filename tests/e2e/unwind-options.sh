#!/bin/sh
# --unwind and --unwind-memory, and what -v and --info report about the tables.
. "$(dirname "$0")/../lib.sh"
need_bpf
compile_c -O2 -fomit-frame-pointer -pthread -o "$work/stacks" \
	"$top/tests/e2e/programs/stacks.c" -ldl

value() {
	"$report" --info --json "$1" > "$work/info.json"
	json "$work/info.json" "$2"
}

output=$("$record" -v -F 999 -o "$work/tables.prf" -- "$work/stacks" outer 300 2>&1)
like "$output" "unwind tables: $work/stacks: [0-9]+ rows, [0-9]+ bytes, [0-9.]+ ms" "-v reports each file's table"
number "$(value "$work/tables.prf" 'd["user_stacks"]["root"]') > 20" "tables: stacks reach the root"

holds "--unwind fp records" "$record" -q --unwind fp -F 999 -o "$work/fp.prf" -- "$work/stacks" outer 300
is "$(value "$work/fp.prf" 'd["user_stacks"]["root"]')" 0 "fp: nobody knows whether a stack reaches the root"

# The kernel's own walk ends at a depth that can be set.
most=$(cat /proc/sys/kernel/perf_event_max_stack)
compile_c -O2 -fno-omit-frame-pointer -pthread -o "$work/kept" "$top/tests/e2e/programs/stacks.c" -ldl
holds "fp: a deep stack records" "$record" -q --unwind fp -F 999 -o "$work/deep.prf" -- \
	"$work/kept" deep$((most + 20)) 300
number "$(value "$work/deep.prf" 'd["user_stacks"]["too_deep"]') > 20" "fp: a stack that is too deep is counted"
like "$("$report" "$work/deep.prf")" '^kept;\[truncated\];recurse' "and shown as truncated"

holds "--unwind none records" "$record" -q --unwind none -F 999 -o "$work/none.prf" -- "$work/stacks" outer 300
is "$(value "$work/none.prf" 'sum(d["user_stacks"].values())')" 0 "none: there are no user stacks"
number "$(value "$work/none.prf" 'd["samples"]') > 20" "none: there are samples"

"$record" --unwind dwarf -o "$work/bad.prf" -- true 2> "$work/error"
is $? 2 "--unwind dwarf is refused"
like "$(cat "$work/error")" "tables, fp or none" "it says what there is"
"$record" --unwind-memory 1 -o "$work/bad.prf" -- true 2> "$work/error"
is $? 2 "too little memory is refused"

holds "--unwind-memory 1M records" "$record" -q --unwind-memory 1M -F 999 -o "$work/small.prf" -- \
	"$work/stacks" outer 300
[ "$(stat -c %s "$work/small.prf")" -gt 0 ] && ok "it wrote a trace" || not_ok "it wrote a trace"

# More rules than the kernel half has room for: each instruction of a function has one of its own.
{
	printf '.globl many\n.type many, @function\nmany:\n.cfi_startproc\n'
	seq 16 8 140000 | sed 's/.*/nop\n.cfi_def_cfa_offset &/'
	printf 'ret\n.cfi_endproc\n.size many, .-many\n.section .note.GNU-stack,"",@progbits\n'
} > "$work/many.s"
cat > "$work/many.c" << 'END'
void many(void);
int main(void)
{
	for (int i = 0; i < 1000; i++)
		many();
	return 0;
}
END
compile_c -O2 -o "$work/many" "$work/many.c" "$work/many.s"
output=$("$record" -F 999 -o "$work/many.prf" -- "$work/many" 2>&1)
like "$output" "warning: 1 files have more different unwind rules than there is room for" \
	"a file with too many rules is told of"
finish
