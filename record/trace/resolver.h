/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_TRACE_RESOLVER_H
#define RECORD_TRACE_RESOLVER_H

/*
 * Turns samples as the kernel sends them into samples as the trace holds them: addresses
 * become (object, offset), stacks become numbers. Most samples repeat a stack that was seen
 * a moment ago, so whole stacks are remembered by a 128-bit hash of their bytes together
 * with the id of the address space's layout.
 */

#include "bpf/sample.h"
#include "record/events/event.h"
#include "record/spaces/space.h"
#include "record/spaces/task.h"
#include "record/symbols/jit.h"
#include "record/symbols/kernel_symbols.h"

struct resolver;

/* What it asks; all of it must outlive the resolver. */
struct resolver_sources {
	struct spaces *spaces;
	struct tasks *tasks;
	struct kernel_symbols *kernel;
	struct jit *jit;
	const struct event_list *events; /* by their numbers in samples */
};

struct resolver *resolver_new(const struct resolver_sources *sources);
void resolver_free(struct resolver *r);

/* Another trace begins: numbers of the last one mean nothing any more. */
void resolver_forget(struct resolver *r);

/*
 * Writes one sample. `events` gives the trace's number of each event. False: the bytes are no
 * sample. `status` gets 0 or -errno.
 */
bool resolver_sample(struct resolver *r, struct prf_writer *w, const uint32_t *events,
		     size_t event_count, const void *data, size_t size, int *status);

#endif
