/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPF_UNWIND_STEP_BPF_H
#define BPF_UNWIND_STEP_BPF_H

/*
 * One step of a walk: from a frame to its caller. struct walk holds the registers of the frame
 * that the walk has reached.
 *
 * step() finds the rule at the pc and hands the frame to the function for that kind of code:
 * step_rule() for code with a table, step_signal() for signal frames, step_guess() for code
 * without a table, hotspot_step() for code that a Java machine has made.
 */

#include "bpf/hotspot_step.bpf.h"
#include "bpf/unwind_spaces.bpf.h"
#include "bpf/unwind_tables.bpf.h"
#include "bpf/walk_state.bpf.h"

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
		return fresh_rule(w->tgid, pc);
	c->rule = rule_in_segment(s, pc);
	c->pc = pc;
	c->run = w->run;
	return c->rule;
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
	return w->pc ? STEP_ON : STEP_END(w, WALK_ROOT);
}

/*
 * Code without a table: hand-written, or made at run time. It may be a signal restorer without
 * unwind information; for all else there is only the frame pointer.
 */
static __always_inline int step_guess(struct walk *w)
{
	__u64 code;
	int bytes;

	if (!w->exact) {
		if (WALK_READ_USER(&code, sizeof(code), w->pc))
			return STEP_END(w, WALK_NO_TABLE);
		if (is_signal_return(code))
			return step_signal(w);
		bytes = returns_after(code);
		if (bytes >= 0)
			return step_return(w, (__u32)bytes);
	}
	/* The ABI marks the outermost frame with 0; believed in a chain, not in the first frame. */
	if (!w->fp)
		return STEP_END(w, w->guessed ? WALK_ROOT : WALK_NO_TABLE);
	/* The first frame pointer must lie on this stack; a chain may lead to another one (Go). */
	if ((w->fp < w->sp && !w->guessed) || (w->fp & 7))
		return STEP_END(w, w->guessed ? WALK_FRAME_POINTER : WALK_NO_TABLE);
	if (read_words(w, w->fp, 2))
		return STEP_END(w, w->guessed ? WALK_FRAME_POINTER : WALK_NO_TABLE);
	w->sp = w->fp + 16;
	w->fp = word(w, 0);
	w->base_lost = 1;
	w->pc = plain_address(word(w, 1));
	w->exact = 0;
	w->guessed = 1;
	if (!w->pc)
		return STEP_END(w, WALK_ROOT);
	/* An address outside of all code is not a return address. */
	if (rule_at(w, w->pc - 1) == RULE_NO_MAPPING)
		return STEP_END(w, WALK_FRAME_POINTER);
	return STEP_ON;
}

/* The frame's CFA, the caller's stack pointer. */
static __always_inline int rule_cfa(struct walk *w, const struct unwind_rule *rule, __u64 *cfa)
{
	__u64 base;

	switch (rule->kind) {
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
	default: return STEP_END(w, WALK_UNSUPPORTED);
	}
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
	w->exact = 0;
	w->guessed = 0;
	if (!w->pc)
		return STEP_END(w, WALK_ROOT);
	if (w->pc >> USER_ADDRESS_BITS)
		return STEP_END(w, WALK_BAD_READ);
	return STEP_ON;
}

/* Appends the frame at w->pc to the sample and goes to its caller. Not 0: the walk has ended. */
static __always_inline int step(struct walk *w)
{
	__u32 n = w->frames;
	struct unwind_rule *rule;
	__u32 number;

	if (n >= MAX_USER_FRAMES)
		return STEP_END(w, WALK_TOO_DEEP);
	w->room[WALK_SAMPLE_WORDS + (n & (MAX_USER_FRAMES - 1))] =
		w->pc | (w->exact ? FRAME_EXACT : 0) | (w->guessed ? FRAME_GUESSED : 0);
	w->frames = n + 1;
	if (hotspot_has(w, w->pc))
		return hotspot_step(w->index);
	number = rule_at(w, w->exact ? w->pc : w->pc - 1);
	if (number == UNWIND_NONE || number == RULE_NO_MAPPING) {
		hotspot_begin(w);
		if (hotspot_has(w, w->pc))
			return hotspot_step(w->index);
	}
	if (number == RULE_NO_MAPPING && !w->guessed)
		return STEP_END(w, WALK_NO_MAPPING);
	if (number == UNWIND_NONE || number == RULE_NO_MAPPING)
		return step_guess(w);
	if (number == RULE_MISSING)
		return STEP_END(w, WALK_NO_TABLE);
	rule = bpf_map_lookup_elem(&unwind_rules, &number);
	if (!rule)
		return STEP_END(w, WALK_UNSUPPORTED);
	if (rule->kind == UNWIND_END)
		return STEP_END(w, WALK_ROOT);
	if (rule->kind == UNWIND_SIGNAL)
		return step_signal(w);
	return step_rule(w, rule);
}

#endif
