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

#include <stdbool.h>
#include <stdint.h>

struct jit;

struct jit_options {
	struct prf_writer *writer;
	/* Called with one line for the user: a map of another user, or a limit that was reached. */
	void (*warn)(const char *text, void *context);
	void *context;
};

struct error *jit_new(struct jit **jit, const struct jit_options *options);
void jit_free(struct jit *jit);

/*
 * Sets the sample that the following calls are about. Returns a generation, as jit_generation()
 * does: as long as it is the same, jit_object() gives the same answer for an address of the
 * process. JIT_UNKNOWN: nothing is known of the process yet, until jit_object() asks about it; so
 * what jit_object() answers then belongs to the generation that jit_generation() returns after it.
 */
#define JIT_UNKNOWN 0
uint32_t jit_set_sample(struct jit *jit, uint32_t pid, uint64_t time_ns);
uint32_t jit_generation(const struct jit *jit);

/* Sets `*object` to the id of the object that the made code at `address` belongs to. */
struct error *jit_object(struct jit *jit, uint32_t pid, uint64_t address, uint32_t *object);

/*
 * For processes that live shorter than the timeline lags behind, these three are called ahead of
 * it: the process mapped generated code, or a jitdump file if there is a `path`; it runs a new
 * program; it has ended. Files that can only be opened while it lives are opened at once.
 * jit_begin() is called by the timeline when it reaches such a mapping.
 */
void jit_foresee(struct jit *jit, uint32_t pid, uint64_t time_ns, const char *path);
void jit_foresee_exec(struct jit *jit, uint32_t pid);
void jit_foresee_exit(struct jit *jit, uint32_t pid);
void jit_begin(struct jit *jit, uint32_t pid, uint64_t time_ns);

/* The process mapped a jitdump file, one named jit-PID.dump. */
void jit_dump(struct jit *jit, uint32_t pid, const char *path);
/* True if the file's name is that of a jitdump file. */
bool jit_is_dump(const char *path);

/*
 * Reads what has been written since the last call, and writes the names of code that was hit. The
 * error is the writer's: the first one since the last call, also of jit_exit() and jit_begin().
 */
struct error *jit_tick(struct jit *jit, uint64_t now_ns);

/*
 * The process runs a new program, or has ended: reads what is left of its files, then forgets it.
 */
void jit_exit(struct jit *jit, uint32_t pid, uint64_t time_ns);

/*
 * Writes all remaining names; an error as of jit_tick(). Files are read to their end, or until
 * goes_on(), which gets the time that was spent, returns false; NULL: to their end. Afterwards
 * another writer may be used, in which nothing is defined yet.
 */
struct error *jit_finish(struct jit *jit, bool (*goes_on)(void *context, uint64_t spent_ns),
			 void *context);
void jit_set_writer(struct jit *jit, struct prf_writer *writer);

#endif
