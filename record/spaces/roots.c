/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/spaces/roots.h"

#include "record/system/proc.h"

#include <stdlib.h>
#include <string.h>

void roots_release(struct roots *r)
{
	map_release_values(&r->by_pid, free);
}

const char *roots_of(const struct roots *r, uint32_t pid)
{
	const uint64_t *path = map_get(&r->by_pid, &pid, sizeof(pid));

	return path ? (const char *)(uintptr_t)*path : "";
}

static void set(struct roots *r, uint32_t pid, const char *path)
{
	char *copy;
	uint64_t *value;

	/* Most processes have our root: they get no entry. */
	if (!*path) {
		roots_remove(r, pid);
		return;
	}
	copy = strdup(path);
	value = copy ? map_put(&r->by_pid, &pid, sizeof(pid), NULL) : NULL;
	if (!value) {
		free(copy);
		return;
	}
	free((char *)(uintptr_t)*value);
	*value = (uintptr_t)copy;
}

void roots_read(struct roots *r, uint32_t pid)
{
	char path[4096];

	if (!proc_link(pid, "root", path, sizeof(path)))
		set(r, pid, strcmp(path, "/") ? path : "");
}

void roots_fork(struct roots *r, uint32_t parent, uint32_t child)
{
	set(r, child, roots_of(r, parent));
}

void roots_remove(struct roots *r, uint32_t pid)
{
	map_remove_value(&r->by_pid, &pid, sizeof(pid), free);
}
