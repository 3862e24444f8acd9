/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_TRACE_RESOLVER_H
#define RECORD_TRACE_RESOLVER_H

/*
 * Turns samples as the kernel half sends them into samples as the trace holds them: addresses
 * become (object, offset), stacks become numbers. Most samples repeat a stack that was seen
 * a moment ago, so whole stacks are remembered by a 128-bit hash of their frames and of all
 * else that they depend on.
 */

#include "bpf/abi/runtimes.h"
#include "bpf/abi/sample.h"
#include "record/events/event.h"
#include "record/java/java.h"
#include "record/javascript/javascript.h"
#include "record/trace/name_ring.h"
#include "record/scripts/script_merge.h"
#include "record/scripts/scripts.h"
#include "record/spaces/space.h"
#include "record/spaces/task.h"
#include "record/symbols/jit.h"
#include "record/symbols/kernel_symbols.h"
#include "record/trace/trace_file.h"

struct resolver;

/*
 * What gives a sample's numbers and addresses their meaning. All of it must outlive the resolver.
 */
struct resolver_sources {
	struct spaces *spaces;
	struct tasks *tasks;
	struct kernel_symbols *kernel;
	struct jit *jit;
	struct java *java;		 /* NULL: no Java frames are resolved */
	struct javascript *javascript;	 /* NULL: no JavaScript frames are resolved */
	struct scripts *scripts;	 /* NULL: no frames of lists are resolved */
	struct name_ring names;		 /* of both; without a ring there are none */
	const struct event_list *events; /* by their numbers in samples */
	bool keep_interpreter;		 /* keep frames of the evaluation loop */
};

/* NULL without memory. The first call is resolver_begin(). */
struct resolver *resolver_new(const struct resolver_sources *sources);
void resolver_free(struct resolver *r);

/*
 * Writes to this trace from now on. It has begun, and must stay valid until the next call. Numbers
 * given in the last trace are forgotten.
 */
void resolver_begin(struct resolver *r, const struct trace_file *trace);

/* The sample in a record of a ring, in place; NULL if the bytes are not a valid sample. */
const struct sample *resolver_check(const struct resolver *r, const void *data, size_t size);

/*
 * Number of a runtime's samples by enum script_match: how its frames and native stacks were merged.
 */
const uint64_t *resolver_matches(const struct resolver *r, enum script_runtime runtime);

/*
 * Fills `sample`, after writing the definitions that it refers to and that the trace does not have
 * yet.
 */
struct error *resolver_resolve(struct resolver *r, const struct sample *s,
			       struct prf_sample *sample);

#endif
