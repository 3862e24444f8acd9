/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SYSTEM_TRACEFS_H
#define RECORD_SYSTEM_TRACEFS_H

/*
 * The kernel's tracepoints, as tracefs lists them. Where nobody mounted tracefs, an own
 * view of it is opened that no other process sees (fsmount(2)); that needs CAP_SYS_ADMIN.
 */

#include <stdint.h>

/* A folder fd of tracefs to be closed by the caller, or -errno. */
int tracefs_open(void);

/* The number that perf_event_open(2) wants for "subsys", "name"; -errno: -ENOENT is no such one. */
int64_t tracefs_id(int tracefs, const char *subsystem, const char *name);

/* Calls `visit` for each tracepoint, in no order. Returns 0 or -errno. */
int tracefs_each(int tracefs, void (*visit)(const char *subsystem, const char *name, void *context),
		 void *context);

#endif
