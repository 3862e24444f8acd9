	.text
	.globl work
	.type work, @function
work:
	endbr64
	xor %eax, %eax
1:	add %rdi, %rax
	call helper
	dec %rsi
	jne 1b
	cmp $5, %rax
	ja 2f
	mov table(%rip), %rax
	.byte 0x06
	nop
	nop
	nop
	nop
	nop
	nop
	nop
	nop
2:	ret
	.size work, .-work
	.globl helper
	.type helper, @function
helper:
	ret
	.size helper, .-helper
	.data
	.globl table
table:	.quad 0
	.section .note.GNU-stack, "", @progbits
