/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_CAPTURE_OFF_CPU_H
#define RECORD_CAPTURE_OFF_CPU_H

/* The user half of bpf/tasks/off_cpu.bpf.h: which of its programs this kernel can run, and running
 * them.
 */

#include "common/error.h"
#include "record/events/event.h"

#include <stdbool.h>
#include <stdint.h>

struct bpf_link;
struct sampler_bpf;

struct off_cpu_options {
	uint64_t min_ns;   /* shorter waits are not recorded */
	bool wakers;	   /* record the stack of the task that ended a wait */
	bool when_leaving; /* take stacks as on a kernel without a better way; for tests */
	/* Called with one line for the user when waits will be missing; or NULL. */
	void (*warn)(const char *text, void *context);
};

#define OFF_CPU_LINKS 3

/* When stacks are taken, best way first. */
enum off_cpu_way {
	OFF_CPU_AT_EXIT,      /* at the end of a switch, by tracepoint */
	OFF_CPU_BY_PROBE,     /* near it, by kprobe */
	OFF_CPU_WHEN_LEAVING, /* for every wait when it begins, even if it turns out too short */
};

struct off_cpu {
	bool wanted, wakers;
	enum off_cpu_way way;
	char probe[64]; /* the kernel's name for finish_task_switch() */
	struct bpf_link *links[OFF_CPU_LINKS];
	struct blocked *blocked; /* NULL: not supported, see record/capture/blocked.h */
	void (*warn)(const char *text, void *context);
};

/*
 * Whether the kernel's symbol is finish_task_switch(). The compiler may have given it a suffix, as
 * in finish_task_switch.isra.0; finish_task_switch.isra.0.cold are parts of it that hardly ever
 * run.
 */
bool off_cpu_ends_switch(const char *symbol);

/*
 * Call before the programs are loaded: sets their constants, and disables programs that are not
 * needed.
 */
void off_cpu_tell(struct off_cpu *o, struct sampler_bpf *skeleton, const struct event_list *events,
		  const struct off_cpu_options *options);

/*
 * Call after the programs are loaded: prepares for waits that began before the recording or outlast
 * it. A kernel that cannot do so records all other waits, and the user is warned.
 */
void off_cpu_prepare(struct off_cpu *o, struct sampler_bpf *skeleton);

/* Attaches the programs. */
struct error *off_cpu_start(struct off_cpu *o, struct sampler_bpf *skeleton);
/* Sends samples for tasks that still wait, and detaches the programs. */
void off_cpu_stop(struct off_cpu *o);
void off_cpu_release(struct off_cpu *o);

#endif
