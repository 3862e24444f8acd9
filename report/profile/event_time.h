/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_PROFILE_EVENT_TIME_H
#define REPORT_PROFILE_EVENT_TIME_H

/* What an event's samples say about time. */

#include "format/prf.h"

/* Time that one sample of an event stands for; 0: none, or its weight is in ns. */
uint64_t event_ns_per_sample(const struct prf_event *event);

/* Whether its samples are times. */
bool event_has_time(const struct prf_event *event);

#endif
