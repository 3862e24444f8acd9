/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Waits that begin before the recording or end after it. One program runs over all tasks at the
 * start and stores the time for those that wait already; another runs over them at the end and
 * sends the stacks of those that still wait. The maps are those of sampler.bpf.c.
 *
 * The tasks are not running, so their memory cannot be read in place: the pages above the stack
 * pointer are copied first, and the walk reads the copy.
 */
#include "bpf/state/kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <stdbool.h>

#include "bpf/abi/sample.h"

#define COPY_PAGE 4096
#define COPY_PAGES 32
#define COPY_READ 512

struct copy {
	__u64 start; /* address of bytes[0] in the task */
	__u64 size;
	__u8 bytes[COPY_PAGES * COPY_PAGE];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct copy);
} copies SEC(".maps");

static __always_inline long read_copy(void *to, __u32 size, __u64 from)
{
	__u32 zero = 0;
	struct copy *c = bpf_map_lookup_elem(&copies, &zero);
	__u64 offset;

	if (!c)
		return -1;
	offset = from - c->start;
	if (offset >= c->size || c->size - offset < size)
		return -1;
	/* A bound that the verifier understands; no read is larger than COPY_READ. */
	barrier_var(offset);
	if (offset > sizeof(c->bytes) - COPY_READ)
		return -1;
	return bpf_probe_read_kernel(to, size, c->bytes + offset);
}

#define WALK_READ_USER(to, size, from) read_copy(to, size, from)
#include "bpf/tasks/targets.bpf.h"
#include "bpf/runtimes/script.bpf.h"
#include "bpf/walk/unwind_walk.bpf.h"
#include "bpf/tasks/waits.bpf.h"

_Static_assert(sizeof(((struct walk *)0)->window) <= COPY_READ, "the walk reads no more at once");

char LICENSE[] SEC("license") = "GPL";

#define CGROUP_LEVELS 32

static __always_inline bool in_cgroup(struct task_struct *task)
{
	struct cgroup *group = BPF_CORE_READ(task, cgroups, dfl_cgrp);

	for (__u64 i = 0; i < CGROUP_LEVELS && group; i++) {
		if (BPF_CORE_READ(group, kn, id) == cgroup_id)
			return true;
		group = BPF_CORE_READ(group, self.parent, cgroup);
	}
	return false;
}

static __always_inline bool is_target(struct task_struct *task)
{
	if (!task->pid || task->tgid == recorder_pid)
		return false;
	if (by_cgroup)
		return in_cgroup(task);
	return is_listed(task->tgid, task->pid);
}

/* Set by the recorder once ends of waits are seen. Before that, tasks get room for them only. */
bool waits_end;

SEC("iter/task")
int note_waiting(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct wait *wait;

	if (!task || !is_target(task))
		return 0;
	/* For one that runs this is room for its next wait. */
	wait = bpf_task_storage_get(&waits, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	/* How long it has waited already is not known: the wait is counted from now on. */
	if (waits_end && wait && !task->on_cpu && !wait->start_ns) {
		wait->state = task_state(task);
		wait->start_ns = bpf_ktime_get_ns();
	}
	return 0;
}

/* Copies the stack from `sp` on, up to the first page that is not there. */
static __always_inline void copy_stack(struct task_struct *task, __u64 sp)
{
	__u32 zero = 0;
	struct copy *c = bpf_map_lookup_elem(&copies, &zero);

	if (!c)
		return;
	c->start = sp & ~(__u64)(COPY_PAGE - 1);
	c->size = 0;
	for (__u64 i = 0; i < COPY_PAGES; i++) {
		if (bpf_copy_from_user_task(c->bytes + i * COPY_PAGE, COPY_PAGE,
					    (void *)(c->start + i * COPY_PAGE), task, 0))
			break;
		c->size = (i + 1) * COPY_PAGE;
	}
}

static __always_inline void walk_waiting(struct walk *w, struct task_struct *task)
{
	__u64 mm = task_mm(task);

	if (unwind_by != UNWIND_BY_TABLES || task->flags & PF_KTHREAD || !mm)
		return;
	if (walk_read_saved(w, task))
		return;
	copy_stack(task, w->registers.sp);
	script_begin(w, task->tgid);
	walk_from_registers(w, task->tgid, mm, true);
}

static __always_inline void send_waiting(struct walk *w, struct task_struct *task)
{
	struct sample *s = walk_sample(w);
	struct sample_counters *count;
	__u64 user, size;
	__u32 class = CLASS_SWITCH;
	long kernel;

	walk_waiting(w, task);
	user = s->user_frames;
	barrier_var(user); /* or the compiler uses the value before its bound */
	if (user > MAX_USER_FRAMES)
		user = MAX_USER_FRAMES;
	kernel = bpf_get_task_stack(task, s->frames + user, MAX_KERNEL_FRAMES * 8, 0);
	s->kernel_frames = kernel > 0 ? (__u64)kernel / 8 : 0;
	size = sizeof(*s) + (user + s->kernel_frames) * 8;
	if (size > WALK_SAMPLE_BYTES)
		size = WALK_SAMPLE_BYTES;
	count = bpf_map_lookup_elem(&counters, &class);
	if (!count)
		return;
	/* Programs at switches may interrupt this one, but not the other way round. */
	__sync_fetch_and_add(&count->fired, 1);
	if (bpf_ringbuf_output(&switch_ring, s, size, BPF_RB_NO_WAKEUP))
		__sync_fetch_and_add(&count->lost[SAMPLE_LOST_RING_FULL], 1);
	else
		__sync_fetch_and_add(&count->sent, 1);
}

SEC("iter.s/task")
int send_still_waiting(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	__u64 now, start;
	__u32 state, event, zero = 0;
	struct wait *wait;
	struct sample *s;
	struct walk *w;

	if (!task || task->on_cpu)
		return 0;
	wait = bpf_task_storage_get(&waits, task, 0, 0);
	w = bpf_map_lookup_elem(&unwind_walks, &zero);
	if (!wait || !w)
		return 0;
	start = wait_start(wait);
	now = bpf_ktime_get_ns();
	if (!start || now - start < off_cpu_min_ns)
		return 0;
	state = wait->state;
	event = state ? off_cpu_event : preempted_event;
	/* The task goes on meanwhile: the wait may end, and the next one begin. */
	if (take_wait(wait, start) && event != NO_EVENT && on_wanted_cpu(task->wake_cpu)) {
		walk_reset(w, 0);
		s = walk_sample(w);
		s->time_ns = now;
		s->weight = now - start;
		s->pid = task->tgid;
		s->tid = task->pid;
		s->cpu = task->wake_cpu;
		s->event = event;
		s->state = state;
		send_waiting(w, task);
	}
	return 0;
}
