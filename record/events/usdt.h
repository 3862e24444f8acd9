/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_EVENTS_USDT_H
#define RECORD_EVENTS_USDT_H

/*
 * User-level statically defined tracing: places in a program that its author named, a "nop" each
 * with a note in the section .note.stapsdt. Layout of such a note (owner "stapsdt", type 3):
 * addresses of the place, of the section .stapsdt.base as it was linked, and of the semaphore or
 * 0; then provider, name and arguments, each ended by a NUL. The semaphore counts who traces; the
 * program asks it before it prepares costly arguments.
 */

#include "common/elf_file.h"
#include "record/events/event.h"

#define USDT_PLACES_MAX 1024 /* of one probe: each becomes a perf event */

/*
 * Calls `visit` for each probe of the file whose place lies in it, as often as it has places. An
 * error of it ends the walk.
 */
struct error *usdt_each(const struct elf_file *file,
			struct error *(*visit)(const char *provider, const char *name,
					       struct event_place place, void *context),
			void *context);

/*
 * Fills `places` of a usdt event. The text of an error has the nearest name that the file has.
 * ERROR_LIMIT: the probe has more than USDT_PLACES_MAX.
 */
struct error *usdt_resolve(struct event *event);

#endif
