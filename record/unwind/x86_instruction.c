/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/x86_instruction.h"

#include <stdbool.h>
#include <string.h>

#define SP 4
#define FP 5

/* The parts of an instruction, as they are met. */
struct decoder {
	const uint8_t *code;
	size_t size, at;
	bool wide;	  /* REX.W */
	bool operand_16;  /* prefix 66 */
	bool address_32;  /* prefix 67 */
	uint8_t rex, map; /* map 0: one byte; 1: 0f; 2: 0f 38; 3: 0f 3a */
	bool vector;	  /* VEX or EVEX */
	uint8_t opcode;
	uint8_t mod, reg, rm; /* with the bits of REX */
	bool sib_sp;	      /* the memory operand is relative to sp, without an index */
	int32_t displacement;
	int64_t immediate;
};

static uint8_t peek(const struct decoder *d, size_t offset)
{
	return d->at + offset < d->size ? d->code[d->at + offset] : 0;
}

static int64_t take_signed(struct decoder *d, size_t bytes)
{
	uint64_t value = 0;

	for (size_t i = 0; i < bytes; i++)
		value |= (uint64_t)peek(d, i) << 8 * i;
	d->at += bytes;
	if (bytes && bytes < 8 && value >> (8 * bytes - 1))
		value |= ~UINT64_C(0) << 8 * bytes;
	return (int64_t)value;
}

static void take_prefixes(struct decoder *d)
{
	for (;; d->at++) {
		uint8_t byte = peek(d, 0);

		if (byte == 0x66)
			d->operand_16 = true;
		else if (byte == 0x67)
			d->address_32 = true;
		else if (byte != 0xf2 && byte != 0xf3 && byte != 0xf0 && byte != 0x2e &&
			 byte != 0x36 && byte != 0x3e && byte != 0x26 && byte != 0x64 &&
			 byte != 0x65)
			break;
		if (d->at >= d->size)
			return;
	}
	if ((peek(d, 0) & 0xf0) == 0x40) {
		d->rex = peek(d, 0);
		d->wide = d->rex & 8;
		d->at++;
	}
}

/* VEX and EVEX name the opcode map in their first byte; the registers in them are not needed. */
static void take_opcode(struct decoder *d)
{
	uint8_t byte = peek(d, 0);

	if (byte == 0xc5) {
		d->vector = true;
		d->map = 1;
		d->at += 2;
	} else if (byte == 0xc4 || byte == 0x62) {
		d->vector = true;
		d->map = peek(d, 1) & (byte == 0xc4 ? 0x1f : 7);
		d->at += byte == 0xc4 ? 3 : 4;
	} else if (byte == 0x0f) {
		d->at++;
		d->map = 1;
		if (peek(d, 0) == 0x38 || peek(d, 0) == 0x3a) {
			d->map = peek(d, 0) == 0x38 ? 2 : 3;
			d->at++;
		}
	}
	d->opcode = peek(d, 0);
	d->at++;
}

static bool opcode_exists(const struct decoder *d)
{
	uint8_t op = d->opcode;

	if (d->map || d->vector)
		return true;
	if (op < 0x40)
		return (op & 7) < 6; /* the rest are prefixes, and push and pop of segments */
	return op != 0x60 && op != 0x61 && op != 0x82 && op != 0x9a && op != 0xce && op != 0xea &&
	       !(op >= 0xd4 && op <= 0xd6);
}

static bool opcode_has_modrm(const struct decoder *d)
{
	uint8_t op = d->opcode;

	if (d->vector)
		return !(d->map == 1 && op == 0x77);
	if (d->map == 1)
		return !(op <= 0x0b && op >= 0x05) && op != 0x0e && !(op >= 0x30 && op <= 0x37) &&
		       op != 0x77 && !(op >= 0x80 && op <= 0x8f) && !(op >= 0xa0 && op <= 0xa2) &&
		       !(op >= 0xa8 && op <= 0xaa) && !(op >= 0xc8 && op <= 0xcf);
	if (d->map)
		return true;
	if (op < 0x40)
		return (op & 7) < 4;
	return op == 0x63 || op == 0x69 || op == 0x6b || (op >= 0x80 && op <= 0x8f) || op == 0xc0 ||
	       op == 0xc1 || op == 0xc6 || op == 0xc7 || (op >= 0xd0 && op <= 0xd3) ||
	       (op >= 0xd8 && op <= 0xdf) || op == 0xf6 || op == 0xf7 || op >= 0xfe;
}

static void take_modrm(struct decoder *d)
{
	uint8_t byte = peek(d, 0), sib, low = byte & 7;
	size_t bytes = 0;

	d->at++;
	d->mod = byte >> 6;
	d->reg = (byte >> 3 & 7) | (d->rex & 4) << 1;
	d->rm = low | (d->rex & 1) << 3;
	if (d->mod == 3)
		return;
	if (d->mod == 1)
		bytes = 1;
	if (d->mod == 2 || (!d->mod && low == 5))
		bytes = 4;
	if (low == 4) {
		sib = peek(d, 0);
		d->at++;
		if (!d->mod && (sib & 7) == 5)
			bytes = 4;
		d->sib_sp = sib == 0x24 && !(d->rex & 3);
	}
	d->displacement = (int32_t)take_signed(d, bytes);
}

/* Of the one-byte map. */
static size_t immediate_bytes(const struct decoder *d)
{
	uint8_t op = d->opcode;
	size_t full = d->operand_16 ? 2 : 4;

	if (op < 0x40)
		return (op & 7) == 4 ? 1 : (op & 7) == 5 ? full : 0;
	switch (op) {
	case 0x68:
	case 0x69:
	case 0x81:
	case 0xa9:
	case 0xc7: return full;
	case 0xe8:
	case 0xe9: return 4;
	case 0x6a:
	case 0x6b:
	case 0x80:
	case 0x83:
	case 0xa8:
	case 0xc0:
	case 0xc1:
	case 0xc6:
	case 0xcd:
	case 0xeb: return 1;
	case 0xc2:
	case 0xca: return 2;
	case 0xc8: return 3;
	case 0xf6: return (d->reg & 7) < 2 ? 1 : 0;
	case 0xf7: return (d->reg & 7) < 2 ? full : 0;
	default: break;
	}
	if (op >= 0xa0 && op <= 0xa3)
		return d->address_32 ? 4 : 8;
	if (op >= 0xb8 && op <= 0xbf)
		return d->wide ? 8 : full;
	return (op >= 0x70 && op <= 0x7f) || (op >= 0xb0 && op <= 0xb7) ||
	       (op >= 0xe0 && op <= 0xe7);
}

static void take_immediate(struct decoder *d)
{
	uint8_t op = d->opcode;
	size_t bytes = 0;

	if (!d->map && !d->vector)
		bytes = immediate_bytes(d);
	else if (d->map == 3)
		bytes = 1;
	else if (d->map == 1)
		bytes = op >= 0x80 && op <= 0x8f && !d->vector ? 4
			: (op >= 0x70 && op <= 0x73) || op == 0xa4 || op == 0xac || op == 0xba ||
					op == 0xc2 || (op >= 0xc4 && op <= 0xc6)
				? 1
				: 0;
	d->immediate = take_signed(d, bytes);
}

/* -------- effects -------- */

static void set(struct x86_instruction *i, enum x86_effect effect, int64_t value)
{
	i->effect = (uint8_t)effect;
	i->value = value;
}

static void set_register(struct x86_instruction *i, enum x86_effect effect, uint8_t reg)
{
	i->effect = (uint8_t)effect;
	i->reg = reg;
	if (effect == X86_POP && reg == SP)
		i->effect = X86_SP_OTHER;
}

/* add, or, adc, sbb, and, sub, xor, cmp of a register with a number. */
static void effect_of_number(const struct decoder *d, struct x86_instruction *i)
{
	if (d->mod != 3 || d->rm != SP)
		return;
	switch (d->reg & 7) {
	case 0: set(i, X86_SP_ADD, d->immediate); break;
	case 5: set(i, X86_SP_ADD, -d->immediate); break;
	case 4: set(i, X86_SP_ALIGN, d->immediate); break;
	case 7: break;
	default: set(i, X86_SP_OTHER, 0);
	}
}

/* mov between registers or a register and memory; `to` is what is written, if a register. */
static void effect_of_move(const struct decoder *d, struct x86_instruction *i, bool store)
{
	uint8_t to = store ? d->rm : d->reg, from = store ? d->reg : d->rm;

	if (d->mod == 3) {
		if (to == SP)
			set(i, from == FP ? X86_SP_FROM_FP : X86_SP_OTHER, 0);
		else if (to == FP && from == SP)
			set(i, X86_FP_FROM_SP, 0);
	} else if (d->reg == FP && d->sib_sp) {
		set(i, store ? X86_FP_STORE : X86_FP_LOAD, d->displacement);
	} else if (d->reg == SP && !store) {
		set(i, X86_SP_OTHER, 0);
	}
}

static void effect_of_lea(const struct decoder *d, struct x86_instruction *i)
{
	if (d->reg == SP && d->sib_sp)
		set(i, X86_SP_ADD, d->displacement);
	else if (d->reg == SP && d->rm == FP && d->mod)
		set(i, X86_SP_FROM_FP, d->displacement);
	else if (d->reg == SP)
		set(i, X86_SP_OTHER, 0);
	else if (d->reg == FP && d->sib_sp)
		set(i, X86_FP_FROM_SP, d->displacement);
}

/* Group 5: inc, dec, call, call far, jmp, jmp far, push. */
static void effect_of_group5(const struct decoder *d, struct x86_instruction *i)
{
	switch (d->reg & 7) {
	case 4:
	case 5: set(i, X86_JUMP_FAR, 0); break;
	case 6: set_register(i, X86_PUSH, X86_NO_REGISTER); break;
	default: break;
	}
}

static void effect_of_two_bytes(const struct decoder *d, struct x86_instruction *i)
{
	uint8_t op = d->opcode;

	if (op >= 0x80 && op <= 0x8f)
		set(i, X86_BRANCH, d->immediate);
	else if (op == 0x0b)
		set(i, X86_STOP, 0);
	else if (op == 0x1f)
		set(i, X86_PADDING, 0);
	else if (op == 0xa0 || op == 0xa8)
		set_register(i, X86_PUSH, X86_NO_REGISTER);
	else if (op == 0xa1 || op == 0xa9)
		set_register(i, X86_POP, X86_NO_REGISTER);
}

/* add, sub and the like of registers that write sp, and xor %ebp,%ebp. */
static void effect_of_arithmetic(const struct decoder *d, struct x86_instruction *i)
{
	uint8_t op = d->opcode, to = op & 2 ? d->reg : d->rm;

	if ((op & 7) > 3 || (op >> 3) == 7 || (d->mod != 3 && !(op & 2)))
		return;
	if (to == SP && (op & 1))
		set(i, X86_SP_OTHER, 0);
	else if ((op >> 3) == 6 && d->mod == 3 && d->reg == FP && d->rm == FP)
		set(i, X86_FP_CLEAR, 0);
}

static void effect_of_one_byte(const struct decoder *d, struct x86_instruction *i)
{
	uint8_t op = d->opcode;

	if (op < 0x40)
		effect_of_arithmetic(d, i);
	else if (op >= 0x50 && op <= 0x57)
		set_register(i, X86_PUSH, (op & 7) | (d->rex & 1) << 3);
	else if (op >= 0x58 && op <= 0x5f)
		set_register(i, X86_POP, (op & 7) | (d->rex & 1) << 3);
	else if (op >= 0x70 && op <= 0x7f)
		set(i, X86_BRANCH, d->immediate);
	else
		switch (op) {
		case 0x68:
		case 0x6a:
		case 0x9c: set_register(i, X86_PUSH, X86_NO_REGISTER); break;
		case 0x8f:
		case 0x9d: set_register(i, X86_POP, X86_NO_REGISTER); break;
		case 0x81:
		case 0x83: effect_of_number(d, i); break;
		case 0x89: effect_of_move(d, i, true); break;
		case 0x8b: effect_of_move(d, i, false); break;
		case 0x8d: effect_of_lea(d, i); break;
		case 0x90: set(i, X86_PADDING, 0); break;
		case 0xc2:
		case 0xc3: set(i, X86_RETURN, 0); break;
		case 0xc9: set(i, X86_LEAVE, 0); break;
		case 0xcc:
		case 0xf4: set(i, X86_STOP, 0); break;
		case 0xe0:
		case 0xe1:
		case 0xe2:
		case 0xe3: set(i, X86_BRANCH, d->immediate); break;
		case 0xe8: set(i, X86_CALL, d->immediate); break;
		case 0xe9:
		case 0xeb: set(i, X86_JUMP, d->immediate); break;
		case 0xff: effect_of_group5(d, i); break;
		default: break;
		}
}

struct x86_instruction x86_instruction_at(const uint8_t *code, size_t size)
{
	struct decoder d = { .code = code, .size = size < 15 ? size : 15 };
	struct x86_instruction i = { .reg = X86_NO_REGISTER };

	take_prefixes(&d);
	take_opcode(&d);
	if (!opcode_exists(&d))
		return i;
	if (opcode_has_modrm(&d))
		take_modrm(&d);
	take_immediate(&d);
	if (d.at > d.size)
		return i;
	i.size = (uint8_t)d.at;
	if (d.vector)
		return i;
	if (d.map == 1)
		effect_of_two_bytes(&d, &i);
	else if (!d.map)
		effect_of_one_byte(&d, &i);
	return i;
}
