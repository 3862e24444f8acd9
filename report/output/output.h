/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_OUTPUT_OUTPUT_H
#define REPORT_OUTPUT_OUTPUT_H

/*
 * Where the report goes: standard output, a pager in front of it, or a file that appears
 * under its name only once it is whole.
 */

#include <stdbool.h>
#include <sys/types.h>

#include "common/error.h"

/*
 * A process that becomes a pager ($PROF_PAGER, $PAGER, less) when the first byte is written to
 * it, as git has one, and ends when there is none. It is made before the program gives up starting
 * others.
 */
struct report_pager {
	pid_t pid; /* 0: none */
	int fd;	   /* to write to */
};

struct report_output {
	int fd;
	struct report_pager *pager; /* NULL: none */
	const char *path;	    /* NULL: standard output */
	char *temporary;	    /* what becomes `path`; NULL: `path` is written directly */
};

/* Makes no process where standard output is no terminal, or the user wants no pager. */
void report_pager_start(struct report_pager *p);

/* Waits for its end. */
void report_pager_end(struct report_pager *p);

/* Standard output for a NULL path. After an error nothing needs closing. */
struct error *report_output_open(struct report_output *o, const char *path) ERROR_CHECKED;

/* Puts the pager, which may be none, in front of the terminal. */
void report_output_page(struct report_output *o, struct report_pager *p);

/*
 * Whether nobody sees the output while it is written: it has a path, or standard output is a file.
 * A pipe may lead to a pager.
 */
bool report_output_is_unseen(const char *path);

/* Waits for the pager; gives the file its name if `keep`. */
struct error *report_output_close(struct report_output *o, bool keep) ERROR_CHECKED;

#endif
