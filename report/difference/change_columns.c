/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/difference/change_columns.h"

#include <math.h>
#include <stdint.h>

/* Terminals narrower than these widths: the row leaves out what the name says. */
enum { WIDTH_OF_ALL = 170, WIDTH_OF_INTERVALS = 140, WIDTH_OF_TOTAL_P = 100, WIDTH_OF_TOTAL = 76 };

/* -------- what is compared -------- */

static void write_runs(const struct compared_runs *r, struct sink *s, enum change_side side)
{
	size_t n = r->sides[side].count;

	sink_printf(s, "%zu run%s of %.3f ", n, n == 1 ? "" : "s", r->totals[side]);
	sink_printable(s, r->unit);
}

void change_summary(const struct change_columns *c, struct sink *s)
{
	const struct compared_runs *r = c->runs;

	sink_text(s, "# before: ");
	write_runs(r, s, CHANGE_BEFORE);
	sink_text(s, r->scaled ? " (scaled); now: " : "; now: ");
	write_runs(r, s, CHANGE_NOW);
	sink_text(s, r->partner ? ", by turns\n" : "\n");
	if (!r->noise_known)
		sink_text(s, "# How far such values vary by chance is known from several runs "
			     "only: --diff A --diff B ...\n");
	else if (r->all == 2)
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

/* -------- columns -------- */

static unsigned int width(const struct change_columns *c)
{
	return c->width ? c->width : UINT32_MAX;
}

static bool shows_total(const struct change_columns *c)
{
	return !c->one_side && width(c) >= WIDTH_OF_TOTAL;
}

static bool shows_values(const struct change_columns *c, bool total)
{
	return !total || width(c) >= WIDTH_OF_ALL;
}

static bool shows_interval(const struct change_columns *c)
{
	return c->runs->noise_known && width(c) >= WIDTH_OF_INTERVALS;
}

static bool shows_p(const struct change_columns *c, bool total)
{
	return c->runs->noise_known && (!total || width(c) >= WIDTH_OF_TOTAL_P);
}

static void write_side_heading(const struct change_columns *c, struct sink *s, bool total)
{
	if (shows_values(c, total))
		sink_text(s, "    before       now ");
	sink_printf(s, "   %s", total ? " total" : "change");
	if (shows_interval(c))
		sink_text(s, "  95 % interval of it");
	if (shows_p(c, total))
		sink_text(s, "        p");
	sink_char(s, ' ');
}

void change_heading(const struct change_columns *c, struct sink *s)
{
	write_side_heading(c, s, false);
	if (shows_total(c)) {
		sink_text(s, " |");
		write_side_heading(c, s, true);
	}
}

/* How many columns write_side() takes. */
static unsigned int side_width(const struct change_columns *c, bool total)
{
	unsigned int columns = 9; /* the change */

	if (shows_values(c, total))
		columns += 21;
	if (shows_interval(c))
		columns += 22;
	return columns + (shows_p(c, total) ? 10 : 1);
}

unsigned int change_width(const struct change_columns *c)
{
	return side_width(c, false) + (shows_total(c) ? 2 + side_width(c, true) : 0);
}

static const char *colour(const struct change_columns *c, const struct change *one)
{
	if (!c->colour || !one->sure)
		return "";
	return one->now > one->before ? "\033[31m" : "\033[32m";
}

static void write_side(const struct change_columns *c, struct sink *s, const struct change *one,
		       bool total)
{
	const char *begin = colour(c, one);

	if (shows_values(c, total))
		sink_printf(s, "%10.3f%10.3f ", one->before, one->now);
	sink_printf(s, "%s%+9.3f%s", begin, one->now - one->before, *begin ? "\033[m" : "");
	if (shows_interval(c))
		sink_printf(s, " [%+9.3f,%+9.3f]", one->low, one->high);
	if (shows_p(c, total) && one->p < 0.00001)
		sink_text(s, " <0.00001");
	else if (shows_p(c, total))
		sink_printf(s, " %8.5f", one->p);
	sink_char(s, one->sure ? '*' : ' ');
}

void change_write(const struct change_columns *c, struct sink *s, const struct change *self,
		  const struct change *total)
{
	write_side(c, s, self, false);
	if (shows_total(c)) {
		sink_text(s, " |");
		write_side(c, s, total, true);
	}
}

/* -------- JSON -------- */

static void json_number(struct sink *s, const char *key, double value)
{
	if (isnan(value))
		sink_printf(s, "\"%s\": null, ", key);
	else
		sink_printf(s, "\"%s\": %.9g, ", key, value);
}

void change_json(struct sink *s, const struct change *one)
{
	sink_char(s, '{');
	json_number(s, "before", one->before);
	json_number(s, "now", one->now);
	json_number(s, "change", one->now - one->before);
	json_number(s, "low", one->low);
	json_number(s, "high", one->high);
	json_number(s, "p", one->p);
	sink_printf(s, "\"sure\": %s}", one->sure ? "true" : "false");
}

void change_json_runs(struct sink *s, const struct compared_runs *r)
{
	sink_printf(s,
		    "\"runs\": {\"before\": %zu, \"now\": %zu, \"by_turns\": %s},\n"
		    "\"total\": {\"before\": %.9g, \"now\": %.9g},\n\"scaled\": %s,\n\"unit\": ",
		    r->sides[0].count, r->sides[1].count, r->partner ? "true" : "false",
		    r->totals[0], r->totals[1], r->scaled ? "true" : "false");
	sink_json_string(s, r->unit);
	sink_printf(s, ",\n\"alpha\": %g,\n", CHANGE_ALPHA);
}
