/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/system/descendants.h"

#include "common/array.h"
#include "common/map.h"
#include "record/system/proc.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct process {
	uint32_t pid, parent;
};

struct census {
	struct process *all;
	size_t n, capacity;
	bool no_memory;
};

/* The parent of a process; 0: it has ended, or is a zombie. */
static uint32_t parent_of(uint32_t pid)
{
	struct buffer text = { 0 };
	unsigned int parent = 0;
	const char *name_end;
	char state;

	if (proc_read(pid, "stat", &text))
		text.size = 0;
	name_end = strrchr(buffer_string(&text), ')');
	if (!name_end || sscanf(name_end, ") %c %u", &state, &parent) != 2 || state == 'Z')
		parent = 0;
	buffer_release(&text);
	return parent;
}

static void visit(uint32_t pid, void *context)
{
	struct census *c = context;
	uint32_t parent = parent_of(pid);

	if (!parent || pid == (uint32_t)getpid())
		return;
	if (!array_reserve(&c->all, &c->capacity, c->n + 1))
		c->no_memory = true;
	else
		c->all[c->n++] = (struct process){ pid, parent };
}

/*
 * Adds the children of those in `family` to it and to `found`. Numbers of processes wrap around, so
 * that a child may come before its parent: as long as there are new ones, all are gone through.
 */
static bool add_children(const struct census *c, struct map *family, uint32_t *found, size_t *count)
{
	size_t before;

	do {
		before = *count;
		for (size_t i = 0; i < c->n; i++) {
			const struct process *p = &c->all[i];
			bool added;

			if (!map_get(family, &p->parent, sizeof(p->parent)))
				continue;
			if (!map_put(family, &p->pid, sizeof(p->pid), &added))
				return false;
			if (added)
				found[(*count)++] = p->pid;
		}
	} while (*count > before);
	return true;
}

struct error *descendants_find(const uint32_t *pids, size_t n, uint32_t **found, size_t *count)
{
	struct census census = { 0 };
	struct map family = { 0 };
	int status = proc_each("/proc", visit, &census);
	bool enough = !census.no_memory;

	*count = 0;
	*found = calloc(census.n + 1, sizeof(**found));
	for (size_t i = 0; i < n && enough; i++)
		enough = map_put(&family, &pids[i], sizeof(pids[i]), NULL);
	enough = enough && *found && add_children(&census, &family, *found, count);
	map_release(&family);
	free(census.all);
	if (enough && !status)
		return NULL;
	free(*found);
	*found = NULL;
	*count = 0;
	return enough ? error_system(status, "cannot read /proc") : error_memory();
}
