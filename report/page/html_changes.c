/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/page/html_changes.h"

#include "report/output/sink.h"
#include "report/difference/comparison.h"

#include <string.h>

static void put_head(struct buffer *out, const struct compared_runs *r)
{
	struct sink s;

	sink_init(&s, -1);
	sink_printf(
		&s,
		"{\"runs\":[%zu,%zu],\"totals\":[%.9g,%.9g],\"noise\":%s,\"alpha\":%g,\"unit\":",
		r->sides[0].count, r->sides[1].count, r->totals[0], r->totals[1],
		r->noise_known ? "true" : "false", CHANGE_ALPHA);
	sink_json_string(&s, r->unit);
	sink_char(&s, '}');
	buffer_uleb(out, s.buffer.size);
	buffer_append(out, s.buffer.data, s.buffer.size);
	out->failed |= s.buffer.failed || s.error;
	sink_release(&s);
}

static unsigned int flags(const struct compared *one)
{
	static const unsigned int lineages[] = { 0, HTML_CHANGE_RENAMED, HTML_CHANGE_INLINED,
						 HTML_CHANGE_CALLED };

	return (one->before ? HTML_CHANGE_WAS : 0) | (one->now ? HTML_CHANGE_IS : 0) |
	       (one->self.sure ? HTML_CHANGE_SELF : 0) | (one->total.sure ? HTML_CHANGE_TOTAL : 0) |
	       lineages[one->lineage];
}

static void put_numbers(struct buffer *out, const struct comparison *c, bool total)
{
	for (int column = 0; column < HTML_CHANGE_COLUMNS; column++)
		for (size_t i = 0; i < c->count; i++)
			html_change_put(out, total ? &c->list[i].total : &c->list[i].self, column);
}

static void put_rows(struct buffer *out, struct html_texts *texts, const struct comparison *c)
{
	buffer_uleb(out, c->count);
	for (size_t i = 0; i < c->count; i++)
		buffer_uleb(out, html_text_number(texts, c->list[i].name));
	for (size_t i = 0; i < c->count; i++)
		buffer_uleb(out, html_text_number(texts, c->list[i].object));
	for (size_t i = 0; i < c->count; i++)
		buffer_uleb(out, html_text_number(texts, c->list[i].other));
	for (size_t i = 0; i < c->count; i++)
		buffer_uleb(out, flags(&c->list[i]));
	put_numbers(out, c, false);
	put_numbers(out, c, true);
}

/* Commands, separators and wakers have no row, whatever their names are. */
static bool has_row(const struct function *f)
{
	return f->kind != PROFILE_FRAME_GROUP && f->kind != PROFILE_FRAME_SEPARATOR &&
	       f->kind != PROFILE_FRAME_END && !f->waker;
}

/* A row has the functions of its name, and where it was renamed those of its other name. */
/* A name leads to twice the row, the old name of a renamed function to one more. */
static bool number_row(struct map *rows, struct buffer *key, const struct compared *one, size_t i)
{
	bool added;

	row_common_key(key, ROWS_BY_FUNCTION, one->name, one->object);
	if (!buffer_ok(key) ||
	    map_number(rows, key->data, key->size, (uint32_t)(2 * i), &added) == UINT32_MAX)
		return false;
	if (one->lineage != LINEAGE_RENAMED)
		return true;
	row_common_key(key, ROWS_BY_FUNCTION, one->other, one->object);
	return buffer_ok(key) &&
	       map_number(rows, key->data, key->size, (uint32_t)(2 * i + 1), &added) != UINT32_MAX;
}

static struct error *put_functions(struct buffer *out, const struct html_compared *compared,
				   const struct comparison *c)
{
	const struct functions *functions = &compared->tree->functions;
	struct buffer key = { 0 };
	struct map rows = { 0 };
	bool ok = true;

	for (size_t i = 0; ok && i < c->count; i++)
		ok = number_row(&rows, &key, &c->list[i], i);
	for (size_t i = 0; ok && i < functions->count; i++) {
		const struct function *f = &functions->list[compared->order->functions[i]];
		const uint64_t *row;

		row_common_key(&key, ROWS_BY_FUNCTION, f->name, f->object);
		row = has_row(f) ? map_get(&rows, key.data, key.size) : NULL;
		buffer_uleb(out, row ? *row + 1 : 0);
		ok = buffer_ok(&key);
	}
	map_release(&rows);
	buffer_release(&key);
	return ok ? NULL : error_memory();
}

static struct error *put_comparison(struct buffer *out, struct html_texts *texts,
				    const struct html_compared *compared, bool scale)
{
	const struct comparison_sides sides = { compared->base, compared->now, ROWS_BY_FUNCTION,
						scale };
	struct comparison c;
	struct error *error = comparison_init(&c, &sides);

	if (!error) {
		put_head(out, &c.runs);
		put_rows(out, texts, &c);
		error = put_functions(out, compared, &c);
	}
	if (!error)
		error = html_calls_put(out, compared, &c.runs);
	comparison_release(&c);
	return error;
}

struct error *html_changes_put(struct buffer *out, struct html_texts *texts,
			       const struct html_compared *compared)
{
	struct error *error = put_comparison(out, texts, compared, false);

	return error ? error : put_comparison(out, texts, compared, true);
}
