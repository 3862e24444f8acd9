/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/merge/object_numbers.h"

#include "common/buffer.h"
#include "report/merge/frame_name.h"

#include <stdlib.h>
#include <string.h>

void object_numbers_release(struct object_numbers *o)
{
	free(o->of);
	free(o->list);
	free(o->in_symbolizer);
	map_release(&o->ids);
	*o = (struct object_numbers){ 0 };
}

/* JIT code is never that of another trace: its functions lie where one process put them. */
static void object_key(const struct prf_object *o, size_t trace, struct buffer *key)
{
	bool own = o->kind == PRF_OBJECT_JIT || o->kind == PRF_OBJECT_ANONYMOUS;

	buffer_clear(key);
	buffer_u32(key, o->kind);
	buffer_u32(key, own ? (uint32_t)trace : 0);
	/* A kernel lies elsewhere after each boot. */
	buffer_u64(key, o->build_id_size ? 0 : o->base);
	buffer_u64(key, o->build_id_size ? 0 : o->inode);
	buffer_u8(key, o->build_id_size);
	buffer_append(key, o->build_id, o->build_id_size);
	buffer_append(key, o->path, strlen(o->path) + 1);
	buffer_append(key, o->root, strlen(o->root) + 1);
}

static struct error *number_objects_of(struct object_numbers *o,
				       const struct symbolizer *symbolizer, const struct trace *t,
				       size_t trace)
{
	struct buffer key = { 0 };
	struct error *error = error_memory();

	for (size_t i = 0; i < t->object_count; i++) {
		const uint32_t number = t->objects[i];
		const struct prf_object *recorded = symbolizer_object(symbolizer, number);
		uint64_t *id;
		bool added;

		if (o->of[number] != PRF_NONE)
			continue;
		object_key(recorded, trace, &key);
		id = buffer_ok(&key) ? map_put(&o->ids, key.data, key.size, &added) : NULL;
		if (!id)
			goto out;
		if (added) {
			*id = o->count;
			o->list[o->count].recorded = recorded;
			o->list[o->count].name = object_short_name(recorded);
			o->in_symbolizer[o->count++] = number;
		}
		o->of[number] = (uint32_t)*id;
	}
	error = NULL;
out:
	buffer_release(&key);
	return error;
}

struct error *object_numbers_init(struct object_numbers *o, const struct symbolizer *symbolizer,
				  const struct trace *traces, size_t n)
{
	size_t all = symbolizer_objects(symbolizer);
	struct error *error = NULL;

	*o = (struct object_numbers){ .of = malloc((all + 1) * sizeof(*o->of)) };
	o->list = calloc(all + 1, sizeof(*o->list));
	o->in_symbolizer = calloc(all + 1, sizeof(*o->in_symbolizer));
	if (!o->of || !o->list || !o->in_symbolizer)
		return error_memory();
	memset(o->of, 0xff, (all + 1) * sizeof(*o->of));
	for (size_t i = 0; !error && i < n; i++)
		error = number_objects_of(o, symbolizer, &traces[i], i);
	return error;
}

void object_numbers_add_status(struct object_numbers *o, const struct symbolizer *symbolizer)
{
	for (size_t i = 0; i < o->count; i++) {
		struct symbols_found found;

		symbolizer_found(symbolizer, o->in_symbolizer[i], &found);
		o->list[i].symbols = symbols_status_text(found.status);
	}
}
