/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_VIEWS_FIREFOX_THREAD_H
#define REPORT_VIEWS_FIREFOX_THREAD_H

/*
 * One thread of a Firefox profile: its samples and the tables they point into. The tables are
 * the thread's own, and hold only what it needs.
 */

#include "report/output/sink.h"
#include "report/tables/functions.h"
#include "report/tables/threads.h"

/* Indexes into the profile's list of categories. */
enum firefox_category {
	FIREFOX_USER,
	FIREFOX_KERNEL,
	FIREFOX_JIT,
	FIREFOX_OTHER,
	FIREFOX_SCRIPT,
};

/* The numbers that a thread's table gives to things of the profile. */
struct numbering {
	uint32_t *number; /* per thing, counted from 1; 0: none */
	uint32_t *list;	  /* the things by their numbers */
	uint32_t count;
};

/* A frame of the profile; an inlined one is another place in each function that holds it. */
struct firefox_place {
	uint32_t frame;
	uint32_t outer; /* the frame that it is inlined into, at last */
	uint32_t depth; /* how deep it is inlined */
};

/* What all threads have in common, and the thread that is written. */
struct firefox {
	const struct profile *profile;
	struct sink *sink;
	struct threads threads;
	struct functions functions;
	uint32_t *function_of; /* per frame */
	uint32_t *object_of;   /* per function: index into profile.objects, or PRF_NONE */
	uint64_t *lowest;      /* per function: the lowest offset seen in its code */
	struct firefox_place *places;
	size_t place_count, place_capacity;
	uint32_t *place_of; /* per node */
	uint32_t *path;	    /* room for the longest stack */

	const struct thread *thread;
	struct numbering stacks, frames, calls, symbols, objects; /* frames: of places */
	struct map strings;  /* text to its number in the table of strings */
	struct buffer texts; /* those texts, each with its NUL */
};

/* ERROR_MEMORY; to be released in both cases. */
struct error *firefox_init(struct firefox *w, const struct profile *p,
			   struct sink *s) ERROR_CHECKED;
void firefox_release(struct firefox *w);

/* Writes the i-th of w->threads, as a JSON object. ERROR_MEMORY. */
struct error *firefox_thread(struct firefox *w, size_t i) ERROR_CHECKED;

/* Ms with up to three decimals, from us. */
void firefox_ms(struct sink *s, uint64_t us);

#endif
