/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SYSTEM_PROCESS_OWNER_H
#define RECORD_SYSTEM_PROCESS_OWNER_H

/* Whom a process belongs to, by its /proc/PID/status. */

#include <stdbool.h>
#include <stdint.h>

/* Starts as { 0 }. */
struct process_owner {
	uint32_t pid;  /* 0: none is known */
	uint32_t user; /* see patience.h; PATIENCE_NOBODY: not known */
	/*
	 * The recorder's own user, in its own container. These processes could stop it anyhow, and
	 * to read their memory without a child saves some 20 us each time. Root of a container
	 * cannot.
	 */
	bool own;
	int status; /* its file, which is kept open: most are asked for again and again */
};

/* As of now. False: the process is not there. */
bool process_owner_read(struct process_owner *owner, uint32_t pid);
void process_owner_release(struct process_owner *owner);

/*
 * Whose share of something its process has, see shares.h: 0 also for the recorder's own user, whose
 * processes could stop it anyhow. For one thread.
 */
uint32_t process_owner_user(uint32_t pid);

#endif
