/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/exception_return.h"

#include "record/unwind/unwind_arch.h"

#if defined(__x86_64__)

#define REGISTER_CX 2 /* holds the address that the handler's stack begins below */
#define CALL 0xe8

bool exception_return_is_end(const struct cfi_row *row)
{
	return row->cfa == CFI_CFA_REGISTER && row->reg == REGISTER_CX && row->offset == 8 &&
	       row->ra.place == CFI_AT_CFA;
}

static bool take_call(struct cursor *c)
{
	bool is_call = cursor_u8(c) == CALL;

	cursor_skip(c, 4);
	return is_call && cursor_ok(c);
}

/* mov n(%rbp),%reg: 48 or 4c, 8b /r with a number of one or four bytes */
static bool take_load(struct cursor *c, int32_t *n)
{
	uint8_t rex = cursor_u8(c), code = cursor_u8(c), modrm = cursor_u8(c);

	if ((rex & 0xfb) != 0x48 || code != 0x8b || (modrm & 7) != 5)
		return false;
	if (modrm >> 6 == 1)
		*n = (int8_t)cursor_u8(c);
	else if (modrm >> 6 == 2)
		*n = (int32_t)cursor_u32(c);
	else
		return false;
	return cursor_ok(c);
}

/* mov %reg,8(%rbp,%index,1): the return address, in another frame */
static bool take_store(struct cursor *c)
{
	uint8_t rex = cursor_u8(c), code = cursor_u8(c), modrm = cursor_u8(c), sib = cursor_u8(c);

	return (rex & 0xf9) == 0x48 && code == 0x89 && (modrm & 0xc7) == 0x44 &&
	       (sib & 0xc7) == 5 && cursor_u8(c) == 8 && cursor_ok(c);
}

/*
 * call uw_install_context_1; mov CONTEXT.ra,%reg; mov CONTEXT.cfa,%reg: the arguments of
 * _Unwind_DebugHook(). The two are neighbours in struct _Unwind_Context. A compiler that needs the
 * return address later, too, has it in another register than the argument's.
 */
static bool take_copy(struct cursor *c, int32_t *cfa)
{
	int32_t ra;

	return take_call(c) && take_load(c, &ra) && take_load(c, cfa) && *cfa == (int64_t)ra - 8;
}

static struct unwind_rule rule_by_context(int32_t cfa)
{
	return (struct unwind_rule){ .kind = UNWIND_DEREF_FP,
				     .words = 1,
				     .ra_word = 0,
				     .fp_word = UNWIND_IN_REGISTER,
				     .cfa_offset = cfa,
				     .read_offset = -8,
				     .flags = UNWIND_FP_FROM_FP,
				     .base_word = UNWIND_LOST };
}

bool exception_return_find(struct exception_return *r, struct cursor code, uint64_t address)
{
	bool copied = false;

	for (; cursor_left(&code); cursor_skip(&code, 1), address++) {
		struct cursor c = code;
		int32_t cfa;

		if (take_copy(&c, &cfa)) {
			r->copies = address;
			r->rule = rule_by_context(cfa);
			copied = true;
		}
		c = code;
		if (copied && take_store(&c)) {
			r->stored = address + (cursor_left(&code) - cursor_left(&c));
			return true;
		}
	}
	return false;
}

#else

bool exception_return_is_end(const struct cfi_row *row)
{
	return false;
}

bool exception_return_find(struct exception_return *r, struct cursor code, uint64_t address)
{
	return false;
}

#endif
