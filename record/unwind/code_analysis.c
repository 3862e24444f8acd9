/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/code_analysis.h"

#include "common/array.h"
#include "common/map.h"
#include "record/unwind/function_starts.h"
#include "record/unwind/go_functions.h"
#include "record/unwind/unwind_arch.h"
#include "record/unwind/x86_instruction.h"

#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)

#define JUMPS_MAX (1 << 16) /* in one function */
#define PASSES_MAX 8
#define ALIGNMENT 16 /* where functions begin that nothing names */
#define HOLE 4096    /* zeros that no compiler leaves in code */
#define RETURN 0xc3

/* What is known before an instruction. */
struct state {
	bool sp_known, fp_known; /* the CFA is sp + sp_offset resp. fp + fp_offset */
	bool outermost;		 /* the root: this code was not called */
	int32_t sp_offset, fp_offset;
	int32_t fp_saved, base_saved;	 /* at CFA + this; 0: the register is the caller's */
	const struct unwind_rule *fixed; /* the rule, whatever the other fields are */
};

struct code_analysis {
	const struct elf_file *e;
	const struct code_ranges *gaps;
	const atomic_bool *stop;
	struct function_starts starts;
	struct go_functions go_functions;
	bool is_go;
	struct go_frame go_frame; /* of the code that is being analysed */
	bool go_known;
	/* Of the code that is being analysed: what is known at the targets of jumps. */
	struct state *jumps;
	size_t jump_count, jump_capacity;
	struct map jump_at;    /* target -> position in `jumps` */
	struct state indirect; /* at the last jump by a table */
	bool indirect_known;
	bool changed;	   /* a state in `jumps`, since it was cleared */
	uint64_t farthest; /* that the function is known to reach */
	const char *name;
	struct unwind_rule go; /* of asmcgocall, see find_stack_switch() */
	struct code_analysis_listener listener;
	uint64_t at;	    /* of the instruction that is being analysed */
	uint64_t run_start; /* the caller has emitted what holds before */
};

static const struct state at_entry = { .sp_known = true, .sp_offset = 8 };

struct code_analysis *code_analysis_new(const struct elf_file *e, const struct code_ranges *code,
					const struct code_ranges *gaps, const atomic_bool *stop)
{
	struct code_analysis *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->e = e;
	a->gaps = gaps;
	a->stop = stop;
	a->is_go = go_functions_open(&a->go_functions, e);
	function_starts_find(&a->starts,
			     &(struct code_source){ .file = e,
						    .code = code,
						    .gaps = gaps,
						    .go = a->is_go ? &a->go_functions : NULL,
						    .stop = stop });
	return a;
}

void code_analysis_free(struct code_analysis *a)
{
	if (!a)
		return;
	function_starts_release(&a->starts);
	map_release(&a->jump_at);
	free(a->jumps);
	free(a);
}

/* -------- functions that are known -------- */

static const struct unwind_rule rule_end = { .kind = UNWIND_END };
static const struct unwind_rule rule_signal = { .kind = UNWIND_SIGNAL };

/*
 * Go's runtime switches to the stack of its scheduler without a frame of its own, and leaves the
 * frame pointer as it was: that of the function that called it.
 */
static const struct unwind_rule rule_other_stack = { .kind = UNWIND_CFA_FP,
						     .words = 2,
						     .ra_word = 1,
						     .fp_word = 0,
						     .cfa_offset = 16,
						     .read_offset = -16,
						     .flags = UNWIND_OTHER_STACK,
						     .base_word = UNWIND_LOST };

/* Symbols of Go's assembly have a suffix, which its own table of functions leaves out. */
static bool is_one_of(const char *name, const char *const *names)
{
	for (; *names; names++) {
		size_t length = strlen(*names);

		if (!strncmp(name, *names, length) &&
		    (!name[length] || !strcmp(name + length, ".abi0")))
			return true;
	}
	return false;
}

/* mov $15,%rax or %eax; syscall */
static bool is_signal_return(struct cursor c)
{
	static const uint8_t wide[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05 };
	static const uint8_t narrow[] = { 0xb8, 15, 0, 0, 0, 0x0f, 0x05 };

	return (cursor_left(&c) >= sizeof(wide) && !memcmp(c.at, wide, sizeof(wide))) ||
	       (cursor_left(&c) >= sizeof(narrow) && !memcmp(c.at, narrow, sizeof(narrow)));
}

bool code_analysis_is_trampoline(const struct elf_file *e, uint64_t address)
{
	struct cursor before = elf_file_at(e, address - 1);

	return is_signal_return(elf_file_at(e, address)) &&
	       (!cursor_left(&before) || *before.at != RETURN);
}

/* Go's goexit, to which the first function of a goroutine returns: nop; call; nop, and nothing. */
static bool is_goexit(struct cursor c)
{
	return cursor_left(&c) >= 8 && c.at[0] == 0x90 && c.at[1] == 0xe8 && c.at[6] == 0x90 &&
	       c.at[7] == 0xcc;
}

static struct state state_of_start(struct code_analysis *a, uint64_t address, const char *name)
{
	static const char *const outermost[] = { "runtime.goexit", "runtime.mstart",
						 "runtime.rt0_go", "runtime.mcall", NULL };
	struct cursor c = elf_file_at(a->e, address);
	struct state state = at_entry;

	if (address == a->e->entry || is_one_of(name, outermost) || is_goexit(c))
		state.fixed = &rule_end;
	if (is_signal_return(c))
		state.fixed = &rule_signal;
	return state;
}

/* A number on the stack, in `mov %reg,n(%rsp)` (48 89 /r) of the registers di or dx. */
static size_t take_store(const uint8_t *code, uint8_t modrm, int32_t *offset)
{
	if (code[0] != 0x48 || code[1] != 0x89)
		return 0;
	if (code[2] == (0x44 | modrm) && code[3] == 0x24) {
		*offset = code[4];
		return 5;
	}
	*offset = 0;
	return code[2] == (0x04 | modrm) && code[3] == 0x24 ? 4 : 0;
}

/*
 * Go's asmcgocall, after it has aligned the scheduler's stack for C. It has switched stacks: on the
 * new one it keeps the goroutine and the depth of its stack, which may be moved meanwhile,
 *
 *     mov %rdi,G(%rsp); mov 8(%rdi),%rdi; sub %rdx,%rdi; mov %rdi,DEPTH(%rsp)
 *
 * or it has not, and keeps the stack pointer: movq $0,G(%rsp); mov %rdx,DEPTH(%rsp).
 */
static bool find_stack_switch(struct code_analysis *a, const uint8_t *code, size_t size)
{
	static const uint8_t depth[] = { 0x48, 0x8b, 0x7f, 0x08, 0x48, 0x29, 0xd7 };
	struct unwind_rule rule = { .words = 1,
				    .ra_word = 0,
				    .fp_word = UNWIND_IN_REGISTER,
				    .read_offset = -8,
				    .base_word = UNWIND_LOST };
	int32_t g = 0, offset = 0;
	size_t taken;

	if (size < 32)
		return false;
	taken = take_store(code, 0x38, &g);
	if (taken && !memcmp(code + taken, depth, sizeof(depth)) &&
	    take_store(code + taken + sizeof(depth), 0x38, &offset)) {
		rule.kind = UNWIND_GO_STACK;
		rule.add = (int16_t)g;
		rule.flags = UNWIND_OTHER_STACK;
	} else if (!memcmp(code, "\x48\xc7\x44\x24", 4) && take_store(code + 9, 0x10, &offset)) {
		rule.kind = UNWIND_DEREF_SP;
		rule.add = 8;
	} else {
		return false;
	}
	rule.cfa_offset = offset;
	a->go = rule;
	return true;
}

/* -------- states -------- */

static struct unwind_rule rule_of(const struct state *s)
{
	struct cfi_row row = { .cfa = CFI_CFA_REGISTER, .ra = { CFI_AT_CFA, -8 } };

	row.reg = s->sp_known ? ARCH_REGISTER_SP : ARCH_REGISTER_FP;
	row.offset = s->sp_known ? s->sp_offset : s->fp_offset;
	if (s->fp_saved)
		row.fp = (struct cfi_saved){ CFI_AT_CFA, s->fp_saved };
	if (s->base_saved)
		row.base = (struct cfi_saved){ CFI_AT_CFA, s->base_saved };
	return unwind_rule_from_row(&row);
}

static void emit(struct code_analysis *a, uint64_t address, const struct state *s, bool known)
{
	static const char *const switching[] = { "runtime.systemstack", "runtime.morestack", NULL };
	struct unwind_rule rule;

	if (known && s->fixed) {
		a->listener.found(a->listener.context, address, s->fixed);
	} else if (known && s->outermost) {
		a->listener.found(a->listener.context, address, &rule_end);
	} else if (known && (s->sp_known || s->fp_known)) {
		rule = rule_of(s);
		a->listener.found(a->listener.context, address,
				  rule.kind == UNWIND_UNSUPPORTED ? NULL : &rule);
	} else if (is_one_of(a->name, switching)) {
		a->listener.found(a->listener.context, address, &rule_other_stack);
	} else {
		a->listener.found(a->listener.context, address, NULL);
	}
}

static void move_sp(struct state *s, int64_t by)
{
	int64_t offset = s->sp_offset - by;

	s->sp_offset = (int32_t)offset;
	/* Above the return address there is no frame. */
	if (offset < 8 || offset > INT32_MAX / 2)
		s->sp_known = false;
}

static void push(struct state *s, uint8_t reg)
{
	move_sp(s, -8);
	if (!s->sp_known)
		return;
	if (reg == X86_REGISTER_FP && !s->fp_saved)
		s->fp_saved = -s->sp_offset;
	if (reg == X86_REGISTER_BASE && !s->base_saved)
		s->base_saved = -s->sp_offset;
}

static void pop(struct state *s, uint8_t reg)
{
	if (reg == X86_REGISTER_FP && s->sp_known && s->fp_saved == -s->sp_offset)
		s->fp_saved = 0;
	if (reg == X86_REGISTER_FP)
		s->fp_known = false;
	if (reg == X86_REGISTER_BASE && s->sp_known && s->base_saved == -s->sp_offset)
		s->base_saved = 0;
	move_sp(s, 8);
}

static void set_sp_from_fp(struct state *s, int64_t value)
{
	s->sp_known = s->fp_known;
	s->sp_offset = s->fp_offset;
	move_sp(s, value);
}

/* `rest`: the code after the instruction. */
static void apply(struct code_analysis *a, struct state *s, const struct x86_instruction *i,
		  struct cursor rest)
{
	switch ((enum x86_effect)i->effect) {
	case X86_PUSH: push(s, i->reg); break;
	case X86_POP: pop(s, i->reg); break;
	case X86_SP_ADD: move_sp(s, i->value); break;
	case X86_SP_ALIGN:
		s->sp_known = false;
		if (find_stack_switch(a, rest.at, cursor_left(&rest)))
			s->fixed = &a->go;
		break;
	case X86_SP_FROM_FP: set_sp_from_fp(s, i->value); break;
	case X86_SP_OTHER:
		s->sp_known = false;
		/* asmcgocall is back on the stack that it came from. */
		if (s->fixed == &a->go)
			*s = at_entry;
		break;
	case X86_FP_FROM_SP:
		s->fp_known = s->sp_known;
		s->fp_offset = (int32_t)(s->sp_offset - i->value);
		break;
	case X86_FP_STORE:
		if (s->sp_known && !s->fp_saved && !s->fp_known && i->value >= 0 &&
		    i->value < s->sp_offset)
			s->fp_saved = (int32_t)(i->value - s->sp_offset);
		break;
	case X86_FP_LOAD:
		if (s->sp_known && s->fp_saved == i->value - s->sp_offset) {
			s->fp_saved = 0;
			s->fp_known = false;
		}
		break;
	case X86_FP_CLEAR: s->outermost = !s->fp_saved; break;
	case X86_LEAVE:
		set_sp_from_fp(s, 0);
		pop(s, X86_REGISTER_FP);
		break;
	default: break;
	}
}

/* -------- from one start to the next -------- */

/* Code between two known starts: a function, and perhaps others that nothing names after it. */
struct span {
	const uint8_t *code;
	uint64_t start, end;
	const char *name; /* NULL: `start` is no known start */
	bool unnamed;	  /* code that cannot be reached from `start` is another function */
	bool emits;
};

/*
 * Where two flows of control meet with different stack pointers, as after a loop that pushes, only
 * the frame pointer says where the frame is. Without one, the first state is kept: the other may
 * come from code that never returns. Returns whether `s` has changed.
 */
static bool meet(struct state *s, const struct state *other)
{
	if (!s->sp_known || !s->fp_known || !other->fp_known || s->fp_offset != other->fp_offset ||
	    (other->sp_known && other->sp_offset == s->sp_offset))
		return false;
	s->sp_known = false;
	return true;
}

static void note_jump(struct code_analysis *a, const struct span *span, uint64_t target,
		      const struct state *s)
{
	bool added = false;
	uint64_t *at;

	if (target <= span->start || target >= span->end || a->jump_count >= JUMPS_MAX ||
	    !array_reserve(&a->jumps, &a->jump_capacity, a->jump_count + 1))
		return;
	at = map_put(&a->jump_at, &target, sizeof(target), &added);
	if (at && !added && meet(&a->jumps[*at], s))
		a->changed = true;
	if (!at || !added)
		return;
	*at = a->jump_count;
	a->jumps[a->jump_count++] = *s;
	a->changed = true;
}

/* Control comes to the address from the instruction before, perhaps from jumps, too. */
static void join(struct code_analysis *a, uint64_t address, struct state *s)
{
	const uint64_t *at = s->fp_known ? map_get(&a->jump_at, &address, sizeof(address)) : NULL;

	if (!at)
		return;
	meet(s, &a->jumps[*at]);
	if (meet(&a->jumps[*at], s))
		a->changed = true;
}

/* The state at code that follows a return or a jump. False: it is not known. */
static bool resume(struct code_analysis *a, const struct span *span, uint64_t address,
		   struct state *s)
{
	const uint64_t *at = map_get(&a->jump_at, &address, sizeof(address));

	if (at) {
		*s = a->jumps[*at];
		return true;
	}
	if (span->unnamed && address % ALIGNMENT == 0 && address > a->farthest) {
		a->indirect_known = false;
		*s = state_of_start(a, address, "");
		return true;
	}
	/* A case of a switch, to which a table leads. */
	*s = a->indirect;
	return a->indirect_known;
}

static bool ends_flow(const struct x86_instruction *i)
{
	return i->effect == X86_RETURN || i->effect == X86_JUMP || i->effect == X86_JUMP_FAR ||
	       i->effect == X86_STOP;
}

/* The instruction at a->at; the state after it. Returns whether that is known. */
static bool step(struct code_analysis *a, const struct span *span, const struct x86_instruction *i,
		 struct state *s)
{
	uint64_t after = a->at + i->size;

	if (i->effect == X86_JUMP || i->effect == X86_BRANCH) {
		note_jump(a, span, after + (uint64_t)i->value, s);
		if (after + (uint64_t)i->value < span->end &&
		    after + (uint64_t)i->value > a->farthest)
			a->farthest = after + (uint64_t)i->value;
	}
	if (i->effect == X86_JUMP_FAR) {
		a->indirect = *s;
		a->indirect_known = true;
	}
	apply(a, s, i,
	      cursor_over(span->code + (after - span->start), (size_t)(span->end - after)));
	return !ends_flow(i) || s->fixed == &rule_end || s->fixed == &rule_signal;
}

/* Padding between functions. The goexit of Go begins with the same instruction. */
static bool is_filler(const struct code_analysis *a, const struct x86_instruction *i,
		      uint64_t address)
{
	if (i->effect != X86_PADDING && i->effect != X86_STOP)
		return false;
	return address % ALIGNMENT || !is_goexit(elf_file_at(a->e, address));
}

static void begin_go(struct code_analysis *a, uint64_t address)
{
	struct go_function f;
	size_t number = a->is_go ? go_functions_at(&a->go_functions, address) : 0;

	a->go_known = a->is_go && number < a->go_functions.count &&
		      go_functions_get(&a->go_functions, number, &f) && f.start == address &&
		      !f.moves_sp && go_frame_first(&a->go_functions, &f, &a->go_frame);
}

/*
 * Go's compiler says how large the frame is at each instruction. In code that no known flow of
 * control leads to, the frame pointer lies where Go's functions save it. Returns whether `s` is
 * known.
 */
static bool follow_go(struct code_analysis *a, uint64_t address, bool known, struct state *s)
{
	while (a->go_known && address >= a->go_frame.end)
		a->go_known = go_frame_next(&a->go_frame);
	if (!a->go_known)
		return known;
	if (!known)
		*s = (struct state){ .fp_saved = a->go_frame.size >= 8 ? -16 : 0 };
	s->sp_known = true;
	s->sp_offset = (int32_t)a->go_frame.size + 8;
	return true;
}

/*
 * How many zeros come next that are no code but a hole of the file, which costs nothing and may be
 * as large as what is analysed at most. Zeros are instructions of two bytes.
 */
static size_t hole_at(const struct span *span, size_t at)
{
	static const uint8_t zeros[HOLE];
	const size_t size = (size_t)(span->end - span->start);
	size_t end = at;

	/* Not at every instruction: shorter runs of zeros are seen once for each 64 bytes. */
	while (at % 64 < 2 && size - end >= HOLE && !memcmp(span->code + end, zeros, HOLE))
		end += HOLE;
	return end - at;
}

static void walk_span(struct code_analysis *a, const struct span *span)
{
	bool known = span->name != NULL;
	struct state s = known ? state_of_start(a, span->start, span->name) : at_entry;
	size_t size = (size_t)(span->end - span->start);

	a->name = known ? span->name : "";
	a->indirect_known = false;
	a->farthest = 0;
	begin_go(a, span->start);
	/*
	 * A signal trampoline is entered by a return to its first byte, and return addresses are
	 * looked up one byte before: the rule holds from there.
	 */
	if (span->emits && s.fixed == &rule_signal && span->start > a->run_start &&
	    code_analysis_is_trampoline(a->e, span->start))
		emit(a, span->start - 1, &s, true);
	for (size_t at = 0; at < size && !code_source_is_stopped(a->stop);) {
		const size_t hole = hole_at(span, at);
		struct x86_instruction i;

		if (hole) {
			at += hole;
			continue;
		}
		i = x86_instruction_at(span->code + at, size - at);
		if (!known && i.size && !is_filler(a, &i, span->start + at))
			known = resume(a, span, span->start + at, &s);
		else if (known)
			join(a, span->start + at, &s);
		known = follow_go(a, span->start + at, known, &s);
		if (span->emits)
			emit(a, span->start + at, &s, known);
		a->at = span->start + at;
		known = known && i.size && step(a, span, &i, &s);
		at += i.size ? i.size : 1;
	}
}

/* Jumps lead forwards and back, so all code is walked until no more is learned. */
static void analyse_span(struct code_analysis *a, struct span *span)
{
	a->jump_count = 0;
	map_release(&a->jump_at);
	span->emits = false;
	for (int pass = 0; pass < PASSES_MAX && !code_source_is_stopped(a->stop); pass++) {
		a->changed = false;
		walk_span(a, span);
		if (!a->changed && span->unnamed)
			break;
		if (!a->changed)
			span->unnamed = true;
	}
	span->emits = true;
	walk_span(a, span);
}

static void analyse(struct code_analysis *a, struct cursor c, uint64_t start, uint64_t end)
{
	size_t next = function_starts_next(&a->starts, start);
	uint64_t at = start;

	while (at < end && !code_source_is_stopped(a->stop)) {
		struct span span = { .code = c.at + (at - start), .start = at, .end = end };

		if (next < a->starts.n && a->starts.all[next].address == at)
			span.name = a->starts.all[next++].name;
		if (next < a->starts.n && a->starts.all[next].address < end)
			span.end = a->starts.all[next].address;
		analyse_span(a, &span);
		at = span.end;
	}
}

void code_analysis_run(struct code_analysis *a, uint64_t start, uint64_t end,
		       struct code_analysis_listener listener)
{
	a->listener = listener;
	a->run_start = start;
	for (size_t i = code_ranges_next(a->gaps, start);
	     i < a->gaps->n && a->gaps->all[i].start < end; i++) {
		const struct code_range *gap = &a->gaps->all[i];
		uint64_t from = start > gap->start ? start : gap->start;
		uint64_t to = end < gap->end ? end : gap->end;
		struct cursor c = elf_file_at(a->e, from);

		if (cursor_left(&c) < to - from)
			to = from + cursor_left(&c);
		analyse(a, c, from, to);
		if (i + 1 == a->gaps->n || a->gaps->all[i + 1].start > to)
			listener.found(listener.context, to, NULL);
	}
}

bool code_analysis_is_padding(const struct elf_file *e, uint64_t start, uint64_t end,
			      const atomic_bool *stop)
{
	struct cursor c = elf_file_at(e, start);
	size_t size = (size_t)(end - start), at = 0;

	if (cursor_left(&c) < size)
		size = cursor_left(&c);
	while (at < size && !code_source_is_stopped(stop)) {
		struct x86_instruction i = { .size = 1, .effect = X86_PADDING };

		if (c.at[at])
			i = x86_instruction_at(c.at + at, size - at);
		if (!i.size || (i.effect != X86_PADDING && i.effect != X86_STOP))
			return false;
		at += i.size;
	}
	return true;
}

#else

bool code_analysis_is_trampoline(const struct elf_file *e, uint64_t address)
{
	return false;
}

bool code_analysis_is_padding(const struct elf_file *e, uint64_t start, uint64_t end,
			      const atomic_bool *stop)
{
	return true;
}

struct code_analysis *code_analysis_new(const struct elf_file *e, const struct code_ranges *code,
					const struct code_ranges *gaps, const atomic_bool *stop)
{
	return NULL;
}

void code_analysis_free(struct code_analysis *a)
{
}

void code_analysis_run(struct code_analysis *a, uint64_t start, uint64_t end,
		       struct code_analysis_listener listener)
{
}

#endif
