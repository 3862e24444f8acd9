/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_PROFILE_SELECTION_H
#define REPORT_PROFILE_SELECTION_H

/*
 * Which samples count: by who (comm, pid, tid, cgroup), where (cpu), what (event), when, and how
 * many threads of the process ran beside.
 * Starts as { 0 }, which selects the samples of the first event.
 */

#include "format/prf.h"

/* "1,4,10-19": sorted, apart. No ranges: everything. */
struct number_set {
	struct number_range {
		uint64_t low, high;
	} * ranges;
	size_t count;
};

/* False when the text is not such a list, or without memory. Adds to what is there. */
bool number_set_add(struct number_set *s, const char *text);
bool number_set_has(const struct number_set *s, uint64_t number);
void number_set_release(struct number_set *s);

/* Shell patterns (* ? [..]) of which one must fit. None: everything fits. */
struct pattern_list {
	char **patterns;
	size_t count;
};

bool pattern_list_add(struct pattern_list *l, const char *pattern);
bool pattern_list_fits(const struct pattern_list *l, const char *text);
void pattern_list_release(struct pattern_list *l);

/* One end of --time. */
struct time_point {
	enum { TIME_OPEN, TIME_RELATIVE, TIME_ABSOLUTE, TIME_PERCENT } kind;
	uint64_t ns;	/* since the start of the trace, or CLOCK_MONOTONIC */
	double percent; /* of the trace's duration */
};

struct selection {
	struct number_set pids, tids, cpus;
	struct number_set parallelism; /* threads of the process that ran at the time */
	struct pattern_list comms, cgroups, events;
	bool on_cpu, off_cpu; /* kinds of events; both: wall-clock time */
	bool all_events;
	bool has_time;
	struct time_point from, to;
};

void selection_release(struct selection *s);

/* "FROM,TO", each "1.5s", "@123.4" (absolute), "10%" or empty. False when it is not that. */
bool selection_set_time(struct selection *s, const char *text);

/* Whether the ends ask for the trace's start, and for its end. */
bool selection_needs_start(const struct selection *s);
bool selection_needs_end(const struct selection *s);

/* In CLOCK_MONOTONIC ns; what lies at `to_ns` is outside. */
struct time_window {
	uint64_t from_ns, to_ns;
};

/* The window for a trace whose first and last samples are at the ends of `recorded`. */
struct time_window selection_window(const struct selection *s, struct time_window recorded);

bool selection_has_task(const struct selection *s, const struct prf_task *task);

/* `first`: the first event of the first trace, which counts when nothing else is asked for. */
bool selection_has_event(const struct selection *s, const struct prf_event *event,
			 const struct prf_event *first);

#endif
