/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/profile/trace_objects.h"

#include "common/buffer.h"

#include <stdlib.h>
#include <string.h>

/*
 * Whether equal ones may have several numbers: in a long trace, what was not used for a while is
 * defined again (prf.h). Each process's made code is its own, and what a trace lost has no name to
 * share.
 */
static bool may_come_again(const struct prf_object *o)
{
	return o->kind != PRF_OBJECT_JIT && o->kind != PRF_OBJECT_ANONYMOUS &&
	       o->kind != PRF_OBJECT_UNKNOWN;
}

/* Whether an equal one of another trace has the same code at the same offsets. */
static bool is_same_elsewhere(const struct prf_object *o)
{
	return o->build_id_size && (o->kind == PRF_OBJECT_FILE || o->kind == PRF_OBJECT_KERNEL ||
				    o->kind == PRF_OBJECT_MODULE || o->kind == PRF_OBJECT_VDSO);
}

/* All that makes two objects different; of what a trace does not share, also which trace it is. */
static void write_key(struct buffer *key, const struct prf_object *o, const void *trace)
{
	const uint64_t numbers[] = {
		o->kind,
		o->build_id_size,
		o->deleted,
		is_same_elsewhere(o) ? 0 : o->base,
		o->device,
		o->inode,
		o->size,
		o->mtime_ns,
		is_same_elsewhere(o) ? 0 : (uintptr_t)trace,
	};

	buffer_append(key, numbers, sizeof(numbers));
	buffer_append(key, o->build_id, o->build_id_size);
	buffer_append(key, o->path, strlen(o->path) + 1);
	buffer_append(key, o->root, strlen(o->root) + 1);
}

/* The symbolizer's number of an object, the same one for equal ones: they share their symbols. */
static struct error *add_object(const struct trace_objects *o, const struct prf_object *object,
				struct symbolizer *symbolizer, uint32_t *number)
{
	struct buffer key = { 0 };
	struct error *error = NULL;
	bool added = true;
	uint64_t *known;

	if (!may_come_again(object))
		return symbolizer_add_object(symbolizer, object, number);
	write_key(&key, object, o->numbers);
	known = buffer_ok(&key) ? map_put(o->known, key.data, key.size, &added) : NULL;
	buffer_release(&key);
	if (!known)
		return error_memory();
	if (added) {
		error = symbolizer_add_object(symbolizer, object, number);
		*known = error ? 0 : *number;
	} else {
		*number = (uint32_t)*known;
	}
	return error;
}

struct error *trace_objects_follow(const struct trace_objects *o, const struct prf_reader *reader,
				   struct symbolizer *symbolizer)
{
	size_t n = prf_reader_objects(reader);
	uint32_t *numbers;

	if (n <= *o->count)
		return NULL;
	numbers = realloc(*o->numbers, n * sizeof(*numbers));
	if (!numbers)
		return error_memory();
	*o->numbers = numbers;
	for (; *o->count < n; ++*o->count) {
		uint32_t i = (uint32_t)*o->count;
		struct error *error = add_object(o, prf_reader_object(reader, i), symbolizer,
						 &numbers[i]);

		if (error)
			return error;
	}
	return NULL;
}
