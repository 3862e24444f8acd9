/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPF_TASKS_CURRENT_BPF_H
#define BPF_TASKS_CURRENT_BPF_H

/*
 * The current task: whether it is a target, its stack, and a sample of it sent. Used by the
 * programs of timers, probes and context switches alike.
 */

#include "bpf/state/kernel.h"

#include <bpf/bpf_helpers.h>
#include <stdbool.h>

#include "bpf/tasks/phases.bpf.h"
#include "bpf/abi/sample.h"
#include "bpf/runtimes/script_list.bpf.h"
#include "bpf/tasks/targets.bpf.h"
#include "bpf/walk/unwind_rest.bpf.h"
#include "bpf/walk/unwind_walk.bpf.h"

/* The cgroup itself, not its level: inside a cgroup namespace the level is not known. */
struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} cgroups SEC(".maps");

static __always_inline bool current_is_target(__u64 pid_tgid)
{
	__u32 pid = pid_tgid >> 32;

	if (pid == recorder_pid)
		return false;
	if (by_cgroup)
		return bpf_current_task_under_cgroup(&cgroups, 0) == 1;
	return is_listed(pid, (__u32)pid_tgid);
}

/* Set by the recorder: at so many frames the kernel's own walk ends. */
const volatile __u32 kernel_walk_max = MAX_USER_FRAMES;

/* By the kernel's own walk along frame pointers. */
static __always_inline void follow_frame_pointers(void *ctx, struct sample *s)
{
	long size = bpf_get_stack(ctx, s->frames, MAX_USER_FRAMES * 8, BPF_F_USER_STACK);

	s->user_frames = size > 0 ? (__u64)size / 8 : 0;
	s->walk_end = WALK_FRAME_POINTER;
	if (size <= 0)
		s->walk_end = WALK_NO_REGISTERS;
	else
		s->frames[0] |= FRAME_EXACT;
	if (s->user_frames && s->user_frames >= kernel_walk_max)
		s->walk_end = WALK_TOO_DEEP;
}

static __always_inline void user_frames(void *ctx, struct walk *w, void *registers, bool runtimes)
{
	struct sample *s = walk_sample(w);
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 mm = task_mm(task);

	/* Without memory there is no stack: kernel threads, and the last part of an exit. */
	if (unwind_by == UNWIND_BY_NOTHING || task->flags & PF_KTHREAD || !mm) {
		s->walk_end = WALK_NO_USER_STACK;
		return;
	}
	if (runtimes)
		script_begin(w, s->pid);
	if (unwind_by == UNWIND_BY_FRAME_POINTER)
		follow_frame_pointers(ctx, s);
	else if (registers)
		walk_user_regs(w, s->pid, mm, registers, runtimes);
	else
		walk_user_task(w, s->pid, mm, runtimes);
}

/* Appended to the user frames. */
static __always_inline void kernel_frames(void *ctx, struct sample *s)
{
	__u64 user = s->user_frames;
	long size;

	if (user > MAX_USER_FRAMES)
		user = MAX_USER_FRAMES;
	size = bpf_get_stack(ctx, s->frames + user, MAX_KERNEL_FRAMES * 8, 0);
	s->kernel_frames = size > 0 ? (__u64)size / 8 : 0;
}

/* The list of a runtime's frames, after all others. */
static __always_inline void runtime_frames(struct walk *w)
{
	struct sample *s = walk_sample(w);

	if (s->user_frames)
		script_list(w, s->pid);
	script_append(w);
}

/*
 * All sections of struct sample's frames[], in their order, but for the waker's. `registers` are
 * those of the interrupted code, user or kernel; NULL: the kernel was running. `runtimes`: frames
 * of runtimes, too.
 */
static __always_inline void current_frames(void *ctx, struct walk *w, void *registers,
					   bool runtimes)
{
	struct sample *s = walk_sample(w);

	user_frames(ctx, w, registers, runtimes);
	PHASE_END(PHASE_USER);
	/* Interrupted user code has no kernel frames; asking would cost as much as all the rest. */
	if (!registers || !REGISTERS_USER((struct user_registers *)registers)) {
		kernel_frames(ctx, s);
		PHASE_END(PHASE_KERNEL);
	}
	if (runtimes)
		runtime_frames(w);
	PHASE_END(PHASE_SCRIPT);
}

static __always_inline void sample_send(void *ring, struct walk *w, struct sample_counters *count)
{
	struct sample *s = walk_sample(w);
	__u64 size = sample_bytes(s);

	/* The recorder hurries when the ring is a quarter full, which rests alone must not cause.
	 */
	if (w->too_early && bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) + sizeof(struct walk_rest) <
				    bpf_ringbuf_query(ring, BPF_RB_RING_SIZE) / 5)
		size += (__u32)walk_put_rest(w->index);
	if (size > sizeof(w->room))
		size = sizeof(w->room);
	if (!bpf_ringbuf_output(ring, s, size, BPF_RB_NO_WAKEUP))
		count->sent++;
	else if (bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) + size + 16 >
		 bpf_ringbuf_query(ring, BPF_RB_RING_SIZE))
		count->lost[SAMPLE_LOST_RING_FULL]++;
	else
		count->lost[SAMPLE_LOST_RING_BUSY]++;
	PHASE_END(PHASE_SUBMIT);
}

#endif
