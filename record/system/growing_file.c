/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/system/growing_file.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/mapped_file.h"

#define KEPT_BYTES 65536 /* a buffer that this suffices for shrinks to it */

void growing_file_init(struct growing_file *f, int fd)
{
	*f = (struct growing_file){ .fd = fd };
}

void growing_file_release(struct growing_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	buffer_release(&f->pending);
	*f = (struct growing_file){ .fd = -1 };
}

void growing_file_rewind(struct growing_file *f)
{
	f->offset = f->behind = 0;
	growing_file_consume(f, f->pending.size);
}

/* Whether the end of what was read is still there, as far as it can be read. */
static bool is_same(const struct growing_file *f)
{
	uint8_t now[GROWING_FILE_KEPT];
	size_t size = f->offset < sizeof(now) ? (size_t)f->offset : sizeof(now);
	ssize_t n = mapped_file_read(f->fd, now, size, f->offset - size);

	return n < 0 || ((size_t)n == size && !memcmp(now, f->last + sizeof(now) - size, size));
}

/* Keeps the end of the `n` bytes that are pending since just now: they may be consumed. */
static void keep_last(struct growing_file *f, size_t n)
{
	size_t new = n < sizeof(f->last) ? n : sizeof(f->last), old = sizeof(f->last) - new;

	memmove(f->last, f->last + new, old);
	memcpy(f->last + old, f->pending.data + f->pending.size - new, new);
}

enum growing_file_news growing_file_read(struct growing_file *f, size_t limit)
{
	struct stat st;
	uint64_t left;
	ssize_t n;
	void *room;

	if (fstat(f->fd, &st))
		return GROWING_FILE_SAME;
	if ((uint64_t)st.st_size < f->offset || ((uint64_t)st.st_size > f->offset && !is_same(f))) {
		growing_file_rewind(f);
		return GROWING_FILE_REWRITTEN;
	}
	left = f->behind = (uint64_t)st.st_size - f->offset;
	if (left > limit)
		left = limit;
	room = left ? buffer_extend(&f->pending, left) : NULL;
	if (!room)
		return GROWING_FILE_SAME;
	n = mapped_file_read(f->fd, room, left, f->offset);
	f->pending.size -= left - (n < 0 ? 0 : (size_t)n);
	if (n <= 0)
		return GROWING_FILE_SAME;
	f->offset += (uint64_t)n;
	f->behind -= (uint64_t)n;
	keep_last(f, (size_t)n);
	return GROWING_FILE_GREW;
}

/* There is one of these for each process: what a large part of a file took is given back. */
static void shrink(struct buffer *b)
{
	uint8_t *data;

	if (b->capacity <= KEPT_BYTES || b->size > KEPT_BYTES / 2)
		return;
	data = realloc(b->data, KEPT_BYTES);
	if (!data)
		return;
	b->data = data;
	b->capacity = KEPT_BYTES;
}

void growing_file_consume(struct growing_file *f, size_t size)
{
	if (size) /* there is no buffer before the first read */
		memmove(f->pending.data, f->pending.data + size, f->pending.size - size);
	f->pending.size -= size;
	shrink(&f->pending);
}
