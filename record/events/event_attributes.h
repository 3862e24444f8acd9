/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_EVENTS_EVENT_ATTRIBUTES_H
#define RECORD_EVENTS_EVENT_ATTRIBUTES_H

/* Events as perf_event_open(2) takes them. */

#include <linux/perf_event.h>

#include "record/events/event.h"

/*
 * Fills in type, config, rate and mode, nothing else. The mode of timers is
 * left to our program, since it must know of all ticks, see bpf/tasks/ticks.bpf.h.
 */
void event_attributes(const struct event *event, struct perf_event_attr *attributes);

/*
 * Likewise for one place of a probe or tracepoint, whose program runs at each hit: false if the
 * kernel has no such probes.
 */
bool event_place_attributes(const struct event *event, size_t place,
			    struct perf_event_attr *attributes);

/* Sets the kernel's PMU type of that name ("uprobe", "kprobe"); false when it has none. */
bool event_device_type(const char *name, uint32_t *type);

#endif
