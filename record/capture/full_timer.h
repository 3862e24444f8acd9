/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_CAPTURE_FULL_TIMER_H
#define RECORD_CAPTURE_FULL_TIMER_H

/*
 * The program of timers exists in two editions. The first, which is loaded at the start, does not
 * walk frames of runtimes: the verifier takes three quarters of its time for these. The full one is
 * loaded by a thread once some runtime is known to the kernel half, and takes the first one's place
 * between two ticks, so no sample is missed. Where a runtime may be there from the beginning, there
 * is the full one only, which is loaded by the thread while the processes are looked at.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct sampler_bpf;
struct bpf_program;

/* Starts as { 0 }. */
struct full_timer {
	const struct sampler_bpf *first; /* whose first edition it is; NULL: there is none */
	struct sampler_bpf *skeleton;
	int types;  /* see kernel_types.h */
	bool alone; /* there is no first edition */
	bool begun;
	int status;   /* of loading it: 0 or -errno */
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

/*
 * With the sampler's maps there and its constants set: begins to load the full edition, and there
 * is no other. False: there can be no thread for it.
 */
bool full_timer_begin(struct full_timer *f, const struct sampler_bpf *sampler, int types);

/* What timers run where there is no first edition, once it is loaded; NULL where there is one. */
const struct bpf_program *full_timer_program(const struct full_timer *f);

/* After full_timer_foresee() and the load: timers run the first one. 0 or -errno. */
int full_timer_put_first(struct full_timer *f);

/* Whether some runtime is known, and begins to load the full program. */
bool full_timer_look(struct full_timer *f);

/* Whether a sample of that time is of the full edition. */
bool full_timer_was_used(const struct full_timer *f, uint64_t time_ns);

/* Waits until it is loaded. 0 or -errno; where there is a first edition, 0. */
int full_timer_wait(struct full_timer *f);

/*
 * After the events were closed, as they may run it. False: it is still being loaded. The end of the
 * process ends that at once, and nothing that it uses may be freed before.
 */
bool full_timer_release(struct full_timer *f);

#endif
