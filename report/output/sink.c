/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/output/sink.h"

#include "common/utf8.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define WRITE_SIZE (1u << 20)

void sink_init(struct sink *s, int fd)
{
	*s = (struct sink){ .fd = fd };
}

void sink_release(struct sink *s)
{
	buffer_release(&s->buffer);
}

static void write_out(struct sink *s)
{
	size_t done = 0;

	if (!buffer_ok(&s->buffer) && !s->error)
		s->error = ENOMEM;
	while (!s->error && done < s->buffer.size) {
		ssize_t n = write(s->fd, s->buffer.data + done, s->buffer.size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			s->error = errno;
		else
			done += (size_t)n;
	}
	buffer_clear(&s->buffer);
}

void sink_lacks(struct sink *s, const struct buffer *part)
{
	if (!buffer_ok(part) && !s->error)
		s->error = ENOMEM;
}

void sink_csv(struct sink *s, const char *text)
{
	struct sink clean;
	const uint8_t *data;

	sink_init(&clean, -1);
	sink_printable(&clean, text);
	sink_lacks(s, &clean.buffer);
	sink_char(s, '"');
	data = clean.buffer.data;
	for (size_t i = 0; i < clean.buffer.size; i++) {
		if (data[i] == '"')
			sink_char(s, '"');
		/* Spreadsheets run what begins like a formula. */
		if (!i && strchr("=+-@", data[i]))
			sink_char(s, '\'');
		sink_char(s, (char)data[i]);
	}
	sink_char(s, '"');
	sink_release(&clean);
}

struct error *sink_flush(struct sink *s)
{
	if (s->fd >= 0)
		write_out(s);
	else if (!buffer_ok(&s->buffer) && !s->error)
		s->error = ENOMEM;
	return s->error ? error_system(s->error, "cannot be written") : NULL;
}

uint8_t *sink_room(struct sink *s, size_t size)
{
	if (s->fd >= 0 && s->buffer.size + size > WRITE_SIZE && s->buffer.size)
		write_out(s);
	return s->error ? NULL : buffer_extend(&s->buffer, size);
}

void sink_bytes(struct sink *s, const void *data, size_t size)
{
	uint8_t *room = size ? sink_room(s, size) : NULL;

	if (room)
		memcpy(room, data, size);
}

void sink_text(struct sink *s, const char *text)
{
	sink_bytes(s, text, strlen(text));
}

void sink_char_slowly(struct sink *s, char c)
{
	sink_bytes(s, &c, 1);
}

static unsigned int digits_of(uint64_t value)
{
	unsigned int n = 1;

	for (; value >= 100000000; value /= 100000000)
		n += 8;
	return n + (value >= 10) + (value >= 100) + (value >= 1000) + (value >= 10000) +
	       (value >= 100000) + (value >= 1000000) + (value >= 10000000);
}

/* The last digits first, two at a time, which halves the divisions. */
static void put_digits(char *end, uint64_t value)
{
	static const char pairs[] =
		"00010203040506070809101112131415161718192021222324252627282930313233343536373839"
		"40414243444546474849505152535455565758596061626364656667686970717273747576777879"
		"8081828384858687888990919293949596979899";

	for (; value >= 100; value /= 100) {
		end -= 2;
		memcpy(end, pairs + 2 * (value % 100), 2);
	}
	if (value >= 10)
		memcpy(end - 2, pairs + 2 * value, 2);
	else
		end[-1] = (char)('0' + value);
}

char *sink_digits(char *at, uint64_t value)
{
	if (value < 10) {
		*at = (char)('0' + value);
		return at + 1;
	}
	at += digits_of(value);
	put_digits(at, value);
	return at;
}

/* Formats with many numbers spend most of their time here: straight into the buffer. */
void sink_unsigned(struct sink *s, uint64_t value)
{
	unsigned int n;
	char text[20];

	if (value < 10) {
		sink_char(s, (char)('0' + value));
		return;
	}
	n = digits_of(value);
	if (sink_has_room(s, n)) {
		s->buffer.size += n;
		put_digits((char *)s->buffer.data + s->buffer.size, value);
	} else {
		put_digits(text + n, value);
		sink_bytes(s, text, n);
	}
}

void sink_printf(struct sink *s, const char *format, ...)
{
	va_list args;

	if (s->error)
		return;
	va_start(args, format);
	buffer_vprintf(&s->buffer, format, args);
	va_end(args);
	if (s->fd >= 0 && s->buffer.size > WRITE_SIZE)
		write_out(s);
}

static void json_quoted(struct sink *s, const char *text, size_t size)
{
	for (size_t at = 0; at < size; at++) {
		if (text[at] == '"' || text[at] == '\\')
			sink_char(s, '\\');
		sink_char(s, text[at]);
	}
}

/* The character that follows what is visible: of three bytes at most. */
static void json_escaped(struct sink *s, const unsigned char *at)
{
	switch (utf8_length((const char *)at)) {
	case 0: sink_text(s, "\xef\xbf\xbd"); break;
	case 1: sink_printf(s, "\\u%04x", at[0]); break;
	case 2: sink_printf(s, "\\u%04x", (at[0] & 0x1f) << 6 | (at[1] & 0x3f)); break;
	default:
		sink_printf(s, "\\u%04x",
			    (at[0] & 0xf) << 12 | (at[1] & 0x3f) << 6 | (at[2] & 0x3f));
	}
}

void sink_json_string(struct sink *s, const char *text)
{
	sink_char(s, '"');
	for (;;) {
		size_t visible = utf8_visible(text);

		json_quoted(s, text, visible);
		text += visible;
		if (!*text)
			break;
		json_escaped(s, (const unsigned char *)text);
		text += utf8_skip(text);
	}
	sink_char(s, '"');
}

void sink_printable(struct sink *s, const char *text)
{
	while (*text) {
		size_t visible = utf8_visible(text);

		sink_bytes(s, text, visible);
		text += visible;
		if (*text)
			sink_char(s, '?');
		text += utf8_skip(text);
	}
}
