/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPF_TASKS_WAITS_BPF_H
#define BPF_TASKS_WAITS_BPF_H

/*
 * A task's wait, in the task's own storage: shared by the programs that store its start and
 * those that send it.
 */

#include <bpf/bpf_helpers.h>
#include <stdbool.h>

#include "bpf/abi/sample.h"

#define NO_EVENT 0xffffffff

const volatile __u64 off_cpu_min_ns = 0;
const volatile __u32 off_cpu_event = NO_EVENT;	 /* for waits */
const volatile __u32 preempted_event = NO_EVENT; /* for time spent runnable */

#define TASK_DEAD_STATE 0x80

struct wait {
	__u64 start_ns; /* when it left the CPU; 0: it has not, or that was not seen */
	__u64 end_ns;	/* when it came back, if its stack is wanted */
	__u32 state;	/* TASK_... with which it left; 0: preempted */
	__u32 waker_frames;
	__u64 waker_id; /* process << 32 | thread */
	__u64 waker[WAKER_FRAMES];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct wait);
} waits SEC(".maps");

/* When the wait began, for take_wait(). Read a clock after it, or the wait may begin later. */
static __always_inline __u64 wait_start(const struct wait *wait)
{
	return *(const volatile __u64 *)&wait->start_ns;
}

/*
 * Whoever takes a wait sends it. False: someone else took the one that began then, and another one
 * may have begun.
 */
static __always_inline bool take_wait(struct wait *wait, __u64 start)
{
	return start && __sync_val_compare_and_swap(&wait->start_ns, start, 0) == start;
}

#endif
