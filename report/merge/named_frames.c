/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/merge/named_frames.h"

#include "common/array.h"
#include "common/buffer.h"
#include "report/merge/frame_name.h"

#include <stdlib.h>

void named_frames_release(struct named_frames *n)
{
	free(n->expansions);
	free(n->frames);
	frame_table_release(&n->table);
	*n = (struct named_frames){ 0 };
}

/* -------- what is looked up -------- */

static struct error *ask_for_frames(struct named_frames *n)
{
	const struct definitions *d = n->definitions;
	struct error *error = NULL;

	n->expansions = calloc(d->frame_count + 1, sizeof(*n->expansions));
	if (!n->expansions)
		return error_memory();
	for (size_t i = 0; !error && i < d->frame_count; i++) {
		const struct prf_frame *frame = &d->frames[i];

		n->expansions[i].query = PRF_NONE;
		if (!n->used->frames[i] || frame->object == PRF_NONE ||
		    (frame->flags & PRF_FRAME_END))
			continue;
		error = symbolizer_add_query(n->symbolizer, definitions_object(d, frame->object),
					     frame->offset, frame->flags & PRF_FRAME_EXACT,
					     &n->expansions[i].query);
	}
	return error;
}

/* Names that the trace itself gives to some of its frames. */
static struct error *add_recorded_names(struct named_frames *n)
{
	const struct definitions *d = n->definitions;
	struct error *error = NULL;

	for (size_t i = 0; !error && i < d->names->count; i++) {
		const struct recorded_name *names = &d->names->list[i];
		uint32_t query = names->frame < d->frame_count ? n->expansions[names->frame].query
							       : PRF_NONE;

		if (query != PRF_NONE)
			error = symbolizer_add_names(n->symbolizer, query,
						     d->names->places + names->first, names->count);
	}
	return error;
}

/* -------- kept for the next time -------- */

/* Code of a JIT compiler may be replaced by other code; that of files and of the kernel stays. */
static bool is_lasting(const struct prf_object *object)
{
	return object->kind == PRF_OBJECT_FILE || object->kind == PRF_OBJECT_VDSO ||
	       object->kind == PRF_OBJECT_KERNEL;
}

static struct error *keep_places(struct named_frames *n, struct trace *t, uint32_t frame,
				 uint32_t query)
{
	size_t count;
	const struct symbolizer_place *found = symbolizer_places(n->symbolizer, query, &count);
	struct prf_place *places = calloc(count + 1, sizeof(*places));
	struct error *error;

	if (!places)
		return error_memory();
	for (size_t i = 0; i < count; i++)
		places[i] = (struct prf_place){ found[i].function, found[i].file, found[i].line,
						found[i].start_line };
	error = recorded_names_add(&t->names, frame, places, count);
	free(places);
	return error;
}

/* What was looked up now is not looked up again. What the trace says later of a frame replaces it.
 */
static struct error *keep_found(struct named_frames *n)
{
	struct trace *t = n->keeper;
	const struct prf_frame *frames = n->definitions->frames;
	size_t count = n->definitions->frame_count;
	uint8_t *has_names = calloc(count + 1, 1);
	struct error *error = has_names ? NULL : error_memory();

	for (size_t i = 0; !error && i < t->names.count; i++)
		if (t->names.list[i].frame < count)
			has_names[t->names.list[i].frame] = 1;
	for (size_t i = 0; !error && i < count; i++) {
		uint32_t query = n->expansions[i].query;

		if (query != PRF_NONE && !has_names[i] &&
		    is_lasting(prf_reader_object(t->reader, frames[i].object)))
			error = keep_places(n, t, (uint32_t)i, query);
	}
	free(has_names);
	return error;
}

/* -------- what was found -------- */

/* The frame under a name that says that it was guessed. */
static uint32_t add_guessed(struct named_frames *n, struct profile_frame frame)
{
	struct buffer name = { 0 };
	uint32_t id = PRF_NONE;

	buffer_printf(&name, "%s [guessed]", frame.name);
	frame.name = buffer_string(&name);
	if (buffer_ok(&name))
		id = frame_table_add(&n->table, &frame);
	buffer_release(&name);
	return id;
}

static bool add_frame(struct named_frames *n, struct expansion *expansion,
		      const struct profile_frame *frame, uint64_t offset)
{
	uint32_t id = frame->guessed && (n->detail & PROFILE_GUESS_IN_NAME)
			      ? add_guessed(n, *frame)
			      : frame_table_add(&n->table, frame);
	uint64_t *lowest = id == PRF_NONE ? NULL : &n->table.frames[id].offset;

	if (lowest && (n->detail & PROFILE_LOWEST_ADDRESS) && (!*lowest || offset < *lowest))
		*lowest = offset;
	if (id == PRF_NONE || !array_reserve(&n->frames, &n->capacity, n->count + 1))
		return false;
	n->frames[n->count++] = id;
	expansion->count++;
	return true;
}

/* What all frames of an expansion have in common. */
static struct profile_frame common_frame(const struct named_frames *n,
					 const struct prf_frame *recorded,
					 const struct prf_object *object)
{
	struct profile_frame frame = { .object = PRF_NONE, .linkage_name = "", .file = "" };

	if (object)
		frame.object = n->objects->of[definitions_object(n->definitions, recorded->object)];
	frame.kind = (uint8_t)frame_kind_of(recorded, object);
	frame.guessed = (n->detail & (PROFILE_BY_ADDRESS | PROFILE_BY_GUESS)) &&
			(recorded->flags & PRF_FRAME_GUESSED);
	return frame;
}

/* A return address lies after its call, or in what follows a function that does not return. */
static uint64_t shown_offset(const struct named_frames *n, const struct prf_frame *recorded)
{
	bool inside = n->detail & PROFILE_INSIDE_CALL && !(recorded->flags & PRF_FRAME_EXACT);

	return recorded->offset - (inside && recorded->offset);
}

/* Fills in where a place lies, in the detail that the view distinguishes. */
static void add_position(const struct named_frames *n, const struct symbolizer_place *place,
			 uint64_t offset, struct profile_frame *frame)
{
	if ((n->detail & PROFILE_BY_ADDRESS) || (!frame->named && (n->detail & PROFILE_BY_UNNAMED)))
		frame->offset = offset;
	frame->start_line = place->start_line;
	if (n->detail & (PROFILE_BY_LINE | PROFILE_BY_FILE))
		frame->file = place->file;
	if (n->detail & PROFILE_BY_LINE)
		frame->line = place->line;
	else if (n->detail & PROFILE_BY_FILE && !frame->start_line)
		frame->start_line = place->line;
}

static const struct prf_object *object_of(const struct named_frames *n,
					  const struct prf_frame *recorded)
{
	if (recorded->object == PRF_NONE || (recorded->flags & PRF_FRAME_END))
		return NULL;
	return symbolizer_object(n->symbolizer,
				 definitions_object(n->definitions, recorded->object));
}

static bool expand_frame(struct named_frames *n, const struct prf_frame *recorded,
			 struct expansion *expansion, struct buffer *room)
{
	const struct prf_object *object = object_of(n, recorded);
	struct profile_frame frame = common_frame(n, recorded, object);
	const struct symbolizer_place *places = NULL;
	const uint64_t offset = shown_offset(n, recorded);
	size_t count = 0;

	expansion->first = (uint32_t)n->count;
	if (expansion->query != PRF_NONE)
		places = symbolizer_places(n->symbolizer, expansion->query, &count);
	for (size_t i = 0; i < count; i++) {
		struct profile_frame one = frame;

		one.inlined = i + 1 < count;
		/* "[libfoo.so.1+0x1234]" identifies a function, but is not its name. */
		one.named = places[i].name[0] && places[i].name[0] != '[';
		one.name = places[i].name[0] ? places[i].name
					     : frame_placeholder(recorded, object, room);
		one.linkage_name = places[i].function;
		add_position(n, &places[i], offset, &one);
		if (!add_frame(n, expansion, &one, offset))
			return false;
	}
	if (count)
		return true;
	frame.name = frame_placeholder(recorded, object, room);
	if (!frame.name)
		return true;
	if (frame.kind != PROFILE_FRAME_END &&
	    (n->detail & (PROFILE_BY_ADDRESS | PROFILE_BY_UNNAMED)))
		frame.offset = offset;
	return add_frame(n, expansion, &frame, offset);
}

static struct error *expand_frames(struct named_frames *n)
{
	const struct definitions *d = n->definitions;
	struct buffer room = { 0 };
	bool ok = true;

	for (size_t f = 0; ok && f < d->frame_count; f++)
		if (n->used->frames[f])
			ok = expand_frame(n, &d->frames[f], &n->expansions[f], &room) &&
			     buffer_ok(&room);
	buffer_release(&room);
	return ok ? NULL : error_memory();
}

struct error *named_frames_make(struct named_frames *n)
{
	struct error *error = ask_for_frames(n);
	struct symbolizer_shortage lacks;

	if (!error)
		error = add_recorded_names(n);
	if (!error)
		error = symbolizer_run(n->symbolizer);
	symbolizer_shortage(n->symbolizer, &lacks);
	if (!error && n->keeper && !lacks.os_error)
		error = keep_found(n);
	return error ? error : expand_frames(n);
}
