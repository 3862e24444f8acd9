/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/views/diff.h"

#include "report/views/folded_lines.h"

#include <string.h>

/* One of the two profiles, on its way from line to line. */
struct side {
	struct folded_lines folded;
	size_t at;
	struct sink text; /* the stack of the line at `at` */
	uint64_t total;
};

static struct error *side_init(struct side *side, const struct profile *p,
			       const struct view_options *o)
{
	struct error *error = folded_lines_init(&side->folded, p, o);

	sink_init(&side->text, -1);
	for (size_t i = 0; !error && i < side->folded.line_count; i++)
		side->total += side->folded.lines[i].value;
	return error;
}

static void side_release(struct side *side)
{
	folded_lines_release(&side->folded);
	sink_release(&side->text);
}

static bool side_ended(const struct side *side)
{
	return side->at == side->folded.line_count;
}

static void side_text(struct side *side)
{
	buffer_clear(&side->text.buffer);
	if (!side_ended(side))
		folded_lines_stack(&side->folded, &side->folded.lines[side->at], &side->text);
}

/* The value of the line, if its turn has come; then goes on to the next. */
static uint64_t side_take(struct side *side, bool turn)
{
	uint64_t value;

	if (!turn)
		return 0;
	value = side->folded.lines[side->at++].value;
	side_text(side);
	return value;
}

/* Both are sorted bytewise, so the smaller text comes first. */
static int compare(const struct side *a, const struct side *b)
{
	const struct buffer *x = &a->text.buffer, *y = &b->text.buffer;
	size_t common = x->size < y->size ? x->size : y->size;
	int order;

	if (side_ended(a) || side_ended(b))
		return side_ended(a) - side_ended(b);
	order = common ? memcmp(x->data, y->data, common) : 0;
	return order ? order : x->size < y->size ? -1 : x->size > y->size;
}

static void write_lines(struct side *base, struct side *now, bool normalize, struct sink *s)
{
	bool scale = normalize && base->total && base->total != now->total;

	side_text(base);
	side_text(now);
	while (!side_ended(base) || !side_ended(now)) {
		int order = compare(base, now);
		const struct buffer *text = order <= 0 ? &base->text.buffer : &now->text.buffer;
		uint64_t before, after;

		sink_bytes(s, text->data, text->size);
		before = side_take(base, order <= 0);
		after = side_take(now, order >= 0);
		if (scale) /* in the order of difffolded.pl, so that both round alike */
			before = (uint64_t)((double)before * (double)now->total /
					    (double)base->total);
		sink_char(s, ' ');
		sink_unsigned(s, before);
		sink_char(s, ' ');
		sink_unsigned(s, after);
		sink_char(s, '\n');
	}
}

struct error *diff_render(const struct profile *p, const struct view_options *o, struct sink *s)
{
	struct side base = { 0 }, now = { 0 };
	struct error *error = side_init(&base, o->base, o);

	if (!error)
		error = side_init(&now, p, o);
	if (!error)
		write_lines(&base, &now, o->normalize, s);
	if (!buffer_ok(&base.text.buffer) || !buffer_ok(&now.text.buffer))
		error = error_memory();
	side_release(&base);
	side_release(&now);
	return error;
}
