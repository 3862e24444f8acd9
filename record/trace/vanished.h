/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_TRACE_VANISHED_H
#define RECORD_TRACE_VANISHED_H

/*
 * Programs that the report will not find at their path: deleted, replaced by another version, or
 * only visible inside a container. The recorder still has some of them open, and writes the names
 * of the functions that samples hit to the trace.
 */

#include "record/spaces/object.h"
#include "record/unwind/unwinder.h"

struct vanished_names {
	struct prf_writer *writer; /* where they go */
	/*
	 * Whether to read another file, as a signal asks for haste; or NULL. `spent_ns` is what all
	 * before it took; what those of the same owner took counts twice, if that is not root.
	 */
	bool (*goes_on)(void *context, uint64_t spent_ns);
	void *context;
	uint64_t unread;   /* files that have none, as too much was to be read, or no time left */
	struct error *why; /* of the first of them, with its path; the caller frees it */
};

/*
 * Writes names for code that was hit in files that cannot be found by their path, and forgets all
 * hits. `unwinder` may be NULL: then no files are open.
 */
struct error *vanished_write(const struct objects *objects, struct unwinder *unwinder,
			     struct vanished_names *names);

/*
 * Forgets objects that no process maps any more, once their names are written: those of files that
 * were removed or are not open here, and those that have been idle for long and that the report
 * will not find at their path. Others may be mapped again, or removed later, or wait as many names
 * were read, of all files or of the same owner's (LIMIT_LOOK_SYMBOLS). To be called every 10 s;
 * `unwinder` and `newest` may be NULL.
 */
struct error *vanished_let_go(struct objects *objects, struct unwinder *unwinder,
			      const struct spaces *newest, struct vanished_names *names);

#endif
