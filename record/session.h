/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SESSION_H
#define RECORD_SESSION_H

/*
 * One recording from beginning to end. setup.c opens what it needs, session.c is its way
 * from the first sample to the end of the file, drain.c is what it does meanwhile.
 */

#include "record/accounts.h"
#include "record/expenses.h"
#include "record/hotplug.h"
#include "record/options.h"
#include "record/resolver.h"
#include "record/sampler.h"
#include "record/scout.h"
#include "record/sideband.h"
#include "record/target.h"
#include "record/timeline.h"
#include "record/trace_file.h"
#include "record/world.h"

struct session {
	struct settings *settings;
	struct cpus cpus;    /* those that are online */
	struct cpus sampled; /* those of them to sample on */
	struct hotplug hotplug;
	struct cgroup cgroup;
	struct target target;
	struct world world;
	struct sideband *sideband;
	struct sampler *sampler;
	struct unwinder *unwinder; /* NULL: no tables are used */
	struct scout *scout;
	struct resolver *resolver;
	struct jit *jit;
	struct timeline timeline;
	struct trace_file trace;
	struct accounts accounts;
	struct expenses expenses;
	int signal_fd;
	uint64_t ring_bytes;
	uint64_t began_ns; /* of sampling */
	bool sampling;
	uint64_t malformed; /* records that made no sense */
	bool refresh;	    /* records of the side band were lost since /proc was last asked */
	uint64_t file_began_ns;
	struct {
		uint64_t files, samples, stacks, bytes, lost, fired, cpu_ns;
	} earlier; /* files of this recording than the one being written */
};

/* Records as the settings say, and tells the user how it went. The program's exit status. */
int session_run(struct settings *settings);

/* -------- setup.c -------- */

/*
 * Opens all that a recording needs, in the order in which it must be there, up to the trace
 * file. 0, or the program's exit status after telling the user what is wrong.
 */
int session_set_up(struct session *s);

/* Each tells the user what failed and what to do, and answers the exit status for it. */
int fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
int explain(const char *what, int status);	       /* "cannot WHAT", -errno */
int trace_failed(const struct session *s, int status); /* -errno or a prf_error */

/* -------- drain.c -------- */

/* Puts the rings into the timeline. 0 or -ENOMEM. */
int drain_init(struct session *s);

/* Writes all that is in the rings up to a time. 0, -errno or a prf_error. */
int drain_until(struct session *s, uint64_t horizon_ns);

/*
 * One round of the recording: writes what has been in the rings for a moment, and keeps the
 * file up to date to a second. `wait_ms` is how long it was waited before; it gets how long
 * to wait until the next round, judging by how full the rings were.
 */
int drain_round(struct session *s, uint64_t now_ns, int *wait_ms);

/* What is due about once a second: losses and names. */
int drain_settle(struct session *s, uint64_t now_ns);

/* -------- traces.c -------- */

/*
 * Opens the first file, which keeps what it held until traces_begin(). 0, or the exit status
 * after telling what is wrong.
 */
int traces_open(struct session *s);
int traces_begin(struct session *s);

/* Ends the file; `last`: nothing fires any more. 0, -errno or a prf_error. */
int traces_finish(struct session *s, uint64_t now_ns, bool last);

/* When the next file is due by time; UINT64_MAX: never. */
uint64_t traces_due_ns(const struct session *s);

/*
 * Goes on in a new file when one is due, or when `signal` asks for it. 0, or the exit status
 * after telling what is wrong.
 */
int traces_switch(struct session *s, uint64_t now_ns, int signal);

/* True when the recording has reached --max-size. */
bool traces_full(const struct session *s);

/* Of all files. */
void traces_totals(const struct session *s, struct prf_writer_totals *totals);

/* -------- status.c -------- */

/* On a terminal: one line that is written over and over. */
void status_show(const struct session *s, uint64_t now_ns);

/* Clears that line, and says how it went. */
void status_end(const struct session *s);

#endif
