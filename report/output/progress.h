/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_OUTPUT_PROGRESS_H
#define REPORT_OUTPUT_PROGRESS_H

/*
 * A line on the terminal that says how far work is and how long it will take, and whether Ctrl-C
 * was pressed. Silent where standard error is no terminal, and in the first second.
 */

#include "format/prf.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The time that passes before anything is shown: a second; tests change it. */
extern uint64_t progress_first_ns;

/* From now on nothing is shown. */
void progress_silence(void);

struct progress {
	const char *what;
	bool shown; /* there is a line to wipe */
	bool silent;
	bool unknown;  /* the size of one of the files */
	uint64_t size; /* bytes of all files, or whatever is counted */
	uint64_t read; /* bytes of those that have been read */
	uint64_t start_ns, last_ns;
};

/* `what` is done: "reading". */
void progress_begin(struct progress *p, const char *what);
/* A file that will be read. */
void progress_expect(struct progress *p, int fd);
/* So many bytes of the one that is being read. */
void progress_show(struct progress *p, uint64_t bytes);
/* As many bytes as the reader has read of it. */
void progress_show_reader(struct progress *p, const struct prf_reader *reader);
/* It has been read, to its end or not; the line is wiped. */
void progress_next(struct progress *p, int fd);
/* All is done; the line is wiped. */
void progress_end(struct progress *p);

/* The same of work in parts that may take long by themselves: a thread of its own shows how far it
 * is. */
struct progress_parts {
	bool silent, runs;
	bool shown, ends; /* under the lock, as what follows */
	const char *what;
	size_t done, all;
	uint64_t start_ns;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
};

void progress_parts_init(struct progress_parts *p);
/*
 * So many parts are done of all, and `what` they are. From any thread; but first, and first after
 * an end, from the one that calls progress_parts_end().
 */
void progress_parts_show(struct progress_parts *p, const char *what, size_t done, size_t all);
/* It is done, or waits; the line is wiped. */
void progress_parts_end(struct progress_parts *p);

/* From now on the first Ctrl-C is only noted. */
void progress_catch_interrupt(void);
bool progress_interrupted(void);

/* The same, once: from then on it counts as not pressed. */
bool progress_take_interrupt(void);

/* A file that is not whole: a signal that ends the program removes it first. NULL: none. */
void progress_removes(const char *path);

/* Called before a signal ends the program, so from its handler. NULL: nothing is. */
void progress_restores(void (*restore)(void));

#endif
