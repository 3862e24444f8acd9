/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/measure/dhat.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"

#define FRAMES_SHOWN 6

void dhat_release(struct dhat *d)
{
	for (size_t i = 0; i < d->site_count; i++)
		free(d->sites[i].stack);
	free(d->sites);
	*d = (struct dhat){ 0 };
}

/* False if one is not there: what was not counted is not 0. */
static bool read_counts(const json_t *point, struct dhat_counts *c)
{
	return !json_unpack((json_t *)point, "{s:F, s:F, s:F, s:F, s:F, s:F}", "tb",
			    &c->total_bytes, "tbk", &c->total_blocks, "gb", &c->peak_bytes, "gbk",
			    &c->peak_blocks, "eb", &c->end_bytes, "ebk", &c->end_blocks);
}

/*
 * The function of a frame: "0x48398A5: malloc (vg_replace_malloc.c:381)" has it between the
 * address and the place. `length` 0: there is none.
 */
static const char *function_of(const char *frame, size_t *length)
{
	const char *start = strstr(frame, ": "), *place = NULL;

	start = start ? start + 2 : frame;
	/* The last one, as names of C++ have such, too. */
	for (const char *at = start; (at = strstr(at, " (")); at++)
		place = at;
	*length = place ? (size_t)(place - start) : strlen(start);
	return start;
}

/* Functions of valgrind's own in front of the program's. */
static bool is_allocator(const char *frame)
{
	return strstr(frame, "(vg_replace_malloc.c:") || strstr(frame, "/vgpreload_");
}

/* The point's stack as text, to be freed. NULL without memory. */
static char *stack_text(const json_t *point, const json_t *frames)
{
	const json_t *indices = json_object_get(point, "fs");
	struct buffer text = { 0 };
	size_t shown = 0;
	char *copy;

	for (size_t i = 0; i < json_array_size(indices) && shown < FRAMES_SHOWN; i++) {
		json_int_t index = json_integer_value(json_array_get(indices, i));
		const char *frame = json_string_value(json_array_get(frames, (size_t)index));
		size_t length;
		const char *name;

		if (!frame || is_allocator(frame))
			continue;
		name = function_of(frame, &length);
		buffer_printf(&text, "%s%.*s", shown ? " < " : "", (int)length, name);
		shown++;
	}
	if (!shown)
		buffer_text(&text, "[unknown]");
	copy = buffer_string(&text) ? strdup(buffer_string(&text)) : NULL;
	buffer_release(&text);
	return copy;
}

static void add(struct dhat_counts *to, const struct dhat_counts *more)
{
	to->total_bytes += more->total_bytes;
	to->total_blocks += more->total_blocks;
	to->peak_bytes += more->peak_bytes;
	to->peak_blocks += more->peak_blocks;
	to->end_bytes += more->end_bytes;
	to->end_blocks += more->end_blocks;
}

static int by_peak(const void *left, const void *right)
{
	const struct dhat_counts *a = &((const struct dhat_site *)left)->counts;
	const struct dhat_counts *b = &((const struct dhat_site *)right)->counts;

	if (a->peak_bytes != b->peak_bytes)
		return a->peak_bytes < b->peak_bytes ? 1 : -1;
	return (a->total_bytes < b->total_bytes) - (a->total_bytes > b->total_bytes);
}

static struct error *read_points(struct dhat *d, const json_t *points, const json_t *frames)
{
	d->sites = calloc(json_array_size(points) + 1, sizeof(*d->sites));
	if (!d->sites)
		return error_memory();
	for (size_t i = 0; i < json_array_size(points); i++) {
		const json_t *point = json_array_get(points, i);
		struct dhat_site *site = &d->sites[i];

		if (!read_counts(point, &site->counts))
			return error_new(ERROR_CORRUPT, "DHAT's output lacks counts");
		site->stack = stack_text(point, frames);
		d->site_count++;
		if (!site->stack)
			return error_memory();
		add(&d->counts, &site->counts);
	}
	qsort(d->sites, d->site_count, sizeof(*d->sites), by_peak);
	return NULL;
}

struct error *dhat_parse(struct dhat *d, const char *text)
{
	json_error_t wrong;
	json_t *root = json_loads(text, 0, &wrong);
	const json_t *points = json_object_get(root, "pps"),
		     *frames = json_object_get(root, "ftbl");
	struct error *error;

	if (json_is_array(points))
		error = read_points(d, points, frames);
	else
		error = error_new(ERROR_CORRUPT, "DHAT's output is not understood");
	if (error)
		dhat_release(d);
	json_decref(root);
	return error;
}
