/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_EVENTS_UPROBE_H
#define RECORD_EVENTS_UPROBE_H

#include "common/elf_file.h"
#include "record/events/event.h"

/* Opens the event's file, to be released by the caller. */
struct error *uprobe_open(struct elf_file *file, const struct event *event);

/*
 * Finds where in its file the symbol of a uprobe event lies, and fills `places`. The
 * text of an error has the nearest name that the file has.
 */
struct error *uprobe_resolve(struct event *event);

#endif
