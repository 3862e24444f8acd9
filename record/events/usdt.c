/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/events/usdt.h"

#include "common/limits.h"
#include "common/nearest.h"
#include "record/events/uprobe.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NOTE_TYPE 3
#define NAME_MAX_BYTES 256

struct note {
	uint64_t address, base, semaphore;
	const char *provider, *name;
};

/* The next note of the section; `note->name` is NULL if it is one of another kind. */
static bool read_note(struct cursor *notes, struct note *note)
{
	uint32_t owner_size = cursor_u32(notes), size = cursor_u32(notes);
	uint32_t type = cursor_u32(notes);
	const uint8_t *owner = cursor_bytes(notes, owner_size), *content;
	struct cursor c;

	*note = (struct note){ 0 };
	cursor_skip(notes, -(uint64_t)cursor_offset(notes) & 3);
	content = cursor_bytes(notes, size);
	if (!cursor_ok(notes))
		return false;
	/* The last note need not be padded. */
	if (cursor_left(notes))
		cursor_skip(notes, -(uint64_t)cursor_offset(notes) & 3);
	if (type != NOTE_TYPE || owner_size != 8 || memcmp(owner, "stapsdt", 8))
		return true;
	c = cursor_over(content, size);
	note->address = cursor_u64(&c);
	note->base = cursor_u64(&c);
	note->semaphore = cursor_u64(&c);
	note->provider = cursor_short_string(&c, NAME_MAX_BYTES);
	note->name = cursor_short_string(&c, NAME_MAX_BYTES);
	return true;
}

/* In file offsets; prelink(8) moves sections without the notes, so the base says by how much. */
static bool place_of(const struct elf_file *file, const struct note *note,
		     struct event_place *place)
{
	const struct elf_section *base = elf_file_section(file, ".stapsdt.base");
	uint64_t moved = base && note->base ? base->address - note->base : 0;

	*place = (struct event_place){ 0 };
	if (!elf_file_address_to_offset(file, note->address + moved, &place->offset))
		return false;
	return !note->semaphore ||
	       elf_file_address_to_offset(file, note->semaphore + moved, &place->semaphore);
}

struct error *usdt_each(const struct elf_file *file,
			struct error *(*visit)(const char *provider, const char *name,
					       struct event_place place, void *context),
			void *context)
{
	struct cursor notes = elf_section_data(file, elf_file_section(file, ".note.stapsdt"));
	struct event_place place;
	struct error *error = NULL;
	struct note note;

	if (cursor_left(&notes) > LIMIT_PROBE_NOTE_BYTES)
		notes.end = notes.at + LIMIT_PROBE_NOTE_BYTES;
	while (!error && cursor_left(&notes) && read_note(&notes, &note))
		if (note.name && place_of(file, &note, &place))
			error = visit(note.provider, note.name, place, context);
	return error;
}

/* What is looked for in a file, and the name nearest to it. */
struct search {
	struct event *event;
	char wanted[2 * NAME_MAX_BYTES], nearest[2 * NAME_MAX_BYTES];
	size_t distance, probes;
};

static struct error *add_place(struct event *event, struct event_place place)
{
	struct event_place *places;

	if (event->place_count == USDT_PLACES_MAX)
		return error_new(ERROR_LIMIT, "the probe has more than %d places", USDT_PLACES_MAX);
	places = reallocarray(event->places, event->place_count + 1, sizeof(*places));
	if (!places)
		return error_memory();
	event->places = places;
	event->places[event->place_count++] = place;
	return NULL;
}

static struct error *compare(const char *provider, const char *name, struct event_place place,
			     void *context)
{
	struct search *search = context;
	char full[2 * NAME_MAX_BYTES];
	size_t distance;

	if (!strcmp(provider, search->event->probe.provider) &&
	    !strcmp(name, search->event->probe.symbol))
		return add_place(search->event, place);
	search->probes++;
	snprintf(full, sizeof(full), "%s:%s", provider, name);
	distance = nearest_distance(search->wanted, full);
	if (distance < search->distance) {
		search->distance = distance;
		strcpy(search->nearest, full);
	}
	return NULL;
}

static struct error *resolve_in(struct event *event, const struct elf_file *file)
{
	struct search search = { .event = event };
	struct error *error;

	snprintf(search.wanted, sizeof(search.wanted), "%s:%s", event->probe.provider,
		 event->probe.symbol);
	search.distance = strlen(search.wanted) / 3 + 1;
	error = usdt_each(file, compare, &search);
	if (error)
		return error_prefix(error, "event '%s'", event->name);
	if (event->place_count)
		return NULL;
	if (*search.nearest)
		return error_new(ERROR_ARGUMENT,
				 "event '%s': %s has no probe '%s'; did you mean '%s'?",
				 event->name, event->probe.file, search.wanted, search.nearest);
	return error_new(ERROR_ARGUMENT, "event '%s': %s has no probe '%s' among its %zu",
			 event->name, event->probe.file, search.wanted, search.probes);
}

struct error *usdt_resolve(struct event *event)
{
	return uprobe_in_file(event, resolve_in);
}
