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

#include "bpf/sample.h"

char LICENSE[] SEC("license") = "GPL";

/* Set by the recorder before it loads this. */
const volatile bool all_processes = false; /* -a: everything but the recorder itself */
const volatile bool by_thread = false;	   /* `targets` holds threads, not processes */
const volatile bool inherit = true;	   /* children of targets are targets */
const volatile __u32 recorder_pid = 0;
const volatile __u32 command_pid = 0; /* becomes a target with its first exec */

/*
 * Process (or thread) -> when it started, by the kernel's clock; 0 for those that the
 * recorder named. Preallocated: perf_event programs may use no other hash before Linux 6.1.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, __u64);
} targets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} timer_ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct sample_counters);
} counters SEC(".maps");

#define MAX_FRAMES (MAX_USER_FRAMES + 2 * MAX_KERNEL_FRAMES)

union scratch {
	struct sample sample;
	__u8 room[sizeof(struct sample) + MAX_FRAMES * 8];
};

/* One slot per class of context, so that what interrupts never shares with what it interrupted. */
enum context_class { CLASS_TIMER, CLASS_COUNT };

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, CLASS_COUNT);
	__type(key, __u32);
	__type(value, union scratch);
} scratches SEC(".maps");

static __always_inline bool is_target(__u64 pid_tgid)
{
	__u32 key = by_thread ? (__u32)pid_tgid : pid_tgid >> 32;

	if (pid_tgid >> 32 == recorder_pid)
		return false;
	return all_processes || bpf_map_lookup_elem(&targets, &key);
}

static __always_inline void fill_frames(void *ctx, union scratch *s, struct task_struct *task)
{
	__u64 *frames = s->sample.frames;
	__u64 user = 0;
	long size;

	s->sample.user_frames = 0;
	s->sample.walk_end = WALK_NO_USER_STACK;
	if (!(task->flags & PF_KTHREAD)) {
		size = bpf_get_stack(ctx, frames, MAX_USER_FRAMES * 8, BPF_F_USER_STACK);
		if (size > 0) {
			user = (__u64)size / 8;
			frames[0] |= FRAME_EXACT;
		}
		s->sample.user_frames = user;
		s->sample.walk_end = user ? WALK_FRAME_POINTER : WALK_NO_REGISTERS;
		if (user == MAX_USER_FRAMES)
			s->sample.walk_end = WALK_TOO_DEEP;
	}
	if (user > MAX_USER_FRAMES)
		user = MAX_USER_FRAMES;
	size = bpf_get_stack(ctx, frames + user, MAX_KERNEL_FRAMES * 8, 0);
	s->sample.kernel_frames = size > 0 ? (__u64)size / 8 : 0;
	s->sample.waker_frames = 0;
}

static __always_inline void send(void *ring, union scratch *s, struct sample_counters *count)
{
	__u64 n = (__u64)s->sample.user_frames + s->sample.kernel_frames + s->sample.waker_frames;
	__u64 size = sizeof(struct sample) + n * 8;

	if (size > sizeof(*s))
		size = sizeof(*s);
	if (!bpf_ringbuf_output(ring, s, size, BPF_RB_NO_WAKEUP))
		count->sent++;
	else if (bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) + size + 16 >
		 bpf_ringbuf_query(ring, BPF_RB_RING_SIZE))
		count->lost[SAMPLE_LOST_RING_FULL]++;
	else
		count->lost[SAMPLE_LOST_RING_BUSY]++;
}

SEC("perf_event")
int sample_timer(struct bpf_perf_event_data *ctx)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	struct sample_counters *count;
	union scratch *s;
	__u32 zero = 0, class = CLASS_TIMER;

	/* The idle task is no target: pid 0. */
	if (!pid_tgid || !is_target(pid_tgid))
		return 0;
	count = bpf_map_lookup_elem(&counters, &zero);
	s = bpf_map_lookup_elem(&scratches, &class);
	if (!count || !s)
		return 0;
	count->fired++;
	s->sample.time_ns = bpf_ktime_get_ns();
	s->sample.weight = 1;
	s->sample.pid = pid_tgid >> 32;
	s->sample.tid = (__u32)pid_tgid;
	s->sample.cpu = bpf_get_smp_processor_id();
	s->sample.event = bpf_get_attach_cookie(ctx);
	s->sample.state = 0;
	fill_frames(ctx, s, bpf_get_current_task_btf());
	send(&timer_ring, s, count);
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(follow_fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 from = by_thread ? parent->pid : parent->tgid;
	__u32 to = by_thread ? child->pid : child->tgid;
	__u64 start = child->start_time;

	if (!inherit || from == to || !bpf_map_lookup_elem(&targets, &from))
		return 0;
	bpf_map_update_elem(&targets, &to, &start, BPF_ANY);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(follow_exec, struct task_struct *task, int old_pid)
{
	__u32 pid = task->tgid;
	__u64 start = 0;

	if (command_pid && pid == command_pid)
		bpf_map_update_elem(&targets, &pid, &start, BPF_NOEXIST);
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
