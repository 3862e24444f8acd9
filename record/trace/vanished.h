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

/*
 * Writes names for code that was hit in files that cannot be found by their path, and forgets all
 * hits. `unwinder` may be NULL: then no files are open.
 */
struct error *vanished_write(const struct objects *objects, struct unwinder *unwinder,
			     struct prf_writer *w);

/*
 * The same, only for those that unwinder_find_removed() has marked, and those of other root folders
 * that nothing has mapped for a long time, at so many calls of vanished_forget().
 */
struct error *vanished_write_removed(const struct objects *objects, struct unwinder *unwinder,
				     struct prf_writer *w);

/*
 * Forgets the objects of these, and those that the unwinder does not know, once nothing maps them
 * any more; `unwinder` and `newest` may be NULL. A file of which an object stays is not marked any
 * longer.
 */
void vanished_forget(struct objects *objects, struct unwinder *unwinder,
		     const struct spaces *newest);

#endif
