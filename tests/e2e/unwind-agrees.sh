#!/bin/sh
# The same program with and without frame pointers has the same stacks: those found by tables
# are those that its frame pointers lead to.
. "$(dirname "$0")/../lib.sh"
need_bpf
[ -z "${SAN:-}" ] || skip_all "both walks are the kernel half's"
source=$top/tests/e2e/programs/stacks.c
compile_c -O2 -g -fomit-frame-pointer -pthread -o "$work/stacks" "$source" -ldl
mkdir "$work/fp"
accepts $cc -mno-omit-leaf-frame-pointer || skip_all "the compiler cannot keep all frame pointers"
compile_c -O2 -g -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -pthread -o "$work/fp/stacks" "$source" -ldl

# below_main FILE: the stacks in the program itself, of which there are enough
below_main() {
	"$report" -q "$1" | sed -n 's/^.*;main;\(.*leaf\).* \([0-9]*\)$/\1 \2/p' |
		awk '{ n[$1] += $2; t += $2 } END { for (s in n) if (n[s] > t / 10) print s }' | sort
}

for shape in outer sized deep40; do
	holds "$shape: recorded by tables" "$record" -q -F 999 -o "$work/a.prf" -- "$work/stacks" $shape 400
	holds "$shape: recorded with frame pointers" "$record" -q -F 999 --unwind fp -o "$work/b.prf" \
		-- "$work/fp/stacks" $shape 400
	tables=$(below_main "$work/a.prf")
	like "$tables" 'leaf$' "$shape: there are stacks"
	is "$tables" "$(below_main "$work/b.prf")" "$shape: the same stacks by tables and by frame pointers"
done
finish
