/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_SYMBOLS_SYMBOLIZER_H
#define REPORT_SYMBOLS_SYMBOLIZER_H

/*
 * Names for places in code. The caller adds objects and then queries, each a (object, offset) pair,
 * in any order; symbolizer_run() looks all of them up at once, file by file and in parallel; then
 * every query has its places: the inlined functions, innermost first, and last the function that
 * the code belongs to.
 *
 * Names come from, in this order: those embedded in the trace (symbolizer_add_names(),
 * symbolizer_add_symbols()), the recorded file, its debug files. A file whose build-id differs from
 * the recorded one is never used; the object's status then says so. The results do not depend on
 * the number of threads.
 *
 * Except for symbolizer_run(), which starts threads of its own, nothing here may be called from two
 * threads at once. Errors are: out of memory, and numbers of objects or queries that no call has
 * returned.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/error.h"
#include "format/prf.h"
#include "report/symbols/place.h"

struct symbolizer;

/* All zero: symbol tables only, names as they stand in the file. Text must stay until _free(). */
struct symbolizer_options {
	const char *sysroot; /* put before recorded paths; NULL: none */
	const char *const
		*debug_directories; /* searched before /usr/lib/debug; NULL-ended, or NULL */
	bool inlines;		    /* also the functions inlined at a place */
	bool lines;		    /* also file and line of each place */
	bool demangle;
	bool full_names;   /* with their template and function arguments */
	bool debuginfod;   /* ask debuginfod servers: the only thing that uses the network */
	bool cache;	   /* keep answers in $XDG_CACHE_HOME/prof */
	unsigned int jobs; /* threads; 0: one per CPU */
	/*
	 * Called from symbolizer_run() before a download with the object's path, and with NULL
	 * while it goes on; true: no more downloads. May be NULL.
	 */
	bool (*progress)(const char *what, void *context);
	/*
	 * Called from symbolizer_run(), and from its threads after the first time, with how many
	 * parts of a step are done; with NULL at the end, and before downloads. May be NULL.
	 */
	void (*step)(const char *what, size_t done, size_t all, void *context);
	void *progress_context; /* of both */
};

/* Text stays until symbolizer_forget() or _free(). */
struct symbols_found {
	enum symbols_status status;
	const char *path;	/* the file that was read, or that was refused; "" for none */
	const char *debug_path; /* the separate debug file in use; "" for none */
	bool debug_info;	/* there is DWARF for it */
	size_t queries, named;	/* how many were asked, and how many have a name */
};

struct error *symbolizer_new(struct symbolizer **symbolizer,
			     const struct symbolizer_options *options) ERROR_CHECKED;
void symbolizer_free(struct symbolizer *s);

/* `id` counts from 0, in the order of the calls. The object is copied. */
struct error *symbolizer_add_object(struct symbolizer *s, const struct prf_object *object,
				    uint32_t *id) ERROR_CHECKED;

/* How many were added: their numbers are below it. */
size_t symbolizer_objects(const struct symbolizer *s);

/* An object as it was added; stays until symbolizer_free(). */
const struct prf_object *symbolizer_object(const struct symbolizer *s, uint32_t id);

/*
 * Symbols that the trace holds for an object, in its own offsets. Copied; those that it has already
 * are not added again.
 */
struct error *symbolizer_add_symbols(struct symbolizer *s, uint32_t object,
				     const struct prf_symbol *symbols, size_t n) ERROR_CHECKED;

/*
 * A place to look up. `exact`: the pc itself, not a return address, which belongs to the
 * instruction before it. `query` counts from 0, in the order of the calls.
 */
struct error *symbolizer_add_query(struct symbolizer *s, uint32_t object, uint64_t offset,
				   bool exact, uint32_t *query) ERROR_CHECKED;

/* The names that the trace holds for a query; nothing else is looked up for it. Copied. */
struct error *symbolizer_add_names(struct symbolizer *s, uint32_t query,
				   const struct prf_place *places, size_t n) ERROR_CHECKED;

struct error *symbolizer_run(struct symbolizer *s) ERROR_CHECKED;

/*
 * Forgets all queries and what was found, so that others may be made and run; objects and their
 * symbols stay. What was returned as text is no longer valid.
 */
void symbolizer_forget(struct symbolizer *s);

/* After the run: the `n` places of a query, innermost first; 0 when nothing is known. */
const struct symbolizer_place *symbolizer_places(const struct symbolizer *s, uint32_t query,
						 size_t *n);

/* What names, inlined calls or lines may be missing because of: memory, or the like. */
struct symbolizer_shortage {
	int os_error;	  /* the errno of the first failure; 0: there was none */
	const char *path; /* of the object whose files were read; stays until symbolizer_free() */
	size_t objects;	  /* how many have such a failure */
};

/* After the run. Such answers are not kept in the cache. */
void symbolizer_shortage(const struct symbolizer *s, struct symbolizer_shortage *lacks);

/* After the run: where an object's names came from, or why there are none. */
void symbolizer_found(const struct symbolizer *s, uint32_t object, struct symbols_found *found);

#endif
