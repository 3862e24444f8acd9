/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/annotate/source_listing.h"

#include "report/output/fitted.h"
#include "report/merge/label.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_COLUMNS = 8, INDENTS_MAX = 10 };

/* A line that is shown. */
struct row {
	uint32_t line;
	unsigned int indent;	       /* columns that are left out at its beginning */
	const struct hit_place *place; /* NULL: no hits */
};

/* The lines of one file that belong to the function. */
struct stretch {
	const char *file;
	uint32_t first, last;
	uint64_t total;
};

struct source_listing {
	struct listing *listing;
	const struct hits *hits;
	uint32_t *sorted; /* places by parent, most hits first; those of the function by line */
	struct stretch *stretches;
	size_t stretch_count;
	struct hit_change *changes; /* of each place; NULL: no runs are compared */
	uint64_t without_line;	    /* hits of the function whose line is not known */
	bool too_many;		    /* files: those above LISTING_FILES_MAX are not shown */
};

static const struct hit_place *sorted_place(const struct source_listing *s, size_t i)
{
	return &s->hits->places[s->sorted[i]];
}

/* -------- order -------- */

static int by_place(const void *left, const void *right, void *context)
{
	const struct hit_place *places = context;
	uint32_t i = *(const uint32_t *)left, k = *(const uint32_t *)right;
	const struct hit_place *a = &places[i], *b = &places[k];

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	if (a->parent == PRF_NONE && a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->count.total != b->count.total)
		return a->count.total < b->count.total ? 1 : -1;
	return (i > k) - (i < k);
}

/* The first of the sorted places with this parent, or where it would be. */
static size_t first_below(const struct source_listing *s, uint32_t parent)
{
	size_t low = 0, high = s->hits->place_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (sorted_place(s, middle)->parent < parent)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_below(const struct source_listing *s, size_t i, uint32_t parent)
{
	return i < s->hits->place_count && sorted_place(s, i)->parent == parent;
}

/* -------- which lines -------- */

static void add_line(struct source_listing *s, const struct hit_place *place)
{
	const struct profile_frame *frame = place->frame;
	bool begins = frame->start_line && frame->start_line < frame->line;
	uint32_t first = begins ? place->line - (frame->line - frame->start_line) : place->line;
	size_t i = 0;

	while (i < s->stretch_count && strcmp(s->stretches[i].file, place->file))
		i++;
	if (i == LISTING_FILES_MAX) {
		s->too_many = true;
		return;
	}
	if (i == s->stretch_count)
		s->stretches[s->stretch_count++] = (struct stretch){ place->file, first,
								     place->line, 0 };
	if (first < s->stretches[i].first)
		s->stretches[i].first = first;
	if (place->line > s->stretches[i].last)
		s->stretches[i].last = place->line;
	s->stretches[i].total += place->count.total;
}

static int by_total(const void *left, const void *right)
{
	const struct stretch *a = left, *b = right;

	if (a->total != b->total)
		return a->total < b->total ? 1 : -1;
	return strcmp(a->file, b->file);
}

static bool prepare(struct source_listing *s)
{
	const struct hits *h = s->hits;

	s->sorted = malloc((h->place_count + 1) * sizeof(*s->sorted));
	s->stretches = calloc(h->place_count + 1, sizeof(*s->stretches));
	if (!s->sorted || !s->stretches)
		return false;
	for (uint32_t i = 0; i < h->place_count; i++)
		s->sorted[i] = i;
	qsort_r(s->sorted, h->place_count, sizeof(*s->sorted), by_place, h->places);
	for (size_t i = first_below(s, PRF_NONE); is_below(s, i, PRF_NONE); i++) {
		const struct hit_place *place = sorted_place(s, i);

		if (place->file[0] && place->line)
			add_line(s, place);
		else
			s->without_line += place->count.total;
	}
	qsort(s->stretches, s->stretch_count, sizeof(*s->stretches), by_total);
	return true;
}

/* -------- rows -------- */

/* NULL: there are no hits. */
static void write_place_count(const struct source_listing *s, const struct hit_place *place)
{
	size_t number = place ? (size_t)(place - s->hits->places) : 0;

	listing_count(s->listing, place ? &place->count : NULL,
		      place && s->changes ? &s->changes[number] : NULL);
}

/* What was inlined there: its name and line, and below these the line's text. */
static void write_call(struct source_listing *s, const struct hit_place *place,
		       const struct listing_source *source, unsigned int indent)
{
	struct listing *l = s->listing;
	const struct profile_frame *frame = place->frame;
	const unsigned int used = listing_columns(l) + LINE_COLUMNS + indent + 4;
	struct listing_text text = { .indent = 0 };
	struct buffer name = { 0 };

	buffer_text(&name, frame->name);
	if (place->file[0])
		buffer_printf(&name, " (%s:%" PRIu32 ")", label_base_name(place->file),
			      place->line);
	write_place_count(s, place);
	sink_printf(l->sink, "%*s↳ ", (int)(LINE_COLUMNS + indent), "");
	fitted_text(l->sink, buffer_string(&name), fitted_room(l->options->width, used - 2));
	sink_lacks(l->sink, &name);
	sink_char(l->sink, '\n');
	buffer_release(&name);
	text.text = listing_line(source, place->line, &text.size);
	if (!text.size)
		return;
	listing_count(l, NULL, NULL);
	sink_printf(l->sink, "%*s", (int)(LINE_COLUMNS + indent + 4), "");
	listing_text(l, &text, used);
	sink_char(l->sink, '\n');
}

/* False without memory. */
static bool write_inlined(struct source_listing *s, uint32_t parent, unsigned int depth)
{
	bool ok = true;

	for (size_t i = first_below(s, parent); ok && is_below(s, i, parent); i++) {
		const struct hit_place *place = sorted_place(s, i);
		const struct listing_source *source;

		if (!listing_wants(s->listing, &place->count))
			continue;
		source = listing_source(s->listing, place->file);
		if (!source)
			return false;
		write_call(s, place, source, 2 * (depth < INDENTS_MAX ? depth : INDENTS_MAX));
		ok = write_inlined(s, (uint32_t)(place - s->hits->places), depth + 1);
	}
	return ok;
}

/* The function's own places at a line of a file; `*at` goes on from the one of the line before. */
static const struct hit_place *place_at(const struct source_listing *s, const char *file,
					uint32_t line, size_t *at)
{
	for (; is_below(s, *at, PRF_NONE); (*at)++) {
		const struct hit_place *place = sorted_place(s, *at);

		if (place->line > line)
			break;
		if (place->line == line && !strcmp(place->file, file))
			return place;
	}
	return NULL;
}

static bool write_line(struct source_listing *s, const struct listing_source *source,
		       const struct row *row)
{
	struct listing *l = s->listing;
	struct listing_text text = { .indent = row->indent };

	if (!source->error)
		text.text = source_file_line(&source->file, row->line, &text.size);
	write_place_count(s, row->place);
	sink_printf(l->sink, "%*" PRIu32, LINE_COLUMNS, row->line);
	if (listing_indent(text.text, text.size) != UINT_MAX) {
		sink_text(l->sink, "  ");
		listing_text(l, &text, listing_columns(l) + LINE_COLUMNS + 2);
	}
	sink_char(l->sink, '\n');
	return !row->place || write_inlined(s, (uint32_t)(row->place - s->hits->places), 0);
}

/* How far all lines of a stretch are indented. */
static unsigned int common_indent(const struct source_file *f, const struct stretch *one)
{
	unsigned int least = UINT_MAX;

	for (uint32_t line = one->first; line <= one->last; line++) {
		size_t size;
		const char *text = source_file_line(f, line, &size);
		unsigned int indent = listing_indent(text, size);

		if (indent < least)
			least = indent;
	}
	return least == UINT_MAX ? 0 : least;
}

/* Lines with hits only, as there is no text between them. */
static bool write_bare(struct source_listing *s, const struct stretch *one,
		       const struct listing_source *source)
{
	bool ok = true;

	for (size_t i = first_below(s, PRF_NONE); ok && is_below(s, i, PRF_NONE); i++) {
		const struct hit_place *place = sorted_place(s, i);

		if (place->line && !strcmp(place->file, one->file) &&
		    listing_wants(s->listing, &place->count))
			ok = write_line(s, source, &(struct row){ place->line, 0, place });
	}
	return ok;
}

/* `rows` has one element for each line of the stretch. */
static bool write_rows(struct source_listing *s, const struct stretch *one,
		       const struct listing_source *source, const uint8_t *rows)
{
	size_t at = first_below(s, PRF_NONE), skipped = 0;
	struct row row = { .indent = common_indent(&source->file, one) };
	bool ok = true;

	for (uint32_t line = one->first; ok && line <= one->last; line++) {
		if (rows[line - one->first] == LISTING_ROW_HIDDEN) {
			skipped++;
			continue;
		}
		if (skipped)
			listing_skip(s->listing, skipped, "lines");
		skipped = 0;
		row.line = line;
		row.place = place_at(s, one->file, line, &at);
		ok = write_line(s, source, &row);
	}
	return ok;
}

/* Some lines more after the last one with hits, up to the end of its paragraph. */
static void lengthen(struct stretch *one, const struct source_file *f)
{
	const struct listing_source source = { .file = *f };
	size_t size;

	for (int i = 0; i < LISTING_AROUND && one->last < f->line_count; i++) {
		listing_line(&source, one->last + 1, &size);
		if (!size)
			break;
		one->last++;
	}
}

static bool write_whole(struct source_listing *s, struct stretch *one,
			const struct listing_source *source)
{
	size_t at = first_below(s, PRF_NONE), n;
	uint8_t *rows;
	bool ok;

	lengthen(one, &source->file);
	n = one->last - one->first + 1;
	rows = calloc(n, 1);
	if (!rows)
		return false;
	for (uint32_t line = one->first; line <= one->last; line++) {
		const struct hit_place *place = place_at(s, one->file, line, &at);

		if (listing_wants(s->listing, place ? &place->count : NULL))
			rows[line - one->first] = LISTING_ROW_WANTED;
	}
	rows[0] = LISTING_ROW_WANTED; /* where the function is declared */
	listing_widen(rows, n);
	ok = write_rows(s, one, source, rows);
	free(rows);
	return ok;
}

/* -------- files -------- */

static void write_path(struct source_listing *s, const struct stretch *one,
		       const struct listing_source *source)
{
	sink_char(s->listing->sink, '\n');
	if (!source->error)
		listing_say(s->listing, "%s", source->file.path);
	else
		listing_say(s->listing, "%s: %s%s", one->file, source->error->text,
			    source->error->kind == ERROR_SYSTEM
				    ? "; --source-dir=DIR says where sources are"
				    : "");
}

/* Lines of a file that became longer or shorter since are not those of the program. */
static void warn_of_change(struct source_listing *s, const struct listing_source *source)
{
	const struct profile_frame *frame = s->hits->places[0].frame;
	const struct prf_object *object =
		frame->object == PRF_NONE ? NULL
					  : s->hits->profile->objects[frame->object].recorded;

	if (!source->error && object && object->mtime_ns &&
	    source->file.changed_ns > object->mtime_ns)
		listing_say(s->listing, "changed after the program was built: lines may be others");
}

static bool write_stretch(struct source_listing *s, struct stretch *one)
{
	const struct listing_source *source = listing_source(s->listing, one->file);

	if (!source)
		return false;
	write_path(s, one, source);
	warn_of_change(s, source);
	if (!source->error && one->last > source->file.line_count)
		listing_say(s->listing, "has fewer lines than what the program was made of");
	listing_heading(s->listing, "  line  source");
	if (source->error || one->last > source->file.line_count)
		return write_bare(s, one, source);
	return write_whole(s, one, source);
}

static void say_no_lines(const struct source_listing *s)
{
	sink_char(s->listing->sink, '\n');
	listing_say(s->listing, "no lines: there is no debug information for it here (gcc -g; a "
				"package of debug symbols; --debug-dir=DIR; --debuginfod)");
}

struct error *source_listing_write(struct listing *l, const struct hits *hits)
{
	struct source_listing s = { .listing = l, .hits = hits };
	struct error *error = hit_changes(&s.changes, l->columns.runs, hits->place_runs,
					  hits->place_count);
	bool ok = !error && prepare(&s);

	for (size_t i = 0; ok && i < s.stretch_count; i++)
		ok = write_stretch(&s, &s.stretches[i]);
	if (ok && !s.stretch_count)
		say_no_lines(&s);
	if (ok && s.stretch_count && s.without_line)
		listing_say(l, "%.2f %% of all has no line", listing_percent(l, s.without_line));
	if (ok && s.too_many)
		listing_say(l, "it has lines in more files, which are not shown");
	free(s.sorted);
	free(s.stretches);
	free(s.changes);
	return ok || error ? error : error_memory();
}
