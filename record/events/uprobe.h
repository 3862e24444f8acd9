/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_EVENTS_UPROBE_H
#define RECORD_EVENTS_UPROBE_H

#include "common/elf_file.h"
#include "record/events/event.h"

#include <stddef.h>

/* Opens the event's file, to be released by the caller. 0, or -1 and `why`. */
int uprobe_open(struct elf_file *file, const struct event *event, char *why, size_t size);

/*
 * Finds where in its file the symbol of a uprobe event lies, and fills `places`. 0, or -1
 * and in `why` what is wrong, with the nearest name that the file has.
 */
int uprobe_resolve(struct event *event, char *why, size_t size);

#endif
