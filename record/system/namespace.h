/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SYSTEM_NAMESPACE_H
#define RECORD_SYSTEM_NAMESPACE_H

/*
 * A process seen from the inside: its own pid, its own root. It may live in namespaces and under
 * another root directory, and may have put anything there, so files under its root are opened
 * without following links, and never if they are devices or pipes.
 *
 * As with record/system/proc.h, the functions that open and read are wrappers of system calls whose
 * callers act upon the errno: they return -errno, and no struct error.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct namespace
{
	uint32_t inner_pid; /* in its own pid namespace */
	uid_t uid;	    /* effective user, in our user namespace */
	uint64_t start_ns;  /* CLOCK_MONOTONIC at which the process began; 0: not known */
	char root[256];	    /* its root directory as we see it; "" for ours, or when not known */
};

/* Fills `inside` from /proc. 0 or -errno: -ESRCH when the process is gone. */
int namespace_read(struct namespace *inside, uint32_t pid);

/* The ids of a thread in its own pid namespace; `pid` and `tid` themselves when it is gone. */
void namespace_numbers(uint32_t pid, uint32_t tid, uint32_t *inner_pid, uint32_t *inner_tid);

/*
 * Opens a regular file of the process's user, by its path within the process's root. An fd, or
 * -errno: -ELOOP for links, -EPERM for another user's file, -EINVAL if it is not a regular file.
 */
int namespace_open(uint32_t pid, const char *path, uid_t uid);

/*
 * Opens a folder of the process for namespace_open_at(), which works even after the process has
 * ended. An fd or -errno.
 */
int namespace_open_folder(uint32_t pid, const char *path);

/* As namespace_open(), for a file in that folder. */
int namespace_open_at(int folder, const char *name, uid_t uid);

/* As namespace_open(), but for a file of any owner, such as a program. */
int namespace_open_any(uint32_t pid, const char *path);

/*
 * The arguments, joined by blanks, truncated to `size` bytes with the NUL; "" when there are none.
 */
void namespace_command_line(uint32_t pid, char *text, size_t size);

#endif
