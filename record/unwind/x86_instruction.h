/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_UNWIND_X86_INSTRUCTION_H
#define RECORD_UNWIND_X86_INSTRUCTION_H

/*
 * One x86-64 instruction: how long it is, and what it does to the stack pointer, the frame pointer
 * and the flow of control. Layout: Intel SDM volume 2, chapter 2 and appendix A (opcode maps).
 */

#include <stddef.h>
#include <stdint.h>

enum x86_effect {
	X86_OTHER,	/* none of these */
	X86_PUSH,	/* `reg`, or another operand (X86_NO_REGISTER) */
	X86_POP,	/* the same */
	X86_SP_ADD,	/* sp += value */
	X86_SP_ALIGN,	/* sp &= value */
	X86_SP_FROM_FP, /* sp = fp + value */
	X86_SP_OTHER,	/* sp becomes something else */
	X86_FP_FROM_SP, /* fp = sp + value */
	X86_FP_STORE,	/* *(sp + value) = fp */
	X86_FP_LOAD,	/* fp = *(sp + value) */
	X86_FP_CLEAR,	/* fp = 0 */
	X86_LEAVE,	/* sp = fp, pop fp */
	X86_RETURN,
	X86_JUMP,     /* to the instruction's end + value */
	X86_JUMP_FAR, /* to a place that it does not name */
	X86_BRANCH,   /* the same as X86_JUMP, or on */
	X86_CALL,     /* of the instruction's end + value */
	X86_STOP,     /* nothing follows: ud2, hlt, int3 */
	X86_PADDING,  /* does nothing */
};

#define X86_REGISTER_BASE 3
#define X86_REGISTER_FP 5
#define X86_NO_REGISTER 255

struct x86_instruction {
	uint8_t size; /* 0: there is no such instruction, or it is cut off */
	uint8_t effect, reg;
	int64_t value;
};

struct x86_instruction x86_instruction_at(const uint8_t *code, size_t size);

#endif
