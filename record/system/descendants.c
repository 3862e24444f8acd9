/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/system/descendants.h"

#include "common/array.h"
#include "common/map.h"
#include "record/system/proc.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* All that were found, after the `given` ones whose children are looked for. */
struct family {
	struct map known;
	uint32_t *pids;
	size_t given, n, capacity;
	uint32_t parent; /* whose threads are gone through */
	bool no_memory;
};

static void add(struct family *f, uint32_t pid)
{
	bool added;

	if (f->no_memory)
		return;
	if (!array_reserve(&f->pids, &f->capacity, f->n + 1) ||
	    !map_put(&f->known, &pid, sizeof(pid), &added)) {
		f->no_memory = true;
		return;
	}
	if (added)
		f->pids[f->n++] = pid;
}

static void add_child(struct family *f, uint32_t pid)
{
	if (pid != (uint32_t)getpid())
		add(f, pid);
}

/* -------- from the lists that the kernel keeps -------- */

static bool has_children_lists(void)
{
	return !access("/proc/thread-self/children", R_OK);
}

/* The processes that one thread has forked, or that became its children: "PID PID ". */
static void add_children_of(uint32_t tid, void *context)
{
	struct family *f = context;
	struct buffer text = { 0 };
	char path[64], *next;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32 "/children", f->parent, tid);
	/* A thread that has ended has no children; others of its process have taken them. */
	if (read_file(path, &text))
		text.size = 0;
	next = (char *)(uintptr_t)buffer_string(&text);
	for (;;) {
		uint32_t pid = (uint32_t)strtoul(next, &next, 10);

		if (!pid)
			break;
		if (proc_runs(pid, NULL))
			add_child(f, pid);
	}
	f->no_memory |= !buffer_ok(&text);
	buffer_release(&text);
}

static void follow_lists(struct family *f)
{
	char folder[64];

	for (size_t i = 0; i < f->n; i++) {
		f->parent = f->pids[i];
		snprintf(folder, sizeof(folder), "/proc/%" PRIu32 "/task", f->parent);
		proc_each(folder, add_children_of, f); /* an error: it has ended */
	}
}

/* -------- from the parents of all processes -------- */

struct process {
	uint32_t pid, parent;
};

struct census {
	struct process *all;
	size_t n, capacity;
	bool no_memory;
};

static void note(uint32_t pid, void *context)
{
	struct census *c = context;
	uint32_t parent;

	if (!proc_runs(pid, &parent) || !parent)
		return;
	if (!array_reserve(&c->all, &c->capacity, c->n + 1))
		c->no_memory = true;
	else
		c->all[c->n++] = (struct process){ pid, parent };
}

/*
 * Numbers of processes wrap around, so that a child may come before its parent: as long as there
 * are new ones, all are gone through.
 */
static struct error *follow_parents(struct family *f)
{
	struct census c = { 0 };
	int status = proc_each("/proc", note, &c);
	size_t before;

	do {
		before = f->n;
		for (size_t i = 0; i < c.n; i++)
			if (map_get(&f->known, &c.all[i].parent, sizeof(c.all[i].parent)))
				add_child(f, c.all[i].pid);
	} while (f->n > before);
	f->no_memory |= c.no_memory;
	free(c.all);
	return status ? error_system(status, "cannot read /proc") : NULL;
}

static void begin(struct family *f, const uint32_t *pids, size_t n)
{
	*f = (struct family){ 0 };
	for (size_t i = 0; i < n; i++)
		add(f, pids[i]);
	f->given = f->n;
}

/* Hands out what was found, unless there was an error. */
static struct error *finish(struct family *f, struct error *error, uint32_t **found, size_t *count)
{
	map_release(&f->known);
	if (!error && f->no_memory)
		error = error_memory();
	*count = error ? 0 : f->n - f->given;
	if (*count)
		memmove(f->pids, f->pids + f->given, *count * sizeof(*f->pids));
	else
		free(f->pids);
	*found = *count ? f->pids : NULL;
	return error;
}

struct error *descendants_by_parents(const uint32_t *pids, size_t n, uint32_t **found,
				     size_t *count)
{
	struct family f;

	begin(&f, pids, n);
	return finish(&f, follow_parents(&f), found, count);
}

struct error *descendants_find(const uint32_t *pids, size_t n, uint32_t **found, size_t *count)
{
	struct family f;

	if (!has_children_lists())
		return descendants_by_parents(pids, n, found, count);
	begin(&f, pids, n);
	follow_lists(&f);
	return finish(&f, NULL, found, count);
}
