/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_TABLES_ROWS_H
#define REPORT_TABLES_ROWS_H

/*
 * A profile as a table: for each function (or object, line, thread, command) what was counted
 * in it and what was counted in it or what it called.
 */

#include "report/tables/view.h"

enum rows_key { ROWS_BY_FUNCTION, ROWS_BY_OBJECT, ROWS_BY_LINE, ROWS_BY_THREAD, ROWS_BY_COMM };

/* "function", "object", "line", "thread", "comm"; NULL: by function. */
enum rows_key rows_key_of(const char *by);

struct row {
	const char *name;   /* not yet made printable */
	const char *object; /* with ROWS_BY_FUNCTION and _LINE; "" when there is none */
	uint64_t self_samples, total_samples;
	uint64_t self, total; /* in the profile's unit */
};

struct rows {
	struct row *list; /* most self first, then most total, then by name */
	size_t count;
	uint32_t *row_of_frame; /* before sorting; NULL by thread or comm */
	struct buffer *names;	/* texts that are made for the table */
};

/* ERROR_MEMORY; to be released in both cases. */
struct error *rows_init(struct rows *r, const struct profile *p, enum rows_key by) ERROR_CHECKED;
/*
 * Of one trace only, to be compared with others: what row_common_key() takes for the same is
 * one row. The profile must distinguish traces.
 */
struct error *rows_init_run(struct rows *r, const struct profile *p, enum rows_key by,
			    uint32_t run) ERROR_CHECKED;
void rows_release(struct rows *r);

/* Whether a frame has a row by function, object or line: not what stands for no code, nor wakers.
 */
bool row_is_shown(const struct profile_frame *frame);

/* Most total first. */
void rows_sort_by_total(struct rows *r);

/* The length of " [guessed]" at the end, which PROFILE_GUESS_IN_NAME puts there; 0: none. */
size_t row_guess_length(const char *name);

/*
 * What identifies a row in all runs of a program and its versions. Functions are the same when
 * their names are, without what compilers add at the end of the names of copies (".isra.0",
 * ".cold",
 * "::h" and a hash); guessed ones are none of those that are sure. Objects may be named
 * differently, as libraries of two versions are, but those of the kernel ("[kernel]", modules) are
 * never joined with others.
 */
void row_common_key(struct buffer *key, enum rows_key by, const char *name, const char *object);

/* One row, and what calls it or is called by it: each sample counts once on either side. */
struct row_neighbours {
	struct row row;
	struct row *callers, *callees; /* most total first; the name "[self]" stands for itself */
	size_t caller_count, callee_count;
};

/* For the rows, ROWS_BY_FUNCTION, whose names match; in the order of total. */
struct error *rows_neighbours(struct row_neighbours **list, size_t *n, const struct profile *p,
			      const regex_t *name) ERROR_CHECKED;
void rows_neighbours_free(struct row_neighbours *list, size_t n);

#endif
