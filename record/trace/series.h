/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_TRACE_SERIES_H
#define RECORD_TRACE_SERIES_H

/*
 * --switch-output: a recording as a series of files, each complete by itself. They are
 * named after the output with the time at which each began, "trace.prf.20240131T120000.123",
 * and only the newest --max-files are kept. A file has that name once it is whole; while it is
 * written, and after a kill, SERIES_PARTIAL follows.
 */

#include "common/error.h"
#include "record/trace/output.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define SERIES_PARTIAL ".partial"

struct series {
	uint64_t bytes;		/* switch after so many, or 0 */
	uint64_t ns;		/* switch after so long, or 0 */
	bool on_signal;		/* SIGUSR2 switches */
	unsigned int max_files; /* 0: keep all */
	char *base;		/* value of -o */
	char **names;		/* with max_files: existing files of the series, oldest first */
	size_t n;
	uint64_t due_ns; /* when the next one is due by time, CLOCK_MONOTONIC */
};

void series_release(struct series *s);

/* Parses "SIZE" ("10M"), "TIME" ("1s", "5m") or "signal". NULL, or the error (static text). */
const char *series_parse(struct series *s, const char *text);

static inline bool series_wanted(const struct series *s)
{
	return s->bytes || s->ns || s->on_signal;
}

/*
 * A new name for a file that begins now, not used by any existing file. To be freed by the caller.
 * NULL without memory.
 */
char *series_name(const struct series *s, const struct timespec *wall_clock);

/* Notes that file `name` was begun. */
struct error *series_begin(struct series *s, const char *name, uint64_t now_ns);

/* Whether the next file is due, by size or by time. */
bool series_is_due(const struct series *s, uint64_t now_ns, uint64_t file_bytes);

/*
 * Removes the oldest files beyond --max-files; returns how many. The `n` that are not sealed yet,
 * as they wait for names, do not count and stay, however old they are.
 */
unsigned int series_trim(struct series *s, const struct output *unsealed, size_t n);

#endif
