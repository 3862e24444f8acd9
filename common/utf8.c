/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/utf8.h"

static bool continues(unsigned char byte)
{
	return (byte & 0xc0) == 0x80;
}

unsigned int utf8_length(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	if (at[0] < 0x80)
		return at[0] ? 1 : 0;
	if (at[0] < 0xc2 || at[0] > 0xf4 || !continues(at[1]))
		return 0;
	if (at[0] < 0xe0)
		return 2;
	if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) ||
	    (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f) || !continues(at[2]))
		return 0;
	if (at[0] < 0xf0)
		return 3;
	return continues(at[3]) ? 4 : 0;
}

/* Of two or three bytes; see utf8_visible(). */
static bool is_hidden(const unsigned char *at, unsigned int length)
{
	unsigned int code;

	if (length == 2)
		return (at[0] == 0xc2 && at[1] < 0xa0) || (at[0] == 0xd8 && at[1] == 0x9c);
	if (length != 3 || at[0] != 0xe2)
		return false;
	code = (at[0] & 0xfu) << 12 | (at[1] & 0x3fu) << 6 | (at[2] & 0x3fu);
	return code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069);
}

size_t utf8_visible(const char *text)
{
	const unsigned char *start = (const unsigned char *)text, *at = start;

	for (;;) {
		unsigned int length;

		while (*at >= 0x20 && *at < 0x7f)
			at++;
		length = *at < 0x80 ? 0 : utf8_length((const char *)at);
		if (!length || is_hidden(at, length))
			return (size_t)(at - start);
		at += length;
	}
}

unsigned int utf8_skip(const char *text)
{
	unsigned int length = utf8_length(text);

	return length ? length : *text != 0;
}

void utf8_escape(struct buffer *b, const char *text)
{
	for (;;) {
		size_t visible = utf8_visible(text);

		buffer_append(b, text, visible);
		text += visible;
		if (!*text)
			return;
		for (unsigned int skip = utf8_skip(text); skip; skip--)
			buffer_printf(b, "\\x%02x", (unsigned char)*text++);
	}
}

void utf8_append(struct buffer *b, const char *text)
{
	while (*text) {
		const char *start = text;
		unsigned int length;

		while ((length = utf8_length(text)))
			text += length;
		buffer_append(b, start, (size_t)(text - start));
		if (*text) {
			buffer_text(b, "\xef\xbf\xbd");
			text++;
		}
	}
}

void utf8_append_character(struct buffer *b, uint32_t character)
{
	uint32_t c = character;

	if (!c || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		c = 0xfffd;
	if (c < 0x80) {
		buffer_u8(b, (uint8_t)c);
		return;
	}
	if (c < 0x800) {
		buffer_u8(b, (uint8_t)(0xc0 | c >> 6));
	} else {
		if (c < 0x10000) {
			buffer_u8(b, (uint8_t)(0xe0 | c >> 12));
		} else {
			buffer_u8(b, (uint8_t)(0xf0 | c >> 18));
			buffer_u8(b, (uint8_t)(0x80 | (c >> 12 & 0x3f)));
		}
		buffer_u8(b, (uint8_t)(0x80 | (c >> 6 & 0x3f)));
	}
	buffer_u8(b, (uint8_t)(0x80 | (c & 0x3f)));
}
