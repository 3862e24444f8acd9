/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/views/top.h"

#include "report/output/fitted.h"
#include "report/tables/rows.h"
#include "report/tables/sample_time.h"
#include "report/views/top_diff.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double share_interval(uint64_t part, uint64_t whole)
{
	const double z = 1.959964;
	double n = (double)whole + z * z;
	double share = ((double)part + z * z / 2) / n;

	return whole ? 100 * z * sqrt(share * (1 - share) / n) : 0;
}

/* Terminals of so many columns have room for names and for seconds, intervals or samples. */
enum { WIDTH_OF_SECONDS = 110, WIDTH_OF_INTERVALS = 76, WIDTH_OF_SAMPLES = 58 };

/* What the columns are measured in. */
struct scale {
	const struct profile *profile;
	const struct view_options *options;
	double seconds;	    /* per sample, or per unit of value; 0: no seconds */
	double cpu_seconds; /* per sample; 0: not known, or not the same for all */
	bool by_value;	    /* seconds are of values, not of samples */
	bool interval;	    /* samples are trials */
};

static struct scale scale_of(const struct profile *p, const struct view_options *o)
{
	struct scale c = { .profile = p, .options = o, .interval = p->value != PROFILE_WEIGHT };

	c.seconds = c.cpu_seconds = (double)sample_time(p) / 1e9;
	if (p->value == PROFILE_TIME) {
		/* Waits differ in length, so that their number says little; so do latencies. */
		c.interval = c.seconds > 0 && !p->latency;
		c.seconds = 1e-6;
		c.by_value = true;
	}
	for (size_t i = 0; i < p->group_count; i++)
		if (p->events[p->groups[i].event].kind == PRF_EVENT_OFF_CPU ||
		    p->events[p->groups[i].event].kind == PRF_EVENT_PREEMPTED)
			c.interval = false;
	return c;
}

static double percent(const struct scale *c, uint64_t value)
{
	return c->profile->total ? 100.0 * (double)value / (double)c->profile->total : 0;
}

/* Beside shares of latency stand those of CPU time. */
static bool shows_cpu(const struct scale *c)
{
	return c->profile->latency && c->cpu_seconds > 0;
}

static double cpu_percent(const struct scale *c, uint64_t samples)
{
	return c->profile->samples ? 100.0 * (double)samples / (double)c->profile->samples : 0;
}

static double seconds(const struct scale *c, uint64_t value, uint64_t samples)
{
	return c->seconds * (double)(c->by_value ? value : samples);
}

static bool wanted(const struct scale *c, const struct row *row)
{
	return percent(c, row->total) >= c->profile->min_percent;
}

/* Where a walk over the rows that are shown is. */
struct shown {
	size_t next;
	unsigned int n; /* so far */
};

/* NULL: no more. */
static const struct row *next_shown(const struct scale *c, const struct rows *r, struct shown *s)
{
	if (c->options->limit && s->n == c->options->limit)
		return NULL;
	while (s->next < r->count) {
		const struct row *row = &r->list[s->next++];

		if (wanted(c, row)) {
			s->n++;
			return row;
		}
	}
	return NULL;
}

/* -------- text -------- */

static const char *colour(const struct scale *c, double share)
{
	if (!c->options->colour)
		return "";
	return share >= 5 ? "\033[31m" : share >= 0.5 ? "\033[32m" : "";
}

/* On a narrow terminal a name is worth more than the same number in another unit. */
static bool shows_seconds(const struct scale *c)
{
	return c->seconds > 0 && (!c->options->width || c->options->width >= WIDTH_OF_SECONDS);
}

static bool shows_interval(const struct scale *c)
{
	return c->interval && (!c->options->width || c->options->width >= WIDTH_OF_INTERVALS);
}

static bool shows_samples(const struct scale *c)
{
	return !c->options->width || c->options->width >= WIDTH_OF_SAMPLES;
}

/* How many columns write_share() takes. */
static unsigned int share_columns(const struct scale *c)
{
	return 6 + (shows_interval(c) ? 7 : 0) + (shows_seconds(c) ? 11 : 0) +
	       (shows_samples(c) ? 11 : 0);
}

static void write_share(const struct scale *c, struct sink *s, uint64_t value, uint64_t samples)
{
	double share = percent(c, value);
	const char *begin = colour(c, share);

	sink_printf(s, "%s%6.2f%s", begin, share, *begin ? "\033[m" : "");
	if (shows_interval(c))
		sink_printf(s, " ±%-5.2f", share_interval(samples, c->profile->samples));
	if (shows_seconds(c))
		sink_printf(s, " %10.3f", seconds(c, value, samples));
	if (shows_samples(c) && shows_cpu(c))
		sink_printf(s, " %10.2f", cpu_percent(c, samples));
	else if (shows_samples(c))
		sink_printf(s, " %10" PRIu64,
			    c->profile->value == PROFILE_WEIGHT ? value : samples);
}

/* What the last column of a share counts. */
static const char *counted(const struct scale *c)
{
	if (shows_cpu(c))
		return "CPU %";
	return c->profile->value == PROFILE_WEIGHT ? c->profile->unit : "samples";
}

static void write_heading(const struct scale *c, struct sink *s, const char *self)
{
	sink_printf(s, "%6s%s%s", self, shows_interval(c) ? "       " : "",
		    shows_seconds(c) ? "    seconds" : "");
	if (!shows_samples(c))
		return;
	sink_char(s, ' ');
	fitted_right(s, counted(c), 10);
}

static void write_summary(const struct scale *c, struct sink *s)
{
	const struct profile *p = c->profile;
	const char *before = "; ";

	sink_printf(s, "# %" PRIu64 " samples", p->samples);
	if (c->seconds > 0)
		sink_printf(s, ", %.3f s", seconds(c, p->total, p->samples));
	if (shows_cpu(c))
		sink_printf(s, " of latency, %.3f s of CPU time",
			    c->cpu_seconds * (double)p->samples);
	if (p->value == PROFILE_WEIGHT) {
		sink_printf(s, ", %" PRIu64 " ", p->total);
		sink_printable(s, p->unit);
	}
	sink_printf(s, ", %" PRIu64 " lost", p->lost);
	for (size_t i = 0; i < p->trace_count; i++) {
		if (!p->traces[i].host[0])
			continue;
		sink_text(s, before);
		before = ", ";
		sink_printable(s, p->traces[i].host);
		sink_text(s, " ");
		sink_printable(s, p->traces[i].kernel);
	}
	sink_char(s, '\n');
	if (shows_interval(c))
		sink_text(s, "# ±: half of the 95 % interval, in percent of all\n");
}

/* After `used` columns. */
static void text_name(const struct scale *c, struct sink *s, const struct row *row,
		      unsigned int used)
{
	sink_text(s, "  ");
	fitted_name(s, row->name, row->object, fitted_room(c->options->width, used + 2));
	sink_char(s, '\n');
}

static void text_table(const struct scale *c, const struct rows *r, const char *by, struct sink *s)
{
	struct shown shown = { 0 };
	const struct row *row;

	write_summary(c, s);
	write_heading(c, s, "self %");
	sink_text(s, "  ");
	write_heading(c, s, "total %");
	sink_printf(s, "  %s\n", by);
	while ((row = next_shown(c, r, &shown))) {
		write_share(c, s, row->self, row->self_samples);
		sink_text(s, "  ");
		write_share(c, s, row->total, row->total_samples);
		text_name(c, s, row, 2 * share_columns(c) + 2);
	}
}

static void text_neighbours(const struct scale *c, const struct row_neighbours *list, size_t n,
			    struct sink *s)
{
	write_summary(c, s);
	for (size_t i = 0; i < n; i++) {
		const struct row_neighbours *one = &list[i];

		sink_char(s, '\n');
		for (size_t k = 0; k < one->caller_count; k++) {
			write_share(c, s, one->callers[k].total, one->callers[k].total_samples);
			sink_text(s, "    from");
			text_name(c, s, &one->callers[k], share_columns(c) + 8);
		}
		write_share(c, s, one->row.total, one->row.total_samples);
		text_name(c, s, &one->row, share_columns(c));
		for (size_t k = 0; k < one->callee_count; k++) {
			write_share(c, s, one->callees[k].total, one->callees[k].total_samples);
			sink_text(s, "    to  ");
			text_name(c, s, &one->callees[k], share_columns(c) + 8);
		}
	}
}

/* -------- CSV -------- */

static void csv_side(const struct scale *c, struct sink *s, uint64_t value, uint64_t samples)
{
	sink_printf(s, ",%" PRIu64, samples);
	if (c->profile->value == PROFILE_WEIGHT)
		sink_printf(s, ",%" PRIu64, value);
	if (c->seconds > 0)
		sink_printf(s, ",%.9g", seconds(c, value, samples));
	sink_printf(s, ",%.4f", percent(c, value));
	if (c->interval)
		sink_printf(s, ",%.4f", share_interval(samples, c->profile->samples));
}

/* Rows that are no functions lie in no object, or are one. */
static bool has_object(const struct scale *c)
{
	enum rows_key key = rows_key_of(c->options->by);

	return key == ROWS_BY_FUNCTION || key == ROWS_BY_LINE || c->options->function;
}

static void csv_heading(const struct scale *c, const char *by, struct sink *s)
{
	static const char *const sides[] = { "self", "total" };

	sink_printf(s, "%s%s", by, has_object(c) ? ",object" : "");
	for (size_t i = 0; i < 2; i++) {
		sink_printf(s, ",%s_samples", sides[i]);
		if (c->profile->value == PROFILE_WEIGHT)
			sink_printf(s, ",%s_weight", sides[i]);
		if (c->seconds > 0)
			sink_printf(s, ",%s_seconds", sides[i]);
		sink_printf(s, ",%s_percent", sides[i]);
		if (c->interval)
			sink_printf(s, ",%s_plus_minus", sides[i]);
	}
	sink_text(s, "\r\n");
}

static void csv_row(const struct scale *c, const struct row *row, struct sink *s)
{
	sink_csv(s, row->name);
	if (has_object(c)) {
		sink_char(s, ',');
		sink_csv(s, row->object);
	}
	csv_side(c, s, row->self, row->self_samples);
	csv_side(c, s, row->total, row->total_samples);
	sink_text(s, "\r\n");
}

static void csv_table(const struct scale *c, const struct rows *r, const char *by, struct sink *s)
{
	struct shown shown = { 0 };
	const struct row *row;

	csv_heading(c, by, s);
	while ((row = next_shown(c, r, &shown)))
		csv_row(c, row, s);
}

static void csv_neighbours(const struct scale *c, const struct row_neighbours *list, size_t n,
			   struct sink *s)
{
	sink_text(s, "of,");
	csv_heading(c, "role,function", s);
	for (size_t i = 0; i < n; i++) {
		const struct row_neighbours *one = &list[i];
		const struct row *parts[] = { one->callers, &one->row, one->callees };
		const size_t counts[] = { one->caller_count, 1, one->callee_count };
		static const char *const roles[] = { "caller", "function", "callee" };

		for (size_t part = 0; part < 3; part++)
			for (size_t k = 0; k < counts[part]; k++) {
				sink_csv(s, one->row.name);
				sink_printf(s, ",%s,", roles[part]);
				csv_row(c, &parts[part][k], s);
			}
	}
}

/* -------- JSON -------- */

static void json_side(const struct scale *c, const struct row *row, bool self, struct sink *s)
{
	const char *side = self ? "self" : "total";
	uint64_t value = self ? row->self : row->total;
	uint64_t samples = self ? row->self_samples : row->total_samples;

	sink_printf(s, ", \"%s\": {\"samples\": %" PRIu64 ", \"value\": %" PRIu64, side, samples,
		    value);
	if (c->seconds > 0)
		sink_printf(s, ", \"seconds\": %.9g", seconds(c, value, samples));
	sink_printf(s, ", \"percent\": %.4f", percent(c, value));
	if (c->interval)
		sink_printf(s, ", \"plus_minus\": %.4f",
			    share_interval(samples, c->profile->samples));
	sink_char(s, '}');
}

static void json_row(const struct scale *c, const struct row *row, bool edge, struct sink *s)
{
	sink_text(s, "{\"name\": ");
	sink_json_string(s, row->name);
	sink_text(s, ", \"object\": ");
	sink_json_string(s, row->object);
	if (!edge)
		json_side(c, row, true, s);
	json_side(c, row, false, s);
}

static void json_begin(const struct scale *c, const char *by, struct sink *s)
{
	sink_printf(s, "{\n\"samples\": %" PRIu64 ",\n\"total\": %" PRIu64 ",\n\"unit\": ",
		    c->profile->samples, c->profile->total);
	sink_json_string(s, c->profile->unit);
	sink_printf(s, ",\n\"lost\": %" PRIu64 ",\n\"by\": \"%s\",\n\"rows\": [", c->profile->lost,
		    by);
}

static void json_table(const struct scale *c, const struct rows *r, const char *by, struct sink *s)
{
	struct shown shown = { 0 };
	const struct row *row;

	json_begin(c, by, s);
	while ((row = next_shown(c, r, &shown))) {
		sink_text(s, shown.n > 1 ? ",\n" : "\n");
		json_row(c, row, false, s);
		sink_char(s, '}');
	}
	sink_text(s, "\n]\n}\n");
}

static void json_edges(const struct scale *c, const struct row_neighbours *of, bool callers,
		       struct sink *s)
{
	const struct row *list = callers ? of->callers : of->callees;
	size_t n = callers ? of->caller_count : of->callee_count;

	sink_printf(s, ",\n  \"%s\": [", callers ? "callers" : "callees");
	for (size_t i = 0; i < n; i++) {
		sink_text(s, i ? ",\n    " : "\n    ");
		json_row(c, &list[i], true, s);
		sink_char(s, '}');
	}
	sink_char(s, ']');
}

static void json_neighbours(const struct scale *c, const struct row_neighbours *list, size_t n,
			    struct sink *s)
{
	json_begin(c, "function", s);
	for (size_t i = 0; i < n; i++) {
		sink_text(s, i ? ",\n" : "\n");
		json_row(c, &list[i].row, false, s);
		json_edges(c, &list[i], true, s);
		json_edges(c, &list[i], false, s);
		sink_char(s, '}');
	}
	sink_text(s, "\n]\n}\n");
}

/* -------- all of it -------- */

/*
 * The number of leading rows that --min and --limit leave; the rows are sorted, most total first.
 */
static size_t wanted_rows(const struct scale *c, const struct row *rows, size_t n)
{
	size_t kept = 0, limit = c->options->limit ? c->options->limit : n;

	while (kept < n && kept < limit && wanted(c, &rows[kept]))
		kept++;
	return kept;
}

static struct error *render_neighbours(const struct scale *c, struct sink *s)
{
	struct row_neighbours *list, *shown;
	size_t n, count;
	struct error *error = rows_neighbours(&list, &n, c->profile, c->options->function);

	if (error)
		return error;
	shown = calloc(n + 1, sizeof(*shown));
	if (!shown) {
		rows_neighbours_free(list, n);
		return error_memory();
	}
	for (count = 0; count < n && wanted(c, &list[count].row) &&
			(!c->options->limit || count < c->options->limit);
	     count++) {
		struct row_neighbours *one = &shown[count];

		*one = list[count]; /* with shorter lists; the original is freed */
		one->caller_count = wanted_rows(c, one->callers, one->caller_count);
		one->callee_count = wanted_rows(c, one->callees, one->callee_count);
	}
	if (c->options->csv)
		csv_neighbours(c, shown, count, s);
	else if (c->options->json)
		json_neighbours(c, shown, count, s);
	else
		text_neighbours(c, shown, count, s);
	free(shown);
	rows_neighbours_free(list, n);
	return NULL;
}

struct error *top_render(const struct profile *p, const struct view_options *o, struct sink *s)
{
	const struct scale scale = scale_of(p, o);
	const char *by = o->by ? o->by : "function";
	struct rows rows;
	struct error *error;

	if (o->base)
		return top_diff_render(p, o, rows_key_of(o->by), s);
	if (o->function)
		return render_neighbours(&scale, s);
	error = rows_init(&rows, p, rows_key_of(o->by));
	if (!error && o->by_total)
		rows_sort_by_total(&rows);
	if (!error && o->csv)
		csv_table(&scale, &rows, by, s);
	else if (!error && o->json)
		json_table(&scale, &rows, by, s);
	else if (!error)
		text_table(&scale, &rows, by, s);
	rows_release(&rows);
	return error;
}
