/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/page/html_texts.h"

#include <string.h>

#define MAX_TEXT 65536

void html_texts_release(struct html_texts *t)
{
	map_release(&t->numbers);
	buffer_release(&t->bytes);
	buffer_release(&t->lengths);
}

uint64_t html_text_number(struct html_texts *t, const char *text)
{
	size_t size = strnlen(text, MAX_TEXT);
	bool added;
	uint64_t *entry = map_put(&t->numbers, text, size, &added);

	if (!entry) {
		t->failed = true;
		return 0;
	}
	if (added) {
		*entry = t->numbers.count - 1;
		buffer_append(&t->bytes, text, size);
		buffer_uleb(&t->lengths, size);
	}
	return *entry;
}

void html_texts_put(const struct html_texts *t, struct buffer *out)
{
	buffer_uleb(out, t->numbers.count);
	buffer_append(out, t->lengths.data, t->lengths.size);
	buffer_append(out, t->bytes.data, t->bytes.size);
	out->failed |= t->failed || t->bytes.failed || t->lengths.failed;
}
