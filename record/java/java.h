/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_JAVA_JAVA_H
#define RECORD_JAVA_JAVA_H

/*
 * The Java processes among the targets. A process becomes one when it maps libjvm.so. Its virtual
 * machine takes some time to initialize, so each tick tries to read its state until it is ready.
 * Then it is published to the kernel half, which walks through its code from then on.
 *
 * Nothing here prints. Calls are from one thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi/sample.h"
#include "format/prf.h"
#include "record/spaces/space.h"

struct java;

struct java_options {
	int scripts_fd; /* the map `scripts` of bpf/runtimes/script.bpf.h; -1: none */
	/*
	 * Called with one line about a virtual machine that is not understood, and why. May be
	 * NULL.
	 */
	void (*refused)(const char *text, void *context);
	void *context;
};

/* NULL without memory. */
struct java *java_new(const struct java_options *options);
void java_free(struct java *j);

/*
 * Processes of these spaces, from now on. What is known of the methods of one that has ended is
 * kept for the samples that were taken before.
 */
struct error *java_follow(struct java *j, struct spaces *newest);

/* Asks those that are not ready yet. */
void java_tick(struct java *j, uint64_t now_ns);

/* Frames are written to `w` from now on; numbers of the last trace are not valid in it. */
void java_set_writer(struct java *j, struct prf_writer *w);

/* A frame of a sample. `exact` as for hotspot_names_find(). */
struct java_question {
	uint32_t pid;
	uint64_t time_ns; /* of the sample */
	const struct script_frame *frame;
	bool exact;
};

/*
 * The trace's number of a frame of Java, which carries its names with it; PRF_NONE when it has
 * none. Equal places are one frame, in whatever process.
 */
struct error *java_frame(struct java *j, const struct java_question *question,
			 uint32_t *id) ERROR_CHECKED;

/* Whether the kernel half walked through the code of the process's machine at that time. */
bool java_was_walked(const struct java *j, uint32_t pid, uint64_t time_ns);

/* Notes in the trace, for each process, what its machine is and how many frames it has named. */
struct error *java_finish(const struct java *j) ERROR_CHECKED;

/*
 * How soon it should be called again, at most `most_ms`: very soon while a machine is about to be
 * ready, and soon while there is one, for names are read from it before its classes may be
 * unloaded.
 */
int java_wait_ms(const struct java *j, int most_ms);

#endif
