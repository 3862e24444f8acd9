/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/views/top_diff.h"

#include "report/output/fitted.h"
#include "report/views/comparison.h"

#include <math.h>
#include <string.h>

/* Terminals narrower than these widths: the row leaves out what the name says. */
enum { WIDTH_OF_ALL = 170, WIDTH_OF_INTERVALS = 140, WIDTH_OF_TOTAL_P = 100, WIDTH_OF_TOTAL = 76 };

struct table {
	const struct comparison *comparison;
	const struct view_options *options;
	double min; /* rows below are left out */
	const char *by;
};

static bool wanted(const struct table *t, const struct compared *one)
{
	return one->total.before >= t->min || one->total.now >= t->min;
}

static const char *state(const struct compared *one)
{
	return !one->before ? "new" : !one->now ? "vanished" : "";
}

/* -------- text -------- */

static void write_runs(const struct table *t, struct sink *s, enum change_side side)
{
	const struct comparison *c = t->comparison;

	sink_printf(s, "%zu run%s of %.3f ", c->runs[side], c->runs[side] == 1 ? "" : "s",
		    c->totals[side]);
	sink_printable(s, c->unit);
}

static void write_summary(const struct table *t, struct sink *s)
{
	const struct comparison *c = t->comparison;

	sink_text(s, "# before: ");
	write_runs(t, s, CHANGE_BEFORE);
	sink_text(s, c->scaled ? " (scaled); now: " : "; now: ");
	write_runs(t, s, CHANGE_NOW);
	sink_text(s, "\n");
	if (!c->noise_known)
		sink_text(s, "# How far such values vary by chance is known from several runs "
			     "only: --diff A --diff B ...\n");
	else if (c->runs[0] + c->runs[1] == 2)
		sink_printf(s,
			    "# *: more than sampling noise (p < %g for all rows together)\n# how "
			    "far runs vary is known from several only\n",
			    CHANGE_ALPHA);
	else
		sink_printf(s,
			    "# *: more than the runs vary by chance (p < %g for all rows "
			    "together)\n",
			    CHANGE_ALPHA);
}

static unsigned int width(const struct table *t)
{
	return t->options->width ? t->options->width : UINT32_MAX;
}

static bool shows_total(const struct table *t)
{
	return width(t) >= WIDTH_OF_TOTAL;
}

static bool shows_values(const struct table *t, bool total)
{
	return !total || width(t) >= WIDTH_OF_ALL;
}

static bool shows_interval(const struct table *t)
{
	return t->comparison->noise_known && width(t) >= WIDTH_OF_INTERVALS;
}

static bool shows_p(const struct table *t, bool total)
{
	return t->comparison->noise_known && (!total || width(t) >= WIDTH_OF_TOTAL_P);
}

static void write_side_heading(const struct table *t, struct sink *s, bool total)
{
	if (shows_values(t, total))
		sink_text(s, "    before       now ");
	sink_printf(s, "   %s", total ? " total" : "change");
	if (shows_interval(t))
		sink_text(s, "  95 % interval of it");
	if (shows_p(t, total))
		sink_text(s, "        p");
	sink_char(s, ' ');
}

static void write_heading(const struct table *t, struct sink *s)
{
	write_side_heading(t, s, false);
	if (shows_total(t)) {
		sink_text(s, " |");
		write_side_heading(t, s, true);
	}
	sink_printf(s, "  %s\n", t->by);
}

/* How many columns write_side() takes. */
static unsigned int side_columns(const struct table *t, bool total)
{
	unsigned int columns = 9; /* the change */

	if (shows_values(t, total))
		columns += 21;
	if (shows_interval(t))
		columns += 22;
	return columns + (shows_p(t, total) ? 10 : 1);
}

static const char *colour(const struct table *t, const struct change *c)
{
	if (!t->options->colour || !c->sure)
		return "";
	return c->now > c->before ? "\033[31m" : "\033[32m";
}

static void write_side(const struct table *t, struct sink *s, const struct change *c, bool total)
{
	const char *begin = colour(t, c);

	if (shows_values(t, total))
		sink_printf(s, "%10.3f%10.3f ", c->before, c->now);
	sink_printf(s, "%s%+9.3f%s", begin, c->now - c->before, *begin ? "\033[m" : "");
	if (shows_interval(t))
		sink_printf(s, " [%+9.3f,%+9.3f]", c->low, c->high);
	if (shows_p(t, total) && c->p < 0.00001)
		sink_text(s, " <0.00001");
	else if (shows_p(t, total))
		sink_printf(s, " %8.5f", c->p);
	sink_char(s, c->sure ? '*' : ' ');
}

static void text_row(const struct table *t, const struct compared *one, struct sink *s)
{
	unsigned int used = side_columns(t, false) + 2;

	if (shows_total(t))
		used += side_columns(t, true) + 2;
	if (*state(one))
		used += (unsigned int)strlen(state(one)) + 3;
	write_side(t, s, &one->self, false);
	if (shows_total(t)) {
		sink_text(s, " |");
		write_side(t, s, &one->total, true);
	}
	sink_text(s, "  ");
	if (*state(one))
		sink_printf(s, "(%s) ", state(one));
	fitted_name(s, one->name, one->object, fitted_room(t->options->width, used));
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
	sink_text(s, "\r\n");
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
	sink_printf(s, ",%s", state(one));
	csv_side(s, &one->self);
	csv_side(s, &one->total);
	sink_text(s, "\r\n");
}

static void json_number(struct sink *s, const char *key, double value)
{
	if (isnan(value))
		sink_printf(s, "\"%s\": null, ", key);
	else
		sink_printf(s, "\"%s\": %.9g, ", key, value);
}

static void json_side(struct sink *s, const char *side, const struct change *c)
{
	sink_printf(s, ", \"%s\": {", side);
	json_number(s, "before", c->before);
	json_number(s, "now", c->now);
	json_number(s, "change", c->now - c->before);
	json_number(s, "low", c->low);
	json_number(s, "high", c->high);
	json_number(s, "p", c->p);
	sink_printf(s, "\"sure\": %s}", c->sure ? "true" : "false");
}

static void json_row(const struct table *t, const struct compared *one, struct sink *s)
{
	(void)t;
	sink_text(s, "{\"name\": ");
	sink_json_string(s, one->name);
	sink_text(s, ", \"object\": ");
	sink_json_string(s, one->object);
	sink_printf(s, ", \"state\": \"%s\"", state(one));
	json_side(s, "self", &one->self);
	json_side(s, "total", &one->total);
	sink_char(s, '}');
}

static void json_begin(const struct table *t, struct sink *s)
{
	const struct comparison *c = t->comparison;

	sink_printf(s,
		    "{\n\"runs\": {\"before\": %zu, \"now\": %zu},\n"
		    "\"total\": {\"before\": %.9g, \"now\": %.9g},\n\"scaled\": %s,\n\"unit\": ",
		    c->runs[0], c->runs[1], c->totals[0], c->totals[1],
		    c->scaled ? "true" : "false");
	sink_json_string(s, c->unit);
	sink_printf(s, ",\n\"alpha\": %g,\n\"by\": \"%s\",\n\"rows\": [", CHANGE_ALPHA, t->by);
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
		write_summary(t, s);
		write_heading(t, s);
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
		table.min = p->min_percent / 100 * comparison.totals[CHANGE_NOW];
		write_table(&table, s);
	}
	comparison_release(&comparison);
	return error;
}
