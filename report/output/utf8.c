/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/output/utf8.h"

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
