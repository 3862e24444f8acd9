/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/tables/functions.h"

#include "common/array.h"

#include <stdlib.h>
#include <string.h>

void functions_release(struct functions *f)
{
	free(f->list);
	map_release(&f->index);
	buffer_release(&f->key);
	*f = (struct functions){ .keys = f->keys };
}

static const void *function_key(struct functions *f, const struct function *function)
{
	buffer_clear(&f->key);
	buffer_u8(&f->key, function->kind);
	buffer_u8(&f->key, (uint8_t)(function->inlined | function->waker << 1));
	buffer_append(&f->key, function->name, strlen(function->name) + 1);
	if (f->keys & FUNCTIONS_BY_OBJECT)
		buffer_append(&f->key, function->object, strlen(function->object) + 1);
	if (f->keys & FUNCTIONS_BY_FILE)
		buffer_append(&f->key, function->file, strlen(function->file) + 1);
	return buffer_ok(&f->key) ? f->key.data : NULL;
}

struct error *functions_add_one(struct functions *f, const struct function *function, uint32_t *id)
{
	const void *key = function_key(f, function);
	struct function *known;
	uint64_t *entry;
	bool added;

	entry = key ? map_put(&f->index, key, f->key.size, &added) : NULL;
	if (!entry)
		return error_memory();
	if (added) {
		if (!array_reserve(&f->list, &f->capacity, f->count + 1))
			return error_memory();
		*entry = f->count;
		f->list[f->count++] = *function;
	}
	*id = (uint32_t)*entry;
	known = &f->list[*id];
	if (!*known->file && *function->file) {
		known->file = function->file;
		known->line = function->line;
	}
	return NULL;
}

struct error *functions_add(struct functions *f, const struct profile *p, uint32_t **of_frame)
{
	uint32_t *ids = calloc(p->frame_count + 1, sizeof(*ids));
	struct error *error = ids ? NULL : error_memory();

	*of_frame = NULL;
	for (size_t i = 0; !error && i < p->frame_count; i++) {
		const struct profile_frame *frame = &p->frames[i];
		struct function function = {
			.name = frame->name,
			.linkage_name = frame->linkage_name,
			.object = frame->object == PRF_NONE ? "" : p->objects[frame->object].name,
			.file = frame->file,
			.line = frame->start_line ? frame->start_line : frame->line,
			.kind = frame->kind,
			.inlined = frame->inlined,
			.waker = frame->waker,
		};

		error = functions_add_one(f, &function, &ids[i]);
	}
	if (error)
		free(ids);
	else
		*of_frame = ids;
	return error;
}
