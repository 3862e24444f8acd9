/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/runtimes/runtime_frames.h"

#include <string.h>

#include "common/buffer.h"
#include "common/limits.h"

void runtime_frames_release(struct runtime_frames *f)
{
	map_release(&f->numbers);
}

static void forget(struct runtime_frames *f)
{
	map_release(&f->numbers);
	f->bytes = 0;
}

void runtime_frames_begin(struct runtime_frames *f, struct prf_writer *w)
{
	f->writer = w;
	f->defined = 0;
	forget(f);
}

/* All that makes two frames different. */
static void write_key(struct buffer *key, const char *object, const struct runtime_places *p)
{
	buffer_append(key, object, strlen(object) + 1);
	for (size_t i = 0; i < p->n; i++) {
		buffer_append(key, p->places[i].function, strlen(p->places[i].function) + 1);
		buffer_append(key, p->places[i].file, strlen(p->places[i].file) + 1);
		buffer_u32(key, p->places[i].line);
		buffer_u32(key, p->places[i].start_line);
	}
}

/* Offsets are numbers that we give out. */
static struct error *define(struct runtime_frames *f, const char *path,
			    const struct runtime_places *p, uint32_t *id)
{
	const struct prf_object object = { .kind = PRF_OBJECT_JIT, .path = path, .root = "" };
	struct prf_frame frame = { .offset = ++f->defined };
	struct error *error = prf_writer_object(f->writer, &object, &frame.object);

	if (!error)
		error = prf_writer_frame(f->writer, &frame, id);
	return error ? error : prf_writer_names(f->writer, *id, p->places, p->n);
}

struct error *runtime_frames_find(struct runtime_frames *f, const char *object,
				  const struct runtime_places *places, uint32_t *id)
{
	struct error *error = NULL;
	struct buffer key = { 0 };
	bool added = false;
	uint64_t *value;

	write_key(&key, object, places);
	if (f->bytes + key.size > LIMIT_RUNTIME_FRAMES_BYTES)
		forget(f);
	value = buffer_ok(&key) ? map_put(&f->numbers, key.data, key.size, &added) : NULL;
	if (!value)
		error = error_memory();
	else if (added)
		error = define(f, object, places, id);
	if (!error && added) {
		*value = *id;
		f->bytes += key.size;
	} else if (!error) {
		*id = (uint32_t)*value;
	}
	buffer_release(&key);
	return error;
}
