/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_PROFILE_TALLY_H
#define REPORT_PROFILE_TALLY_H

/*
 * Adds samples up: one cell per (group, stack) that occurs, and one addition per sample.
 * Who belongs to which group is decided once per (task, event), so that a sample costs two
 * look-ups and no hashing, as long as its stack was last seen in the same group. With
 * PROFILE_TIMED it also keeps when they came. How many threads of a process ran at
 * the time of a sample (report/profile/parallelism.h) is found out where groups or the selection
 * differ by it.
 *
 * Several traces are tallied one after the other, and after each one tally_join() puts its cells
 * together with those of the traces before it. Then the tally needs nothing of the trace any more.
 */

#include "report/profile/group_set.h"
#include "report/profile/profile.h"
#include "report/profile/selection.h"
#include "report/profile/slices.h"

struct tally_options {
	unsigned int
		dimensions;  /* enum profile_dimension; PROFILE_BY_OBJECT is not for the tally */
	bool wakers;	     /* distinguish by the waker's stack */
	uint64_t slice_ns;   /* length of a slice to begin with */
	uint32_t max_slices; /* slices double in length rather than become more; 0: 4096 */
	const struct selection *selection; /* must stay; its times are the reader's business */
};

struct tally_cell {
	uint32_t group;
	uint32_t stack; /* the trace's number, after tally_join() the caller's; or PRF_NONE */
	uint32_t waker; /* see tally_waker(); PRF_NONE: none */
	bool kept;	/* the tally's own */
	uint64_t samples;
	uint64_t weight;
};

/* Who ended a wait. */
struct tally_waker {
	uint32_t stack;	  /* as that of a cell */
	const char *comm; /* NULL: not known */
};

struct tally;

struct error *tally_new(struct tally **tally, const struct tally_options *options) ERROR_CHECKED;
void tally_free(struct tally *t);

/* Begins the samples of this reader. */
void tally_begin(struct tally *t, const struct prf_reader *reader);

/*
 * When the recording began, or the part of it that is read: from there on the slices of the trace
 * that was begun last count, instead of from its first sample. To be called before its samples.
 */
void tally_set_start(struct tally *t, uint64_t start_ns);
struct error *tally_add(struct tally *t, const struct prf_samples *samples) ERROR_CHECKED;
/* To be called after the last samples of each trace: counts those that were held back. */
struct error *tally_end(struct tally *t) ERROR_CHECKED;

/*
 * After tally_end(), where another trace is to follow: stack i of the trace is from now on
 * `stacks[i]`, and cells that are equal then are one. Wherever that is PRF_NONE no cell was.
 */
struct error *tally_join(struct tally *t, const uint32_t *stacks) ERROR_CHECKED;
/* How many of the cells were joined: those from here on are of the trace that was begun last. */
size_t tally_joined(const struct tally *t);

/*
 * Each sample counts for as many as it weighs: for what was added up before it came here. Times are
 * not known then: without PROFILE_TIMED. After all samples.
 */
void tally_count_weights(struct tally *t);

/* About the trace that was begun last. */
struct tally_totals {
	uint64_t samples;	    /* all that were given, whether they count or not */
	uint64_t cpu_samples;	    /* of them, those of CPU time */
	uint64_t other_events;	    /* of them, those not counted only because of their event */
	uint64_t first_ns, last_ns; /* of all given; 0 when there were none */
	uint64_t origin_ns;	    /* where its slices begin */
};
void tally_trace_totals(const struct tally *t, struct tally_totals *totals);

/* Results; stay until the next call that takes a non-const tally. */
const struct tally_cell *tally_cells(const struct tally *t, size_t *n);
/* Gives their memory back: of the cells only the number stays. Nothing can be added any more. */
void tally_forget_cells(struct tally *t);
/* Whether any sample has a waker; false without options.wakers. */
bool tally_has_wakers(const struct tally *t);
/* Of one of these cells that has a waker. */
struct tally_waker tally_waker(const struct tally *t, const struct tally_cell *cell);
const struct tally_group *tally_groups(const struct tally *t, size_t *n);
const struct prf_event *const *tally_events(const struct tally *t, size_t *n);
/* The number of such an event, PRF_NONE when no trace has it. False without memory. */
bool tally_find_event(const struct tally *t, const struct prf_event *event, uint32_t *number);
/* When the samples of the cells came; empty without PROFILE_TIMED. */
const struct slices *tally_slices(const struct tally *t);

#endif
