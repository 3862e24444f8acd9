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

struct report_output {
	int fd;
	pid_t pager;	  /* 0: none */
	const char *path; /* NULL: standard output */
	char *temporary;  /* what becomes `path`; NULL: `path` is written directly */
};

/* Standard output for a NULL path. After an error nothing needs closing. */
struct error *report_output_open(struct report_output *o, const char *path) ERROR_CHECKED;

/* Puts a pager ($PROF_PAGER, $PAGER, less) in front of a terminal, as git does. */
void report_output_page(struct report_output *o);

/* Waits for the pager; gives the file its name if `keep`. */
struct error *report_output_close(struct report_output *o, bool keep) ERROR_CHECKED;

#endif
