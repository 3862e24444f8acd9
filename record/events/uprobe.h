/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_EVENTS_UPROBE_H
#define RECORD_EVENTS_UPROBE_H

#include "common/elf_file.h"
#include "record/events/event.h"

/* Opens the event's file for `resolve`, which fills `places`. */
struct error *uprobe_in_file(struct event *event,
			     struct error *(*resolve)(struct event *event,
						      const struct elf_file *file));

/*
 * Finds where in its file the symbol of a uprobe event lies, and fills `places`. The
 * text of an error has the nearest name that the file has.
 */
struct error *uprobe_resolve(struct event *event);

#endif
