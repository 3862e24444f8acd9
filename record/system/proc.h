/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SYSTEM_PROC_H
#define RECORD_SYSTEM_PROC_H

/*
 * Reading /proc. Processes come and go meanwhile: every function may fail with ESRCH or ENOENT at
 * any time. These are thin wrappers of system calls, called for many processes, and their callers
 * act upon the errno and hardly ever report it. So all return 0, or the fd where the comment says
 * so, or -errno, and no struct error.
 */

#include "common/buffer.h"

#include <stdbool.h>
#include <stdint.h>

/* Appends a whole file, at most 64 MiB of it. */
int read_file(const char *path, struct buffer *text);

/*
 * Opens a regular file for reading; -EINVAL if it is something else. The path may come from someone
 * who is not trusted, and opening a device can have effects, so the type is checked first. Returns
 * the fd.
 */
int open_regular(const char *path);

/* The same for the file of an O_PATH fd, which is closed. */
int open_regular_at(int path_fd);

/* Appends /proc/PID/NAME. */
int proc_read(uint32_t pid, const char *name, struct buffer *text);
/* The same, at most `most` bytes. Memory of the process, or its lock: see process_reader.h. */
int proc_read_most(uint32_t pid, const char *name, size_t most, struct buffer *text);

/* Target of the link /proc/PID/NAME, such as "exe" or "root"; `size` includes the NUL. */
int proc_link(uint32_t pid, const char *name, char *path, size_t size);

/*
 * The number at `index` (-1: the last one) after the key in the text of a status file, such as
 * "Uid:\t0\t0\t0\t0". False: there is none.
 */
bool proc_status_number(const char *status, const char *key, int index, uint32_t *value);

/* Reads the first number of a key of /proc/PID/status: proc_status(pid, "Tgid:", &tgid). */
int proc_status(uint32_t pid, const char *key, uint32_t *value);

/*
 * The letter of a process's state; 'X' if it is not there, '?' if it cannot be looked at, as
 * without a free fd. `parent`: as for proc_runs().
 */
char proc_state(uint32_t pid, uint32_t *parent);

/*
 * Whether a process runs: it is there, and is no zombie without other threads, which may go on
 * without the first one. `parent`, if not NULL, gets the number of its parent.
 */
bool proc_runs(uint32_t pid, uint32_t *parent);

/* Whether a thread is there; true if it cannot be looked at. */
bool proc_has_thread(uint32_t pid, uint32_t tid);

/* The name of a thread, without the line feed. */
int proc_comm(uint32_t pid, uint32_t tid, char *comm, size_t size);

/* Calls `visit` for each number in a folder such as "/proc" or "/proc/7/task". */
int proc_each(const char *folder, void (*visit)(uint32_t number, void *context), void *context);

/* A line of /proc/PID/maps. `path` stays valid as long as the text does. */
struct proc_mapping {
	uint64_t start, end, offset;
	uint64_t inode;
	uint32_t major, minor;
	bool executable;
	bool deleted;	  /* the path ended with " (deleted)", which is cut off */
	const char *path; /* with octal escapes decoded; "" for none */
};

/*
 * Parses the next line of `text`, a NUL-terminated copy of a maps file, which is modified. Returns
 * where to go on; NULL at the end. Malformed lines are skipped.
 */
char *proc_next_mapping(char *text, struct proc_mapping *mapping);

/* Cuts a trailing " (deleted)" off; true if there was one. */
bool cut_deleted(char *path);

#endif
