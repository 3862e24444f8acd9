/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SYSTEM_GROWING_FILE_H
#define RECORD_SYSTEM_GROWING_FILE_H

/*
 * A file that another process still writes: each read appends what is new to a buffer, from
 * which the reader takes whole records. The open file outlives its name and its writer.
 */

#include "common/buffer.h"

#include <stdint.h>
#include <sys/types.h>

struct growing_file {
	int fd;		       /* -1: none */
	uint64_t offset;       /* read so far */
	struct buffer pending; /* bytes that were not consumed yet */
};

void growing_file_init(struct growing_file *f, int fd);
void growing_file_release(struct growing_file *f);

/*
 * Appends up to `limit` new bytes. Returns how many, 0 when there are none now, or -errno:
 * -ESTALE when the file has become shorter, that is, somebody wrote it anew. Then the next
 * read begins at its start and nothing is pending.
 */
ssize_t growing_file_read(struct growing_file *f, size_t limit);

/* The next read begins at the start of the file again; nothing is pending. */
void growing_file_rewind(struct growing_file *f);

/* Forgets the first `size` pending bytes. */
void growing_file_consume(struct growing_file *f, size_t size);

#endif
