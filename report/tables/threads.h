/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_TABLES_THREADS_H
#define REPORT_TABLES_THREADS_H

/*
 * The entries of a profile by PROFILE_BY_THREAD and _BY_TRACE, and their parts, thread by thread.
 * Where one of these is missing, as of many traces, all threads of a name are one.
 */

#include "report/profile/profile.h"

struct thread {
	const struct profile_group *group; /* its first one: comm; if not joined: trace, pid, tid */
	size_t first, count;		   /* in threads.entries; never empty */
	size_t first_part, part_count;	   /* in threads.parts */
	uint64_t samples, value;
};

struct threads {
	struct thread *list; /* by trace, pid (its main thread first), tid, comm */
	size_t count;
	uint32_t *entries;    /* indexes into profile.entries */
	uint32_t *parts;      /* indexes into profile.parts; NULL before threads_find_parts() */
	uint32_t *thread_of;  /* per group: index into `list`; PRF_NONE: it has no entries */
	uint64_t duration_ns; /* of the longest trace in the profile */
};

/* Whether all threads of a name are one. */
bool threads_are_joined(const struct profile *p);

/* ERROR_MEMORY. What it points to belongs to the profile. */
struct error *threads_init(struct threads *t, const struct profile *p) ERROR_CHECKED;
void threads_release(struct threads *t);

/* Finds each thread's parts, in the order of time. ERROR_MEMORY. */
struct error *threads_find_parts(struct threads *t, const struct profile *p) ERROR_CHECKED;

/*
 * When a part's slice begins, in ns since its trace began: traces of different machines have
 * nothing else in common.
 */
uint64_t threads_time(const struct profile *p, const struct profile_part *part);

#endif
