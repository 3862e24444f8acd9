/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SYSTEM_TRACEFS_H
#define RECORD_SYSTEM_TRACEFS_H

/*
 * The kernel's tracepoints, from tracefs. If it is not mounted, a private mount is made that no
 * other process sees (fsmount(2)), which needs CAP_SYS_ADMIN.
 */

#include <stdbool.h>
#include <stdint.h>

/* An fd of the folder, to be closed by the caller, or -errno. */
int tracefs_open(void);

/*
 * Id of the tracepoint "subsys:name" for perf_event_open(2), or -errno; -ENOENT: no such
 * tracepoint.
 */
int64_t tracefs_id(int tracefs, const char *subsystem, const char *name);

/* Whether somebody made it, with kprobe_events or uprobe_events; other programs can be attached. */
bool tracefs_is_probe(int tracefs, const char *subsystem, const char *name);

/* Calls `visit` for each tracepoint, in no particular order. 0 or -errno. */
int tracefs_each(int tracefs, void (*visit)(const char *subsystem, const char *name, void *context),
		 void *context);

#endif
