/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPF_TASKS_TARGETS_BPF_H
#define BPF_TASKS_TARGETS_BPF_H

/*
 * Which tasks are sampled, and the ring for waits: the recorder's settings, and the maps that
 * sampler.bpf.c and blocked.bpf.c share. The former creates them, the latter reuses them.
 */

#include <bpf/bpf_helpers.h>
#include <stdbool.h>

#include "bpf/abi/sample.h"
#include "bpf/abi/unwind.h"

/* Set by the recorder before it loads the programs. */
const volatile bool all_processes = false; /* -a: everything but the recorder itself */
const volatile bool by_thread = false;	   /* `targets` holds threads, not processes */
const volatile bool by_cgroup = false;	   /* -G: tasks of this group and those below it */
const volatile __u64 cgroup_id = 0;
const volatile bool by_cpu = false; /* -C: probes and switches count on these CPUs only */
const volatile __u64 cpu_mask[CPU_MASK_WORDS] = {};
const volatile __u32 unwind_by = UNWIND_BY_TABLES; /* enum unwind_by */
const volatile __u32 recorder_pid = 0;

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

struct sample_ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096); /* set by the recorder */
};
struct sample_ring switch_ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, CLASS_COUNT);
	__type(key, __u32);
	__type(value, struct sample_counters);
} counters SEC(".maps");

/* Whether the task is a target by its number; not for -G. */
static __always_inline bool is_listed(__u32 pid, __u32 tid)
{
	__u32 key = by_thread ? tid : pid;

	return all_processes || bpf_map_lookup_elem(&targets, &key);
}

static __always_inline bool on_wanted_cpu(__u32 cpu)
{
	return !by_cpu || (cpu < 64 * CPU_MASK_WORDS && cpu_mask[cpu / 64] & 1ULL << (cpu & 63));
}

#endif
