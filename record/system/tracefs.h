/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SYSTEM_TRACEFS_H
#define RECORD_SYSTEM_TRACEFS_H

/*
 * The kernel's tracepoints, from tracefs. If it is not mounted, a private mount is made that no
 * other process sees (fsmount(2)), which needs CAP_SYS_ADMIN.
 */

#include "common/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Opens the folder; the caller closes it. */
struct error *tracefs_open(int *fd);

/* Id of the tracepoint "subsystem:name" for perf_event_open(2). ENOENT: no such tracepoint. */
struct error *tracefs_id(int tracefs, const char *subsystem, const char *name, uint64_t *id);

/* Whether somebody made it, with kprobe_events or uprobe_events; other programs can be attached. */
bool tracefs_is_probe(int tracefs, const char *subsystem, const char *name);

/* Calls `visit` for each tracepoint, in no particular order. */
struct error *tracefs_each(int tracefs,
			   void (*visit)(const char *subsystem, const char *name, void *context),
			   void *context);

#endif
