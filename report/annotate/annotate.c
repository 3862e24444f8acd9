/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/annotate/annotate.h"

#include "common/shortage.h"
#include "report/annotate/code_listing.h"
#include "report/annotate/source_listing.h"
#include "report/merge/name_match.h"
#include "report/output/fitted.h"
#include "report/tables/rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	NAMED_MAX = 5,	   /* functions that are named where several are meant */
	TEXT_COLUMNS = 50, /* of source, beside the columns of a comparison */
};

/* -------- which functions -------- */

/* Of the sorted rows those that the user means. */
struct choice {
	const struct row **list;
	size_t n;
	bool by_name; /* all have the very name that was given, each in another object */
};

static void choose(struct choice *c, const struct view_options *o, const struct rows *rows)
{
	for (size_t i = 0; o->function && i < rows->count; i++)
		if (!strcmp(o->function_text, rows->list[i].name))
			c->list[c->n++] = &rows->list[i];
	c->by_name = c->n;
	/* Only without such a name it is a pattern: others may have it inside. */
	for (size_t i = 0; !c->by_name && i < rows->count; i++)
		if (!o->function || name_matches(o->function, rows->list[i].name))
			c->list[c->n++] = &rows->list[i];
}

static struct error *none_is_meant(const struct view_options *o)
{
	if (!o->function)
		return error_new(ERROR_ARGUMENT, "no sample lies in a function");
	return error_new(ERROR_ARGUMENT,
			 "no function with samples matches --function=%s; "
			 "-f top shows which there are",
			 o->function_text);
}

static struct error *several_are_meant(const struct view_options *o, const struct choice *c)
{
	struct buffer names = { 0 };
	struct error *error;

	for (size_t i = 0; i < c->n && i < NAMED_MAX; i++)
		buffer_printf(&names, "%s%s", i ? ", " : "", c->list[i]->name);
	error = error_new(ERROR_ARGUMENT,
			  "%zu functions match --function=%s: %s%s; name one, as in "
			  "--function='^name$', or see the first N with --limit=N",
			  c->n, o->function_text, buffer_string(&names),
			  c->n > NAMED_MAX ? ", ..." : "");
	buffer_release(&names);
	return error;
}

/* -------- one function -------- */

static bool belongs(const struct profile *p, const struct profile_frame *frame,
		    const struct row *row)
{
	if (frame->kind == PROFILE_FRAME_SEPARATOR || frame->kind == PROFILE_FRAME_END ||
	    frame->kind == PROFILE_FRAME_GROUP || frame->waker)
		return false;
	return !strcmp(frame->name, row->name) &&
	       !strcmp(frame->object == PRF_NONE ? "" : p->objects[frame->object].name,
		       row->object);
}

static void write_count(const struct listing *l, uint64_t value, uint64_t samples)
{
	bool weight = l->profile->value == PROFILE_WEIGHT;

	sink_printf(l->sink, "%.2f %% (%" PRIu64 ")", listing_percent(l, value),
		    weight ? value : samples);
}

/* Copies of the function in others, whose instructions are theirs. */
static void write_hosts(const struct listing *l, const struct hits *h)
{
	for (size_t i = 0; i < h->host_count && i < NAMED_MAX; i++) {
		sink_text(l->sink, "# inlined into ");
		sink_printable(l->sink, h->hosts[i].frame->name);
		sink_text(l->sink, ": ");
		write_count(l, h->hosts[i].count.total, h->hosts[i].count.total_samples);
		sink_char(l->sink, '\n');
	}
	if (h->host_count > NAMED_MAX)
		sink_printf(l->sink, "# ... and into %zu more\n", h->host_count - NAMED_MAX);
}

/* The function as a row of its own. */
static struct error *write_comparison(const struct listing *l, const struct row *row,
				      const struct hits *h)
{
	struct hit_change *change;
	struct error *error = hit_changes(&change, l->columns.runs, h->all_runs, 1);

	if (!error) {
		change_summary(&l->columns, l->sink);
		sink_char(l->sink, '\n');
		listing_heading(l, "function");
		listing_count(l, &h->all, change);
		sink_text(l->sink, "  ");
		fitted_name(l->sink, row->name, row->object,
			    fitted_room(l->options->width, listing_columns(l) + 2));
		sink_char(l->sink, '\n');
	}
	free(change);
	return error;
}

static void write_summary(const struct listing *l, const struct hits *h)
{
	const struct profile *p = l->profile;
	bool weight = p->value == PROFILE_WEIGHT;

	sink_text(l->sink, "# self ");
	write_count(l, h->all.self, h->all.self_samples);
	sink_text(l->sink, ", total ");
	write_count(l, h->all.total, h->all.total_samples);
	sink_printf(l->sink, " of %" PRIu64 " ", weight ? p->total : p->samples);
	sink_printable(l->sink, weight ? p->unit : "samples");
	sink_char(l->sink, '\n');
	write_hosts(l, h);
}

static struct error *write_head(const struct listing *l, const struct row *row,
				const struct hits *h)
{
	sink_text(l->sink, "# ");
	fitted_name(l->sink, row->name, row->object, fitted_room(l->options->width, 2));
	sink_char(l->sink, '\n');
	if (l->columns.runs)
		return write_comparison(l, row, h);
	write_summary(l, h);
	return NULL;
}

static void say_no_code(const struct listing *l, const struct hits *h)
{
	sink_char(l->sink, '\n');
	if (h->host_count)
		listing_say(
			l,
			"no instructions of its own: they are those of what it is inlined into; "
			"--function='%s'",
			h->hosts[0].frame->name);
	else
		listing_say(l, "no instructions: it lies in no object");
}

static struct error *annotate(struct listing *l, const struct row *row)
{
	const struct profile *p = l->profile;
	bool *is_function = calloc(p->frame_count + 1, sizeof(*is_function));
	struct hits hits = { 0 };
	struct error *error;

	if (!is_function)
		return error_memory();
	for (size_t i = 0; i < p->frame_count; i++)
		is_function[i] = belongs(p, &p->frames[i], row);
	error = hits_count(&hits, p, is_function,
			   l->columns.runs ? l->columns.runs->sides[CHANGE_BEFORE].count : 0);
	if (!error)
		error = write_head(l, row, &hits);
	if (!error)
		error = source_listing_write(l, &hits);
	if (!error && hits.address_count)
		error = code_listing_write(l, &hits);
	else if (!error)
		say_no_code(l, &hits);
	hits_release(&hits);
	free(is_function);
	return error;
}

/* -------- all of it -------- */

static struct error *annotate_rows(struct listing *l, const struct rows *rows)
{
	const struct view_options *o = l->options;
	struct choice chosen = { .list = calloc(rows->count + 1, sizeof(*chosen.list)) };
	struct error *error = NULL;
	size_t limit;

	if (!chosen.list)
		return error_memory();
	shortage_take();
	choose(&chosen, o, rows);
	limit = o->limit ? o->limit : chosen.by_name ? chosen.n : 1;
	if (shortage_take())
		error = error_memory();
	else if (!chosen.n)
		error = none_is_meant(o);
	else if (chosen.n > limit && o->function && !o->limit)
		error = several_are_meant(o, &chosen);
	for (size_t i = 0; !error && i < chosen.n && i < limit; i++) {
		if (i)
			sink_text(l->sink, "\n\n");
		error = annotate(l, chosen.list[i]);
	}
	free(chosen.list);
	return error;
}

/* Shows changes, of which columns are left out before the text has less than its room. */
static struct error *compare(struct listing *l, struct compared_runs *runs)
{
	const struct view_options *o = l->options;
	const struct profile *p = l->profile;
	const struct compared_side sides[2] = {
		{ p, 0, o->base_runs },
		{ p, o->base_runs, p->trace_count - o->base_runs },
	};

	l->columns = (struct change_columns){ .runs = runs, .colour = o->colour };
	if (o->width)
		l->columns.width = o->width > TEXT_COLUMNS ? o->width - TEXT_COLUMNS : 1;
	return compared_runs_init(runs, sides, o->normalize);
}

struct error *annotate_each(const struct profile *p, const struct view_options *o,
			    const struct view_listings *listings)
{
	struct listing listing = { .profile = p, .options = o };
	struct error *error = NULL;

	for (size_t i = 0; !error && i < listings->count; i++) {
		listing.sink = &listings->texts[i];
		error = annotate(&listing, &listings->rows[i]);
	}
	listing_release(&listing);
	return error;
}

struct error *annotate_render(const struct profile *p, const struct view_options *o, struct sink *s)
{
	struct listing listing = { .profile = p, .options = o, .sink = s };
	struct compared_runs runs = { 0 };
	struct rows rows;
	struct error *error = rows_init(&rows, p, ROWS_BY_FUNCTION);

	if (!error && o->base_runs)
		error = compare(&listing, &runs);
	if (!error)
		error = annotate_rows(&listing, &rows);
	compared_runs_release(&runs);
	listing_release(&listing);
	rows_release(&rows);
	return error;
}
