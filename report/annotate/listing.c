/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/annotate/listing.h"

#include "common/array.h"
#include "common/limits.h"
#include "report/output/fitted.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Terminals of so many columns have room for the number of samples behind totals. */
enum { WIDTH_OF_TOTALS = 100, TAB = 4, NUMBER_COLUMNS = 7 };

void listing_release(struct listing *l)
{
	for (size_t i = 0; i < l->source_count; i++) {
		source_file_release(&l->sources[i]->file);
		error_free(l->sources[i]->error);
		free(l->sources[i]->path);
		free(l->sources[i]);
	}
	error_free(l->too_many.error);
	l->too_many.error = NULL;
	free(l->sources);
	l->sources = NULL;
	l->source_count = l->source_capacity = 0;
}

/* As the trace holds it, unless the user says where to look. */
static struct error *read_source(struct listing *l, struct listing_source *one)
{
	const struct source_search search = { l->options->symbols->sysroot,
					      l->options->source_directory };
	const struct profile *p = l->profile;
	struct error *error;

	if (!search.directory && p->source_count) {
		uint64_t lines = source_file_embedded_lines(p->sources, p->source_count, one->path);

		/* Before it is made: to make it may take more time than all else that is shown. */
		if (lines <= LIMIT_SOURCE_LINES && lines > LIMIT_SOURCE_LINES - l->embedded_lines)
			return error_new(ERROR_LIMIT, "is more than is shown of a trace's sources");
		error = source_file_embedded(&one->file, p->sources, p->source_count, one->path);
		l->embedded_lines += one->file.line_count;
		if (!error || error->kind != ERROR_UNAVAILABLE)
			return error;
		error_free(error);
	}
	return source_file_read(&one->file, &search, one->path);
}

static const struct listing_source *too_many(struct listing *l)
{
	if (!l->too_many.error)
		l->too_many.error = error_new(ERROR_LIMIT, "is one file too many");
	return &l->too_many;
}

const struct listing_source *listing_source(struct listing *l, const char *path)
{
	struct listing_source *one;

	for (size_t i = 0; i < l->source_count; i++)
		if (!strcmp(l->sources[i]->path, path))
			return l->sources[i];
	if (l->source_count == LISTING_FILES_MAX)
		return too_many(l);
	if (!array_reserve(&l->sources, &l->source_capacity, l->source_count + 1))
		return NULL;
	one = calloc(1, sizeof(*one));
	if (!one)
		return NULL;
	one->path = strdup(path);
	if (!one->path) {
		free(one);
		return NULL;
	}
	l->sources[l->source_count++] = one;
	one->error = read_source(l, one);
	return one;
}

void listing_say(const struct listing *l, const char *format, ...)
{
	size_t column = 1, room = fitted_room(l->options->width, 0);
	struct buffer text = { 0 };
	char *rest, *word;
	va_list arguments;

	va_start(arguments, format);
	buffer_vprintf(&text, format, arguments);
	va_end(arguments);
	buffer_u8(&text, 0);
	sink_lacks(l->sink, &text);
	rest = buffer_ok(&text) ? (char *)text.data : NULL;
	sink_char(l->sink, '#');
	while ((word = strsep(&rest, " "))) {
		if (room && column > 3 && column + 1 + strlen(word) > room) {
			sink_text(l->sink, "\n#  ");
			column = 3;
		}
		sink_char(l->sink, ' ');
		sink_printable(l->sink, word);
		column += 1 + strlen(word);
	}
	sink_char(l->sink, '\n');
	buffer_release(&text);
}

/* -------- columns -------- */

static bool shows_totals(const struct listing *l)
{
	return !l->options->width || l->options->width >= WIDTH_OF_TOTALS;
}

double listing_percent(const struct listing *l, uint64_t value)
{
	return l->profile->total ? 100.0 * (double)value / (double)l->profile->total : 0;
}

static const char *unit(const struct listing *l)
{
	return l->profile->value == PROFILE_WEIGHT ? l->profile->unit : "samples";
}

/* Of all numbers: none is greater than that of the whole profile. */
static int number_columns(const struct listing *l)
{
	const struct profile *p = l->profile;
	int n = snprintf(NULL, 0, "%" PRIu64, p->value == PROFILE_WEIGHT ? p->total : p->samples);

	return n > NUMBER_COLUMNS ? n : NUMBER_COLUMNS;
}

void listing_heading(const struct listing *l, const char *rest)
{
	const unsigned int columns = (unsigned int)number_columns(l);

	if (l->columns.runs) {
		change_heading(&l->columns, l->sink);
		sink_printf(l->sink, "  %s\n", rest);
		return;
	}
	sink_text(l->sink, "self % ");
	fitted_right(l->sink, unit(l), columns);
	sink_text(l->sink, "  total %");
	if (shows_totals(l)) {
		sink_char(l->sink, ' ');
		fitted_right(l->sink, unit(l), columns);
	}
	sink_printf(l->sink, "  %s\n", rest);
}

/* A share and the number that it is of. */
static void write_side(const struct listing *l, uint64_t value, uint64_t samples, bool number)
{
	double share = listing_percent(l, value);
	const char *begin = !l->options->colour ? ""
			    : share >= 5	? "\033[31m"
			    : share >= 0.5	? "\033[32m"
						: "";

	if (!value && !samples) {
		sink_printf(l->sink, "%*s", number ? 7 + number_columns(l) : 6, "");
		return;
	}
	sink_printf(l->sink, "%s%6.2f%s", begin, share, *begin ? "\033[m" : "");
	if (number)
		sink_printf(l->sink, " %*" PRIu64, number_columns(l),
			    l->profile->value == PROFILE_WEIGHT ? value : samples);
}

void listing_count(const struct listing *l, const struct hit_count *count,
		   const struct hit_change *change)
{
	static const struct hit_count nothing;

	if (!count)
		count = &nothing;
	if (l->columns.runs && count->total_samples) {
		change_write(&l->columns, l->sink, &change->self, &change->total);
		return;
	}
	if (l->columns.runs) {
		sink_printf(l->sink, "%*s", (int)change_width(&l->columns), "");
		return;
	}
	write_side(l, count->self, count->self_samples, true);
	sink_text(l->sink, "   ");
	write_side(l, count->total, count->total_samples, shows_totals(l));
}

unsigned int listing_columns(const struct listing *l)
{
	const unsigned int columns = (unsigned int)number_columns(l);

	if (l->columns.runs)
		return change_width(&l->columns);
	return 6 + 1 + columns + 3 + 6 + (shows_totals(l) ? 1 + columns : 0);
}

bool listing_wants(const struct listing *l, const struct hit_count *count)
{
	double least = l->profile->min_percent;

	if (least == 0)
		return true;
	return count && (count->self || count->total) && listing_percent(l, count->total) >= least;
}

void listing_widen(uint8_t *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t from = i > LISTING_AROUND ? i - LISTING_AROUND : 0;

		if (rows[i] != LISTING_ROW_WANTED)
			continue;
		for (size_t k = from; k < n && k <= i + LISTING_AROUND; k++)
			if (rows[k] == LISTING_ROW_HIDDEN)
				rows[k] = LISTING_ROW_NEAR;
	}
}

void listing_skip(const struct listing *l, size_t n, const char *what)
{
	listing_count(l, NULL, NULL);
	sink_printf(l->sink, "  … %zu %s\n", n, what);
}

/* -------- text -------- */

unsigned int listing_indent(const char *text, size_t size)
{
	unsigned int column = 0;

	for (size_t i = 0; i < size; i++) {
		if (text[i] == '\t')
			column += TAB - column % TAB;
		else if (text[i] == ' ')
			column++;
		else
			return column;
	}
	return UINT_MAX;
}

const char *listing_line(const struct listing_source *source, uint32_t line, size_t *size)
{
	const char *text = "";
	size_t blanks = 0;

	*size = 0;
	if (!source->error)
		text = source_file_line(&source->file, line, size);
	while (blanks < *size && blanks < LISTING_LINE_BYTES &&
	       (text[blanks] == ' ' || text[blanks] == '\t'))
		blanks++;
	*size -= blanks;
	return text + blanks;
}

void listing_text(const struct listing *l, const struct listing_text *text, unsigned int used)
{
	struct buffer line = { 0 };
	unsigned int column = 0;
	size_t size = text->size < LISTING_LINE_BYTES ? text->size : LISTING_LINE_BYTES;

	for (size_t i = 0; i < size; i++) {
		bool tab = text->text[i] == '\t';
		unsigned int next = tab ? column + TAB - column % TAB : column + 1;

		for (; column < next; column++)
			if (column >= text->indent)
				buffer_u8(&line, tab ? ' ' : (uint8_t)text->text[i]);
	}
	/* A line that ends here would look whole. */
	for (size_t i = 0; i < line.size; i++)
		if (!line.data[i])
			line.data[i] = '?';
	if (size < text->size)
		buffer_text(&line, "…");
	fitted_beginning(l->sink, buffer_string(&line), fitted_room(l->options->width, used));
	sink_lacks(l->sink, &line);
	buffer_release(&line);
}
