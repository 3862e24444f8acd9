/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_TRACE_OUTPUT_H
#define RECORD_TRACE_OUTPUT_H

/*
 * The file that a recording is written to. It is created with mode 0600 and belongs to the
 * user who called sudo, if one did: a recorder with privileges must not be talked into
 * writing where that user could not. So the last part of the path is never followed as a
 * symbolic link, and what is there already is only overwritten when it is a regular file of
 * root or of that user, with one link.
 */

#include <stdbool.h>

struct output {
	int fd;
	bool created; /* the file was not there before */
	bool is_file; /* a regular file, so it can be cut and removed; not "-", a FIFO, /dev/null */
	char *path;   /* NULL: standard output */
};

/*
 * 0, or -errno: -ELOOP for a symbolic link, -EPERM for somebody else's file. "-" is stdout.
 * What the file held before stays until output_begin().
 */
int output_open(struct output *output, const char *path);

/* To be called before anything is written: the file becomes an empty one of the user's. */
int output_begin(struct output *output);

/* Closes it. `discard` removes what output_open() had created. Returns 0 or -errno. */
int output_close(struct output *output, bool discard);

/* What to do about an error of output_open(), as the end of a message. */
const char *output_remedy(int error);

#endif
