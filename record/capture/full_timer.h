/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_CAPTURE_FULL_TIMER_H
#define RECORD_CAPTURE_FULL_TIMER_H

/*
 * The program of timers exists in two editions. The first, which is loaded at the start, does not
 * walk frames of runtimes: the verifier takes three quarters of its time for these. The full one is
 * loaded by a thread once some runtime is known to the kernel half, and takes the first one's place
 * between two ticks, so no sample is missed.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct sampler_bpf;

/* Starts as { 0 }. */
struct full_timer {
	const struct sampler_bpf *first; /* whose first edition it is; NULL: there is none */
	struct sampler_bpf *skeleton;
	int types; /* see kernel_types.h */
	bool begun;
	bool refused; /* there was no thread for it, which was said */
	pthread_t thread;
	_Atomic uint64_t since_ns; /* samples from then on are of the full one */
	/* Called if it fails, from the thread perhaps, with one line for the user; or NULL. */
	void (*warn)(const char *text, void *context);
};

/*
 * Before the sampler's programs are loaded, with their maps there. False: some runtime is known
 * already, so timers run the full edition from the beginning, and there is no first one.
 */
bool full_timer_foresee(struct full_timer *f, struct sampler_bpf *sampler, int types);

/* After that: timers run it. 0 or -errno. */
int full_timer_put_first(struct full_timer *f);

/* Whether some runtime is known, and begins to load the full program. */
bool full_timer_look(struct full_timer *f);

/* Whether a sample of that time is of the full edition. */
bool full_timer_was_used(const struct full_timer *f, uint64_t time_ns);

/* Waits until it is loaded. */
void full_timer_wait(struct full_timer *f);

/*
 * After the events were closed, as they may run it. False: it is still being loaded. The end of the
 * process ends that at once, and nothing that it uses may be freed before.
 */
bool full_timer_release(struct full_timer *f);

#endif
