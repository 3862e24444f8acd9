/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPF_WALK_UNWIND_STEP_BPF_H
#define BPF_WALK_UNWIND_STEP_BPF_H

/*
 * One step of a walk: from a frame to its caller. struct walk holds the registers of the frame
 * that the walk has reached.
 *
 * step() finds the rule at the pc and hands the frame to the function for that kind of code:
 * step_rule() for code with a table, step_signal() for signal frames, step_guess() for code
 * without a table, hotspot_step() for code that a Java machine has made, step_v8() for that of V8.
 */

#include <stdbool.h>

#include "bpf/runtimes/hotspot_step.bpf.h"
#include "bpf/runtimes/v8_step.bpf.h"
#include "bpf/walk/unwind_spaces.bpf.h"
#include "bpf/walk/unwind_tables.bpf.h"
#include "bpf/state/walk_state.bpf.h"

#define SCAN_WORDS 24	 /* of the stack, searched for a return address */
#define SCAN_FRAME 65536 /* bytes; no frame that its caller's frame pointer spans is larger */

/* The rule at pc: from the cache, as stacks share most frames, or the published run. */
static __always_inline __u32 rule_at(struct walk *w, __u64 pc)
{
	__u32 slot = ((__u32)pc * 0x9e3779b1U) >> (32 - WALK_CACHE_BITS);
	struct walk_cached *c = &w->cache[slot & (WALK_CACHE - 1)];
	struct unwind_segment *s;
	__u32 at;
	int index;

	if (c->pc == pc && c->run == w->run)
		return c->rule;
	index = find_segment(w->first, w->count, pc);
	at = (__u32)index;
	s = index < 0 ? NULL : bpf_map_lookup_elem(&unwind_segments, &at);
	if (!s)
		return fresh_rule(w->tgid, WALKS_CURRENT ? w->mm : 0, pc);
	c->rule = rule_in_segment(s, pc);
	c->pc = pc;
	c->run = w->run;
	return c->rule;
}

/* The frame that was appended last lies exactly at its pc. */
static __always_inline void mark_exact(struct walk *w)
{
	w->room[WALK_SAMPLE_WORDS + ((w->frames - 1) & (MAX_USER_FRAMES - 1))] |= FRAME_EXACT;
}

/* To the code that the signal interrupted, by the registers in the signal frame. */
static __always_inline int step_signal(struct walk *w)
{
	if (read_words(w, w->sp + SIGNAL_READ, SIGNAL_WORDS))
		return STEP_END(w, WALK_BAD_READ);
	w->pc = word(w, SIGNAL_PC);
	w->sp = word(w, SIGNAL_SP);
	w->fp = word(w, SIGNAL_FP);
	w->base = word(w, SIGNAL_BASE);
#ifdef SIGNAL_LINK
	w->link = word(w, SIGNAL_LINK);
#endif
	w->base_lost = 0;
	w->exact = 1;
	w->guessed = 0;
	return STEP_ON;
}

/* The code at pc returns next; its return address lies `bytes` above the stack pointer. */
static __always_inline int step_return(struct walk *w, __u32 bytes)
{
	if (read_words(w, w->sp + bytes, 1))
		return STEP_END(w, WALK_BAD_READ);
	w->pc = plain_address(word(w, 0));
	w->sp += bytes + 8;
	w->exact = 0;
	w->guessed = 0;
	return w->pc ? STEP_ON : STEP_END(w, WALK_BAD_READ);
}

/* Whether code of this process calls something right before the address. */
__noinline int is_return_address(__u32 index, __u64 address)
{
	struct walk *w = bpf_map_lookup_elem(&unwind_walks, &index);
	__u64 before;

	if (!w || address >> USER_ADDRESS_BITS || address < 4096)
		return false;
	if (rule_at(w, address - 1) == RULE_NO_MAPPING)
		return false;
	return !WALK_READ_USER(&before, sizeof(before), address - sizeof(before)) &&
	       ends_in_call(before);
}

/* By the frame pointer, if it leads to a return address. */
static __always_inline bool guess_by_frame_pointer(struct walk *w)
{
	__u64 fp, pc;

	/* The first frame pointer must lie on this stack; a chain may lead to another one. */
	if (!w->fp || (w->fp < w->sp && !w->guessed) || (w->fp & 7) || read_words(w, w->fp, 2))
		return false;
	fp = word(w, 0);
	pc = plain_address(word(w, 1));
	if (!is_return_address(w->index, pc))
		return false;
	w->sp = w->fp + 16;
	w->fp = fp;
	w->pc = pc;
	return true;
}

#define SCAN_ON 0
#define SCAN_FOUND 1
#define SCAN_ENDS 2

/*
 * Whether that word of the interrupted frame is a return address, and goes to the caller then. What
 * such code saves first, if anything, is the frame pointer: the word below it. A global function,
 * so that the verifier checks it once, not for each word.
 */
__noinline int scan_word(__u32 index, __u32 number)
{
	struct walk *w = bpf_map_lookup_elem(&unwind_walks, &index);
	__u64 at, found, below;

	if (!w)
		return SCAN_ENDS;
	at = w->sp + number * 8ULL;
	if (read_words(w, at, 1))
		return SCAN_ENDS;
	found = word(w, 0);
	if (!is_return_address(index, plain_address(found)))
		return SCAN_ON;
	if (number && !read_words(w, at - 8, 1)) {
		below = word(w, 0);
		if (below - (at + 8) < SCAN_FRAME)
			w->fp = below;
	}
	w->sp = at + 8;
	w->pc = plain_address(found);
	return SCAN_FOUND;
}

/* To the first word of the interrupted frame that is a return address. Not 0: none is within reach.
 */
static __always_inline int scan_stack(struct walk *w)
{
	for (__u64 i = 0; i < SCAN_WORDS; i++) {
		int result = scan_word(w->index, (__u32)i);

		if (result != SCAN_ON)
			return result != SCAN_FOUND;
	}
	return 1;
}

/*
 * Code without a table: hand-written, or made at run time. It may be a signal restorer without
 * unwind information. For all else the caller is guessed, which never proves to be the root: what
 * looks like the end of a chain may be a register that the code uses for something else. A global
 * function, as this is long and not the common case.
 */
__noinline int step_guess(__u32 index)
{
	struct walk *w = bpf_map_lookup_elem(&unwind_walks, &index);
	__u64 code;
	int bytes;

	if (!w)
		return 1;
	/* Where it cannot be read, the call may be among the last instructions that are mapped. */
	if (!w->exact && !WALK_READ_USER(&code, sizeof(code), w->pc)) {
		if (is_signal_return(code)) {
			mark_exact(w);
			return step_signal(w);
		}
		bytes = returns_after(code);
		if (bytes >= 0)
			return step_return(w, (__u32)bytes);
	}
	if (!guess_by_frame_pointer(w)) {
		if (!w->exact)
			return STEP_END(w, w->guessed ? WALK_FRAME_POINTER : WALK_NO_TABLE);
		if (scan_stack(w))
			return STEP_END(w, WALK_NO_TABLE);
	}
	w->base_lost = 1;
	w->exact = 0;
	w->guessed = 1;
	return STEP_ON;
}

/* The CFA on the goroutine's stack, see UNWIND_GO_STACK. */
static __always_inline int go_cfa(struct walk *w, const struct unwind_rule *rule, __u64 *cfa)
{
	__u64 goroutine, depth, end;

	if (WALK_READ_USER(&goroutine, 8, w->sp + rule->add) ||
	    WALK_READ_USER(&depth, 8, w->sp + rule->cfa_offset) ||
	    WALK_READ_USER(&end, 8, goroutine + 8))
		return STEP_END(w, WALK_BAD_READ);
	*cfa = end - depth + 8;
	return STEP_ON;
}

/* The frame's CFA, the caller's stack pointer. */
static __always_inline int rule_cfa(struct walk *w, const struct unwind_rule *rule, __u64 *cfa)
{
	__u64 base;

	switch (rule->kind) {
	case UNWIND_SP_OR_HANDLER:
	case UNWIND_CFA_SP: *cfa = w->sp + rule->cfa_offset; break;
	case UNWIND_CFA_FP: *cfa = w->fp + rule->cfa_offset; break;
	case UNWIND_DEREF_SP:
	case UNWIND_DEREF_FP:
		base = rule->kind == UNWIND_DEREF_SP ? w->sp : w->fp;
		if (read_words(w, base + rule->cfa_offset, 1))
			return STEP_END(w, WALK_BAD_READ);
		*cfa = word(w, 0) + rule->add;
		break;
	case UNWIND_PLT:
		*cfa = w->sp + rule->cfa_offset + ((w->pc & 15) >= (__u64)rule->add ? 8 : 0);
		break;
	case UNWIND_CFA_BASE:
		if (w->base_lost)
			return STEP_END(w, WALK_UNSUPPORTED);
		*cfa = w->base + rule->cfa_offset;
		break;
	case UNWIND_CFA_REGISTER:
		if (w->frames != 1)
			return STEP_END(w, WALK_UNSUPPORTED);
		*cfa = ((__u64 *)&w->registers)[rule->add & 15] + rule->cfa_offset;
		break;
	case UNWIND_GO_STACK:
		if (go_cfa(w, rule, cfa))
			return 1;
		break;
	default: return STEP_END(w, WALK_UNSUPPORTED);
	}
	if (rule->flags & UNWIND_OTHER_STACK)
		return STEP_ON;
	/* Frames lie below their callers'. A leaf of arm64 may have none. */
	if (*cfa < w->sp || (*cfa == w->sp && !w->exact))
		return STEP_END(w, WALK_BAD_READ);
	return STEP_ON;
}

/* The caller's frame pointer and base register; the words at the CFA have been read. */
static __always_inline int rule_restore(struct walk *w, const struct unwind_rule *rule, __u64 cfa)
{
	if (rule->fp_word != UNWIND_IN_REGISTER)
		w->fp = word(w, rule->fp_word & 15);
	else if (rule->flags & (UNWIND_FP_FROM_FP | UNWIND_FP_FROM_CFA) &&
		 WALK_READ_USER(&w->fp, 8,
				rule->fp_far + (rule->flags & UNWIND_FP_FROM_FP ? w->fp : cfa)))
		return STEP_END(w, WALK_BAD_READ);
	if (rule->base_word == UNWIND_LOST)
		w->base_lost = 1;
	else if (rule->base_word != UNWIND_IN_REGISTER)
		w->base = word(w, rule->base_word & 15);
	return STEP_ON;
}

/* The caller of the frame at w->pc, by its rule. */
static __always_inline int step_rule(struct walk *w, const struct unwind_rule *rule)
{
	__u64 cfa, pc;

	if (rule_cfa(w, rule, &cfa))
		return 1;
	if (rule->words && read_words(w, cfa + rule->read_offset, rule->words))
		return STEP_END(w, WALK_BAD_READ);
	if (rule->ra_word != UNWIND_IN_REGISTER)
		pc = word(w, rule->ra_word & 15);
	else if (!w->exact)
		return STEP_END(w, WALK_BAD_READ);
	else if (rule->flags & UNWIND_RA_FROM_REGISTER)
		pc = w->frames == 1 ? ((__u64 *)&w->registers)[rule->add & 15] : 0;
	else
		pc = w->link;
	if (rule_restore(w, rule, cfa))
		return 1;
	w->pc = plain_address(pc);
	w->sp = cfa;
	w->exact = !!(rule->flags & UNWIND_TO_HANDLER);
	w->guessed = 0;
	/* The outermost frame has a table that says so; this is a frame that was read wrongly. */
	if (!w->pc || w->pc >> USER_ADDRESS_BITS)
		return STEP_END(w, WALK_BAD_READ);
	return STEP_ON;
}

/*
 * From an interrupted builtin of V8. It may have no frame, so its rule is needed; but that is
 * derived from the instructions, and a builtin may push as many words as a register says. Where it
 * does not lead to a return address, there is a frame.
 */
static __always_inline int step_builtin(struct walk *w, __u32 number)
{
	struct unwind_rule *rule = bpf_map_lookup_elem(&unwind_rules, &number);
	__u64 sp = w->sp, fp = w->fp, pc = w->pc, before;

	if (rule && rule->kind != UNWIND_END && rule->kind != UNWIND_SIGNAL &&
	    !step_rule(w, rule) && !WALK_READ_USER(&before, sizeof(before), w->pc - 8) &&
	    ends_in_call(before))
		return STEP_ON;
	w->end = WALK_TOO_DEEP;
	w->sp = sp;
	w->fp = fp;
	w->pc = pc;
	return v8_leave(w->index, 0);
}

#define STEP_OTHER 2 /* the frame is of another kind */

/*
 * The step of a process with V8, if the frame is V8's. A global function, so that the others
 * pay one comparison, and the verifier checks it once.
 */
__noinline int step_v8(__u32 index)
{
	struct walk *w = bpf_map_lookup_elem(&unwind_walks, &index);
	__u32 number;
	bool builtin;

	if (!w)
		return 1;
	w->v8.function = 0;
	v8_locate(index);
	builtin = v8_is_builtin(w);
	if (builtin && (!w->exact || v8_is_entry(w)))
		return v8_step(index);
	number = rule_at(w, w->exact ? w->pc : w->pc - 1);
	if (builtin)
		return step_builtin(w, number);
	if (number == UNWIND_NONE || (number == RULE_NO_MAPPING && v8_may_have_made(w)))
		return v8_step(index);
	return STEP_OTHER;
}

/* Where libgcc's unwinder has the registers that the handler is entered with: in its variables. */
static __always_inline int handler_by_context(struct walk *w, const struct unwind_rule *rule,
					      __u64 *pc, __u64 *sp)
{
	__u64 saved;

	if (read_words(w, w->fp + rule->cfa_offset, 2))
		return STEP_END(w, WALK_BAD_READ);
	*sp = word(w, 0);
	*pc = word(w, 1);
	if (WALK_READ_USER(&saved, 8, w->fp + rule->fp_far) || WALK_READ_USER(&w->fp, 8, saved))
		return STEP_END(w, WALK_BAD_READ);
	return STEP_ON;
}

/* In registers, some of which have been restored: the interrupted frame is about to leave. */
static __always_inline int handler_by_registers(struct walk *w, const struct unwind_rule *rule,
						__u64 *pc, __u64 *sp)
{
	const __u64 *registers = (const __u64 *)&w->registers;

	if (w->frames != 1)
		return STEP_END(w, WALK_UNSUPPORTED);
	if (!REGISTERS_HANDLER(&w->registers) && !(rule->flags & UNWIND_TO_HANDLER))
		return STEP_OTHER;
	*sp = w->sp + rule->cfa_offset + registers[rule->add & 31];
	*pc = registers[rule->add >> 5 & 31];
	if (rule->flags & UNWIND_FP_FROM_FP && WALK_READ_USER(&w->fp, 8, w->fp + rule->fp_far))
		return STEP_END(w, WALK_BAD_READ);
	return STEP_ON;
}

/*
 * From libgcc's unwinder to the function with the handler, which it does not return to, but jumps.
 * A global function, as the step of almost all frames is another one. STEP_OTHER: it returns.
 */
__noinline int step_to_handler(__u32 index, __u32 number)
{
	struct walk *w = bpf_map_lookup_elem(&unwind_walks, &index);
	struct unwind_rule *rule = bpf_map_lookup_elem(&unwind_rules, &number);
	__u64 pc = 0, sp = 0;
	int ended;

	if (!w || !rule)
		return 1;
	ended = rule->kind == UNWIND_CONTEXT ? handler_by_context(w, rule, &pc, &sp)
					     : handler_by_registers(w, rule, &pc, &sp);
	if (ended)
		return ended;
	pc = plain_address(pc);
	if (!pc || pc >> USER_ADDRESS_BITS || sp <= w->sp)
		return STEP_END(w, WALK_BAD_READ);
	w->pc = pc;
	w->sp = sp;
	w->base_lost = 1;
	w->exact = 1;
	w->guessed = 0;
	return STEP_ON;
}

/*
 * Appends the frame at w->pc to the sample and goes to its caller. Not 0: the walk has ended.
 * `runtimes`: it may be one of a runtime.
 */
static __always_inline int step(struct walk *w, bool runtimes)
{
	__u32 n = w->frames;
	struct unwind_rule *rule;
	__u32 number;

	if (n >= MAX_USER_FRAMES)
		return STEP_END(w, WALK_TOO_DEEP);
	w->room[WALK_SAMPLE_WORDS + (n & (MAX_USER_FRAMES - 1))] =
		w->pc | (w->exact ? FRAME_EXACT : 0) | (w->guessed ? FRAME_GUESSED : 0);
	w->frames = n + 1;
	if (runtimes && hotspot_has(w, w->pc))
		return hotspot_step(w->index);
	if (runtimes && w->v8.size) {
		int ended = step_v8(w->index);

		if (w->v8.function) {
			v8_note(w->index);
			if (w->v8.wanted)
				v8_send_wanted(w->index);
		}
		if (ended != STEP_OTHER)
			return ended;
	}
	number = rule_at(w, w->exact ? w->pc : w->pc - 1);
	if (runtimes && (number == UNWIND_NONE || number == RULE_NO_MAPPING)) {
		hotspot_begin(w);
		if (hotspot_has(w, w->pc))
			return hotspot_step(w->index);
	}
	if (number == RULE_NO_MAPPING && !w->guessed)
		return STEP_END(w, WALK_NO_MAPPING);
	if (number == UNWIND_NONE || number == RULE_NO_MAPPING)
		return step_guess(w->index);
	if (number == RULE_MISSING)
		return STEP_END(w, WALK_NO_TABLE);
	if (number == RULE_WAITING)
		return STEP_END(w, WALK_NOT_YET);
	rule = bpf_map_lookup_elem(&unwind_rules, &number);
	if (!rule)
		return STEP_END(w, WALK_UNSUPPORTED);
	if (rule->kind == UNWIND_END) {
		if (rule->flags & UNWIND_AT_START)
			mark_exact(w);
		return STEP_END(w, WALK_ROOT);
	}
	if (rule->kind == UNWIND_SIGNAL) {
		mark_exact(w);
		return step_signal(w);
	}
	if (rule->kind == UNWIND_CONTEXT || rule->kind == UNWIND_SP_OR_HANDLER) {
		int ended = step_to_handler(w->index, number);

		if (ended != STEP_OTHER)
			return ended;
	}
	return step_rule(w, rule);
}

#endif
