/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/spaces/space.h"

#include "common/map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct spaces {
	struct map by_pid; /* -> struct layout * */
	uint64_t next_id;
	struct layout nothing;
};

static void layout_put(struct layout *layout)
{
	if (!layout || --layout->users)
		return;
	mappings_release(&layout->mappings);
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
	if (old && mappings_copy(&copy->mappings, &old->mappings)) {
		free(copy);
		return NULL;
	}
	copy->made_code = old && old->made_code;
	return set_layout(s, pid, copy) ? NULL : copy;
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
	struct layout *layout;

	if (!mappings_are_changed_by(&spaces_layout(s, pid)->mappings, mapping))
		return 0;
	layout = own_layout(s, pid);
	if (!layout || mappings_add(&layout->mappings, mapping) == -ENOMEM)
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
