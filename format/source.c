/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/source.h"

#include "common/fuzzing.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * At a time: large against the cost of a system call, small against what stays in memory. A
 * fuzzer's inputs are small, and making room would cost more than reading them.
 */
#define READ_SIZE ((size_t)(FUZZING ? 4 : 128) << 10)

void source_init_fd(struct source *s, int fd)
{
	struct stat status;
	off_t start;

	*s = (struct source){ .fd = fd };
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
		start = lseek(fd, 0, SEEK_CUR);
		s->seekable = start >= 0;
		s->start = start >= 0 ? (uint64_t)start : 0;
	}
}

void source_init_memory(struct source *s, const void *data, size_t size)
{
	*s = (struct source){ .fd = -1, .memory = data, .memory_size = size, .end = true };
}

void source_release(struct source *s)
{
	buffer_release(&s->window);
}

/* Moves what is left to the front of the window. */
static void compact(struct source *s)
{
	if (!s->at)
		return;
	s->window.size -= s->at;
	memmove(s->window.data, s->window.data + s->at, s->window.size);
	s->at = 0;
}

/* A file always is; a pipe where it holds bytes, or its writer is gone. */
static bool is_readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) != 0;
}

static struct error *read_more(struct source *s)
{
	uint8_t *room;
	ssize_t size;

	if (s->grows && !is_readable(s->fd)) {
		s->end = true;
		return NULL;
	}
	room = buffer_extend(&s->window, READ_SIZE);
	if (!room)
		return error_memory();
	do
		size = read(s->fd, room, READ_SIZE);
	while (size < 0 && errno == EINTR);
	s->window.size -= READ_SIZE - (size > 0 ? (size_t)size : 0);
	if (size < 0)
		return error_system(errno, "cannot read");
	if (size == 0)
		s->end = true;
	return NULL;
}

struct error *source_peek(struct source *s, size_t wanted, const uint8_t **bytes, size_t *got)
{
	size_t left;

	if (s->fd < 0) {
		left = s->memory_size - s->at;
		*bytes = s->memory ? s->memory + s->at : NULL;
		*got = left < wanted ? left : wanted;
		return NULL;
	}
	if (s->grows)
		s->end = false;
	if (s->window.size - s->at < wanted)
		compact(s);
	while (s->window.size - s->at < wanted && !s->end) {
		struct error *error = read_more(s);

		if (error)
			return error;
	}
	left = s->window.size - s->at;
	*bytes = s->window.data ? s->window.data + s->at : NULL;
	*got = left < wanted ? left : wanted;
	return NULL;
}

void source_advance(struct source *s, size_t size)
{
	s->at += size;
	s->offset += size;
}

struct error *source_skip(struct source *s, uint64_t size, uint64_t *skipped)
{
	uint64_t left = size, total;

	while (left) {
		size_t wanted = left < READ_SIZE ? (size_t)left : READ_SIZE, got;
		const uint8_t *bytes;
		struct error *error;

		/* Only within the file: lseek() goes beyond its end without an error. */
		if (s->fd >= 0 && left > s->window.size - s->at && source_size(s, &total) &&
		    s->offset + left <= total &&
		    lseek(s->fd, (off_t)(s->start + s->offset + left), SEEK_SET) >= 0) {
			buffer_clear(&s->window);
			s->at = 0;
			s->offset += left;
			left = 0;
			break;
		}
		error = source_peek(s, wanted, &bytes, &got);
		if (error)
			return error;
		source_advance(s, got);
		left -= got;
		if (got < wanted)
			break;
	}
	*skipped = size - left;
	return NULL;
}

bool source_size(const struct source *s, uint64_t *size)
{
	struct stat status;

	if (s->fd < 0) {
		*size = s->memory_size;
		return true;
	}
	if (!s->seekable || fstat(s->fd, &status) != 0 || (uint64_t)status.st_size < s->start)
		return false;
	*size = (uint64_t)status.st_size - s->start;
	return true;
}

bool source_read_at(const struct source *s, uint64_t offset, void *bytes, size_t size)
{
	uint64_t total;
	uint8_t *room = bytes;

	if (!source_size(s, &total) || offset > total || size > total - offset)
		return false;
	if (s->fd < 0) {
		memcpy(bytes, s->memory + offset, size);
		return true;
	}
	while (size) {
		ssize_t got = pread(s->fd, room, size, (off_t)(s->start + offset));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		room += got;
		offset += (uint64_t)got;
		size -= (size_t)got;
	}
	return true;
}
