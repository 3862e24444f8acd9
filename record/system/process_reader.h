/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SYSTEM_PROCESS_READER_H
#define RECORD_SYSTEM_PROCESS_READER_H

/*
 * Reads what needs the memory of another process, or the lock of its address space. Its user can
 * have a file system or userfaultfd(2) answer for them, and so never: the kernel then keeps whoever
 * asks, some of the time even against SIGKILL. So a child of the recorder reads, and is given up
 * and replaced when it does not answer. What one user's processes may make the recorder wait in a
 * minute is limited, and so is what those of all users together may.
 *
 * Before process_reader_start(), and after process_reader_stop(), the caller reads, and always the
 * memory of processes of the recorder's own user. For the thread that records only.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "common/buffer.h"

/* The child is started when it is first asked. `warn` is called for processes that are silent. */
void process_reader_start(void (*warn)(const char *text));
/* Does not wait for what is under way. */
void process_reader_stop(void);

/*
 * Copies `n` pieces of a process's memory from `there` to `here`, of equal sizes. False if one of
 * them could not be read whole; then what `here` has is undefined.
 */
bool process_reader_memory(uint32_t pid, const struct iovec *here, const struct iovec *there,
			   size_t n);

/*
 * The same for up to 64 KiB at one address, if their pages are in memory now: who has their content
 * need not be waited for.
 */
bool process_reader_present(uint32_t pid, void *here, uint64_t there, size_t size);

/*
 * Appends a file of /proc/PID, such as "maps", at most `most` bytes of it. 0 or -errno; -ETIMEDOUT
 * if the process is silent, or its user has been for too long.
 */
int process_reader_file(uint32_t pid, const char *name, size_t most, struct buffer *text);

/* CPU time that the children have used, in ns. */
uint64_t process_reader_cpu_ns(void);

#endif
