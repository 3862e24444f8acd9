/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/space.h"

#include "common/map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct spaces {
	struct map by_pid; /* -> struct layout * */
	uint64_t next_id;
	struct layout nothing;
};

const struct mapping *layout_find(const struct layout *layout, uint64_t address)
{
	size_t low = 0, high = layout->n;

	/* The last one that begins at or below the address. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (layout->mappings[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || layout->mappings[low - 1].end <= address)
		return NULL;
	return &layout->mappings[low - 1];
}

static void layout_put(struct layout *layout)
{
	if (!layout || --layout->users)
		return;
	free(layout->mappings);
	free(layout);
}

struct spaces *spaces_new(void)
{
	struct spaces *s = calloc(1, sizeof(*s));

	if (s)
		s->next_id = 1; /* 0 is the empty one */
	return s;
}

static void put_value(const void *key, size_t size, uint64_t value, void *context)
{
	layout_put((struct layout *)(uintptr_t)value);
}

void spaces_free(struct spaces *s)
{
	if (!s)
		return;
	map_each(&s->by_pid, put_value, NULL);
	map_release(&s->by_pid);
	free(s);
}

static struct layout *layout_of(const struct spaces *s, uint32_t pid)
{
	uint64_t *value = map_get(&s->by_pid, &pid, sizeof(pid));

	return value ? (struct layout *)(uintptr_t)*value : NULL;
}

/* Gives the process this layout, whose count already includes it. */
static int set_layout(struct spaces *s, uint32_t pid, struct layout *layout)
{
	uint64_t *value = map_put(&s->by_pid, &pid, sizeof(pid), NULL);

	if (!value) {
		layout_put(layout);
		return -ENOMEM;
	}
	layout_put((struct layout *)(uintptr_t)*value);
	*value = (uintptr_t)layout;
	return 0;
}

/* A layout of its own for the process, to be changed: a copy, unless nobody else has it. */
static struct layout *own_layout(struct spaces *s, uint32_t pid)
{
	struct layout *old = layout_of(s, pid), *copy;

	if (old && old->users == 1) {
		old->id = s->next_id++;
		return old;
	}
	copy = calloc(1, sizeof(*copy));
	if (!copy)
		return NULL;
	copy->users = 1;
	copy->id = s->next_id++;
	if (old && old->n) {
		copy->mappings = calloc(old->n, sizeof(*copy->mappings));
		if (!copy->mappings) {
			free(copy);
			return NULL;
		}
		memcpy(copy->mappings, old->mappings, old->n * sizeof(*copy->mappings));
		copy->n = copy->capacity = old->n;
		copy->made_code = old->made_code;
	}
	return set_layout(s, pid, copy) ? NULL : copy;
}

static bool reserve(struct layout *layout, size_t more)
{
	size_t capacity = layout->capacity ? layout->capacity : 8;
	struct mapping *mappings;

	while (capacity < layout->n + more)
		capacity *= 2;
	if (capacity == layout->capacity)
		return true;
	mappings = reallocarray(layout->mappings, capacity, sizeof(*mappings));
	if (!mappings)
		return false;
	layout->mappings = mappings;
	layout->capacity = capacity;
	return true;
}

/* Replaces mappings [from, to) by `n` others. There is room. */
static void splice(struct layout *layout, size_t from, size_t to, const struct mapping *with,
		   size_t n)
{
	struct mapping *m = layout->mappings;

	memmove(m + from + n, m + to, (layout->n - to) * sizeof(*m));
	memcpy(m + from, with, n * sizeof(*m));
	layout->n = layout->n - (to - from) + n;
}

/* What it covers of others is gone; what sticks out of it on either side stays. */
static bool insert(struct layout *layout, const struct mapping *mapping)
{
	struct mapping pieces[3];
	size_t from = 0, to, n = 0, high = layout->n;

	if (!reserve(layout, 2))
		return false;
	/* The first one that ends above the new one's start. */
	while (from < high) {
		size_t middle = from + (high - from) / 2;

		if (layout->mappings[middle].end <= mapping->start)
			from = middle + 1;
		else
			high = middle;
	}
	for (to = from; to < layout->n && layout->mappings[to].start < mapping->end; to++)
		;
	if (to > from && layout->mappings[from].start < mapping->start) {
		pieces[n] = layout->mappings[from];
		pieces[n++].end = mapping->start;
	}
	pieces[n++] = *mapping;
	if (to > from && layout->mappings[to - 1].end > mapping->end) {
		pieces[n] = layout->mappings[to - 1];
		pieces[n].offset += mapping->end - pieces[n].start;
		pieces[n++].start = mapping->end;
	}
	splice(layout, from, to, pieces, n);
	return true;
}

int spaces_add(struct spaces *s, uint32_t pid)
{
	if (layout_of(s, pid))
		return 0;
	return own_layout(s, pid) ? 0 : -ENOMEM;
}

bool spaces_knows(const struct spaces *s, uint32_t pid)
{
	return layout_of(s, pid) != NULL;
}

int spaces_map(struct spaces *s, uint32_t pid, const struct mapping *mapping)
{
	const struct layout *now = spaces_layout(s, pid);
	const struct mapping *there = layout_find(now, mapping->start);
	struct layout *layout;

	/* What is known already changes nothing: mappings are told twice at the start. */
	if (there && there->start == mapping->start && there->end == mapping->end &&
	    there->offset == mapping->offset && there->object == mapping->object)
		return 0;
	layout = own_layout(s, pid);
	if (!layout || !insert(layout, mapping))
		return -ENOMEM;
	if (mapping->object && mapping->object->definition.kind == PRF_OBJECT_ANONYMOUS)
		layout->made_code = true;
	return 0;
}

int spaces_fork(struct spaces *s, uint32_t parent, uint32_t child)
{
	struct layout *layout = layout_of(s, parent);

	if (!layout)
		return spaces_clear(s, child);
	layout->users++;
	return set_layout(s, child, layout);
}

int spaces_clear(struct spaces *s, uint32_t pid)
{
	struct layout *layout = calloc(1, sizeof(*layout));

	if (!layout)
		return -ENOMEM;
	layout->users = 1;
	layout->id = s->next_id++;
	return set_layout(s, pid, layout);
}

void spaces_remove(struct spaces *s, uint32_t pid)
{
	layout_put(layout_of(s, pid));
	map_remove(&s->by_pid, &pid, sizeof(pid));
}

struct visiting {
	void (*visit)(uint32_t pid, void *context);
	void *context;
};

static void visit_pid(const void *key, size_t size, uint64_t value, void *context)
{
	const struct visiting *visiting = context;
	uint32_t pid;

	memcpy(&pid, key, sizeof(pid));
	visiting->visit(pid, visiting->context);
}

void spaces_each(const struct spaces *s, void (*visit)(uint32_t pid, void *context), void *context)
{
	struct visiting visiting = { visit, context };

	map_each(&s->by_pid, visit_pid, &visiting);
}

const struct layout *spaces_layout(const struct spaces *s, uint32_t pid)
{
	const struct layout *layout = layout_of(s, pid);

	return layout ? layout : &s->nothing;
}
