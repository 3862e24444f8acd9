/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SCRIPTS_SCRIPTS_H
#define RECORD_SCRIPTS_SCRIPTS_H

/*
 * The processes among the targets that run scripts with an interpreter which keeps their frames in
 * a list aside: CPython, Ruby, PHP. Every mapped file is examined once. A process that maps an
 * interpreter is published to the kernel half at once, which from then on sends the frames of
 * its scripts, and their names when it sees them for the first time.
 *
 * Nothing here prints. Calls are from one thread.
 */

#include "record/scripts/script_names.h"
#include "record/spaces/space.h"

struct scripts;

struct scripts_options {
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
struct scripts *scripts_new(const struct scripts_options *options);
void scripts_free(struct scripts *s);

/* Processes of these spaces, from now on. */
struct error *scripts_follow(struct scripts *s, struct spaces *newest);

/* A program that is about to be started will map the file: an interpreter is known then. */
void scripts_prepare(struct scripts *s, const char *path);

/*
 * The mark of a user frame at that address of a process whose runtime is that one, as the kernel
 * half gives it: FRAME_EVALUATES or FRAME_LOOP_PART, or 0.
 */
uint64_t scripts_mark(const struct scripts *s, const struct layout *layout,
		      enum script_runtime runtime, uint64_t address);

/* The names of code read so far. Valid until scripts_free(). */
struct script_names *scripts_names(struct scripts *s);

#endif
