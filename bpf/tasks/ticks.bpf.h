/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPF_TASKS_TICKS_BPF_H
#define BPF_TASKS_TICKS_BPF_H

/*
 * The ticks of timers that did not come. A kernel timer keeps to a grid of times. As long as the
 * program of a tick runs, and as long as interrupts are off or the machine is held up by its
 * hypervisor, the ticks that fall due are skipped, and the kernel does not say so. Here the time
 * since the tick before says it.
 */

#include "bpf/state/kernel.h"

#include <bpf/bpf_helpers.h>
#include <stdbool.h>

#include "bpf/state/arch.h"
#include "bpf/abi/sample.h"
#include "bpf/tasks/targets.bpf.h"

/* By event, set by the recorder: the period of a timer; 0: no timer. */
const volatile __u64 tick_ns[SAMPLE_EVENTS_MAX] = {};
/* By event: enum tick_mode. For timers only; the kernel itself leaves out ticks of others. */
const volatile __u8 tick_modes[SAMPLE_EVENTS_MAX] = {};

/* A timer on one CPU. */
struct ticks {
	__u64 due_ns;  /* of the next tick */
	__u64 opened;  /* the event's opening that this is about, see TICK_COOKIE; 0: no tick yet */
	__u64 started; /* start time of the task that the last tick hit; 0: none */
	__u64 switches; /* how often it had left a CPU by then */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SAMPLE_EVENTS_MAX);
	__type(key, __u32);
	__type(value, struct ticks);
} ticks SEC(".maps");

static __always_inline bool ticks_mode(__u32 event, void *registers)
{
	__u8 mode = event < SAMPLE_EVENTS_MAX ? tick_modes[event] : TICK_ANY;

	return mode == TICK_ANY ||
	       !!REGISTERS_USER((struct user_registers *)registers) == (mode == TICK_USER);
}

/*
 * How many ticks were skipped before this one. An earlier tick than expected was expected too late:
 * interrupts come a little later than the grid, never before it.
 */
static __always_inline __u64 ticks_skipped(struct ticks *t, __u64 now_ns, __u64 period_ns)
{
	__u64 skipped;

	if (now_ns < t->due_ns) {
		t->due_ns = now_ns + period_ns;
		return 0;
	}
	skipped = (now_ns - t->due_ns) / period_ns;
	t->due_ns += (skipped + 1) * period_ns;
	return skipped;
}

/*
 * To be called at each tick that hits a target; `counts`: in the mode that the event is about.
 * Skipped ticks are lost if one task ran all the time from its tick before to this one, which it
 * did if it has not left the CPU. Otherwise nobody can say whose they were; mostly the CPU was
 * idle, and a virtual one gets no ticks then.
 */
static __always_inline void ticks_count(__u64 cookie, __u64 now_ns, bool counts)
{
	const struct task_struct *task = bpf_get_current_task_btf();
	__u32 event = (__u32)cookie, class = CLASS_TIMER;
	__u64 opened = cookie >> 32, period = 0, switches, skipped;
	struct sample_counters *count;
	struct ticks *t;

	barrier_var(event); /* or older kernels do not know its bound: the compiler compares once */
	if (event < SAMPLE_EVENTS_MAX)
		period = tick_ns[event];
	/* No timer: there is nothing to count, and no map is asked. */
	if (!period)
		return;
	t = bpf_map_lookup_elem(&ticks, &event);
	if (!t)
		return;
	switches = task->nvcsw + task->nivcsw;
	if (!counts || t->opened != opened || t->started != task->start_time ||
	    t->switches != switches) {
		t->opened = opened;
		t->started = counts ? task->start_time : 0;
		t->switches = switches;
		t->due_ns = now_ns + period;
		return;
	}
	skipped = ticks_skipped(t, now_ns, period);
	if (!skipped)
		return;
	count = bpf_map_lookup_elem(&counters, &class);
	if (count) {
		count->fired += skipped;
		count->lost[SAMPLE_LOST_SKIPPED] += skipped;
	}
}

#endif
