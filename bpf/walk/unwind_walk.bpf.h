/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPF_WALK_UNWIND_WALK_BPF_H
#define BPF_WALK_UNWIND_WALK_BPF_H

/*
 * The walk over a user stack. A program takes the scratch of its class, fills in the sample
 * and has the user frames appended to it:
 *
 *     struct walk *w = walk_begin(CLASS_TIMER);
 *     struct sample *s = walk_sample(w);
 *     s->time_ns = ...;
 *     walk_user_regs(w, tgid, task_mm(task), &ctx->regs, true);
 *     // s->user_frames, s->walk_end and s->frames[0 .. user_frames) are set; more frames
 *     // may be appended
 *
 * The loader sizes unwind_walks (CPUs x CLASS_COUNT entries).
 *
 * The work is in global functions with scalar arguments (find a segment, find a rule, take
 * some steps), each of which the verifier checks once, whatever calls it.
 */

#include "bpf/state/kernel.h"
#include "bpf/abi/runtimes.h"
#include "bpf/abi/sample.h"
#include "bpf/walk/unwind_step.bpf.h"

#define WALK_STEPS 4 /* frames per call of walk_steps() */

static __always_inline int take_steps(__u32 index, bool runtimes)
{
	struct walk *w = bpf_map_lookup_elem(&unwind_walks, &index);

	if (!w)
		return 1;
	for (__u64 i = 0; i < WALK_STEPS; i++)
		if (step(w, runtimes))
			return 1;
	return 0;
}

/* Takes WALK_STEPS steps of the walk in that scratch. Not 0: the walk has ended. */
__noinline int walk_steps(__u32 index)
{
	return take_steps(index, true);
}

/* The same where no frame can be one of a runtime. */
__noinline int walk_native_steps(__u32 index)
{
	return take_steps(index, false);
}

/* Empties the scratch, which is entry `index` of unwind_walks. */
static __always_inline void walk_reset(struct walk *w, __u32 index)
{
	struct sample *s = walk_sample(w);

	w->index = index;
	w->script_frames = 0;
	w->too_early = 0;
	w->hotspot.looked = 0;
	w->hotspot.size = 0;
	w->v8.size = 0;
	s->user_frames = 0;
	s->kernel_frames = 0;
	s->script_frames = 0;
	s->waker_frames = 0;
	s->script_runtime = SCRIPT_NONE;
	s->script_flags = 0;
	s->giver_bytes = 0;
	s->walk_end = WALK_NO_USER_STACK;
}

/* The scratch of this CPU for programs of that class; NULL: the loader sized it too small. */
static __always_inline struct walk *walk_begin(enum sample_class class)
{
	__u32 index = bpf_get_smp_processor_id() * CLASS_COUNT + class;
	struct walk *w = bpf_map_lookup_elem(&unwind_walks, &index);

	if (w)
		walk_reset(w, index);
	return w;
}

static __always_inline void walk_finish(struct walk *w)
{
	walk_sample(w)->user_frames = (__u16)w->frames;
	walk_sample(w)->walk_end = w->end == WALK_NOT_YET ? WALK_NO_TABLE : w->end;
	/* Steps from V8's builtins are not by rules alone. */
	w->too_early = !w->v8.size && (w->end == WALK_NOT_YET || w->end == WALK_NO_MAPPING);
}

/*
 * Walks from w->registers, which belong to a user program in the address space `mm`. Within
 * exec, between the switch to the new address space and the start of the new program, they
 * belong to the old program: there is no walk. `runtimes`: see step().
 */
static __always_inline void walk_from_registers(struct walk *w, __u32 tgid, __u64 mm, bool runtimes)
{
	struct unwind_process *process = bpf_map_lookup_elem(&unwind_processes, &tgid);

	/* A process in 32-bit mode: its registers are others, and its code has no tables. */
	if (REGISTERS_COMPAT(&w->registers)) {
		walk_sample(w)->walk_end = WALK_UNSUPPORTED;
		return;
	}
	if (process && !process->mm)
		process->mm = mm;
	/*
	 * The memory is of a program whose exec is not complete: the stack of the one before is
	 * gone with its memory, and this one has none yet.
	 */
	if (process && process->mm != mm) {
		walk_sample(w)->walk_end = WALK_NO_USER_STACK;
		return;
	}
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
	w->mm = mm;
	w->first = process ? process->first : 0;
	w->count = process ? process->count : 0;
	w->run = process ? process->id : 0;
	for (__u64 i = 0; i <= MAX_USER_FRAMES / WALK_STEPS; i++)
		if (runtimes ? walk_steps(w->index) : walk_native_steps(w->index))
			break;
	walk_finish(w);
}

/* The registers that a task saved when it entered the kernel. Not 0: there are none. */
static __always_inline int walk_read_saved(struct walk *w, struct task_struct *task)
{
	struct user_registers *saved = (void *)bpf_task_pt_regs(task);

	walk_sample(w)->walk_end = WALK_NO_REGISTERS;
	if (!saved || bpf_probe_read_kernel(&w->registers, sizeof(w->registers), saved))
		return -1;
	if (w->registers.pc || w->registers.sp)
		return 0;
	/* A thread of the process that only runs in the kernel, as those of io_uring. */
	walk_sample(w)->walk_end = WALK_NO_USER_STACK;
	return -1;
}

/* From the registers that the current task saved. */
static __always_inline void walk_user_task(struct walk *w, __u32 tgid, __u64 mm, bool runtimes)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (task->flags & PF_KTHREAD || !tgid)
		walk_sample(w)->walk_end = WALK_NO_USER_STACK;
	else if (!walk_read_saved(w, task))
		walk_from_registers(w, tgid, mm, runtimes);
}

/* From the registers of a perf event, which are those of the interrupted code, user or kernel. */
#define walk_copy(name) w->registers.name = regs->name
static __always_inline void walk_user_regs(struct walk *w, __u32 tgid, __u64 mm,
					   void *context_registers, bool runtimes)
{
	struct user_registers *regs = context_registers;

	if (!REGISTERS_USER(regs)) {
		walk_user_task(w, tgid, mm, runtimes);
		return;
	}
#if defined(__TARGET_ARCH_x86)
	walk_copy(r15), walk_copy(r14), walk_copy(r13), walk_copy(r12), walk_copy(bx);
	walk_copy(r11), walk_copy(r10), walk_copy(r9), walk_copy(r8), walk_copy(ax);
	walk_copy(cx), walk_copy(dx), walk_copy(si), walk_copy(di), walk_copy(cs);
#elif defined(__TARGET_ARCH_arm64)
	walk_copy(x[0]), walk_copy(x[1]), walk_copy(x[2]), walk_copy(x[3]), walk_copy(x[4]);
	walk_copy(x[5]), walk_copy(x[6]), walk_copy(x[28]), walk_copy(link), walk_copy(pstate);
#endif
	walk_copy(fp), walk_copy(sp), walk_copy(pc);
	walk_from_registers(w, tgid, mm, runtimes);
}
#undef walk_copy

#endif
