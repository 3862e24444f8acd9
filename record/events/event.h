/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_EVENTS_EVENT_H
#define RECORD_EVENTS_EVENT_H

/*
 * What is sampled. An event is one thing named with -e ("cycles", "page-faults/period=1/",
 * "sched:sched_switch", "uprobe:/usr/lib/libc.so.6:malloc", "r1a2"), and an event list is
 * all of them; the position of an event in the list is its number in struct sample.
 *
 * Parsing needs neither privileges nor this machine; event_list_resolve() then looks up what
 * only the machine knows (numbers of tracepoints, offsets of symbols).
 */

#include "bpf/abi/sample.h"
#include "common/error.h"
#include "format/prf.h"
#include "record/events/probe.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* In file offsets. */
struct event_place {
	uint64_t offset;
	uint64_t semaphore; /* a counter that the kernel raises while the probe is used, or 0 */
};

struct event {
	enum event_source source;
	enum prf_event_kind kind;
	char *name;	    /* as given, without options: "cycles:u", "sched:sched_switch" */
	const char *unit;   /* of the weight; static text */
	uint32_t type;	    /* PERF_TYPE_... */
	uint64_t config;    /* with EVENT_TRACEPOINT: its id, after event_list_resolve() */
	uint64_t frequency; /* Hz, or 0 when by period; both 0: the rate of -F or -c */
	uint64_t period;
	bool user_only, kernel_only; /* ":u" and ":k" */
	struct probe probe;
	struct event_place *places; /* in the probe's file, after event_list_resolve() */
	size_t place_count;
};

#define EVENT_LIST_MAX SAMPLE_EVENTS_MAX
#define EVENT_TEXT_MAX 4096	  /* bytes of one event on the command line */
#define EVENT_TICK_LEAST_NS 10000 /* the shortest period of the kernel's timers */

struct event_list {
	struct event events[EVENT_LIST_MAX];
	size_t n;
};

void event_list_release(struct event_list *list);

/* Adds the comma-separated events of `text`. */
struct error *event_list_parse(struct event_list *list, const char *text);

/*
 * Adds an event that the recorder needs itself: "cpu-clock" when none was given, "off-cpu",
 * "preempted".
 */
struct error *event_list_add(struct event_list *list, const char *name);

/* Sets `frequency` or `period` for events without a rate of their own. */
void event_list_set_rate(struct event_list *list, uint64_t frequency, uint64_t period);

/*
 * Looks up tracepoints and symbols, and opens each perf event once to see whether the kernel has
 * it. An error's text names alternatives of this machine.
 */
struct error *event_list_resolve(struct event_list *list);

/* True when the kernel can count the event on this machine. */
bool event_is_available(const struct event *event);

/* True if the kernel's timers make its samples: cpu-clock, task-clock. */
bool event_is_timer(const struct event *event);

/* True if the event's program is one for probes, BPF_PROG_TYPE_KPROBE to the kernel. */
bool event_is_probe(const struct event *event);

/* In how many places of a file, or as how many perf events, each hit of the event is seen. */
size_t event_place_count(const struct event *event);

/* The class of the event's samples: it selects ring, scratch and counters. */
enum sample_class event_class(const struct event *event);

/* The event's entry in `periods` of bpf/sampler.bpf.c. */
uint64_t event_period_rule(const struct event *event);

/* The period of the kernel's timer behind cpu-clock and task-clock; 0: not one of them. */
uint64_t event_tick_ns(const struct event *event);

/* Which ticks of it are samples: enum tick_mode. */
uint8_t event_tick_mode(const struct event *event);

/*
 * Limits the rate of a timer to the highest that the kernel's timers have, EVENT_TICK_LEAST_NS.
 * False if it was within the limit.
 */
bool event_limit_ticks(struct event *event);

/* Output of --list: the events that this machine has, one per line, grouped. */
void event_list_print_available(FILE *out);

#endif
