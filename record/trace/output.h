/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_TRACE_OUTPUT_H
#define RECORD_TRACE_OUTPUT_H

/*
 * The file that a recording is written to. It is created with mode 0600 and belongs to the user who
 * called sudo, if one did. That user must not be able to make a privileged recorder write where the
 * user could not: the last part of the path is never followed as a symbolic link, and an existing
 * file is only overwritten if it is a regular file of that user, with one link. Its owner
 * does not change.
 */

#include "common/error.h"

#include <stdbool.h>

struct output {
	int fd;
	bool created; /* the file was not there before */
	bool is_file; /* a regular file, so it can be cut and removed; not "-", a FIFO, /dev/null */
	char *path;   /* NULL: standard output */
	char *sealed; /* what it is called once it is closed; NULL: the same */
	bool whole;   /* to its end, which who writes it says: it may be called so */
};

/*
 * "-" is stdout. The file keeps its content until output_begin(). An error has an errno, which is
 * ELOOP for a symbolic link and EPERM for another user's file.
 */
struct error *output_open(struct output *output, const char *path);

/* Truncates the file and makes it the user's. To be called before anything is written. */
struct error *output_begin(struct output *output);

/*
 * Has the file called `path` once it is whole and closed, unless there is one of that name by then:
 * who finds it there finds it whole. ERROR_MEMORY.
 */
struct error *output_seal_as(struct output *output, const char *path) ERROR_CHECKED;

/* Closes the file. `discard` removes it if output_open() created it. */
struct error *output_close(struct output *output, bool discard);

/* The remedy for an error of output_open(), as the end of a message. Static text. */
const char *output_remedy(const struct error *error);

#endif
