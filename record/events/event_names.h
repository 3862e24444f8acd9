/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_EVENTS_EVENT_NAMES_H
#define RECORD_EVENTS_EVENT_NAMES_H

/* The events that have a name of their own, as perf spells them. */

#include "format/prf.h"
#include "record/events/event_source.h"

#include <stdint.h>

struct event_name {
	const char *name;
	const char *other_name; /* that means the same, or NULL */
	enum event_source source;
	uint32_t type;
	uint64_t config;
	enum prf_event_kind kind;
	const char *unit;
};

/* All of them, ending with one whose name is NULL. */
extern const struct event_name event_names[];

/* By either name, or NULL. */
const struct event_name *event_name_find(const char *name);

/* The one that a mistyped name most likely meant, or NULL. */
const char *event_name_nearest(const char *name);

#endif
