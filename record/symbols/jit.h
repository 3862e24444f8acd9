/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SYMBOLS_JIT_H
#define RECORD_SYMBOLS_JIT_H

/*
 * Code that processes make while they run, and its names. Compilers leave the names in
 * /tmp/perf-PID.map or in a jitdump file, as the process sees /tmp and its own pid. They
 * are read while the recording runs, because file and process may be gone afterwards; the
 * open file is kept, so that its removal does no harm.
 *
 * Code is thrown away and its place is used again. A sample gets the name that its address had at
 * its time (record/symbols/code_map.h): by the times in a jitdump, or by when a line was written
 * to the map. Where that is not certain its frame has no name.
 *
 * jit_tick() must run before each batch of samples is resolved. Calls are from one thread.
 */

#include "common/error.h"
#include "format/prf.h"

#include <stdint.h>

struct jit;

struct jit_options {
	struct prf_writer *writer;
	/* Something the user should know, in one line: a map of another user, limits. */
	void (*warn)(const char *text, void *context);
	void *context;
};

/* 0 or -ENOMEM. */
int jit_new(struct jit **jit, const struct jit_options *options);
void jit_free(struct jit *jit);

/*
 * The sample that the following calls are about. Returns a number, which jit_generation() repeats:
 * with the same one, an address of the process has the same answer of jit_object().
 */
uint32_t jit_set_sample(struct jit *jit, uint32_t pid, uint64_t time_ns);
uint32_t jit_generation(const struct jit *jit);

/* The object (an id of the writer's) that made code at `address` belongs to. */
struct error *jit_object(struct jit *jit, uint32_t pid, uint64_t address, uint32_t *object);

/*
 * Ahead of the timeline, for processes that live shorter than it lags behind: one has mapped
 * code that is made, or a jitdump file if there is a `path`; it has a new program; it has
 * ended. What must be asked while it lives, or before its files are removed, is asked at once.
 * jit_begin() is for the timeline, when it comes to a mapping.
 */
void jit_foresee(struct jit *jit, uint32_t pid, uint64_t time_ns, const char *path);
void jit_foresee_exec(struct jit *jit, uint32_t pid);
void jit_foresee_exit(struct jit *jit, uint32_t pid);
void jit_begin(struct jit *jit, uint32_t pid, uint64_t time_ns);

/* The process mapped a jitdump file, that is one named jit-PID.dump. */
void jit_dump(struct jit *jit, uint32_t pid, const char *path);
/* True for the names of such files. */
bool jit_is_dump(const char *path);

/* Reads what has been written since the last time, and passes on the names of what was hit. */
void jit_tick(struct jit *jit, uint64_t now_ns);

/* The process has a new program, or has ended: what is left is read, then it is forgotten. */
void jit_exit(struct jit *jit, uint32_t pid, uint64_t time_ns);

/* Passes on all names; afterwards another writer may take over, which knows nothing yet. */
void jit_finish(struct jit *jit);
void jit_set_writer(struct jit *jit, struct prf_writer *writer);

#endif
