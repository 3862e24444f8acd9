#!/bin/sh
# A symbol without a size, as assembly has them, names its own function and not the code after it.
. "$(dirname "$0")/../lib.sh"
[ "$(uname -m)" = x86_64 ] || skip_all "the program is x86-64's"
need_tools objcopy nm
cat > "$work/program.s" <<'S'
	.text
	.globl	main, stub, hidden, last
	.type	main, @function
main:	.cfi_startproc
	xor	%eax, %eax
	ret
	.cfi_endproc
	.size	main, .-main
	.p2align 6
stub:	.cfi_startproc
	mov	$15, %eax
	ret
	.cfi_endproc
	.p2align 6
	nop
hidden:	.cfi_startproc
	ret
	.cfi_endproc
	.p2align 6
bare:	mov	$1, %eax
	mov	$2, %eax
	ret
last:	ret
	.section .note.GNU-stack,"",@progbits
S
compile_c -o "$work/program" "$work/program.s"
place() { nm "$work/program" | awk -v n="$1" '$3 == n { print "0x" $1 }'; }
places="$(place stub) $(place hidden) $(place bare)"
objcopy -N hidden "$work/program"
# named ADDRESS: the function there
named() { echo "$1" | "$build/testdata/symbolize" -r "$work/program" 2> /dev/null | head -n 1; }
set -- $places
is "$(named "$(printf '0x%x' $(($1 + 5)))")" stub "its own code has its name"
unlike "$(named "$(printf '0x%x' $(($1 + 20)))")" '^stub' "what its unwind information does not cover has not"
like "$(named "$2")" '^\[program\+0x' "nor has the function after it, that has no symbol"
is "$(named "$(printf '0x%x' $(($3 + 5)))")" bare "without unwind information the next symbol ends it"
finish
