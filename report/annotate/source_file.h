/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_ANNOTATE_SOURCE_FILE_H
#define REPORT_ANNOTATE_SOURCE_FILE_H

/*
 * The lines of a source file. Its path comes from debug information or from a trace, so it may name
 * any file of the user: only plain files whose names are those of sources are read.
 */

#include "common/error.h"
#include "format/prf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct source_file {
	char *path; /* that was read */
	uint64_t changed_ns;
	char *text;
	size_t size;
	size_t *line_at; /* where line i + 1 begins; line_at[line_count] is the end */
	size_t line_count;
};

/* Where sources are looked for. */
struct source_search {
	const char *sysroot;   /* before paths; NULL: none */
	const char *directory; /* in which the path, or its end, is looked for first; NULL: none */
};

/*
 * Reads a file; its path counts without "..", which is resolved as text. ERROR_SYSTEM: it is not
 * there; ERROR_UNAVAILABLE: it is not read, for its name or its size; ERROR_MEMORY. Nothing has to
 * be released after an error.
 */
struct error *source_file_read(struct source_file *f, const struct source_search *search,
			       const char *path) ERROR_CHECKED;
/* How many lines a file has up to the last one that a trace holds, in `n` pieces; 0: none. */
uint64_t source_file_embedded_lines(const struct prf_source *sources, size_t n, const char *path);

/*
 * The lines of a file that a trace holds, in `n` pieces. ERROR_UNAVAILABLE: there are none, or with
 * higher numbers than lines of sources have.
 */
struct error *source_file_embedded(struct source_file *f, const struct prf_source *sources,
				   size_t n, const char *path) ERROR_CHECKED;
void source_file_release(struct source_file *f);

/* A line, from 1 on, without its end; "" and 0 where there is none. */
const char *source_file_line(const struct source_file *f, uint32_t line, size_t *size);

/* Whether a path ends as those of sources do, or lies in a folder of headers of C++. */
bool source_file_is_source(const char *path);

#endif
