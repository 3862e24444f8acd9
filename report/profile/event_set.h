/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_PROFILE_EVENT_SET_H
#define REPORT_PROFILE_EVENT_SET_H

/*
 * The events of several traces, each once: events that agree in name, kind, rate and unit are one.
 * They are copies, and so stay when a trace is closed.
 */

#include "common/arena.h"
#include "common/map.h"
#include "format/prf.h"
#include "report/profile/text_pool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Begins as { 0 }. */
struct event_set {
	const struct prf_event **events; /* by number */
	size_t n, capacity;
	struct map numbers;
	struct arena arena;
	struct text_pool texts;
};

void event_set_release(struct event_set *s);

/* The number of an event, which is added if it is new; PRF_NONE without memory. */
uint32_t event_set_add(struct event_set *s, const struct prf_event *event);

/* The number of an event; PRF_NONE if it was not added. False without memory. */
bool event_set_find(const struct event_set *s, const struct prf_event *event, uint32_t *number);

#endif
