/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPF_TASKS_OFF_CPU_BPF_H
#define BPF_TASKS_OFF_CPU_BPF_H

/*
 * The programs that sample waits. When a target leaves its CPU, the time is stored in the task's
 * own storage; when it runs again after a long enough wait, its stack is taken, which is still
 * the one it waited with. So a short wait costs two reads of a clock and no walk.
 *
 * The walk needs the task to be current with its address space loaded: at the end of a context
 * switch (sched_exit_tp, Linux 6.16), or in finish_task_switch() by a kprobe. On a kernel that has
 * neither, the stack is taken each time the task leaves its CPU, and kept until the length of the
 * wait is known.
 */

#include "bpf/state/kernel.h"

#include <bpf/bpf_helpers.h>
#include <stdbool.h>

#include "bpf/tasks/current.bpf.h"
#include "bpf/abi/sample.h"
#include "bpf/tasks/targets.bpf.h"
#include "bpf/walk/unwind_walk.bpf.h"
#include "bpf/tasks/waits.bpf.h"

/* Set by the recorder before it loads the programs. */
const volatile bool switch_tells_state = true; /* sched_switch has its fourth argument (5.18) */
const volatile bool wakers = false;
const volatile bool walk_when_leaving = false; /* no program can run at the end of a switch */

#define KEPT_FRAMES (MAX_USER_FRAMES + MAX_KERNEL_FRAMES + SCRIPT_FRAME_WORDS * MAX_SCRIPT_FRAMES)

struct kept_stack {
	__u64 size; /* bytes of the sample */
	__u64 sample[WALK_SAMPLE_WORDS + KEPT_FRAMES];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct kept_stack);
} kept_stacks SEC(".maps");

/* The user frames and the list of the target that ended the task's wait. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct kept_stack);
} givers SEC(".maps");

/*
 * Makes room for the waits of a task before its first one: when it leaves its CPU the run queue is
 * locked, and before Linux 6.4 storage is allocated in a way that may wake another task, which
 * needs that lock.
 */
static __always_inline void expect_waits(struct task_struct *task)
{
	if (off_cpu_event != NO_EVENT || preempted_event != NO_EVENT)
		bpf_task_storage_get(&waits, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

/* Of the current task, which leaves its CPU. */
static __always_inline void keep_stack(void *ctx, struct task_struct *task)
{
	struct kept_stack *kept = bpf_task_storage_get(&kept_stacks, task, 0,
						       BPF_LOCAL_STORAGE_GET_F_CREATE);
	struct walk *w = walk_begin(CLASS_SWITCH);
	struct sample *s;
	__u64 size;

	if (!kept || !w)
		return;
	s = walk_sample(w);
	s->pid = task->tgid;
	current_frames(ctx, w, NULL, true);
	size = sizeof(*s) + sample_words(s) * 8;
	if (size > sizeof(kept->sample))
		size = 0;
	kept->size = size;
	bpf_probe_read_kernel(kept->sample, size, s);
}

/* What keep_stack() kept; without it the sample has no frames. */
static __always_inline void recall_stack(struct sample *s, struct task_struct *task)
{
	struct kept_stack *kept = bpf_task_storage_get(&kept_stacks, task, 0, 0);
	__u64 size = kept ? kept->size : 0;

	if (size && size <= sizeof(kept->sample)) {
		bpf_probe_read_kernel(s, size, kept->sample);
		return;
	}
	s->user_frames = 0;
	s->kernel_frames = 0;
	s->script_frames = 0;
	s->waker_frames = 0;
	s->walk_end = WALK_NO_REGISTERS;
}

static __always_inline void leave_cpu(void *ctx, struct task_struct *task, __u64 now, __u32 state)
{
	__u64 pid_tgid = (__u64)task->tgid << 32 | (__u32)task->pid;
	struct wait *wait;

	/* pid 0: the idle task. The task is still the current one here. */
	if (!pid_tgid || state & TASK_DEAD_STATE || !current_is_target(pid_tgid))
		return;
	/* Most have it; not those that came into a cgroup, or that could not be gone through. */
	wait = bpf_task_storage_get(&waits, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!wait)
		return;
	wait->start_ns = now;
	wait->end_ns = 0;
	wait->state = state;
	wait->waker_frames = 0;
	if (walk_when_leaving)
		keep_stack(ctx, task);
}

static __always_inline void come_back(struct task_struct *task, __u64 now)
{
	struct wait *wait = bpf_task_storage_get(&waits, task, 0, 0);

	if (!wait || !wait->start_ns)
		return;
	if (now - wait->start_ns >= off_cpu_min_ns)
		wait->end_ns = now;
	else
		wait->start_ns = 0;
}

/* The user frames and the list of the current task. */
static __always_inline void keep_giver(void *ctx, struct kept_stack *kept, __u64 pid_tgid)
{
	struct walk *w = walk_begin(CLASS_PROBE);
	struct sample *s;
	__u64 size;

	if (!w)
		return;
	s = walk_sample(w);
	s->time_ns = bpf_ktime_get_ns();
	s->pid = pid_tgid >> 32;
	s->tid = (__u32)pid_tgid;
	s->event = off_cpu_event;
	user_frames(ctx, w, NULL, true);
	runtime_frames(w);
	size = sizeof(*s) + sample_words(s) * 8;
	if (size > sizeof(kept->sample))
		return;
	bpf_probe_read_kernel(kept->sample, size, s);
	barrier();
	kept->size = size;
}

/*
 * Waits that are not yet long enough are mostly not recorded, and not worth a walk. Interrupts are
 * off: what else uses that scratch here is a probe that was interrupted.
 */
static __always_inline void note_giver(void *ctx, struct task_struct *waiting, __u64 start_ns)
{
	struct kept_stack *kept = bpf_task_storage_get(&givers, waiting, 0, 0);
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	__u32 class = CLASS_PROBE;
	struct sample_counters *count = bpf_map_lookup_elem(&counters, &class);

	if (kept)
		kept->size = 0;
	if (!count || !pid_tgid || bpf_ktime_get_ns() - start_ns < off_cpu_min_ns ||
	    !current_is_target(pid_tgid))
		return;
	/* No run queue is locked here. */
	kept = bpf_task_storage_get(&givers, waiting, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!kept)
		return;
	if (!__sync_fetch_and_add(&count->busy, 1))
		keep_giver(ctx, kept, pid_tgid);
	__sync_fetch_and_add(&count->busy, -1);
}

/* The waker is the current task, or an interrupt on top of it. */
SEC("tp_btf/sched_waking")
int note_waker(__u64 *ctx)
{
	struct wait *wait = bpf_task_storage_get(&waits, (struct task_struct *)ctx[0], 0, 0);
	__u64 start;
	long size;

	if (!wait || wait->end_ns)
		return 0;
	start = wait_start(wait);
	if (!start)
		return 0;
	size = bpf_get_stack(ctx, wait->waker, sizeof(wait->waker), 0);
	wait->waker_frames = size > 0 ? (__u32)size / 8 : 0;
	wait->waker_id = bpf_get_current_pid_tgid();
	note_giver(ctx, (struct task_struct *)ctx[0], start);
	return 0;
}

static __always_inline void put_waker(struct sample *s, struct wait *wait)
{
	__u64 n = wait->waker_frames;
	__u64 at = sample_words(s);

	if (!n || n > WAKER_FRAMES ||
	    at > MAX_USER_FRAMES + MAX_KERNEL_FRAMES + SCRIPT_FRAME_WORDS * MAX_SCRIPT_FRAMES)
		return;
	bpf_probe_read_kernel(&s->frames[at], n * 8, wait->waker);
	s->waker_frames = n;
	s->waker_pid = wait->waker_id >> 32;
	s->waker_tid = (__u32)wait->waker_id;
}

/* After all frames of the sample; where these are to be completed, what that takes has the room. */
static __always_inline void put_giver(struct walk *w, struct task_struct *task)
{
	struct kept_stack *kept = bpf_task_storage_get(&givers, task, 0, 0);
	struct sample *s = walk_sample(w);
	__u64 size = kept ? kept->size : 0, at = sample_words(s);

	if (w->too_early || !size || size > sizeof(kept->sample) || at > WALK_MAX_FRAMES)
		return;
	bpf_probe_read_kernel(&w->room[WALK_SAMPLE_WORDS + at], size, kept->sample);
	s->giver_bytes = size;
}

/* Sends the wait of the current task, if one has ended. */
static __always_inline int end_wait(void *ctx, struct task_struct *task)
{
	struct wait *wait = bpf_task_storage_get(&waits, task, 0, 0);
	__u32 event, cpu = bpf_get_smp_processor_id();
	__u64 start;

	if (!wait || !wait->end_ns)
		return 0;
	start = wait_start(wait);
	event = wait->state ? off_cpu_event : preempted_event;
	if (take_wait(wait, start) && event != NO_EVENT && on_wanted_cpu(cpu)) {
		struct sample_counters *count;
		struct walk *w = walk_begin(CLASS_SWITCH);
		struct sample *s;
		__u32 class = CLASS_SWITCH;

		count = bpf_map_lookup_elem(&counters, &class);
		if (!count || !w)
			return 0;
		s = walk_sample(w);
		count->fired++;
		if (walk_when_leaving)
			recall_stack(s, task);
		s->time_ns = wait->end_ns;
		s->weight = wait->end_ns - start;
		s->pid = task->tgid;
		s->tid = task->pid;
		s->cpu = cpu;
		s->event = event;
		s->state = wait->state;
		if (!walk_when_leaving)
			current_frames(ctx, w, NULL, true);
		if (wakers)
			put_waker(s, wait);
		if (wakers && s->waker_frames)
			put_giver(w, task);
		sample_send(&switch_ring, w, count);
	}
	wait->end_ns = 0;
	return 0;
}

SEC("tp_btf/sched_switch")
int note_switch(__u64 *ctx)
{
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	__u64 now = bpf_ktime_get_ns();
	__u32 state = 0;

	if (!(bool)ctx[0])
		state = switch_tells_state ? (__u32)ctx[3] : task_state(prev);
	leave_cpu(ctx, prev, now, state);
	come_back(next, now);
	if (walk_when_leaving)
		end_wait(ctx, next);
	return 0;
}

SEC("tp_btf/sched_exit_tp")
int end_of_switch(__u64 *ctx)
{
	return (bool)ctx[0] ? end_wait(ctx, bpf_get_current_task_btf()) : 0;
}

SEC("kprobe")
int end_of_switch_probe(struct pt_regs *ctx)
{
	return end_wait(ctx, bpf_get_current_task_btf());
}

#endif
