/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/views/top_diff.h"

#include "report/output/fitted.h"
#include "report/difference/change_columns.h"
#include "report/difference/comparison.h"

#include <math.h>
#include <string.h>

struct table {
	const struct comparison *comparison;
	struct change_columns columns;
	const struct view_options *options;
	double min; /* rows below are left out */
	const char *by;
};

static bool wanted(const struct table *t, const struct compared *one)
{
	return one->total.before >= t->min || one->total.now >= t->min;
}

/* -------- text -------- */

/* "(renamed from work) ", "(inlined into main) "; the other name goes where it is too long. */
static void text_state(const struct compared *one, struct sink *s, unsigned int *room)
{
	const char *state = one->lineage == LINEAGE_CALLED ? "was inlined" : compared_state(one);
	const char *word = one->lineage == LINEAGE_RENAMED ? " from " : " into ";
	size_t columns = strlen(state) + 3, more = strlen(word) + strlen(one->other);

	if (!*state)
		return;
	sink_printf(s, "(%s", state);
	if (*one->other && (!*room || columns + more + FITTED_LEAST <= *room)) {
		sink_text(s, word);
		sink_printable(s, one->other);
		columns += more;
	}
	sink_text(s, ") ");
	if (*room)
		*room -= (unsigned int)columns;
}

static void text_row(const struct table *t, const struct compared *one, struct sink *s)
{
	unsigned int room = fitted_room(t->columns.width, change_width(&t->columns) + 2);

	change_write(&t->columns, s, &one->self, &one->total);
	sink_text(s, "  ");
	text_state(one, s, &room);
	fitted_name(s, one->name, one->object, room);
	sink_char(s, '\n');
}

/* -------- CSV and JSON -------- */

static void csv_heading(const struct table *t, struct sink *s)
{
	static const char *const sides[] = { "self", "total" };

	sink_printf(s, "%s,object,state", t->by);
	for (size_t i = 0; i < 2; i++)
		sink_printf(s, ",%s_before,%s_now,%s_change,%s_low,%s_high,%s_p,%s_sure", sides[i],
			    sides[i], sides[i], sides[i], sides[i], sides[i], sides[i]);
	sink_text(s, ",other\r\n");
}

/* What is not known stays empty. */
static void csv_number(struct sink *s, double value)
{
	sink_char(s, ',');
	if (!isnan(value))
		sink_printf(s, "%.9g", value);
}

static void csv_side(struct sink *s, const struct change *c)
{
	const double numbers[] = { c->before, c->now, c->now - c->before, c->low, c->high, c->p };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		csv_number(s, numbers[i]);
	sink_printf(s, ",%d", c->sure);
}

static void csv_row(const struct table *t, const struct compared *one, struct sink *s)
{
	(void)t;
	sink_csv(s, one->name);
	sink_char(s, ',');
	sink_csv(s, one->object);
	sink_printf(s, ",%s", compared_state(one));
	csv_side(s, &one->self);
	csv_side(s, &one->total);
	sink_char(s, ',');
	if (*one->other)
		sink_csv(s, one->other);
	sink_text(s, "\r\n");
}

static void json_row(const struct table *t, const struct compared *one, struct sink *s)
{
	(void)t;
	sink_text(s, "{\"name\": ");
	sink_json_string(s, one->name);
	sink_text(s, ", \"object\": ");
	sink_json_string(s, one->object);
	sink_printf(s, ", \"state\": \"%s\"", compared_state(one));
	if (*one->other) {
		sink_text(s, ", \"other\": ");
		sink_json_string(s, one->other);
	}
	sink_text(s, ", \"self\": ");
	change_json(s, &one->self);
	sink_text(s, ", \"total\": ");
	change_json(s, &one->total);
	sink_char(s, '}');
}

static void json_begin(const struct table *t, struct sink *s)
{
	sink_text(s, "{\n");
	change_json_runs(s, &t->comparison->runs);
	sink_printf(s, "\"by\": \"%s\",\n\"rows\": [", t->by);
}

/* -------- all of it -------- */

static void write_rows(const struct table *t, const char *between,
		       void (*row)(const struct table *, const struct compared *, struct sink *),
		       struct sink *s)
{
	unsigned int written = 0;

	for (size_t i = 0; i < t->comparison->count; i++) {
		if (!wanted(t, &t->comparison->list[i]))
			continue;
		if (t->options->limit && written == t->options->limit)
			break;
		sink_text(s, written++ ? between : "");
		row(t, &t->comparison->list[i], s);
	}
}

static void write_table(const struct table *t, struct sink *s)
{
	if (t->options->csv) {
		csv_heading(t, s);
		write_rows(t, "", csv_row, s);
	} else if (t->options->json) {
		json_begin(t, s);
		sink_char(s, '\n');
		write_rows(t, ",\n", json_row, s);
		sink_text(s, "\n]\n}\n");
	} else {
		change_summary(&t->columns, s);
		change_heading(&t->columns, s);
		sink_printf(s, "  %s\n", t->by);
		write_rows(t, "", text_row, s);
	}
}

struct error *top_diff_render(const struct profile *p, const struct view_options *o,
			      enum rows_key key, struct sink *s)
{
	struct comparison comparison;
	struct table table = { .comparison = &comparison,
			       .options = o,
			       .by = o->by ? o->by : "function" };
	const struct comparison_sides sides = { o->base, p, key, o->normalize };
	struct error *error = comparison_init(&comparison, &sides);

	if (!error) {
		table.min = p->min_percent / 100 * comparison.runs.totals[CHANGE_NOW];
		table.columns = (struct change_columns){ .runs = &comparison.runs,
							 .width = o->width,
							 .colour = o->colour };
		write_table(&table, s);
	}
	comparison_release(&comparison);
	return error;
}
