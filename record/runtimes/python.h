/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_RUNTIMES_PYTHON_H
#define RECORD_RUNTIMES_PYTHON_H

/*
 * The CPython processes among the targets. Every mapped file is examined once. A process that maps
 * an interpreter is published to the kernel half at once, which from then on sends the frames of
 * its scripts, and their names when it sees them for the first time.
 *
 * Nothing here prints. Calls are from one thread.
 */

#include "record/capture/ring.h"
#include "record/runtimes/script_names.h"
#include "record/spaces/space.h"

struct python;

struct python_options {
	int scripts_fd; /* the map `scripts` of bpf/runtimes/script.bpf.h */
	int lists_fd;	/* `script_lists` */
	int files_fd;	/* `script_files` */
	int sent_fd;	/* the map `script_sent` of bpf/runtimes/script_sent.bpf.h */
	/*
	 * Called with one line about an interpreter that is not understood, and why. May be NULL.
	 */
	void (*refused)(const char *text, void *context);
	void *context;
};

/* NULL without memory. */
struct python *python_new(const struct python_options *options);
void python_free(struct python *p);

/* Processes of these spaces, from now on. */
struct error *python_follow(struct python *p, struct spaces *newest);

/* The program is going to be started: its interpreter is read before its first sample. */
void python_prepare(struct python *p, const char *program);

/* The names of code read so far. Valid until python_free(). */
struct script_names *python_names(struct python *p);

#endif
