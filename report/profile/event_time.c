/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/profile/event_time.h"

#include <string.h>

uint64_t event_ns_per_sample(const struct prf_event *event)
{
	if (event->kind != PRF_EVENT_ON_CPU || !strcmp(event->unit, "ns"))
		return 0;
	if (event->frequency)
		return (1000000000 + event->frequency / 2) / event->frequency;
	return strstr(event->name, "-clock") ? event->period : 0;
}

bool event_has_time(const struct prf_event *event)
{
	return event_ns_per_sample(event) || !strcmp(event->unit, "ns");
}
