/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_EMBEDDER_H
#define RECORD_EMBEDDER_H

/*
 * prof-record --embed: when a file is written to its end, the prof-report next to this program
 * writes a copy with all names in it. The copy takes the place of the file, which only then gets
 * the name of one that is whole; a kill before that leaves it without names. If no copy can be
 * made, the file is sealed as it was recorded.
 *
 * The recorder itself resolves no symbols and waits for nothing: to find names may take seconds, in
 * which it goes on to sample into the next file of its series. One file at a time gets names, of a
 * series with one thread and a low priority. A few others wait; beyond them the oldest one is
 * sealed without names, as is a file whose names take minutes. What prof-report finds in a program
 * it keeps in its cache for the next files.
 */

#include "record/trace/output.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define EMBEDDER_FILES_MAX 4
#define EMBEDDER_COPY ".names" /* follows the name of the file while its copy is written */

struct embedder {
	const char *option; /* of prof-report; NULL: there is nothing to embed */
	bool behind;	    /* a recording that goes on */
	struct output files[EMBEDDER_FILES_MAX]; /* the oldest first: the one with names to come */
	size_t n;
	struct output copy;
	pid_t report;	 /* writes the copy; 0: none runs */
	uint64_t due_ns; /* when it has taken too long, CLOCK_MONOTONIC */
	bool failed;	 /* to give names to a file, or to seal it */
};

/*
 * Removes copies that recorders to the same `path`, or to files of its series, left when they were
 * killed.
 */
void embedder_remove_left(const char *path, bool series);

/* Takes over a file that is whole, and leaves one that is closed. */
void embedder_add(struct embedder *e, struct output *file, uint64_t now_ns);

/*
 * Seals the first file if its names are there, and begins with the next one. To be called now and
 * then, as long as there is a file. Prints errors, with the command that embeds the names later.
 */
void embedder_look(struct embedder *e, uint64_t now_ns);

/* Seals all files as they are, and ends what runs. */
void embedder_give_up(struct embedder *e);

#endif
