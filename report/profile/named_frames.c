/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/profile/named_frames.h"

#include "common/array.h"
#include "common/buffer.h"
#include "report/profile/frame_name.h"

#include <stdlib.h>

void named_frames_release(struct named_frames *n)
{
	for (size_t i = 0; n->expansions && i < n->used->trace_count; i++)
		free(n->expansions[i]);
	free(n->expansions);
	free(n->frames);
	frame_table_release(&n->table);
	*n = (struct named_frames){ 0 };
}

/* -------- what is looked up -------- */

static struct error *ask_for_frames(struct named_frames *n, size_t trace)
{
	const struct trace *t = &n->used->traces[trace];
	const struct prf_frame *frames = prf_reader_all_frames(t->reader);
	size_t count = prf_reader_frames(t->reader);
	struct expansion *expansions = calloc(count + 1, sizeof(*expansions));
	struct error *error = NULL;

	n->expansions[trace] = expansions;
	if (!expansions)
		return error_memory();
	for (size_t i = 0; !error && i < count; i++) {
		expansions[i].query = PRF_NONE;
		if (!n->used->frames[trace][i] || frames[i].object == PRF_NONE ||
		    (frames[i].flags & PRF_FRAME_END))
			continue;
		error = symbolizer_add_query(n->symbolizer, t->objects[frames[i].object],
					     frames[i].offset, frames[i].flags & PRF_FRAME_EXACT,
					     &expansions[i].query);
	}
	return error;
}

/* Names that the trace itself gives to some of its frames. */
static struct error *add_recorded_names(struct named_frames *n, size_t trace)
{
	const struct trace *t = &n->used->traces[trace];
	size_t count = prf_reader_frames(t->reader);
	struct error *error = NULL;

	for (size_t i = 0; !error && i < t->name_count; i++) {
		const struct trace_names *names = &t->names[i];
		uint32_t query = names->frame < count ? n->expansions[trace][names->frame].query
						      : PRF_NONE;

		if (query != PRF_NONE)
			error = symbolizer_add_names(n->symbolizer, query, t->places + names->first,
						     names->count);
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
	error = trace_keep_names(t, frame, places, count);
	free(places);
	return error;
}

/* What was looked up now is not looked up again. What the trace says later of a frame replaces it.
 */
static struct error *keep_found(struct named_frames *n, size_t trace)
{
	struct trace *t = &n->keepers[trace];
	const struct prf_frame *frames = prf_reader_all_frames(t->reader);
	size_t count = prf_reader_frames(t->reader);
	uint8_t *has_names = calloc(count + 1, 1);
	struct error *error = has_names ? NULL : error_memory();

	for (size_t i = 0; !error && i < t->name_count; i++)
		if (t->names[i].frame < count)
			has_names[t->names[i].frame] = 1;
	for (size_t i = 0; !error && i < count; i++) {
		uint32_t query = n->expansions[trace][i].query;

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
static struct profile_frame common_frame(const struct named_frames *n, size_t trace,
					 const struct prf_frame *recorded,
					 const struct prf_object *object)
{
	struct profile_frame frame = { .object = PRF_NONE, .linkage_name = "", .file = "" };

	if (object)
		frame.object = n->objects->of[trace][recorded->object];
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

static bool expand_frame(struct named_frames *n, size_t trace, const struct prf_frame *recorded,
			 struct expansion *expansion, struct buffer *room)
{
	const struct prf_reader *reader = n->used->traces[trace].reader;
	const struct prf_object *object = recorded->object != PRF_NONE &&
							  !(recorded->flags & PRF_FRAME_END)
						  ? prf_reader_object(reader, recorded->object)
						  : NULL;
	struct profile_frame frame = common_frame(n, trace, recorded, object);
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

static struct error *expand_trace(struct named_frames *n, size_t trace)
{
	const struct prf_reader *r = n->used->traces[trace].reader;
	const struct prf_frame *frames = prf_reader_all_frames(r);
	struct buffer room = { 0 };
	bool ok = true;

	for (size_t f = 0; ok && f < prf_reader_frames(r); f++)
		if (n->used->frames[trace][f])
			ok = expand_frame(n, trace, &frames[f], &n->expansions[trace][f], &room);
	buffer_release(&room);
	return ok ? NULL : error_memory();
}

struct error *named_frames_make(struct named_frames *n)
{
	size_t count = n->used->trace_count;
	struct error *error = NULL;

	n->expansions = calloc(count, sizeof(*n->expansions));
	if (!n->expansions)
		return error_memory();
	for (size_t i = 0; !error && i < count; i++) {
		error = ask_for_frames(n, i);
		if (!error)
			error = add_recorded_names(n, i);
	}
	if (!error)
		error = symbolizer_run(n->symbolizer);
	for (size_t i = 0; !error && n->keepers && i < count; i++)
		error = keep_found(n, i);
	for (size_t i = 0; !error && i < count; i++)
		error = expand_trace(n, i);
	return error;
}
