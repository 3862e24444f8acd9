/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/page/html_code.h"

#include "report/tables/rows.h"

#include <stdlib.h>

/* Of the kernel there is neither source nor code. */
static bool may_have_code(const struct row *row)
{
	return row->self && row->object[0] != '[';
}

static void put_listings(struct buffer *out, struct html_texts *texts,
			 const struct view_listings *listings)
{
	buffer_uleb(out, listings->count);
	for (size_t i = 0; i < listings->count; i++) {
		const struct sink *text = &listings->texts[i];

		buffer_uleb(out, html_text_number(texts, listings->rows[i].name));
		buffer_uleb(out, html_text_number(texts, listings->rows[i].object));
		buffer_uleb(out, text->buffer.size);
		buffer_append(out, text->buffer.data, text->buffer.size);
		out->failed |= text->buffer.failed || text->error;
	}
}

static struct error *put_hottest(struct buffer *out, struct html_texts *texts,
				 const struct profile *p, const struct view_options *o,
				 struct rows *rows)
{
	struct view_listings listings = { .rows = rows->list };
	struct error *error;

	for (size_t i = 0; i < rows->count && listings.count < o->code_functions; i++)
		if (may_have_code(&rows->list[i]))
			rows->list[listings.count++] = rows->list[i];
	listings.texts = calloc(listings.count + 1, sizeof(*listings.texts));
	if (!listings.texts)
		return error_memory();
	for (size_t i = 0; i < listings.count; i++)
		sink_init(&listings.texts[i], -1);
	error = o->listings(p, o, &listings);
	if (!error)
		put_listings(out, texts, &listings);
	for (size_t i = 0; i < listings.count; i++)
		sink_release(&listings.texts[i]);
	free(listings.texts);
	return error;
}

struct error *html_code_put(struct buffer *out, struct html_texts *texts, const struct profile *p,
			    const struct view_options *o)
{
	struct rows rows;
	struct error *error;

	if (!o->code_functions) {
		buffer_uleb(out, 0);
		return NULL;
	}
	error = rows_init(&rows, p, ROWS_BY_FUNCTION);
	if (!error)
		error = put_hottest(out, texts, p, o, &rows);
	rows_release(&rows);
	return error;
}
