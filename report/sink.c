/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/sink.h"

#include "report/utf8.h"

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

int sink_flush(struct sink *s)
{
	if (s->fd >= 0)
		write_out(s);
	else if (!buffer_ok(&s->buffer) && !s->error)
		s->error = ENOMEM;
	return -s->error;
}

void sink_bytes(struct sink *s, const void *data, size_t size)
{
	if (s->fd >= 0 && s->buffer.size + size > WRITE_SIZE && s->buffer.size)
		write_out(s);
	if (s->error)
		return;
	buffer_append(&s->buffer, data, size);
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

	for (; value >= 10000; value /= 10000)
		n += 4;
	return n + (value >= 10) + (value >= 100) + (value >= 1000);
}

/* Formats with many numbers spend most of their time here: straight into the buffer. */
void sink_unsigned(struct sink *s, uint64_t value)
{
	unsigned int n = digits_of(value);
	char text[20], *at = text;
	bool room = sink_has_room(s, n);

	if (room) {
		at = (char *)s->buffer.data + s->buffer.size;
		s->buffer.size += n;
	}
	for (unsigned int i = n; i-- > 0; value /= 10)
		at[i] = (char)('0' + value % 10);
	if (!room)
		sink_bytes(s, text, n);
}

void sink_hex(struct sink *s, uint64_t value)
{
	char digits[16];
	size_t at = sizeof(digits);

	do {
		digits[--at] = "0123456789abcdef"[value & 15];
		value >>= 4;
	} while (value);
	sink_bytes(s, digits + at, sizeof(digits) - at);
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

/* U+0080 to U+009F: terminals take them for control characters. */
static bool is_c1_control(const unsigned char *text, size_t length)
{
	return length == 2 && text[0] == 0xc2 && text[1] < 0xa0;
}

void sink_json_string(struct sink *s, const char *text)
{
	const unsigned char *at = (const unsigned char *)text, *plain = at;

	sink_char(s, '"');
	while (*at) {
		size_t length = utf8_length((const char *)at);

		if (length && *at >= 0x20 && *at != '"' && *at != '\\' && *at != 0x7f &&
		    !is_c1_control(at, length)) {
			at += length;
			continue;
		}
		sink_bytes(s, plain, (size_t)(at - plain));
		if (*at == '"' || *at == '\\')
			sink_printf(s, "\\%c", *at);
		else if (!length)
			sink_text(s, "\xef\xbf\xbd");
		else
			sink_printf(s, "\\u%04x", length == 2 ? at[1] : at[0]);
		at += length ? length : 1;
		plain = at;
	}
	sink_bytes(s, plain, (size_t)(at - plain));
	sink_char(s, '"');
}

void sink_printable(struct sink *s, const char *text)
{
	const unsigned char *at = (const unsigned char *)text, *plain = at;

	while (*at) {
		size_t length = utf8_length((const char *)at);

		if (length && *at >= 0x20 && *at != 0x7f && !is_c1_control(at, length)) {
			at += length;
			continue;
		}
		sink_bytes(s, plain, (size_t)(at - plain));
		sink_char(s, '?');
		at += length ? length : 1;
		plain = at;
	}
	sink_bytes(s, plain, (size_t)(at - plain));
}
