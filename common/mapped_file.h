/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COMMON_MAPPED_FILE_H
#define COMMON_MAPPED_FILE_H

/*
 * A whole file as bytes. Files that are not ours can be cut short while we read them, and
 * a plain mapping would then kill the program with SIGBUS. Here, pages that vanished
 * read as zeros, which every decoder must survive anyway.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct mapped_file {
	const uint8_t *data; /* NULL when the file is empty */
	size_t size;
	int slot; /* of the guard; -1: a copy on the heap */
};

/* Maps the regular file of `fd`, which may be closed afterwards. 0, or -1 with errno. */
int mapped_file_open(struct mapped_file *f, int fd);
void mapped_file_release(struct mapped_file *f);

/*
 * Copies up to `size` bytes of the regular file from `offset`; how many, 0 at its end, or -1 with
 * errno. XFS keeps who calls pread() until another process's write to the file ends, and whoever
 * may write to it can put that off for ever: a mapping is read instead.
 */
ssize_t mapped_file_read(int fd, void *bytes, size_t size, uint64_t offset);

#endif
