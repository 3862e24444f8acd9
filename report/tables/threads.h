/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_TABLES_THREADS_H
#define REPORT_TABLES_THREADS_H

/*
 * The entries of a profile by PROFILE_BY_THREAD and _BY_TRACE (and _BY_TIME), thread by thread.
 */

#include "report/profile/profile.h"

struct thread {
	const struct profile_group *group; /* its first one: trace, pid, tid, comm */
	size_t first, count;		   /* in threads.entries; never empty */
	uint64_t samples, value;
};

struct threads {
	struct thread *list; /* by trace, pid (its main thread first), tid, comm */
	size_t count;
	uint32_t *entries;    /* indexes into profile.entries */
	uint32_t *thread_of;  /* per group: index into `list`; PRF_NONE: it has no entries */
	uint64_t duration_ns; /* of the longest trace in the profile */
};

/* ERROR_MEMORY. What it points to belongs to the profile. */
struct error *threads_init(struct threads *t, const struct profile *p) ERROR_CHECKED;
void threads_release(struct threads *t);

/*
 * Puts each thread's entries into the order of time, in which they are already unless the
 * thread has several groups, as one per event.
 */
void threads_sort_by_time(struct threads *t, const struct profile *p);

/*
 * When an entry's slice begins, in ns since its trace began: traces of different machines
 * have nothing else in common.
 */
uint64_t threads_time(const struct profile *p, const struct profile_entry *entry);

#endif
