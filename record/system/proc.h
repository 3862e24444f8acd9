/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SYSTEM_PROC_H
#define RECORD_SYSTEM_PROC_H

/*
 * What /proc says. Processes come and go while one reads: every function may answer
 * -ESRCH or -ENOENT at any time. All return 0 or -errno.
 */

#include "common/buffer.h"

#include <stdbool.h>
#include <stdint.h>

/* Appends a whole file, at most 64 MiB of it. */
int read_file(const char *path, struct buffer *text);

/*
 * Opens a file for reading, -EINVAL if it is not a regular one. Who chose its path may be
 * nobody to trust, and opening a device can do something: it is only looked at.
 */
int open_regular(const char *path);

/* The same for what an O_PATH fd stands for, which is closed. */
int open_regular_at(int path_fd);

/* Appends /proc/PID/NAME. */
int proc_read(uint32_t pid, const char *name, struct buffer *text);

/* Where the link /proc/PID/NAME leads, such as "exe" or "root"; `size` includes the NUL. */
int proc_link(uint32_t pid, const char *name, char *path, size_t size);

/* A number of /proc/PID/status: proc_status(pid, "Tgid:", &tgid). */
int proc_status(uint32_t pid, const char *key, uint32_t *value);

/* The name of a thread, without the line's end. */
int proc_comm(uint32_t pid, uint32_t tid, char *comm, size_t size);

/* Calls `visit` for each number in a folder such as "/proc" or "/proc/7/task". */
int proc_each(const char *folder, void (*visit)(uint32_t number, void *context), void *context);

/* A line of /proc/PID/maps. `path` stays valid as long as the text does. */
struct proc_mapping {
	uint64_t start, end, offset;
	uint64_t inode;
	uint32_t major, minor;
	bool executable;
	bool deleted;	  /* the path had a " (deleted)" after it, which is cut off */
	const char *path; /* octal escapes resolved; "" for none */
};

/*
 * The next mapping of `text`, a NUL-terminated copy of a maps file that is changed while it
 * is read; NULL at its end. Lines that make no sense are left out.
 */
char *proc_next_mapping(char *text, struct proc_mapping *mapping);

/* Cuts a " (deleted)" off; true when there was one. */
bool cut_deleted(char *path);

#endif
