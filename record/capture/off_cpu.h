/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_CAPTURE_OFF_CPU_H
#define RECORD_CAPTURE_OFF_CPU_H

/* The user half of bpf/off_cpu.bpf.h: which of its programs this kernel can run, and running them.
 */

#include "record/events/event.h"

#include <stdbool.h>
#include <stdint.h>

struct bpf_link;
struct sampler_bpf;

struct off_cpu_options {
	uint64_t min_ns;   /* shorter waits are passed over */
	bool wakers;	   /* note the stack of whoever ends a wait */
	bool when_leaving; /* as on a kernel that has no other way; for tests */
};

#define OFF_CPU_LINKS 3

/* When stacks are taken: the best way first. */
enum off_cpu_way {
	OFF_CPU_AT_EXIT,      /* at the end of a switch, by tracepoint */
	OFF_CPU_BY_PROBE,     /* near it, by kprobe */
	OFF_CPU_WHEN_LEAVING, /* of each wait, however short it will be */
};

struct off_cpu {
	bool wanted, wakers;
	enum off_cpu_way way;
	char probe[64]; /* the kernel's name for finish_task_switch() */
	struct bpf_link *links[OFF_CPU_LINKS];
	struct blocked *blocked; /* NULL: this kernel cannot, see record/capture/blocked.h */
};

/* Before the programs are loaded: sets what is wanted, and leaves out the others. */
void off_cpu_tell(struct off_cpu *o, struct sampler_bpf *skeleton, const struct event_list *events,
		  const struct off_cpu_options *options);

/* After the programs are loaded: gets ready for waits longer than the recording. */
void off_cpu_prepare(struct off_cpu *o, struct sampler_bpf *skeleton);

/* 0 or -errno. */
int off_cpu_start(struct off_cpu *o, struct sampler_bpf *skeleton);
/* Sends what still waits, and ends. */
void off_cpu_stop(struct off_cpu *o);
void off_cpu_release(struct off_cpu *o);

#endif
