/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/symbolizer.h"

#include "report/object_symbols.h"
#include "report/text_pool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct stored_symbol {
	uint64_t start, size;
	uint32_t name;
};

struct object {
	struct prf_object recorded;
	struct stored_symbol *symbols; /* of the trace */
	size_t symbol_count;
	bool sorted;
	struct symbols_found found;
};

struct query {
	uint32_t object;
	bool exact, embedded;
	uint64_t offset;
	uint32_t first, count; /* in places */
};

struct symbolizer {
	struct symbolizer_options options;
	struct text_pool texts;
	struct object *objects;
	size_t object_count;
	struct query *queries;
	size_t query_count, query_capacity;
	struct symbolizer_place *places;
	size_t place_count, place_capacity;
};

int symbolizer_new(struct symbolizer **symbolizer, const struct symbolizer_options *options)
{
	struct symbolizer *s = calloc(1, sizeof(*s));

	if (!s)
		return PRF_ERROR_MEMORY;
	s->options = *options;
	*symbolizer = s;
	return 0;
}

void symbolizer_free(struct symbolizer *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->object_count; i++)
		free(s->objects[i].symbols);
	free(s->objects);
	free(s->queries);
	free(s->places);
	text_pool_release(&s->texts);
	free(s);
}

int symbolizer_add_object(struct symbolizer *s, const struct prf_object *object, uint32_t *id)
{
	struct object *objects = realloc(s->objects, (s->object_count + 1) * sizeof(*objects));

	if (!objects)
		return PRF_ERROR_MEMORY;
	s->objects = objects;
	objects[s->object_count] = (struct object){ .recorded = *object };
	objects[s->object_count].recorded.path = text_pool_keep(&s->texts, object->path);
	objects[s->object_count].recorded.root = text_pool_keep(&s->texts, object->root);
	objects[s->object_count].found.path = "";
	objects[s->object_count].found.debug_path = "";
	if (!objects[s->object_count].recorded.path || !objects[s->object_count].recorded.root)
		return PRF_ERROR_MEMORY;
	*id = (uint32_t)s->object_count++;
	return 0;
}

int symbolizer_add_symbols(struct symbolizer *s, uint32_t object, const struct prf_symbol *symbols,
			   size_t n)
{
	struct object *o = &s->objects[object];
	struct stored_symbol *more =
		realloc(o->symbols, (o->symbol_count + n + 1) * sizeof(*more));

	if (!more)
		return PRF_ERROR_MEMORY;
	o->symbols = more;
	for (size_t i = 0; i < n; i++) {
		uint32_t name = text_pool_add(&s->texts, symbols[i].name);

		if (name == UINT32_MAX)
			return PRF_ERROR_MEMORY;
		more[o->symbol_count++] =
			(struct stored_symbol){ symbols[i].start, symbols[i].size, name };
	}
	o->sorted = false;
	return 0;
}

int symbolizer_add_query(struct symbolizer *s, uint32_t object, uint64_t offset, bool exact,
			 uint32_t *query)
{
	if (s->query_count == s->query_capacity) {
		size_t capacity = s->query_capacity ? s->query_capacity * 2 : 1024;
		struct query *queries = realloc(s->queries, capacity * sizeof(*queries));

		if (!queries)
			return PRF_ERROR_MEMORY;
		s->queries = queries;
		s->query_capacity = capacity;
	}
	s->queries[s->query_count] =
		(struct query){ .object = object, .exact = exact, .offset = offset };
	*query = (uint32_t)s->query_count++;
	return 0;
}

static struct symbolizer_place *add_place(struct symbolizer *s, struct query *q)
{
	if (s->place_count == s->place_capacity) {
		size_t capacity = s->place_capacity ? s->place_capacity * 2 : 1024;
		struct symbolizer_place *places = realloc(s->places, capacity * sizeof(*places));

		if (!places)
			return NULL;
		s->places = places;
		s->place_capacity = capacity;
	}
	if (!q->count++)
		q->first = (uint32_t)s->place_count;
	s->places[s->place_count] = (struct symbolizer_place){ "", "", "", 0, 0 };
	return &s->places[s->place_count++];
}

int symbolizer_add_names(struct symbolizer *s, uint32_t query, const struct prf_place *places,
			 size_t n)
{
	struct query *q = &s->queries[query];

	q->embedded = true;
	q->count = 0;
	for (size_t i = 0; i < n; i++) {
		struct symbolizer_place *place = add_place(s, q);

		if (!place)
			return PRF_ERROR_MEMORY;
		place->function = text_pool_keep(&s->texts, places[i].function);
		place->file = text_pool_keep(&s->texts, places[i].file);
		if (!place->function || !place->file)
			return PRF_ERROR_MEMORY;
		place->name = place->function;
		place->line = places[i].line;
		place->start_line = places[i].start_line;
	}
	return 0;
}

static int compare_stored(const void *left, const void *right)
{
	const struct stored_symbol *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

static const char *find_stored(struct symbolizer *s, struct object *o, uint64_t offset)
{
	size_t low = 0, high = o->symbol_count;

	if (!o->sorted)
		qsort(o->symbols, o->symbol_count, sizeof(*o->symbols), compare_stored);
	o->sorted = true;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (o->symbols[middle].start <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || (o->symbols[low - 1].size &&
		     offset - o->symbols[low - 1].start >= o->symbols[low - 1].size))
		return NULL;
	return text_pool_get(&s->texts, o->symbols[low - 1].name);
}

static bool open_object(struct symbolizer *s, struct object *o, struct elf_file *file)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s%s", s->options.sysroot ? s->options.sysroot : "",
		 o->recorded.path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		o->found.status = errno == ENOENT ? SYMBOLS_NO_FILE : SYMBOLS_UNREADABLE;
		return false;
	}
	if (elf_file_open(file, fd)) {
		close(fd);
		o->found.status = SYMBOLS_UNREADABLE;
		return false;
	}
	close(fd);
	if (file->build_id_size != o->recorded.build_id_size ||
	    memcmp(file->build_id, o->recorded.build_id, file->build_id_size)) {
		elf_file_release(file);
		o->found.status = SYMBOLS_DIFFERENT;
		return false;
	}
	return true;
}

static int name_query(struct symbolizer *s, struct object *o, struct query *q, const char *name)
{
	struct symbolizer_place *place;
	const char *copy;

	o->found.queries++;
	if (!name)
		return 0;
	place = add_place(s, q);
	copy = text_pool_keep(&s->texts, name);
	if (!place || !copy)
		return PRF_ERROR_MEMORY;
	place->function = place->name = copy;
	o->found.named++;
	return 0;
}

static int run_object(struct symbolizer *s, uint32_t id)
{
	struct object *o = &s->objects[id];
	struct object_symbols symbols = { 0 };
	struct elf_file file;
	bool stored = o->recorded.kind != PRF_OBJECT_FILE || o->symbol_count;
	int error = 0;

	o->found.status = stored && !o->symbol_count ? SYMBOLS_NO_SYMBOLS : SYMBOLS_OK;
	if (!stored) {
		if (!open_object(s, o, &file))
			return 0;
		error = object_symbols_read(&symbols, &file) == ELF_ERROR_MEMORY ? PRF_ERROR_MEMORY
										  : 0;
		o->found.status = symbols.has_symtab ? SYMBOLS_OK : SYMBOLS_STRIPPED;
	}
	for (size_t i = 0; !error && i < s->query_count; i++) {
		struct query *q = &s->queries[i];
		uint64_t offset = q->offset - (q->exact ? 0 : 1), address;
		const struct object_symbol *symbol = NULL;
		const char *name = NULL;

		if (q->object != id || q->embedded)
			continue;
		if (stored) {
			name = find_stored(s, o, offset);
		} else if (elf_file_offset_to_address(&file, offset, &address)) {
			symbol = object_symbols_find(&symbols, address);
			name = symbol ? symbol->name : NULL;
		}
		error = name_query(s, o, q, name);
	}
	if (!stored) {
		object_symbols_release(&symbols);
		elf_file_release(&file);
	}
	return error;
}

int symbolizer_run(struct symbolizer *s)
{
	int error = 0;

	for (size_t i = 0; !error && i < s->object_count; i++) {
		bool asked = false;

		for (size_t q = 0; q < s->query_count && !asked; q++)
			asked = s->queries[q].object == i && !s->queries[q].embedded;
		s->objects[i].found.status = SYMBOLS_NOT_LOOKED;
		if (asked)
			error = run_object(s, (uint32_t)i);
	}
	return error;
}

const struct symbolizer_place *symbolizer_places(const struct symbolizer *s, uint32_t query,
						 size_t *n)
{
	*n = s->queries[query].count;
	return s->places + s->queries[query].first;
}

void symbolizer_found(const struct symbolizer *s, uint32_t object, struct symbols_found *found)
{
	*found = s->objects[object].found;
}

const char *symbols_status_text(enum symbols_status status)
{
	static const char *const texts[] = {
		[SYMBOLS_OK] = "ok",
		[SYMBOLS_STRIPPED] = "stripped",
		[SYMBOLS_NO_FILE] = "no file",
		[SYMBOLS_DIFFERENT] = "build-id differs",
		[SYMBOLS_UNREADABLE] = "cannot be read",
		[SYMBOLS_NOT_LOOKED] = "not looked up",
		[SYMBOLS_NO_SYMBOLS] = "no symbols in the trace",
	};

	return (unsigned int)status < sizeof(texts) / sizeof(*texts) ? texts[status] : "unknown";
}
