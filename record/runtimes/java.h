/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_RUNTIMES_JAVA_H
#define RECORD_RUNTIMES_JAVA_H

/*
 * The Java processes among the targets. A process is one once it has mapped libjvm.so; its machine
 * takes some time to set itself up, so it is asked with each tick until it is ready. Then the
 * kernel half learns of it and walks through the code that it makes.
 *
 * Nothing here prints. Calls are from one thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/spaces/space.h"

struct java;

struct java_options {
	int scripts_fd; /* the map `scripts` of bpf/script.bpf.h; -1: nobody wants to know */
	/* A machine that is not understood, and why, in one line. May be NULL. */
	void (*refused)(const char *text, void *context);
	void *context;
};

/* NULL without memory. */
struct java *java_new(const struct java_options *options);
void java_free(struct java *j);

/* Processes of these spaces, from now on. */
struct error *java_follow(struct java *j, struct spaces *newest);

/* Asks those that are not ready yet. */
void java_tick(struct java *j, uint64_t now_ns);

/* Whether a machine is about to be ready, so that it is worth to be asked soon. */
bool java_is_waiting(const struct java *j);

#endif
