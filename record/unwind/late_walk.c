/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/late_walk.h"

#include <stddef.h>
#include <string.h>

#include "bpf/abi/return_address.h"

#define REST_HEAD offsetof(struct walk_rest, stack)
#define HIGHEST_ADDRESS (UINT64_C(1) << 52)
#define SCAN_WORDS 24 /* of the stack, searched for a return address */

/* A walk in progress: the registers of the last frame in `frames`. */
struct state {
	struct late_walk *late;
	const struct layout *layout;
	uint32_t pid;
	const struct walk_rest *rest;
	enum script_runtime runtime;
	uint64_t pc, sp, fp, base;
	bool exact, base_lost, guessed;
	size_t frames; /* user frames in the room */
};

static struct sample *sample_in(struct late_walk *l)
{
	return (struct sample *)l->room;
}

enum progress { GOES_ON, AT_ROOT, STUCK };

static bool read_word(const struct state *s, uint64_t address, uint64_t *word)
{
	uint64_t offset = address - s->rest->start;

	if (offset >= s->rest->bytes || s->rest->bytes - offset < sizeof(*word))
		return false;
	memcpy(word, s->rest->stack + offset, sizeof(*word));
	return true;
}

/* The frame's CFA. False: it is known only to the kernel half, or not at all. */
static bool find_cfa(const struct state *s, const struct unwind_rule *rule, uint64_t *cfa)
{
	switch (rule->kind) {
	case UNWIND_CFA_SP: *cfa = s->sp + (uint64_t)rule->cfa_offset; break;
	case UNWIND_CFA_FP: *cfa = s->fp + (uint64_t)rule->cfa_offset; break;
	case UNWIND_DEREF_SP:
	case UNWIND_DEREF_FP:
		if (!read_word(s,
			       (rule->kind == UNWIND_DEREF_SP ? s->sp : s->fp) +
				       (uint64_t)rule->cfa_offset,
			       cfa))
			return false;
		*cfa += (uint64_t)rule->add;
		break;
	case UNWIND_PLT:
		*cfa = s->sp + (uint64_t)rule->cfa_offset +
		       ((s->pc & 15) >= (uint64_t)rule->add ? 8 : 0);
		break;
	case UNWIND_CFA_BASE:
		if (s->base_lost)
			return false;
		*cfa = s->base + (uint64_t)rule->cfa_offset;
		break;
	default: return false;
	}
	return *cfa > s->sp || (*cfa == s->sp && s->exact);
}

/* Word `number` of those that the rule reads at the CFA. */
static bool read_saved(const struct state *s, const struct unwind_rule *rule, uint64_t cfa,
		       uint8_t number, uint64_t *word)
{
	return read_word(s, cfa + (uint64_t)rule->read_offset + 8 * (uint64_t)number, word);
}

/* The caller's frame pointer and base register. */
static bool restore(struct state *s, const struct unwind_rule *rule, uint64_t cfa)
{
	uint64_t far = (uint64_t)rule->fp_far + (rule->flags & UNWIND_FP_FROM_FP ? s->fp : cfa);

	if (rule->fp_word != UNWIND_IN_REGISTER) {
		if (!read_saved(s, rule, cfa, rule->fp_word, &s->fp))
			return false;
	} else if (rule->flags & (UNWIND_FP_FROM_FP | UNWIND_FP_FROM_CFA)) {
		if (!read_word(s, far, &s->fp))
			return false;
	}
	if (rule->base_word == UNWIND_LOST)
		s->base_lost = true;
	else if (rule->base_word != UNWIND_IN_REGISTER)
		return read_saved(s, rule, cfa, rule->base_word, &s->base);
	return true;
}

/* To the caller, as step_rule() of the kernel half. */
static bool step_by_rule(struct state *s, const struct unwind_rule *rule)
{
	uint64_t cfa, pc = s->rest->link;

	if (rule->flags & (UNWIND_RA_FROM_REGISTER | UNWIND_OTHER_STACK) ||
	    !find_cfa(s, rule, &cfa))
		return false;
	if (rule->ra_word != UNWIND_IN_REGISTER) {
		if (!read_saved(s, rule, cfa, rule->ra_word, &pc))
			return false;
	} else if (!s->exact) {
		return false;
	}
	if (!restore(s, rule, cfa))
		return false;
	s->pc = plain_address(pc);
	s->sp = cfa;
	s->exact = rule->flags & UNWIND_TO_HANDLER;
	return s->pc && s->pc < HIGHEST_ADDRESS;
}

/* As handler_by_context() of the kernel half. */
static bool step_by_context(struct state *s, const struct unwind_rule *rule)
{
	uint64_t at = s->fp + (uint64_t)rule->cfa_offset, sp, pc, saved;

	if (!read_word(s, at, &sp) || !read_word(s, at + 8, &pc) ||
	    !read_word(s, s->fp + (uint64_t)rule->fp_far, &saved) || !read_word(s, saved, &s->fp) ||
	    sp <= s->sp)
		return false;
	s->pc = plain_address(pc);
	s->sp = sp;
	s->base_lost = true;
	s->exact = true;
	return s->pc && s->pc < HIGHEST_ADDRESS;
}

static bool is_made_code(const struct state *s, uint64_t address)
{
	const struct mapping *m = mappings_find(&s->layout->mappings, address);

	return m && m->object->definition.kind == PRF_OBJECT_ANONYMOUS;
}

static bool read_code(const struct state *s, uint64_t address, uint64_t *code)
{
	const struct mapping *m = mappings_find(&s->layout->mappings, address);

	/* What comes after the mapping may be a file that never answers. */
	return m && m->end - address >= sizeof(*code) &&
	       s->late->code(s->late->context, s->pid, m, address, code);
}

/*
 * Whether code of this process calls something right before the address, as is_return_address() of
 * the kernel half. Where that cannot be read, it is none.
 */
static bool is_return_address(const struct state *s, uint64_t address)
{
	uint64_t before;

	return read_code(s, address - sizeof(before), &before) && ends_in_call(before);
}

/* If it leads to a return address. */
static bool guess_by_frame_pointer(struct state *s)
{
	uint64_t fp, pc;

	if (s->fp < s->sp || s->fp & 7 || !read_word(s, s->fp, &fp) ||
	    !read_word(s, s->fp + 8, &pc))
		return false;
	pc = plain_address(pc);
	if (!is_return_address(s, pc))
		return false;
	s->sp = s->fp + 16;
	s->fp = fp;
	s->pc = pc;
	return true;
}

/*
 * By the first word of the interrupted frame that is a return address. What such code saves
 * first, if anything, is the frame pointer: the word below it.
 */
static bool guess_by_scan(struct state *s)
{
	uint64_t found, below = 0, at = s->sp;

	for (unsigned int i = 0; i < SCAN_WORDS && read_word(s, at, &found); i++, below = found) {
		at += 8;
		if (!is_return_address(s, plain_address(found)))
			continue;
		s->pc = plain_address(found);
		s->sp = at;
		if (below - at < s->rest->bytes)
			s->fp = below;
		return true;
	}
	return false;
}

/* As step_return() of the kernel half. */
static bool step_by_return(struct state *s)
{
	uint64_t code, pc;
	int bytes;

	if (s->exact || !read_code(s, s->pc, &code))
		return false;
	bytes = returns_after(code);
	if (bytes < 0 || !read_word(s, s->sp + (uint64_t)bytes, &pc))
		return false;
	pc = plain_address(pc);
	if (!pc || pc >= HIGHEST_ADDRESS)
		return false;
	s->pc = pc;
	s->sp += (uint64_t)bytes + 8;
	return true;
}

static bool step_by_guess(struct state *s)
{
	if (!guess_by_frame_pointer(s) && !(s->exact && guess_by_scan(s)))
		return false;
	s->exact = false;
	s->base_lost = true;
	s->guessed = true;
	return true;
}

/* As step_guess() of the kernel half. */
static bool step_without_rule(struct state *s)
{
	return s->late->guesses && is_made_code(s, s->exact ? s->pc : s->pc - 1) &&
	       (step_by_return(s) || step_by_guess(s));
}

/* Of the frame that the walk is at. */
static uint64_t marks(const struct state *s)
{
	const struct late_walk *l = s->late;

	return (s->exact ? FRAME_EXACT : 0) | (s->guessed ? FRAME_GUESSED : 0) |
	       (script_has_list(s->runtime) ? l->mark(l->context, s->layout, s->runtime, s->pc)
					    : 0);
}

/* From the last frame to its caller, which becomes the last one. */
static enum progress step(struct state *s)
{
	__u64 *frames = sample_in(s->late)->frames;
	struct unwind_rule rule;

	s->guessed = false;
	if (s->frames == MAX_USER_FRAMES)
		return STUCK;
	if (!s->late->rule(s->late->context, s->layout, s->exact ? s->pc : s->pc - 1, &rule)) {
		if (!step_without_rule(s))
			return STUCK;
	} else if (rule.kind == UNWIND_END) {
		if (rule.flags & UNWIND_AT_START)
			frames[s->frames - 1] |= FRAME_EXACT;
		return AT_ROOT;
	} else if (rule.kind == UNWIND_CONTEXT ? !step_by_context(s, &rule)
					       : !step_by_rule(s, &rule)) {
		return STUCK;
	}
	frames[s->frames++] = s->pc | marks(s);
	return GOES_ON;
}

/* Puts the sample's other frames after its user frames. */
static void append_others(struct late_walk *l, const struct sample *s, size_t user_frames)
{
	size_t others = (size_t)sample_words(s) - s->user_frames;

	memcpy(sample_in(l)->frames + user_frames, s->frames + s->user_frames, others * 8);
	*sample_in(l) = *s;
	sample_in(l)->user_frames = (uint16_t)user_frames;
	sample_in(l)->walk_end = WALK_ROOT;
}

static bool walk_on(struct late_walk *l, const struct layout *layout, const struct sample *s,
		    const struct walk_rest *rest)
{
	uint64_t last = s->frames[s->user_frames - 1];
	struct state state = {
		.late = l,
		.layout = layout,
		.pid = s->pid,
		.rest = rest,
		.runtime = s->script_runtime,
		.pc = last & FRAME_ADDRESS,
		.sp = rest->sp,
		.fp = rest->fp,
		.base = rest->base,
		.exact = last & FRAME_EXACT,
		.base_lost = rest->base_lost,
		.frames = s->user_frames,
	};
	enum progress progress = GOES_ON;

	memcpy(sample_in(l)->frames, s->frames, s->user_frames * sizeof(s->frames[0]));
	while (progress == GOES_ON)
		progress = step(&state);
	if (progress == AT_ROOT)
		append_others(l, s, state.frames);
	return progress == AT_ROOT;
}

const void *late_walk_finish(struct late_walk *l, const struct layout *layout, const void *data,
			     uint32_t *size)
{
	const struct sample *s = data;
	const struct walk_rest *rest;
	uint64_t bytes;

	if (*size < sizeof(*s))
		return data;
	bytes = sizeof(*s) + sample_words(s) * sizeof(s->frames[0]);
	if (s->giver_bytes || *size < bytes + REST_HEAD || s->user_frames > MAX_USER_FRAMES ||
	    s->kernel_frames > MAX_KERNEL_FRAMES || s->script_frames > MAX_SCRIPT_FRAMES ||
	    s->waker_frames > WAKER_FRAMES)
		return data;
	rest = (const void *)((const char *)data + bytes);
	if (rest->bytes > WALK_REST_BYTES || *size != bytes + REST_HEAD + rest->bytes)
		return data;
	*size = (uint32_t)bytes;
	if (!l->rule || !s->user_frames || !walk_on(l, layout, s, rest))
		return data;
	*size = (uint32_t)(sizeof(*s) + sample_words(sample_in(l)) * sizeof(s->frames[0]));
	return l->room;
}
