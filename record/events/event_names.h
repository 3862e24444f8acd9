/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_EVENTS_EVENT_NAMES_H
#define RECORD_EVENTS_EVENT_NAMES_H

/* The events that have a name of their own, as perf spells them. */

#include "format/prf.h"
#include "record/events/event_source.h"

#include <stdint.h>

struct event_name {
	const char *name;
	const char *other_name; /* a second name for the same event, or NULL */
	enum event_source source;
	uint32_t type;
	uint64_t config;
	enum prf_event_kind kind;
	const char *unit;
};

/* All of them; the last entry has the name NULL. */
extern const struct event_name event_names[];

/* The entry with this name or other name, or NULL. */
const struct event_name *event_name_find(const char *name);

/* The entry whose name is nearest to a mistyped one, or NULL when none is near. */
const char *event_name_nearest(const char *name);

#endif
