/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/exception_return.h"

#include <elf.h>

static void add_stretch(struct exception_return *r, uint64_t start, uint64_t end,
			struct unwind_rule rule)
{
	if (start < end && r->count < EXCEPTION_RETURN_STRETCHES)
		r->stretches[r->count++] = (struct exception_stretch){ start, end, rule };
}

/*
 * By a struct _Unwind_Context: pointers to saved registers, cfa, ra. `cfa` is where that field lies
 * from the frame pointer on, `fp` where the pointer to the handler's frame pointer lies.
 */
static struct unwind_rule rule_by_context(int32_t cfa, int32_t fp)
{
	return (struct unwind_rule){ .kind = UNWIND_CONTEXT,
				     .fp_word = UNWIND_IN_REGISTER,
				     .cfa_offset = cfa,
				     .fp_far = (int16_t)fp,
				     .base_word = UNWIND_LOST };
}

/* -------- x86-64 -------- */

#define X86_CX 2 /* holds the address that the handler's stack begins below */
#define X86_CALL 0xe8
#define X86_CFA_AFTER_BP 96 /* bytes in the context, from reg[6] to cfa */

static bool take_call(struct cursor *c)
{
	bool is_call = cursor_u8(c) == X86_CALL;

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

/*
 * call uw_install_context_1; mov CONTEXT.ra,%reg; mov CONTEXT.cfa,%reg: the arguments of
 * _Unwind_DebugHook(). The two are neighbours in struct _Unwind_Context. A compiler that needs the
 * return address later, too, has it in another register than the argument's.
 */
static bool take_copy(struct cursor *c, int32_t *cfa)
{
	int32_t ra;

	return take_call(c) && take_load(c, &ra) && take_load(c, cfa) && *cfa == (int64_t)ra - 8 &&
	       *cfa >= INT16_MIN && *cfa < 0;
}

static bool find_x86(struct exception_return *r, const struct exception_code *code)
{
	struct cursor at = code->code;
	uint64_t address = code->start, copies = 0;
	int32_t cfa = 0;

	for (; cursor_left(&at) && address < code->end; cursor_skip(&at, 1), address++) {
		struct cursor c = at;
		int32_t found;

		if (take_copy(&c, &found)) {
			copies = address;
			cfa = found;
		}
	}
	if (!copies)
		return false;
	add_stretch(r, copies, code->end, rule_by_context(cfa, cfa - X86_CFA_AFTER_BP));
	r->rows_enter = true;
	return true;
}

/* -------- arm64 -------- */

#define ARM_SP 31
#define ARM_LINK 30
#define ARM_KEPT 6	   /* the kernel half has x0 up to this one of a timer's sample */
#define ARM_CFA 784	   /* of the context's fields, bytes from its start */
#define ARM_FP (29 * 8)	   /* reg[29] */
#define ARM_FRAME_MIN 1920 /* bytes: two contexts */
#define ARM_FRAME_MAX 32752
#define ARM_RESTORES 32 /* instructions between the first that restores registers and the end */
#define ARM_BETWEEN 16	/* from the copy to the end of that way */
#define ARM_LOADS 6	/* in which the arguments of _Unwind_DebugHook() are loaded */

#define LDP_FP_LINK 0xa9407bfd /* ldp x29,x30,[sp] */
#define MOV_X4_1 0xd2800024
#define ADD_SP_X4 0x8b2463ff
#define ADD_SP_X5 0x8b2563ff
#define BR_X6 0xd61f00c0
#define RET 0xd65f03c0

/* How one function ends. */
struct arm_end {
	uint64_t restores; /* the first instruction that restores registers, x29 and x30 */
	uint64_t taken; /* if not 0: from here on x4 says which way is taken, before it is known */
	uint64_t joins; /* the way to the handler joins that to the caller here; 0: it does not */
	uint64_t copies, copied;   /* that way, from the call that copies registers on */
	int32_t cfa;		   /* of the context in the frame */
	unsigned int stack, where; /* registers: added to sp, and with the handler's address */
	bool branches;		   /* gcc 14: it does not return, but branches */
};

/* The instruction at an address; 0, which is none, where there is no code. */
static uint32_t arm_code(const struct exception_code *c, uint64_t address)
{
	struct cursor at = c->code;

	if (address < c->start)
		return 0;
	cursor_skip(&at, address - c->start);
	return cursor_left(&at) >= 4 ? cursor_u32(&at) : 0;
}

static bool is_call(uint32_t code)
{
	return code >> 26 == 0x25;
}

/* ldr xN,[sp,#k] */
static bool is_load(uint32_t code, int32_t *k)
{
	*k = (int32_t)(code >> 10 & 0xfff) * 8;
	return (code & 0xffc003e0) == 0xf94003e0;
}

/* b: its target */
static bool is_branch(uint32_t code, uint64_t address, uint64_t *target)
{
	*target = address + (uint64_t)((int64_t)(int32_t)(code << 6) >> 4);
	return code >> 26 == 5;
}

/* The registers of the two kinds of ends. */
static bool arm_kind(struct arm_end *e, const struct exception_code *c)
{
	uint32_t first = arm_code(c, c->end), second = arm_code(c, c->end + 4);

	e->branches = (first & 0xff00001f) == 0xb4000004 && second == ADD_SP_X5 &&
		      arm_code(c, c->end + 8) == BR_X6;
	e->stack = e->branches ? 5 : 4;
	return e->branches || (first == ADD_SP_X4 && second == RET);
}

static bool arm_restores(struct arm_end *e, const struct exception_code *c)
{
	for (uint64_t at = c->end - 4; c->end - at <= 4 * ARM_RESTORES && at >= c->start; at -= 4) {
		uint32_t code = arm_code(c, at);

		if (code == MOV_X4_1)
			e->taken = at + 4;
		e->restores = at;
		if (code == LDP_FP_LINK)
			return true;
	}
	return false;
}

/* After a call: the context's cfa and ra are loaded, in any order. */
static bool arm_loads(const struct exception_code *c, uint64_t call, int32_t *cfa)
{
	int32_t k, other = -1;

	for (uint64_t at = call + 4; at <= call + 4 * ARM_LOADS; at += 4) {
		if (!is_load(arm_code(c, at), &k))
			continue;
		*cfa = k < other ? k : other;
		if (other >= 0 && (k == other + 8 || other == k + 8))
			return *cfa >= ARM_CFA && *cfa < c->frame;
		other = k;
	}
	return false;
}

/*
 * The way from the copy to the end, with str xN,[x29,#8] where the code will return to the
 * handler: N. It joins the way to the caller at or a little before the restoring instructions.
 */
static bool arm_way(struct arm_end *e, const struct exception_code *c, uint64_t call)
{
	bool stores = false;

	for (uint64_t at = call + 4; at <= call + 4 * ARM_BETWEEN; at += 4) {
		uint32_t code = arm_code(c, at);

		if ((code & ~UINT32_C(31)) == 0xf90007a0 && (code & 31) <= ARM_KEPT) {
			e->where = code & 31;
			stores = true;
		}
		e->copied = at;
		e->joins = 0;
		if (at == e->restores)
			return stores != e->branches;
		e->copied += 4;
		if (is_branch(code, at, &e->joins))
			return stores != e->branches && e->joins >= c->start &&
			       e->joins <= e->restores && e->restores - e->joins <= 8 &&
			       (e->joins >= e->copied || call > c->end);
	}
	return false;
}

static bool arm_copies(struct arm_end *e, const struct exception_code *c)
{
	uint64_t size = cursor_left(&c->code) & ~(uint64_t)3;

	for (uint64_t at = c->start; at - c->start < size; at += 4) {
		e->copies = at;
		if ((at < e->restores || at > c->end + 8) && is_call(arm_code(c, at)) &&
		    arm_loads(c, at, &e->cfa) && arm_way(e, c, at))
			return true;
	}
	return false;
}

/* Where x4 says whether the handler is entered, which lies `offset` and one register above sp. */
static struct unwind_rule rule_by_x4(const struct arm_end *e, int64_t offset, unsigned int where)
{
	return (struct unwind_rule){ .kind = UNWIND_SP_OR_HANDLER,
				     .ra_word = UNWIND_IN_REGISTER,
				     .fp_word = UNWIND_IN_REGISTER,
				     .cfa_offset = (int32_t)offset,
				     .add = (int16_t)(where << 5 | e->stack),
				     .base_word = UNWIND_IN_REGISTER };
}

/* Shared by both ways, before x29 and x30 are restored from where x29 points to. */
static struct unwind_rule rule_before(const struct arm_end *e, int64_t frame)
{
	struct unwind_rule rule = rule_by_x4(e, frame, e->branches ? 6 : e->where);

	rule.words = 1;
	rule.ra_word = 0;
	rule.read_offset = (int16_t)(8 - frame);
	rule.flags = UNWIND_FP_FROM_FP;
	return rule;
}

/* The last instruction, when the stack pointer is the handler's. */
static struct unwind_rule rule_of_last(const struct arm_end *e)
{
	return (struct unwind_rule){ .kind = UNWIND_CFA_SP,
				     .ra_word = UNWIND_IN_REGISTER,
				     .fp_word = UNWIND_IN_REGISTER,
				     .add = e->branches ? 6 : 0,
				     .flags = UNWIND_TO_HANDLER |
					      (e->branches ? UNWIND_RA_FROM_REGISTER : 0),
				     .base_word = UNWIND_IN_REGISTER };
}

/* All after x29 and x30 are restored, up to the last instruction. */
static void add_end(struct exception_return *r, const struct arm_end *e,
		    const struct exception_code *c)
{
	unsigned int where = e->branches ? 6 : ARM_LINK;
	struct unwind_rule rule = rule_by_x4(e, c->frame, where), always = rule;
	uint64_t restored = e->restores + 4, last = c->end + (e->branches ? 8 : 4);

	always.flags = UNWIND_TO_HANDLER;
	if (e->taken > restored) {
		add_stretch(r, restored, e->taken, always);
		restored = e->taken;
	}
	add_stretch(r, restored, c->end, rule);
	add_stretch(r, c->end, last, rule_by_x4(e, 0, where));
	add_stretch(r, last, last + 4, rule_of_last(e));
}

static bool find_arm(struct exception_return *r, const struct exception_code *c)
{
	struct unwind_rule by_context;
	struct arm_end e = { 0 };

	if (!arm_kind(&e, c) || !arm_restores(&e, c) || !arm_copies(&e, c))
		return false;
	by_context = rule_by_context(e.cfa, e.cfa - ARM_CFA + ARM_FP);
	if (e.copies < e.restores)
		add_stretch(r, e.copies, e.joins ? e.copied : e.restores + 4, by_context);
	if (e.joins)
		add_stretch(r, e.joins, e.restores + 4, rule_before(&e, c->frame));
	add_end(r, &e, c);
	if (e.copies > c->end)
		add_stretch(r, e.copies, e.copied, by_context);
	return true;
}

/* -------- both -------- */

bool exception_return_is_end(uint16_t machine, const struct cfi_row *row, int64_t frame)
{
	if (row->cfa != CFI_CFA_REGISTER)
		return false;
	if (machine == EM_X86_64)
		return row->reg == X86_CX && row->offset == 8 && row->ra.place == CFI_AT_CFA;
	return machine == EM_AARCH64 && row->reg == ARM_SP && !row->offset &&
	       frame >= ARM_FRAME_MIN && frame <= ARM_FRAME_MAX;
}

bool exception_return_is_likely(const struct exception_code *c)
{
	struct arm_end e = { 0 };

	return c->machine == EM_X86_64 || arm_kind(&e, c);
}

bool exception_return_find(struct exception_return *r, const struct exception_code *c)
{
	*r = (struct exception_return){ 0 };
	return c->machine == EM_X86_64 ? find_x86(r, c) : find_arm(r, c);
}
