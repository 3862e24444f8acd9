/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/output/fitted.h"

unsigned int fitted_room(unsigned int width, unsigned int used)
{
	if (!width)
		return 0;
	return width > used + FITTED_LEAST ? width - used : FITTED_LEAST;
}

/* Bytes that continue a character do not count. */
static bool begins(uint8_t byte)
{
	return (byte & 0xc0) != 0x80;
}

static size_t characters(const struct buffer *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->size; i++)
		n += begins(b->data[i]);
	return n;
}

/* Where the n-th character begins. */
static size_t position(const struct buffer *b, size_t n)
{
	size_t at = 0;

	for (size_t seen = 0; at < b->size; at++)
		if (begins(b->data[at]) && seen++ == n)
			break;
	return at;
}

/* For `s`, which lacks it without memory. */
static struct sink printable(struct sink *s, const char *text)
{
	struct sink clean;

	sink_init(&clean, -1);
	sink_printable(&clean, text);
	sink_lacks(s, &clean.buffer);
	return clean;
}

static void write_fitted(struct sink *s, const struct buffer *text, size_t room)
{
	size_t n = characters(text), end = room / 2, begin;

	if (!room || n <= room) {
		sink_bytes(s, text->data, text->size);
		return;
	}
	begin = room - 1 - end;
	sink_bytes(s, text->data, position(text, begin));
	sink_text(s, "…");
	sink_bytes(s, text->data + position(text, n - end), text->size - position(text, n - end));
}

void fitted_text(struct sink *s, const char *text, unsigned int room)
{
	struct sink clean = printable(s, text);

	write_fitted(s, &clean.buffer, room);
	sink_release(&clean);
}

void fitted_beginning(struct sink *s, const char *text, unsigned int room)
{
	struct sink clean = printable(s, text);

	if (!room || characters(&clean.buffer) <= room) {
		sink_bytes(s, clean.buffer.data, clean.buffer.size);
	} else {
		sink_bytes(s, clean.buffer.data, position(&clean.buffer, room - 1));
		sink_text(s, "…");
	}
	sink_release(&clean);
}

void fitted_right(struct sink *s, const char *text, unsigned int columns)
{
	struct sink clean = printable(s, text);

	for (size_t n = characters(&clean.buffer); n < columns; n++)
		sink_char(s, ' ');
	sink_bytes(s, clean.buffer.data, position(&clean.buffer, columns));
	sink_release(&clean);
}

void fitted_name(struct sink *s, const char *name, const char *object, unsigned int room)
{
	struct sink first = printable(s, name), second = printable(s, object);
	size_t both = characters(&first.buffer) + 2 + characters(&second.buffer);
	/* What stands for an object says its name itself. */
	bool shown = object[0] && name[0] != '[' && (!room || both <= room);

	write_fitted(s, &first.buffer, room);
	if (shown) {
		sink_text(s, "  ");
		sink_bytes(s, second.buffer.data, second.buffer.size);
	}
	sink_release(&first);
	sink_release(&second);
}
