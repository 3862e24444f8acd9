/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The kernel half of prof-record: checks at each timer tick whether the interrupted task is a
 * target, and if so sends its stack.
 *
 * One perf event runs on each CPU, for all tasks; the map `targets` holds the processes to be
 * sampled. Forks are followed here, in the kernel, so that no child is missed.
 */
#include "bpf/state/kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <linux/bpf_perf_event.h>
#include <stdbool.h>

#include "bpf/tasks/current.bpf.h"
#include "bpf/tasks/off_cpu.bpf.h"
#include "bpf/tasks/phases.bpf.h"
#include "bpf/abi/sample.h"
#include "bpf/runtimes/script.bpf.h"
#include "bpf/tasks/targets.bpf.h"
#include "bpf/tasks/ticks.bpf.h"
#include "bpf/walk/unwind_spaces.bpf.h"
#include "bpf/walk/unwind_walk.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* Set by the recorder before it loads the programs. */
const volatile bool inherit = true;   /* children of targets are targets */
const volatile __u32 command_pid = 0; /* becomes a target with its first exec */

/* Children of targets for which there was no room. */
__u64 not_followed;

/*
 * How samples of each event are weighted. 0: by 1. PERIOD_OF_EVENT: by the period with which the
 * perf event fired, which the kernel adapts to the frequency that was asked for. Any other number
 * n, for probes and tracepoints: each n-th hit is sampled, and its weight is n.
 */
const volatile __u64 periods[SAMPLE_EVENTS_MAX] = {};

/* A program never shares a ring, a scratch or a counter with a program that it can interrupt. */
struct sample_ring timer_ring SEC(".maps");
struct sample_ring probe_ring SEC(".maps");

/* Hits of a probe since its last sample. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SAMPLE_EVENTS_MAX);
	__type(key, __u32);
	__type(value, __u64);
} hits SEC(".maps");

/* What made a program run, in the current task. */
struct hit {
	__u64 pid_tgid;
	__u64 time_ns;
	__u64 weight;
	__u32 event;
	void *registers; /* of the interrupted code; NULL: those that the task saved */
};

/* The stack of the current task, as one sample of that event. */
static __always_inline void sample(void *ctx, __u32 class, const struct hit *hit, bool runtimes)
{
	void *ring = class == CLASS_PROBE ? (void *)&probe_ring : (void *)&timer_ring;
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
	s->time_ns = hit->time_ns;
	s->weight = hit->weight;
	s->pid = hit->pid_tgid >> 32;
	s->tid = (__u32)hit->pid_tgid;
	s->cpu = bpf_get_smp_processor_id();
	s->event = hit->event;
	s->state = 0;
	PHASE_END(PHASE_RECORD);
	current_frames(ctx, w, hit->registers, runtimes);
	sample_send(ring, w, count);
}

static __always_inline int tick(struct bpf_perf_event_data *ctx, bool runtimes)
{
	__u64 cookie = bpf_get_attach_cookie(ctx);
	struct hit hit = {
		.pid_tgid = bpf_get_current_pid_tgid(),
		.weight = 1,
		.event = (__u32)cookie,
		.registers = &ctx->regs,
	};
	bool counts;

	PHASE_END(PHASE_CLOCK);
	/* The idle task is no target: pid 0. */
	if (!hit.pid_tgid || !current_is_target(hit.pid_tgid))
		return 0;
	hit.time_ns = bpf_ktime_get_ns();
	counts = ticks_mode(hit.event, &ctx->regs);
	ticks_count(cookie, hit.time_ns, counts);
	if (!counts)
		return 0;
	if (hit.event < SAMPLE_EVENTS_MAX && periods[hit.event] == PERIOD_OF_EVENT)
		hit.weight = ctx->sample_period;
	PHASE_END(PHASE_QUESTION);
	sample(ctx, CLASS_TIMER, &hit, runtimes);
	return 0;
}

SEC("perf_event")
int sample_timer(struct bpf_perf_event_data *ctx)
{
	return tick(ctx, true);
}

/* As long as no target has a runtime: for these the verifier takes most of its time. */
SEC("perf_event")
int sample_native(struct bpf_perf_event_data *ctx)
{
	return tick(ctx, false);
}

/* Of these two the one that is in use; see record/capture/full_timer.h. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} timer_programs SEC(".maps");

SEC("perf_event")
int enter_timer(struct bpf_perf_event_data *ctx)
{
	bpf_tail_call(ctx, &timer_programs, 0);
	return 0;
}

/* Whether a probe was hit by a target, where it is sampled. Sets by which task, and when. */
static __always_inline bool is_wanted(struct hit *hit)
{
	hit->pid_tgid = bpf_get_current_pid_tgid();
	if (!hit->pid_tgid || !current_is_target(hit->pid_tgid) ||
	    !on_wanted_cpu(bpf_get_smp_processor_id()))
		return false;
	hit->time_ns = bpf_ktime_get_ns();
	return true;
}

/* Sets how many hits this one stands for. False: it is not sampled. */
static __always_inline bool count_hit(struct hit *hit)
{
	__u32 event = hit->event;
	__u64 *n = bpf_map_lookup_elem(&hits, &event);
	__u64 period = event < SAMPLE_EVENTS_MAX ? periods[event] : 0;

	hit->weight = 1;
	if (period <= 1 || !n)
		return true;
	if (++*n < period)
		return false;
	*n = 0;
	hit->weight = period;
	return true;
}

/* Returns 1, so that other users of the same tracepoint get their events, too. */
SEC("tracepoint")
int sample_tracepoint(void *ctx)
{
	struct hit hit = { .event = (__u32)bpf_get_attach_cookie(ctx) };

	if (is_wanted(&hit) && count_hit(&hit))
		sample(ctx, CLASS_TIMER, &hit, true);
	return 1;
}

/*
 * Uprobes run with interrupts and preemption on: another thread may hit one on this CPU while
 * this one is being sampled. A kprobe may be hit then by an interrupt, or by the idle task.
 */
SEC("kprobe")
int sample_probe(struct pt_regs *ctx)
{
	struct hit hit = { .event = (__u32)bpf_get_attach_cookie(ctx) };
	struct sample_counters *count;
	__u32 class = CLASS_PROBE;

	if (!is_wanted(&hit))
		return 0;
	count = bpf_map_lookup_elem(&counters, &class);
	if (!count_hit(&hit) || !count)
		return 0;
	if (__sync_fetch_and_add(&count->busy, 1)) {
		__sync_fetch_and_add(&count->fired, 1);
		__sync_fetch_and_add(&count->lost[SAMPLE_LOST_NESTED], 1);
	} else {
		sample(ctx, CLASS_PROBE, &hit, true);
	}
	__sync_fetch_and_add(&count->busy, -1);
	return 0;
}

/*
 * The three that follow processes are raw: for typed ones libbpf has to read the types of the whole
 * kernel. So what they are given is read by BPF_CORE_READ().
 */
static __always_inline void inherit_target(struct task_struct *parent, struct task_struct *child)
{
	__u32 from = by_thread ? BPF_CORE_READ(parent, pid) : BPF_CORE_READ(parent, tgid);
	__u32 to = by_thread ? BPF_CORE_READ(child, pid) : BPF_CORE_READ(child, tgid);
	__u64 start;

	if (!inherit || from == to || !bpf_map_lookup_elem(&targets, &from))
		return;
	start = BPF_CORE_READ(child, start_time);
	if (bpf_map_update_elem(&targets, &to, &start, BPF_ANY))
		__sync_fetch_and_add(&not_followed, 1);
}

static __always_inline void fork_space(struct task_struct *parent, struct task_struct *child)
{
	__u32 from = BPF_CORE_READ(parent, tgid), to = BPF_CORE_READ(child, tgid);

	if (from == to)
		return;
	walk_fork(from, (__u64)BPF_CORE_READ(parent, mm), to, (__u64)BPF_CORE_READ(child, mm));
	script_fork(from, to);
}

SEC("raw_tp/sched_process_fork")
int follow_fork(__u64 *ctx)
{
	struct task_struct *parent = (void *)ctx[0], *child = (void *)ctx[1];

	if (unwind_by == UNWIND_BY_TABLES)
		fork_space(parent, child);
	inherit_target(parent, child);
	return 0;
}

/* After follow_fork, for waits: room for those of the child. */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(expect_fork, struct task_struct *parent, struct task_struct *child)
{
	/* It is in its parent's cgroup. */
	if (by_cgroup ? bpf_current_task_under_cgroup(&cgroups, 0) == 1
		      : is_listed(child->tgid, child->pid))
		expect_waits(child);
	return 0;
}

SEC("raw_tp/sched_process_exec")
int follow_exec(__u64 *ctx)
{
	__u32 pid = bpf_get_current_pid_tgid() >> 32;
	__u64 start = 0;

	if (command_pid && pid == command_pid)
		bpf_map_update_elem(&targets, &pid, &start, BPF_NOEXIST);
	if (unwind_by == UNWIND_BY_TABLES) {
		script_exec(pid);
		walk_exec(pid, all_processes || bpf_map_lookup_elem(&targets, &pid));
	}
	return 0;
}

/* The same of the command. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(expect_exec, struct task_struct *task)
{
	if (command_pid && task->tgid == command_pid)
		expect_waits(task);
	return 0;
}

/*
 * A task is a target until it is freed, which is after its exit: its teardown is part of its
 * cost. The start time distinguishes it from a new task with the same number.
 */
SEC("raw_tp/sched_process_free")
int forget_task(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	__u32 key = BPF_CORE_READ(task, pid);
	__u64 *start;

	if (!by_thread && key != (__u32)BPF_CORE_READ(task, tgid))
		return 0;
	start = bpf_map_lookup_elem(&targets, &key);
	if (start && (!*start || *start == BPF_CORE_READ(task, start_time)))
		bpf_map_delete_elem(&targets, &key);
	return 0;
}
