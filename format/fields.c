/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/fields.h"

#include <string.h>

#include "format/wire.h"

void text_encode(struct buffer *out, const char *text)
{
	size_t size = text ? strnlen(text, WIRE_TEXT_MAX) : 0;

	buffer_append(out, text, size);
	buffer_u8(out, 0);
}

uint32_t u32_decode(struct cursor *c)
{
	uint64_t value = cursor_uleb(c);

	if (value > UINT32_MAX)
		cursor_fail(c);
	return (uint32_t)value;
}

void record_encode(struct buffer *out, const struct buffer *record)
{
	buffer_uleb(out, record->size);
	buffer_append(out, record->data, record->size);
}

bool record_decode(struct cursor *c, struct cursor *record)
{
	uint64_t size = cursor_uleb(c);
	const uint8_t *bytes = cursor_bytes(c, size);

	*record = cursor_over(bytes, bytes ? size : 0);
	return bytes != NULL;
}
