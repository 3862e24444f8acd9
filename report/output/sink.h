/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_OUTPUT_SINK_H
#define REPORT_OUTPUT_SINK_H

/*
 * Where a report goes: a large buffer in front of a file descriptor, so that a view may
 * write in small pieces. The first failed write is remembered; what follows is thrown away,
 * and sink_flush() returns it at the end. Without a descriptor (fd -1) the bytes stay in
 * `buffer`, for tests and for views that post-process.
 */

#include "common/buffer.h"
#include "common/error.h"

struct sink {
	struct buffer buffer;
	int fd;
	int error; /* errno of the first failure, ENOMEM without memory, or 0 */
};

void sink_init(struct sink *s, int fd);
void sink_release(struct sink *s);

/* Whether so many bytes fit into the buffer as it is. */
static inline bool sink_has_room(const struct sink *s, size_t size)
{
	return s->buffer.capacity - s->buffer.size >= size && !s->error;
}

void sink_bytes(struct sink *s, const void *data, size_t size);
/* Room for `size` bytes, which the caller fills before the next call; NULL after an error. */
uint8_t *sink_room(struct sink *s, size_t size);
void sink_text(struct sink *s, const char *text);
void sink_char_slowly(struct sink *s, char c);
static inline void sink_char(struct sink *s, char c)
{
	if (sink_has_room(s, 1))
		s->buffer.data[s->buffer.size++] = (uint8_t)c;
	else
		sink_char_slowly(s, c);
}

void sink_unsigned(struct sink *s, uint64_t value);
/* The same for room that the caller has, SINK_DIGITS_MAX bytes; returns where the digits end. */
#define SINK_DIGITS_MAX 20
char *sink_digits(char *at, uint64_t value);
void sink_printf(struct sink *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * A JSON string with its quotes: \uHHHH for what utf8.h does not let be shown as it is, U+FFFD for
 * bytes that are no UTF-8.
 */
void sink_json_string(struct sink *s, const char *text);

/* Text for people: '?' for each character that utf8.h does not let be shown as it is. */
void sink_printable(struct sink *s, const char *text);

/* A field of CSV (RFC 4180) with its quotes, printable, and no formula for spreadsheets. */
void sink_csv(struct sink *s, const char *text);

/* After `part`, whose bytes belong into `s`: without memory for them, `s` has failed, too. */
void sink_lacks(struct sink *s, const struct buffer *part);

/* Writes what waits. The first error ever comes with each call. */
struct error *sink_flush(struct sink *s) ERROR_CHECKED;

#endif
