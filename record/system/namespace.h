/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SYSTEM_NAMESPACE_H
#define RECORD_SYSTEM_NAMESPACE_H

/*
 * What a process sees from the inside: its own pid, its own root. A process may live in
 * namespaces and under a root directory of its own, and may have put anything there, so
 * files under its root are opened without following links, and never as devices or pipes.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct namespace
{
	uint32_t inner_pid; /* in its own pid namespace */
	uid_t uid;	    /* effective, as we see it */
	uint64_t start_ns;  /* CLOCK_MONOTONIC at which the process began; 0: not known */
	char root[256];	    /* its root directory as we see it; "" for ours, or when not known */
};

/* Fills in what /proc says. 0 or -errno: -ESRCH when the process is gone. */
int namespace_read(struct namespace *inside, uint32_t pid);

/* A thread's numbers in its own pid namespace; `pid` and `tid` themselves when it is gone. */
void namespace_numbers(uint32_t pid, uint32_t tid, uint32_t *inner_pid, uint32_t *inner_tid);

/*
 * Opens a regular file of the process's user by the path that the process would use.
 * An fd, or -errno: -ELOOP for links, -EPERM for another user's file, -EINVAL for no file.
 */
int namespace_open(uint32_t pid, const char *path, uid_t uid);

/*
 * Opens a folder of the process as a place to open files in by namespace_open_at(), also when
 * the process has ended. An fd or -errno.
 */
int namespace_open_folder(uint32_t pid, const char *path);

/* As namespace_open(), for a file in such a folder. */
int namespace_open_at(int folder, const char *name, uid_t uid);

/* The same for any regular file, whoever owns it: a binary. */
int namespace_open_any(uint32_t pid, const char *path);

/* The arguments, joined by blanks, cut to `size`; "" when there are none. */
void namespace_command_line(uint32_t pid, char *text, size_t size);

#endif
