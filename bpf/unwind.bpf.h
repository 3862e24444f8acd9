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
#include "bpf/runtimes.h"
#include "bpf/unwind.h"

#define WALK_STEPS 8   /* frames per call of walk_steps() */
#define WALK_WINDOW 64 /* words of the stack that are read at once */
#define WALK_CACHE_BITS 11
#define WALK_CACHE (1 << WALK_CACHE_BITS)
#define WALK_SAMPLE_WORDS (sizeof(struct sample) / 8)
#define WALK_SAMPLE_BYTES (8 * (WALK_SAMPLE_WORDS + WALK_MAX_FRAMES))
#define WALK_MAX_FRAMES                                                                            \
	(MAX_USER_FRAMES + 2 * (MAX_KERNEL_FRAMES + 1) + SCRIPT_FRAME_WORDS * MAX_SCRIPT_FRAMES)

/*
 * Reads the walked task's memory: not 0 when it is not there. Who defines it walks another
 * task than the current one.
 */
#ifndef WALK_READ_USER
#define WALK_READ_USER(to, size, from) bpf_probe_read_user(to, size, (void *)(from))
#define WALKS_CURRENT 1
#else
#define WALKS_CURRENT 0
#endif

/* Which rule holds at a pc of the process with that run. */
struct walk_cached {
	__u64 pc;
	__u32 run;
	__u32 rule;
};

struct walk {
	__u64 pc, sp, fp, link;
	__u64 base;		 /* another register that code uses to find its frame */
	__u32 index;		 /* of this scratch in unwind_walks */
	__u32 first, count, run; /* the process's segments */
	__u32 tgid;
	__u32 frames;
	__u8 exact;   /* pc is where the code was interrupted, not a return address */
	__u8 guessed; /* pc was found by frame pointer */
	__u8 end;
	__u8 base_lost;
	struct user_registers registers; /* of the interrupted frame */
	/*
	 * The stack from `window_start` on, as far as it was read: to ask for the words of one
	 * frame costs as much as to ask for those of several.
	 */
	__u64 window_start;
	__u32 window_bytes;
	__u32 at; /* in `window`: what read_words() was asked for */
	__u64 window[WALK_WINDOW];
	__u64 room[WALK_SAMPLE_WORDS + WALK_MAX_FRAMES]; /* the sample, see walk_sample() */
	struct walk_cached cache[WALK_CACHE];
	__u32 script_frames; /* frames of a runtime, see bpf/script.bpf.h */
	__u32 reserved;
	struct script_frame scripts[MAX_SCRIPT_FRAMES];
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
	__array(
		values, struct {
			__uint(type, BPF_MAP_TYPE_ARRAY);
			__uint(map_flags, BPF_F_MMAPABLE);
			__uint(max_entries, 1);
			__uint(key_size, sizeof(__u32));
			__uint(value_size, UNWIND_SLAB_ROWS * sizeof(__u32));
		});
} unwind_slabs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, UNWIND_MAX_FILES);
	__type(key, struct unwind_file_key);
	__type(value, struct unwind_file);
} unwind_files SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, UNWIND_MAX_FRESH);
	__type(key, __u32);
	__type(value, struct unwind_fresh);
} unwind_fresh SEC(".maps");

/* For a first one; too large for the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct unwind_fresh);
} unwind_fresh_empty SEC(".maps");

/* Set by the loader: the kernel has bpf_find_vma(), since 5.17. */
const volatile __u8 unwind_asks_kernel = 0;

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

/* The current process's fresh segments, emptied when its address space is a new one. */
static __always_inline struct unwind_fresh *walk_fresh(__u32 tgid, __u64 mm)
{
	struct unwind_fresh *fresh = bpf_map_lookup_elem(&unwind_fresh, &tgid);
	__u32 zero = 0;

	if (!fresh || fresh->mm != mm) {
		fresh = bpf_map_lookup_elem(&unwind_fresh_empty, &zero);
		if (!fresh || bpf_map_update_elem(&unwind_fresh, &tgid, fresh, BPF_ANY))
			return NULL;
		fresh = bpf_map_lookup_elem(&unwind_fresh, &tgid);
		if (fresh)
			fresh->mm = mm;
	}
	return fresh;
}

/* Notes that the current process has mapped a file, if that has a table. */
static __always_inline void walk_map(__u32 tgid, struct vm_area_struct *vma)
{
	struct file *file = vma->vm_file;
	struct unwind_segment *segment;
	struct unwind_file_key key;
	struct unwind_fresh *fresh;
	struct unwind_file *known;
	__u64 offset = (__u64)vma->vm_pgoff << 12;

	key.device = file->f_inode->i_sb->s_dev;
	key.inode = file->f_inode->i_ino;
	known = bpf_map_lookup_elem(&unwind_files, &key);
	if (!known)
		return;
	for (__u32 i = 0; i < 4; i++) {
		if (i >= known->count || offset < (known->segments[i].offset & ~0xfffULL) ||
		    offset >= known->segments[i].offset + known->segments[i].size)
			continue;
		fresh = walk_fresh(tgid, (__u64)vma->vm_mm);
		if (!fresh)
			return;
		segment = &fresh->segments[fresh->next++ & (UNWIND_FRESH_SEGMENTS - 1)];
		segment->end = 0; /* not to be found while it is written */
		segment->base = vma->vm_start - (offset + known->segments[i].delta);
		segment->first_page = known->first_page;
		segment->pages = known->pages;
		segment->start = vma->vm_start;
		segment->end = vma->vm_end;
		return;
	}
}

static long note_mapping(struct task_struct *task, struct vm_area_struct *vma, void *context)
{
	if (vma->vm_flags & VM_EXEC && vma->vm_file)
		walk_map(*(__u32 *)context, vma);
	return 0;
}

/* Asks the kernel what is mapped there. In an interrupt it answers once, then is busy. */
static __always_inline void walk_ask(__u32 tgid, __u64 pc)
{
	if (unwind_asks_kernel)
		bpf_find_vma(bpf_get_current_task_btf(), pc, note_mapping, &tgid, 0);
}

static __always_inline __u32 rule_in_segment(struct unwind_segment *s, __u64 pc)
{
	__u64 offset = pc - s->base;

	if (s->pages == UNWIND_PAGES_MISSING)
		return RULE_MISSING;
	if ((offset >> UNWIND_PAGE_BITS) >= s->pages)
		return 0;
	return find_rule(s->first_page + (__u32)(offset >> UNWIND_PAGE_BITS), offset & 0xffff);
}

static __always_inline struct unwind_segment *find_fresh(__u32 tgid, __u64 pc)
{
	struct unwind_fresh *fresh = bpf_map_lookup_elem(&unwind_fresh, &tgid);

	if (!fresh || fresh->mm != (__u64)bpf_get_current_task_btf()->mm)
		return NULL;
	for (int i = 0; i < UNWIND_FRESH_SEGMENTS; i++)
		if (pc >= fresh->segments[i].start && pc < fresh->segments[i].end)
			return &fresh->segments[i];
	return NULL;
}

/* The current process's rule at pc by what it mapped so recently that it is not published yet. */
__noinline __u32 fresh_rule(__u32 tgid, __u64 pc)
{
	struct unwind_segment *segment = WALKS_CURRENT ? find_fresh(tgid, pc) : NULL;

	if (!segment && WALKS_CURRENT) {
		walk_ask(tgid, pc);
		segment = find_fresh(tgid, pc);
	}
	return segment ? rule_in_segment(segment, pc) : RULE_NO_MAPPING;
}

/* By the published run, remembering what was found: the same places come again and again. */
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

#define STEP_ON 0
#define STEP_END(w, why)                                                                           \
	({                                                                                         \
		(w)->end = (why);                                                                  \
		1;                                                                                 \
	})

/* A word of those that were read last. */
static __always_inline __u64 word(const struct walk *w, __u32 i)
{
	return w->window[(w->at + i) & (WALK_WINDOW - 1)];
}

/* At most 15 words of the stack. */
static __always_inline int read_words(struct walk *w, __u64 address, __u32 words)
{
	__u32 bytes = (words & 15) * 8;
	__u64 offset = address - w->window_start;

	if (!(offset & 7) && offset + bytes <= w->window_bytes && offset < sizeof(w->window)) {
		w->at = (__u32)offset / 8;
		return 0;
	}
	w->window_start = address;
	w->window_bytes = sizeof(w->window);
	w->at = 0;
	if (!WALK_READ_USER(w->window, sizeof(w->window), address))
		return 0;
	/* The stack ends here. */
	w->window_bytes = 0;
	return WALK_READ_USER(w->window, bytes, address);
}

/* Goes on where the signal interrupted the code. */
static __always_inline int step_signal(struct walk *w)
{
	if (read_words(w, w->sp + SIGNAL_READ, SIGNAL_WORDS))
		return STEP_END(w, WALK_BAD_READ);
	w->pc = word(w, SIGNAL_PC);
	w->sp = word(w, SIGNAL_SP);
	w->fp = word(w, SIGNAL_FP);
	w->base = word(w, SIGNAL_BASE);
	w->base_lost = 0;
	w->exact = 1;
	w->guessed = 0;
	return STEP_ON;
}

/* The code at pc is about to return, with its return address that far up the stack. */
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
 * No table: hand-written code, or made at run time. It may be a signal restorer without
 * unwind information; else the frame pointer is all there is.
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
	/* A chain, once it is seen to be one, may lead to another stack, as Go's do. */
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
	/* What is not code of this process is no return address. */
	if (rule_at(w, w->pc - 1) == RULE_NO_MAPPING)
		return STEP_END(w, WALK_FRAME_POINTER);
	return STEP_ON;
}

/* The caller of the frame at w->pc, by its rule. */
static __always_inline int step_rule(struct walk *w, struct unwind_rule *rule)
{
	__u64 cfa, base, pc;

	switch (rule->kind) {
	case UNWIND_CFA_SP: cfa = w->sp + rule->cfa_offset; break;
	case UNWIND_CFA_FP: cfa = w->fp + rule->cfa_offset; break;
	case UNWIND_DEREF_SP:
	case UNWIND_DEREF_FP:
		base = rule->kind == UNWIND_DEREF_SP ? w->sp : w->fp;
		if (read_words(w, base + rule->cfa_offset, 1))
			return STEP_END(w, WALK_BAD_READ);
		cfa = word(w, 0) + rule->add;
		break;
	case UNWIND_PLT:
		cfa = w->sp + rule->cfa_offset + ((w->pc & 15) >= (__u64)rule->add ? 8 : 0);
		break;
	case UNWIND_CFA_BASE:
		if (w->base_lost)
			return STEP_END(w, WALK_UNSUPPORTED);
		cfa = w->base + rule->cfa_offset;
		break;
	case UNWIND_CFA_REGISTER:
		if (w->frames != 1)
			return STEP_END(w, WALK_UNSUPPORTED);
		cfa = ((__u64 *)&w->registers)[rule->add & 15] + rule->cfa_offset;
		break;
	default: return STEP_END(w, WALK_UNSUPPORTED);
	}
	/* Frames lie below their callers'. A leaf of arm64 may have none. */
	if (cfa < w->sp || (cfa == w->sp && !w->exact))
		return STEP_END(w, WALK_BAD_READ);
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
	number = rule_at(w, w->exact ? w->pc : w->pc - 1);
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
		w->script_frames = 0;
		walk_sample(w)->user_frames = 0;
		walk_sample(w)->script_frames = 0;
		walk_sample(w)->script_runtime = SCRIPT_NONE;
		walk_sample(w)->script_flags = 0;
		walk_sample(w)->script_holder = 0;
		walk_sample(w)->walk_end = WALK_NO_USER_STACK;
	}
	return w;
}

static __always_inline void walk_finish(struct walk *w)
{
	walk_sample(w)->user_frames = (__u16)w->frames;
	walk_sample(w)->walk_end = w->end;
}

/*
 * The walk from w->registers, which are those of a user program with that memory. Within exec, when
 * the new address space is there but the new program is not, nothing belongs to these registers.
 */
static __always_inline void walk_from_registers(struct walk *w, __u32 tgid, __u64 mm)
{
	struct unwind_process *process = bpf_map_lookup_elem(&unwind_processes, &tgid);

	if (process && !process->mm)
		process->mm = mm;
	if (process && process->mm != mm)
		return;
	w->pc = w->registers.pc;
	w->sp = w->registers.sp;
	w->fp = w->registers.fp;
	w->link = REGISTERS_LINK(&w->registers);
	w->exact = 1;
	w->guessed = 0;
	w->frames = 0;
	w->base = REGISTERS_BASE(&w->registers);
	w->base_lost = 0;
	w->end = WALK_TOO_DEEP;
	w->window_bytes = 0;
	w->tgid = tgid;
	w->first = process ? process->first : 0;
	w->count = process ? process->count : 0;
	w->run = process ? process->id : 0;
	for (int i = 0; i <= MAX_USER_FRAMES / WALK_STEPS; i++)
		if (walk_steps(w->index))
			break;
	walk_finish(w);
}

/* The registers that a task saved when it entered the kernel. Not 0: there are none. */
static __always_inline int walk_read_saved(struct walk *w, struct task_struct *task)
{
	struct user_registers *saved = (void *)bpf_task_pt_regs(task);

	if (saved && !bpf_probe_read_kernel(&w->registers, sizeof(w->registers), saved) &&
	    w->registers.pc)
		return 0;
	walk_sample(w)->walk_end = WALK_NO_REGISTERS;
	return -1;
}

/* From the registers that the current task saved. */
static __always_inline void walk_user_task(struct walk *w, __u32 tgid)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (task->flags & PF_KTHREAD || !tgid)
		walk_sample(w)->walk_end = WALK_NO_USER_STACK;
	else if (!walk_read_saved(w, task))
		walk_from_registers(w, tgid, (__u64)task->mm);
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
	walk_from_registers(w, tgid, (__u64)bpf_get_current_task_btf()->mm);
}
#undef walk_copy

/* The child of a fork has the parent's address space: it can be walked at once. */
static __always_inline void walk_fork(struct task_struct *parent, struct task_struct *child)
{
	__u32 from = parent->tgid, to = child->tgid;
	struct unwind_process *process = bpf_map_lookup_elem(&unwind_processes, &from);
	struct unwind_fresh *fresh;
	struct unwind_process copy;

	if (!process)
		return;
	copy = *process;
	copy.mm = (__u64)child->mm;
	bpf_map_update_elem(&unwind_processes, &to, &copy, BPF_ANY);
	fresh = bpf_map_lookup_elem(&unwind_fresh, &from);
	if (fresh && fresh->mm == (__u64)parent->mm &&
	    !bpf_map_update_elem(&unwind_fresh, &to, fresh, BPF_ANY)) {
		fresh = bpf_map_lookup_elem(&unwind_fresh, &to);
		if (fresh)
			fresh->mm = (__u64)child->mm;
	}
}

/*
 * A new program: nothing of the old address space holds any more. Processes that nothing is
 * known of are noted only when they are `wanted`.
 */
static __always_inline void walk_exec(__u32 tgid, int wanted)
{
	struct unwind_process *process = bpf_map_lookup_elem(&unwind_processes, &tgid);
	struct unwind_process fresh = { .execs = process ? process->execs + 1 : 1 };

	struct task_struct *task = bpf_get_current_task_btf();
	struct user_registers *registers = (void *)bpf_task_pt_regs(task);
	__u64 pc;

	fresh.mm = (__u64)task->mm;
	if (!process && !wanted)
		return;
	bpf_map_update_elem(&unwind_processes, &tgid, &fresh, BPF_ANY);
	/* The program itself, and where it begins: in its interpreter, mostly. */
	walk_ask(tgid, task->mm->start_code);
	if (!bpf_probe_read_kernel(&pc, sizeof(pc), &registers->pc))
		walk_ask(tgid, pc);
}

#endif
