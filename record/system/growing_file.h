/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SYSTEM_GROWING_FILE_H
#define RECORD_SYSTEM_GROWING_FILE_H

/*
 * A file that another process is still writing: each read appends what is new to a buffer, from
 * which the caller takes whole records. The fd stays usable after the file is removed or its writer
 * ends.
 */

#include "common/buffer.h"

#include <stdint.h>

#define GROWING_FILE_KEPT 32

struct growing_file {
	int fd;		       /* -1: none */
	uint64_t offset;       /* read so far */
	uint64_t behind;       /* bytes that the last read found, and left for the next one */
	struct buffer pending; /* bytes that were not consumed yet */
	uint8_t last[GROWING_FILE_KEPT]; /* those before `offset`, at the end */
};

void growing_file_init(struct growing_file *f, int fd);
void growing_file_release(struct growing_file *f);

enum growing_file_news {
	GROWING_FILE_SAME, /* nothing new, or it cannot be read now */
	GROWING_FILE_GREW, /* more bytes are pending */
	/* It is shorter, or what was read is not there: nothing is pending, and it is read anew. */
	GROWING_FILE_REWRITTEN,
};

/* Appends up to `limit` new bytes to the pending ones. */
enum growing_file_news growing_file_read(struct growing_file *f, size_t limit);

/* Starts over at the beginning of the file; nothing is pending. */
void growing_file_rewind(struct growing_file *f);

/* Removes the first `size` pending bytes. */
void growing_file_consume(struct growing_file *f, size_t size);

#endif
