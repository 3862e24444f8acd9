/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPF_UNWIND_BPF_H
#define BPF_UNWIND_BPF_H

/*
 * The walk over a user stack, with the tables of bpf/unwind.h. A sampler takes the scratch of
 * its context, fills in the sample and has the user frames put behind it:
 *
 *     struct walk *w = walk_begin(CLASS_TIMER);
 *     struct sample *s = walk_sample(w);
 *     s->time_ns = ...;
 *     walk_user_regs(w, tgid, &ctx->regs);
 *     // s->user_frames, s->walk_end and s->frames[0 .. user_frames) are set; more frames
 *     // may be put behind them
 *
 * The loader sizes unwind_walks (CPUs x CLASS_COUNT entries).
 *
 * The work is in three global functions with scalar arguments (find a segment, find a row,
 * take some steps), which the verifier checks once each, whatever calls them.
 */

#include "bpf/arch.h"
#include "bpf/kernel.h"
#include "bpf/sample.h"
#include "bpf/unwind.h"

#define WALK_STEPS 8 /* frames per call of walk_steps() */
#define WALK_CACHE_BITS 11
#define WALK_CACHE (1 << WALK_CACHE_BITS)
#define WALK_SAMPLE_WORDS (sizeof(struct sample) / 8)
#define WALK_SAMPLE_BYTES (8 * (WALK_SAMPLE_WORDS + WALK_MAX_FRAMES))
#define WALK_MAX_FRAMES (MAX_USER_FRAMES + 2 * (MAX_KERNEL_FRAMES + 1))

/* Which rule holds at a pc of the process with that run. */
struct walk_cached {
	__u64 pc;
	__u32 run;
	__u32 rule;
};

struct walk {
	__u64 pc, sp, fp, link;
	__u32 index; /* of this scratch in unwind_walks */
	__u32 first, count, run; /* the process's segments */
	__u32 frames;
	__u8 exact;   /* pc is where the code was interrupted, not a return address */
	__u8 guessed; /* pc was found by frame pointer */
	__u8 end;
	__u8 have_registers;
	struct user_registers registers; /* of the interrupted frame */
	__u64 words[16];		 /* as read from the stack */
	__u64 room[WALK_SAMPLE_WORDS + WALK_MAX_FRAMES]; /* the sample, see walk_sample() */
	struct walk_cached cache[WALK_CACHE];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set by the loader: CPUs x CLASS_COUNT */
	__type(key, __u32);
	__type(value, struct walk);
} unwind_walks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, UNWIND_MAX_PROCESSES);
	__type(key, __u32);
	__type(value, struct unwind_process);
} unwind_processes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, UNWIND_MAX_SEGMENTS);
	__type(key, __u32);
	__type(value, struct unwind_segment);
} unwind_segments SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, UNWIND_MAX_PAGES);
	__type(key, __u32);
	__type(value, struct unwind_page);
} unwind_pages SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, UNWIND_MAX_RULES);
	__type(key, __u32);
	__type(value, struct unwind_rule);
} unwind_rules SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, UNWIND_MAX_SLABS);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
	__array(values, struct {
		__uint(type, BPF_MAP_TYPE_ARRAY);
		__uint(map_flags, BPF_F_MMAPABLE);
		__uint(max_entries, 1);
		__uint(key_size, sizeof(__u32));
		__uint(value_size, UNWIND_SLAB_ROWS * sizeof(__u32));
	});
} unwind_slabs SEC(".maps");

#define RULE_NO_MAPPING 0xffffffff
#define RULE_MISSING 0xfffffffe

/* The segment of the run that holds `pc`: its index in unwind_segments, or -1. */
__noinline int find_segment(__u32 first, __u32 count, __u64 pc)
{
	struct unwind_segment *s;
	__u32 index;

	/* The last segment that starts at or before pc is in [first, first + count). */
	for (int i = 0; i < 14 && count > 1; i++) {
		__u32 half = count / 2;

		index = first + half;
		s = bpf_map_lookup_elem(&unwind_segments, &index);
		if (!s)
			return -1;
		if (s->start <= pc)
			first = index;
		count = s->start <= pc ? count - half : half;
	}
	s = bpf_map_lookup_elem(&unwind_segments, &first);
	if (!s || !count || pc < s->start || pc >= s->end)
		return -1;
	return (int)first;
}

/* The rule that holds at `offset` from the first byte of the page. */
__noinline __u32 find_rule(__u32 page_index, __u32 offset)
{
	struct unwind_page *page = bpf_map_lookup_elem(&unwind_pages, &page_index);
	__u32 key = offset << 16 | 0xffff;
	__u32 slab_index, first, count, zero = 0;
	void *slab;
	__u32 *rows;

	if (!page || !page->rows)
		return 0;
	first = page->first;
	count = page->rows;
	slab_index = page->slab;
	slab = bpf_map_lookup_elem(&unwind_slabs, &slab_index);
	if (!slab)
		return 0;
	rows = bpf_map_lookup_elem(slab, &zero);
	if (!rows)
		return 0;
	for (int i = 0; i < 16 && count > 1; i++) {
		__u32 half = count / 2;
		__u32 row = rows[(first + half) & (UNWIND_SLAB_ROWS - 1)];

		if (row <= key)
			first += half;
		count -= half;
	}
	return rows[first & (UNWIND_SLAB_ROWS - 1)] & 0xffff;
}

static __always_inline __u32 rule_at(struct walk *w, __u64 pc)
{
	struct unwind_segment *s;
	int index = find_segment(w->first, w->count, pc);
	__u32 at = (__u32)index;
	__u64 offset;

	if (index < 0)
		return RULE_NO_MAPPING;
	s = bpf_map_lookup_elem(&unwind_segments, &at);
	if (!s)
		return RULE_NO_MAPPING;
	if (s->pages == UNWIND_PAGES_MISSING)
		return RULE_MISSING;
	offset = pc - s->base;
	if ((offset >> UNWIND_PAGE_BITS) >= s->pages)
		return 0;
	return find_rule(s->first_page + (__u32)(offset >> UNWIND_PAGE_BITS), offset & 0xffff);
}

/* As rule_at(), remembering what was found: the same places come again and again. */
static __always_inline __u32 cached_rule_at(struct walk *w, __u64 pc)
{
	__u32 slot = ((__u32)pc * 0x9e3779b1U) >> (32 - WALK_CACHE_BITS);
	struct walk_cached *c = &w->cache[slot & (WALK_CACHE - 1)];

	if (c->pc == pc && c->run == w->run)
		return c->rule;
	c->rule = rule_at(w, pc);
	c->pc = pc;
	c->run = w->run;
	return c->rule;
}

#define STEP_ON 0
#define STEP_END(w, why) ({ (w)->end = (why); 1; })

static __always_inline int read_words(struct walk *w, __u64 address, __u32 words)
{
	return bpf_probe_read_user(w->words, (words & 15) * 8, (void *)address);
}

/* Goes on where the signal interrupted the code. */
static __always_inline int step_signal(struct walk *w)
{
	if (read_words(w, w->sp + SIGNAL_READ, SIGNAL_WORDS))
		return STEP_END(w, WALK_BAD_READ);
	w->pc = w->words[SIGNAL_PC];
	w->sp = w->words[SIGNAL_SP];
	w->fp = w->words[SIGNAL_FP];
	w->exact = 1;
	w->guessed = 0;
	return STEP_ON;
}

/*
 * No table: hand-written code, or made at run time. It may be a signal restorer without
 * unwind information; else the frame pointer is all there is.
 */
static __always_inline int step_guess(struct walk *w)
{
	if (!w->exact) {
		if (read_words(w, w->pc, 1))
			return STEP_END(w, WALK_NO_TABLE);
		if (is_signal_return(w->words[0]))
			return step_signal(w);
	}
	/* The ABI marks the outermost frame with 0; believed in a chain, not in the first frame. */
	if (!w->fp)
		return STEP_END(w, w->guessed ? WALK_ROOT : WALK_NO_TABLE);
	if (w->fp < w->sp || (w->fp & 7))
		return STEP_END(w, w->guessed ? WALK_FRAME_POINTER : WALK_NO_TABLE);
	if (read_words(w, w->fp, 2))
		return STEP_END(w, w->guessed ? WALK_FRAME_POINTER : WALK_NO_TABLE);
	w->sp = w->fp + 16;
	w->fp = w->words[0];
	w->pc = plain_address(w->words[1]);
	w->exact = 0;
	w->guessed = 1;
	if (!w->pc)
		return STEP_END(w, WALK_ROOT);
	/* What is not code of this process is no return address. */
	if (find_segment(w->first, w->count, w->pc - 1) < 0)
		return STEP_END(w, WALK_FRAME_POINTER);
	return STEP_ON;
}

/* The caller of the frame at w->pc, by its rule. */
static __always_inline int step_rule(struct walk *w, struct unwind_rule *rule)
{
	__u64 cfa, base, pc;

	switch (rule->kind) {
	case UNWIND_CFA_SP:
		cfa = w->sp + rule->cfa_offset;
		break;
	case UNWIND_CFA_FP:
		cfa = w->fp + rule->cfa_offset;
		break;
	case UNWIND_DEREF_SP:
	case UNWIND_DEREF_FP:
		base = rule->kind == UNWIND_DEREF_SP ? w->sp : w->fp;
		if (read_words(w, base + rule->cfa_offset, 1))
			return STEP_END(w, WALK_BAD_READ);
		cfa = w->words[0] + rule->add;
		break;
	case UNWIND_PLT:
		cfa = w->sp + rule->cfa_offset + ((w->pc & 15) >= (__u64)rule->add ? 8 : 0);
		break;
	case UNWIND_CFA_REGISTER:
		if (!w->have_registers || w->frames != 1)
			return STEP_END(w, WALK_UNSUPPORTED);
		cfa = ((__u64 *)&w->registers)[rule->add & 15] + rule->cfa_offset;
		break;
	default:
		return STEP_END(w, WALK_UNSUPPORTED);
	}
	/* Frames lie below their callers'. A leaf of arm64 may have none. */
	if (cfa < w->sp || (cfa == w->sp && !w->exact))
		return STEP_END(w, WALK_BAD_READ);
	if (rule->words && read_words(w, cfa + rule->read_offset, rule->words))
		return STEP_END(w, WALK_BAD_READ);
	pc = rule->ra_word == UNWIND_IN_REGISTER ? w->link : w->words[rule->ra_word & 15];
	if (rule->ra_word == UNWIND_IN_REGISTER && !w->exact)
		return STEP_END(w, WALK_BAD_READ);
	if (rule->fp_word != UNWIND_IN_REGISTER)
		w->fp = w->words[rule->fp_word & 15];
	else if (rule->flags && bpf_probe_read_user(&w->fp, 8, (void *)(rule->fp_far +
			(rule->flags == UNWIND_FP_FROM_FP ? w->fp : cfa))))
		return STEP_END(w, WALK_BAD_READ);
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

/* Notes the frame at w->pc and goes to its caller. Not 0: the walk has ended. */
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
	number = cached_rule_at(w, w->exact ? w->pc : w->pc - 1);
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

/* Some frames of the walk in that scratch. Not 0: the walk has ended. */
__noinline int walk_steps(__u32 index)
{
	struct walk *w = bpf_map_lookup_elem(&unwind_walks, &index);

	if (!w)
		return 1;
	for (int i = 0; i < WALK_STEPS; i++)
		if (step(w))
			return 1;
	return 0;
}

/* The sample in the scratch; its frames have room for WALK_MAX_FRAMES. */
static __always_inline struct sample *walk_sample(struct walk *w)
{
	return (struct sample *)w->room;
}

/* The scratch of this CPU for programs of that class; NULL only when the loader made a mistake. */
static __always_inline struct walk *walk_begin(enum sample_class class)
{
	__u32 index = bpf_get_smp_processor_id() * CLASS_COUNT + class;
	struct walk *w = bpf_map_lookup_elem(&unwind_walks, &index);

	if (w) {
		w->index = index;
		walk_sample(w)->user_frames = 0;
		walk_sample(w)->walk_end = WALK_NO_USER_STACK;
	}
	return w;
}

static __always_inline void walk_finish(struct walk *w)
{
	walk_sample(w)->user_frames = (__u16)w->frames;
	walk_sample(w)->walk_end = w->end;
}

/* The walk from w->registers, which are those of a user program. */
static __always_inline void walk_from_registers(struct walk *w, __u32 tgid)
{
	struct unwind_process *process = bpf_map_lookup_elem(&unwind_processes, &tgid);

	w->pc = w->registers.pc;
	w->sp = w->registers.sp;
	w->fp = w->registers.fp;
	w->link = REGISTERS_LINK(&w->registers);
	w->exact = 1;
	w->guessed = 0;
	w->frames = 0;
	w->have_registers = 1;
	w->end = WALK_TOO_DEEP;
	w->first = process ? process->first : 0;
	w->count = process ? process->count : 0;
	w->run = process ? process->id : 0;
	for (int i = 0; i <= MAX_USER_FRAMES / WALK_STEPS; i++)
		if (walk_steps(w->index))
			break;
	walk_finish(w);
}

/* From the registers that the current task saved when it entered the kernel. */
static __always_inline void walk_user_task(struct walk *w, __u32 tgid)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct user_registers *registers;

	if (task->flags & PF_KTHREAD || !tgid) {
		walk_sample(w)->walk_end = WALK_NO_USER_STACK;
		return;
	}
	registers = (void *)bpf_task_pt_regs(task);
	if (!registers || bpf_probe_read_kernel(&w->registers, sizeof(w->registers), registers) ||
	    !w->registers.pc) {
		walk_sample(w)->walk_end = WALK_NO_REGISTERS;
		return;
	}
	walk_from_registers(w, tgid);
}

/* The registers of a perf event's program: those of the interrupted code, user or kernel. */
#define walk_copy(name) w->registers.name = regs->name
static __always_inline void walk_user_regs(struct walk *w, __u32 tgid, void *context_registers)
{
	struct user_registers *regs = context_registers;

	if (!REGISTERS_USER(regs)) {
		walk_user_task(w, tgid);
		return;
	}
#if defined(__TARGET_ARCH_x86)
	walk_copy(r15), walk_copy(r14), walk_copy(r13), walk_copy(r12), walk_copy(bx);
	walk_copy(r11), walk_copy(r10), walk_copy(r9), walk_copy(r8), walk_copy(ax);
	walk_copy(cx), walk_copy(dx), walk_copy(si), walk_copy(di);
#elif defined(__TARGET_ARCH_arm64)
	walk_copy(link);
#endif
	walk_copy(fp), walk_copy(sp), walk_copy(pc);
	walk_from_registers(w, tgid);
}
#undef walk_copy

/* The child of a fork has the parent's address space: it can be walked at once. */
static __always_inline void walk_fork(__u32 parent, __u32 child)
{
	struct unwind_process *process = bpf_map_lookup_elem(&unwind_processes, &parent);

	if (process)
		bpf_map_update_elem(&unwind_processes, &child, process, BPF_ANY);
}

/*
 * A new program: nothing of the old address space holds any more. Processes that nothing is
 * known of are noted only when they are `wanted`.
 */
static __always_inline void walk_exec(__u32 tgid, int wanted)
{
	struct unwind_process *process = bpf_map_lookup_elem(&unwind_processes, &tgid);
	struct unwind_process fresh = { .execs = process ? process->execs + 1 : 1 };

	if (process || wanted)
		bpf_map_update_elem(&unwind_processes, &tgid, &fresh, BPF_ANY);
}

#endif
