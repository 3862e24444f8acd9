/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The kernel half of prof-record: asks of each timer tick whether the interrupted task is a
 * target, and if so sends its stack.
 *
 * One perf event runs on each CPU, whatever runs there; `targets` holds the processes to be
 * sampled and follows forks here, in the kernel, so that no child is ever missed.
 */
#include "bpf/kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <linux/bpf_perf_event.h>
#include <stdbool.h>

#include "bpf/phases.bpf.h"
#include "bpf/sample.h"
#include "bpf/script.bpf.h"
#include "bpf/targets.bpf.h"
#include "bpf/unwind.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* Set by the recorder before it loads this. */
const volatile bool inherit = true;   /* children of targets are targets */
const volatile __u32 command_pid = 0; /* becomes a target with its first exec */

/* By what it is, not by its level: inside of a cgroup namespace nobody knows how deep it is. */
struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} cgroups SEC(".maps");

/* Children of targets for which there was no room. */
__u64 not_followed;

/*
 * By event: 0 where a sample counts as one, PERIOD_OF_EVENT where the kernel tells how many
 * events it stands for, else how many hits of a probe make a sample.
 */
const volatile __u64 periods[SAMPLE_EVENTS_MAX] = {};

/* What interrupts never shares a ring, a scratch or a counter with what it interrupted. */
struct sample_ring timer_ring SEC(".maps");
struct sample_ring probe_ring SEC(".maps");

/* Hits of a probe since its last sample. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SAMPLE_EVENTS_MAX);
	__type(key, __u32);
	__type(value, __u64);
} hits SEC(".maps");

/* Of the current task. */
static __always_inline bool is_target(__u64 pid_tgid)
{
	__u32 pid = pid_tgid >> 32;

	if (pid == recorder_pid)
		return false;
	if (by_cgroup)
		return bpf_current_task_under_cgroup(&cgroups, 0) == 1;
	return is_listed(pid, (__u32)pid_tgid);
}

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
	if (s->user_frames == MAX_USER_FRAMES)
		s->walk_end = WALK_TOO_DEEP;
}

/* `registers` are those of the interrupted code, user or kernel; NULL: the kernel's, not known. */
static __always_inline void fill_stacks(void *ctx, struct walk *w, void *registers)
{
	struct sample *s = walk_sample(w);
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 user;
	long size;

	/* Without memory there is no stack: kernel threads, and the last part of an exit. */
	if (unwind_by == UNWIND_BY_NOTHING || task->flags & PF_KTHREAD || !task->mm)
		s->walk_end = WALK_NO_USER_STACK;
	else if (unwind_by == UNWIND_BY_FRAME_POINTER)
		follow_frame_pointers(ctx, s);
	else if (registers)
		walk_user_regs(w, s->pid, registers);
	else
		walk_user_task(w, s->pid);
	PHASE_END(PHASE_USER);
	s->kernel_frames = 0;
	s->waker_frames = 0;
	if (registers && REGISTERS_USER((struct user_registers *)registers))
		return; /* not a frame in the kernel: asking would cost as much as all the rest */
	user = s->user_frames;
	if (user > MAX_USER_FRAMES)
		user = MAX_USER_FRAMES;
	size = bpf_get_stack(ctx, s->frames + user, MAX_KERNEL_FRAMES * 8, 0);
	s->kernel_frames = size > 0 ? (__u64)size / 8 : 0;
	PHASE_END(PHASE_KERNEL);
}

static __always_inline void fill_frames(void *ctx, struct walk *w, void *registers)
{
	fill_stacks(ctx, w, registers);
	script_append(w);
}

static __always_inline void send(void *ring, struct sample *s, struct sample_counters *count)
{
	__u64 n = (__u64)s->user_frames + s->kernel_frames + s->waker_frames +
		  SCRIPT_FRAME_WORDS * s->script_frames;
	__u64 size = sizeof(struct sample) + n * 8;

	if (size > WALK_SAMPLE_BYTES)
		size = WALK_SAMPLE_BYTES;
	if (!bpf_ringbuf_output(ring, s, size, BPF_RB_NO_WAKEUP))
		count->sent++;
	else if (bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) + size + 16 >
		 bpf_ringbuf_query(ring, BPF_RB_RING_SIZE))
		count->lost[SAMPLE_LOST_RING_FULL]++;
	else
		count->lost[SAMPLE_LOST_RING_BUSY]++;
	PHASE_END(PHASE_SUBMIT);
}

/* The stack of the current task, as one sample of that event. */
static __always_inline void sample(void *ctx, __u32 class, void *ring, __u64 pid_tgid, __u32 event,
				   __u64 weight, void *registers)
{
	struct sample_counters *count = bpf_map_lookup_elem(&counters, &class);
	struct walk *w = walk_begin(class);
	struct sample *s;

	if (!count || !w)
		return;
	s = walk_sample(w);
	if (class == CLASS_PROBE)
		__sync_fetch_and_add(&count->fired, 1);
	else
		count->fired++;
	s->time_ns = bpf_ktime_get_ns();
	s->weight = weight;
	s->pid = pid_tgid >> 32;
	s->tid = (__u32)pid_tgid;
	s->cpu = bpf_get_smp_processor_id();
	s->event = event;
	s->state = 0;
	PHASE_END(PHASE_RECORD);
	fill_frames(ctx, w, registers);
	send(ring, s, count);
}

SEC("perf_event")
int sample_timer(struct bpf_perf_event_data *ctx)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	__u32 event = bpf_get_attach_cookie(ctx);
	__u64 weight = 1;

	PHASE_END(PHASE_CLOCK);
	/* The idle task is no target: pid 0. */
	if (!pid_tgid || !is_target(pid_tgid))
		return 0;
	if (event < SAMPLE_EVENTS_MAX && periods[event] == PERIOD_OF_EVENT)
		weight = ctx->sample_period;
	PHASE_END(PHASE_QUESTION);
	sample(ctx, CLASS_TIMER, &timer_ring, pid_tgid, event, weight, &ctx->regs);
	return 0;
}

/* How many hits this one stands for; 0: it is passed over. */
static __always_inline __u64 count_hit(__u32 event)
{
	__u64 *n = bpf_map_lookup_elem(&hits, &event);
	__u64 period = event < SAMPLE_EVENTS_MAX ? periods[event] : 0;

	if (period <= 1 || !n)
		return 1;
	if (++*n < period)
		return 0;
	*n = 0;
	return period;
}

/* Others may have events on the same tracepoint: 1 lets them have theirs. */
SEC("tracepoint")
int sample_tracepoint(void *ctx)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid(), weight;
	__u32 event = bpf_get_attach_cookie(ctx);

	if (!pid_tgid || !is_target(pid_tgid) || !on_wanted_cpu(bpf_get_smp_processor_id()))
		return 1;
	weight = count_hit(event);
	if (weight)
		sample(ctx, CLASS_TIMER, &timer_ring, pid_tgid, event, weight, NULL);
	return 1;
}

/*
 * Uprobes run with interrupts and preemption on: another thread may hit one on this CPU while
 * this one is being sampled.
 */
SEC("uprobe")
int sample_uprobe(struct pt_regs *ctx)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid(), weight;
	__u32 event = bpf_get_attach_cookie(ctx);
	struct sample_counters *count;
	__u32 class = CLASS_PROBE;

	if (!is_target(pid_tgid) || !on_wanted_cpu(bpf_get_smp_processor_id()))
		return 0;
	count = bpf_map_lookup_elem(&counters, &class);
	weight = count_hit(event);
	if (!weight || !count)
		return 0;
	if (__sync_fetch_and_add(&count->busy, 1)) {
		__sync_fetch_and_add(&count->fired, 1);
		__sync_fetch_and_add(&count->lost[SAMPLE_LOST_NESTED], 1);
	} else {
		sample(ctx, CLASS_PROBE, &probe_ring, pid_tgid, event, weight, NULL);
	}
	__sync_fetch_and_add(&count->busy, -1);
	return 0;
}

#include "bpf/off_cpu.bpf.h"

SEC("tp_btf/sched_process_fork")
int BPF_PROG(follow_fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 from = by_thread ? parent->pid : parent->tgid;
	__u32 to = by_thread ? child->pid : child->tgid;
	__u64 start = child->start_time;

	if (unwind_by == UNWIND_BY_TABLES && parent->tgid != child->tgid) {
		walk_fork(parent, child);
		script_fork(parent->tgid, child->tgid);
	}
	if (!inherit || from == to || !bpf_map_lookup_elem(&targets, &from))
		return 0;
	if (bpf_map_update_elem(&targets, &to, &start, BPF_ANY))
		__sync_fetch_and_add(&not_followed, 1);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(follow_exec, struct task_struct *task, int old_pid)
{
	__u32 pid = task->tgid;
	__u64 start = 0;

	if (command_pid && pid == command_pid)
		bpf_map_update_elem(&targets, &pid, &start, BPF_NOEXIST);
	if (unwind_by == UNWIND_BY_TABLES) {
		script_exec(pid);
		walk_exec(pid, all_processes || bpf_map_lookup_elem(&targets, &pid));
	}
	return 0;
}

/*
 * A task counts until it is freed, later than its exit, as its teardown is part of what it
 * costs. The start time tells it from a new task with the same number.
 */
SEC("tp_btf/sched_process_free")
int BPF_PROG(forget_task, struct task_struct *task)
{
	__u32 key = task->pid;
	__u64 *start;

	if (!by_thread && task->pid != task->tgid)
		return 0;
	start = bpf_map_lookup_elem(&targets, &key);
	if (start && (!*start || *start == task->start_time))
		bpf_map_delete_elem(&targets, &key);
	return 0;
}
