/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_EVENTS_KPROBE_H
#define RECORD_EVENTS_KPROBE_H

#include "record/events/event.h"

/*
 * Asks the kernel whether the function of a kprobe event can be probed. The text of an
 * error has the nearest name that the kernel has.
 */
struct error *kprobe_resolve(const struct event *event);

#endif
