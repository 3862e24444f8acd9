/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_JAVASCRIPT_JAVASCRIPT_H
#define RECORD_JAVASCRIPT_JAVASCRIPT_H

/*
 * The processes among the targets that run JavaScript with V8. A process is one once it has mapped
 * a file that holds V8; all that the kernel half must know of it is in that file. Then it sends the
 * functions that it sees.
 *
 * Nothing here prints. Calls are from one thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi/sample.h"
#include "format/prf.h"
#include "record/spaces/space.h"

struct javascript;

struct javascript_options {
	int scripts_fd; /* the map `scripts` of the kernel half */
	int lists_fd;	/* `script_lists` */
	int sent_fd;	/* `script_sent` */
	/* A file whose V8 is not understood, and why, in one line. May be NULL. */
	void (*refused)(const char *text, void *context);
	void *context;
};

/* NULL without memory. */
struct javascript *javascript_new(const struct javascript_options *options);
void javascript_free(struct javascript *j);

/* Processes of these spaces, from now on. */
struct error *javascript_follow(struct javascript *j, struct spaces *newest);

/* A record of the kernel half, a struct v8_name. */
void javascript_add_name(struct javascript *j, const void *data, size_t size);

/* Frames go there from now on; numbers of the last trace mean nothing in this one. */
void javascript_set_writer(struct javascript *j, struct prf_writer *w);

/* A frame of a process, and where its code was left: see struct v8_question. */
struct javascript_question {
	uint32_t pid;
	const struct script_frame *frame;
	uint64_t address;
	bool exact;
};

/*
 * The trace's number of a function's frame, which carries its names with it; PRF_NONE when they
 * have not come. `settled` becomes false if more will be known of it soon.
 */
struct error *javascript_frame(struct javascript *j, const struct javascript_question *question,
			       uint32_t *id, bool *settled) ERROR_CHECKED;

/* Notes in the trace, for each process, how many of its functions have been named. */
struct error *javascript_finish(const struct javascript *j) ERROR_CHECKED;

/* How soon names must be read, at most `most_ms`: sources of scripts may be collected. */
int javascript_wait_ms(const struct javascript *j, int most_ms);

#endif
