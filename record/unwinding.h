/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_UNWINDING_H
#define RECORD_UNWINDING_H

/*
 * The part of a recording that runs ahead of the samples: the newest address spaces, and what is
 * prepared from them for the kernel half, that is unwind tables and how to walk code of Java
 * machines. Does nothing unless user stacks are walked by tables.
 */

#include "record/java/java.h"
#include "record/javascript/javascript.h"
#include "record/trace/name_ring.h"
#include "record/scripts/scripts.h"
#include "record/spaces/lookahead.h"
#include "record/spaces/world.h"
#include "record/symbols/jit.h"
#include "record/trace/trace_file.h"
#include "record/unwind/unwinder.h"

/* Starts as { 0 }. */
struct unwinding {
	struct lookahead *lookahead; /* NULL: tables are not used */
	struct unwinder *unwinder;
	struct java *java;
	struct javascript *javascript;
	struct scripts *scripts;
	struct name_ring names;
};

struct unwinding_options {
	struct sideband *sideband;
	struct world *world; /* whose objects are shared */
	struct jit *jit;
	struct unwinder_options unwinder;
	struct java_options java;
	struct javascript_options javascript;
	struct scripts_options scripts;
	struct ring *names; /* of the kernel half; must outlive it */
	bool everything;    /* all processes are targets */
};

/* Everything in the options must outlive it. Release it even after an error. */
struct error *unwinding_open(struct unwinding *u, const struct unwinding_options *options);
void unwinding_release(struct unwinding *u);

/* Prints the result for each file with -v: the callback for unwinder_options. */
void unwinding_show_file(const struct unwinder_file *file, void *context);

/* Adds a target and its known mappings. */
struct error *unwinding_add(struct unwinding *u, uint32_t pid, const struct spaces *spaces);

/* Records of the side band were lost: ends of targets may be among them. */
void unwinding_refresh(struct unwinding *u);

/* Whether a process is known to be a target. */
bool unwinding_follows(const struct unwinding *u, uint32_t pid);

/* Whether the kernel half knew the Java machine that makes the process's code, at that time. */
bool unwinding_knows_made_code(const struct unwinding *u, uint32_t pid, uint64_t time_ns);

/*
 * Waits a little for the tables of the running targets, or of `program`, which is about to be
 * started, so that the first samples have them: until a signal is to be read from `signal_fd`.
 */
struct error *unwinding_prepare(struct unwinding *u, const char *program, int signal_fd);

/*
 * Reads which mappings the targets have made since, and publishes the tables that are ready for
 * them.
 */
struct error *unwinding_run(struct unwinding *u);

/* How many records of targets it has read. */
uint64_t unwinding_followed(const struct unwinding *u);

/*
 * Samples from this time on should not be resolved yet: tables are being made for files that were
 * mapped then, which is after `after_ns`. UINT64_MAX: none are.
 */
uint64_t unwinding_waits_since(const struct unwinding *u, uint64_t after_ns);

/* Waits a little for tables that are being made: the last samples are to be resolved. */
struct error *unwinding_settle(struct unwinding *u);

/* When unwinding_run() should be called again, in ms; at most `most_ms`. */
int unwinding_wait_ms(const struct unwinding *u, int most_ms);

/* Writes totals of the tables to the trace. */
struct error *unwinding_finish(const struct unwinding *u, struct trace_file *f);

/* Reports them to the user, at the end of a recording. */
void unwinding_show_totals(const struct unwinding *u);

#endif
