/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_PAGE_HTML_COLUMN_H
#define REPORT_PAGE_HTML_COLUMN_H

/*
 * Columns of many numbers in the page's data: LEB128, straight into a buffer. There is room for all
 * of them before the first is put, so that none has to look.
 */

#include "common/buffer.h"

/* Room for `n` numbers; NULL without memory. html_column_end() sets the bytes in use. */
static inline uint8_t *html_column_begin(struct buffer *b, size_t n)
{
	return buffer_extend(b, 10 * n);
}

static inline void html_column_end(struct buffer *b, const uint8_t *end)
{
	b->size = (size_t)(end - b->data);
}

static inline uint8_t *html_column_put(uint8_t *at, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*at++ = (uint8_t)(value | 0x80);
	*at++ = (uint8_t)value;
	return at;
}

#endif
