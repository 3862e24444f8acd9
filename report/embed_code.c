/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/embed_code.h"

#include "common/array.h"
#include "common/shortage.h"
#include "common/sorted.h"
#include "report/annotate/code.h"
#include "report/output/progress.h"
#include "report/profile/text_pool.h"

#include <stdlib.h>
#include <string.h>

enum {
	AROUND = 3,		/* lines after one with hits, as listings show them */
	FUNCTION_LINES = 10000, /* longer ones begin later */
	RECORD_LINES = 1000
};

/* A place in code. */
struct hit {
	uint32_t object; /* the trace's number */
	uint64_t offset;
};

/* Lines of a source that are wanted. */
struct range {
	const char *path;
	uint64_t from, to;
	uint64_t built_ns; /* when the program that has them was written; 0: not known */
};

struct work {
	const struct embedding *embedding;
	struct embedded_code *result;
	struct hit *hits;
	size_t hit_count, hit_capacity;
	struct range *ranges;
	size_t range_count, range_capacity;
	struct text_pool texts;
};

static void work_release(struct work *w)
{
	free(w->hits);
	free(w->ranges);
	text_pool_release(&w->texts);
}

static struct error *add_range(struct work *w, struct range range)
{
	range.path = text_pool_keep(&w->texts, range.path);
	if (!range.path || !array_reserve(&w->ranges, &w->range_capacity, w->range_count + 1))
		return error_memory();
	w->ranges[w->range_count++] = range;
	return NULL;
}

/* -------- code -------- */

static int by_place(const void *left, const void *right)
{
	const struct hit *a = left, *b = right;

	return SORTED_BY_TWO(a, b, object, offset);
}

static struct error *find_hits(struct work *w)
{
	const struct prf_reader *r = w->embedding->reader;
	const struct prf_frame *frames = prf_reader_all_frames(r);
	size_t kept = 0;

	for (size_t i = 0; i < prf_reader_frames(r); i++) {
		bool inside = !(frames[i].flags & PRF_FRAME_EXACT) && frames[i].offset;

		if (frames[i].object == PRF_NONE || (frames[i].flags & PRF_FRAME_END) ||
		    prf_reader_object(r, frames[i].object)->kind != PRF_OBJECT_FILE)
			continue;
		if (!array_reserve(&w->hits, &w->hit_capacity, w->hit_count + 1))
			return error_memory();
		w->hits[w->hit_count++] = (struct hit){ frames[i].object,
							frames[i].offset - inside };
	}
	if (w->hit_count)
		qsort(w->hits, w->hit_count, sizeof(*w->hits), by_place);
	for (size_t i = 0; i < w->hit_count; i++)
		if (!kept || by_place(&w->hits[kept - 1], &w->hits[i]))
			w->hits[kept++] = w->hits[i];
	w->hit_count = kept;
	return NULL;
}

static struct error *write_code(struct work *w, uint32_t object, const struct code *code)
{
	struct prf_code copy = code->recorded;
	uint64_t built_ns = prf_reader_object(w->embedding->reader, object)->mtime_ns;
	struct error *error;

	copy.object = w->embedding->objects[object];
	error = prf_writer_code(w->embedding->writer, &copy);
	if (error && error->kind == ERROR_LIMIT) {
		error_free(error);
		return NULL;
	}
	w->result->functions += !error;
	for (size_t i = 0; !error && i < copy.line_count; i++)
		if (copy.lines[i].line)
			error = add_range(w, (struct range){ copy.lines[i].file, copy.lines[i].line,
							     copy.lines[i].line, built_ns });
	return error;
}

/* The code of `n` hits, which lie in one object. */
static struct error *write_object(struct work *w, const struct hit *hits, size_t n)
{
	const struct prf_object *object = prf_reader_object(w->embedding->reader, hits[0].object);
	uint64_t *offsets = calloc(n, sizeof(*offsets));
	struct code_file file = { 0 };
	struct error *error;

	if (!offsets)
		return error_memory();
	for (size_t i = 0; i < n; i++)
		offsets[i] = hits[i].offset;
	error = code_file_load(&file, &w->embedding->search, object, offsets, n);
	for (size_t i = 0; !error && i < file.count; i++)
		error = write_code(w, hits[0].object, &file.codes[i]);
	if (!error && file.missing && !w->result->missing)
		w->result->missing = error_prefix(error_copy(file.missing), "%s", object->path);
	code_file_release(&file);
	free(offsets);
	return error;
}

static struct error *write_codes(struct work *w)
{
	struct error *error = NULL;

	for (size_t first = 0, end; !error && first < w->hit_count; first = end) {
		for (end = first;
		     end < w->hit_count && w->hits[end].object == w->hits[first].object;)
			end++;
		if (progress_interrupted())
			break;
		error = write_object(w, w->hits + first, end - first);
	}
	return error;
}

/* -------- sources -------- */

static struct error *add_place(struct work *w, const struct symbolizer_place *place,
			       const struct prf_object *object)
{
	uint32_t start = place->start_line;

	if (!place->line || !place->file[0])
		return NULL;
	if (!start || start > place->line || place->line - start > FUNCTION_LINES)
		start = place->line;
	return add_range(w, (struct range){ place->file, start, (uint64_t)place->line + AROUND,
					    object->mtime_ns });
}

static struct error *add_places(struct work *w)
{
	const struct prf_reader *r = w->embedding->reader;
	const struct prf_frame *frames = prf_reader_all_frames(r);
	struct error *error = NULL;

	for (size_t i = 0; !error && i < prf_reader_frames(r); i++) {
		uint32_t query = w->embedding->queries[i];
		const struct symbolizer_place *places;
		size_t n;

		if (query == PRF_NONE)
			continue;
		places = symbolizer_places(w->embedding->symbolizer, query, &n);
		for (size_t k = 0; !error && k < n; k++)
			error = add_place(w, &places[k], prf_reader_object(r, frames[i].object));
	}
	return error;
}

static int by_line(const void *left, const void *right)
{
	const struct range *a = left, *b = right;

	if (a->path != b->path)
		return strcmp(a->path, b->path);
	return (a->from > b->from) - (a->from < b->from);
}

/* Some lines of a file as a record, which ends where the file does. */
static struct error *write_lines(struct work *w, const struct source_file *f,
				 const struct range *range)
{
	const char *lines[RECORD_LINES];
	struct prf_source source = { range->path, (uint32_t)range->from, lines, 0 };
	struct arena texts = { 0 };
	struct error *error = NULL;

	for (uint64_t line = range->from; line <= range->to && line <= f->line_count; line++) {
		size_t size;
		const char *text = source_file_line(f, (uint32_t)line, &size);
		char *copy = arena_text(&texts, text, size);

		if (!copy) {
			error = error_memory();
			break;
		}
		for (char *at = copy; (at = memchr(at, 0, size - (size_t)(at - copy)));)
			*at = '?';
		lines[source.n++] = copy;
	}
	if (!error && source.n)
		error = prf_writer_source(w->embedding->writer, &source);
	arena_release(&texts);
	/* Lines of megabytes do not fit into a trace. */
	if (error && error->kind == ERROR_LIMIT) {
		error_free(error);
		error = NULL;
	}
	return error;
}

/* The sorted ranges of a file, joined where they touch. */
static struct error *write_ranges(struct work *w, const struct source_file *f,
				  const struct range *ranges, size_t n)
{
	struct range now = ranges[0];
	struct error *error = NULL;

	for (size_t i = 1; !error && i <= n; i++) {
		bool touches = i < n && ranges[i].from <= now.to + 1;

		if (touches && ranges[i].to > now.to)
			now.to = ranges[i].to;
		if (touches)
			continue;
		for (struct range part = now; !error && part.from <= now.to;
		     part.from += RECORD_LINES) {
			part.to = part.from + RECORD_LINES - 1;
			part.to = part.to < now.to ? part.to : now.to;
			error = write_lines(w, f, &part);
		}
		if (i < n)
			now = ranges[i];
	}
	return error;
}

/* A source that was changed since has other lines, which would be shown as the program's. */
static bool is_changed(const struct source_file *f, const struct range *ranges, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (ranges[i].built_ns && f->changed_ns > ranges[i].built_ns)
			return true;
	return false;
}

static struct error *write_source(struct work *w, const struct range *ranges, size_t n)
{
	struct source_file file;
	struct error *error = source_file_read(&file, &w->embedding->sources, ranges[0].path);

	if (error && (error->kind == ERROR_SYSTEM || error->kind == ERROR_UNAVAILABLE)) {
		w->result->unread += shortage_is(error->os_error);
		error_free(error);
		return NULL;
	}
	if (error)
		return error;
	if (is_changed(&file, ranges, n)) {
		w->result->changed++;
	} else {
		w->result->sources++;
		error = write_ranges(w, &file, ranges, n);
	}
	source_file_release(&file);
	return error;
}

static struct error *write_sources(struct work *w)
{
	struct error *error = NULL;

	if (w->range_count)
		qsort(w->ranges, w->range_count, sizeof(*w->ranges), by_line);
	for (size_t first = 0, end; !error && first < w->range_count; first = end) {
		for (end = first;
		     end < w->range_count && w->ranges[end].path == w->ranges[first].path;)
			end++;
		error = write_source(w, w->ranges + first, end - first);
	}
	return error;
}

struct error *embed_code(const struct embedding *e, struct embedded_code *result)
{
	struct work w = { .embedding = e, .result = result };
	struct error *error = find_hits(&w);

	*result = (struct embedded_code){ 0 };
	if (!error)
		error = write_codes(&w);
	if (!error)
		error = add_places(&w);
	if (!error)
		error = write_sources(&w);
	work_release(&w);
	return error;
}
