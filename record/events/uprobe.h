/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_EVENTS_UPROBE_H
#define RECORD_EVENTS_UPROBE_H

#include "record/events/event.h"

#include <stddef.h>

/*
 * Finds where in its file the symbol of a uprobe event lies, and fills file_offset. 0, or -1
 * and in `why` what is wrong, with the nearest name that the file has.
 */
int uprobe_resolve(struct event *event, char *why, size_t size);

#endif
