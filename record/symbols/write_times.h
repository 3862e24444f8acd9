/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SYMBOLS_WRITE_TIMES_H
#define RECORD_SYMBOLS_WRITE_TIMES_H

/*
 * When which part of a growing file was written, as far as its size was looked at: a byte was
 * written after the last look that did not find it began, and before the first one that did
 * ended. The last byte that a look found was not written before the file's modification time.
 * Times are CLOCK_MONOTONIC ns. Starts as { 0 }.
 */

#include <stddef.h>
#include <stdint.h>

struct write_look {
	uint64_t begin_ns, end_ns, size;
	uint64_t modified_ns; /* 0: not known */
};

struct write_times {
	struct write_look *looks; /* times and size grow */
	size_t n, capacity;
};

/* Between two moments; `after` is 0 when the first look found it. */
struct written {
	uint64_t after, by;
};

void write_times_release(struct write_times *t);

/* A shorter file than before is another one: what was known is forgotten. */
void write_times_add(struct write_times *t, struct write_look look);

/* Looks at an open file. */
void write_times_look(struct write_times *t, int fd);

/* When the byte before `end` was written; `by` is UINT64_MAX when no look found it yet. */
struct written write_times_of(const struct write_times *t, uint64_t end);

/* Forgets what is only needed for bytes before `offset`. */
void write_times_forget(struct write_times *t, uint64_t offset);

#endif
