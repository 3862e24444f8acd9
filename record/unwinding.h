/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_UNWINDING_H
#define RECORD_UNWINDING_H

/*
 * The part of a recording that runs ahead of the samples: the newest address spaces, and what is
 * prepared from them for the kernel half: unwind tables, and how to walk code of Java machines.
 * Empty when user stacks are not walked by tables.
 */

#include "record/runtimes/java.h"
#include "record/runtimes/python.h"
#include "record/spaces/lookahead.h"
#include "record/spaces/world.h"
#include "record/symbols/jit.h"
#include "record/trace/trace_file.h"
#include "record/unwind/unwinder.h"

/* Starts as { 0 }. */
struct unwinding {
	struct lookahead *lookahead; /* NULL: no tables are used */
	struct unwinder *unwinder;
	struct java *java;
	struct python *python;
};

struct unwinding_options {
	struct sideband *sideband;
	struct world *world; /* whose objects are shared */
	struct jit *jit;
	struct unwinder_options unwinder;
	struct java_options java;
	struct python_options python;
	bool everything; /* all processes are targets */
};

/* Everything in the options must outlive it. To be released in both cases. */
struct error *unwinding_open(struct unwinding *u, const struct unwinding_options *options);
void unwinding_release(struct unwinding *u);

/* Prints what became of each file with -v: for unwinder_options. */
void unwinding_show_file(const struct unwinder_file *file, void *context);

/* A target, with what it is known to map. */
struct error *unwinding_add(struct unwinding *u, uint32_t pid, const struct layout *layout);

/* Whether a process is a target, as far as is known. */
bool unwinding_follows(const struct unwinding *u, uint32_t pid);

/*
 * Waits a little for the tables of what runs already, or of `program`, which will be started, so
 * that the first samples do not lack them.
 */
struct error *unwinding_prepare(struct unwinding *u, const char *program);

/* Reads what the targets have mapped since, and publishes the tables there are for it. */
struct error *unwinding_run(struct unwinding *u);

/* How soon unwinding_run() is worth to be called again, at most `most_ms`. */
int unwinding_wait_ms(const struct unwinding *u, int most_ms);

/* What the tables came to, for the user and the trace. */
struct error *unwinding_finish(const struct unwinding *u, struct trace_file *f);

#endif
