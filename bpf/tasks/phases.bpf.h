/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPF_TASKS_PHASES_BPF_H
#define BPF_TASKS_PHASES_BPF_H

/*
 * Measures the phases of bpf/abi/phases.h. A program starts with PHASE_END(PHASE_CLOCK) and marks
 * the end of each phase. When measuring is off, all that is left of a mark is the load of the
 * switch.
 */

#include <bpf/bpf_helpers.h>
#include <stdbool.h>

#include "bpf/abi/phases.h"

/* Set by the loader. */
const volatile bool time_phases = false;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct phase_times);
} phase_times SEC(".maps");

#define PHASE_END(phase)                                                                           \
	do {                                                                                       \
		if (time_phases)                                                                   \
			end_phase(phase);                                                          \
	} while (0)

/* The clock is read again at the end, so that the time this takes is in no phase. */
__noinline int end_phase(__u32 phase)
{
	__u64 now = bpf_ktime_get_ns(), ns;
	__u32 zero = 0, bin = 0;
	struct phase_times *times = bpf_map_lookup_elem(&phase_times, &zero);

	if (!times || phase >= PHASE_COUNT)
		return 0;
	if (phase == PHASE_CLOCK) {
		times->since = now;
		now = bpf_ktime_get_ns();
	}
	ns = now - times->since;
	for (__u64 rest = ns >> 1; rest && bin < PHASE_BINS - 1; rest >>= 1)
		bin++;
	times->phases[phase].samples++;
	times->phases[phase].ns += ns;
	times->phases[phase].bins[bin]++;
	times->since = bpf_ktime_get_ns();
	return 0;
}

#endif
