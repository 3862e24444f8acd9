/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_EVENTS_KPROBE_H
#define RECORD_EVENTS_KPROBE_H

#include "record/events/event.h"

#include <stddef.h>

/*
 * Asks the kernel whether the function of a kprobe event can be probed. 0, or -1 and in `why`
 * what is wrong, with the nearest name that the kernel has.
 */
int kprobe_resolve(const struct event *event, char *why, size_t size);

#endif
