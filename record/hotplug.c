/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/hotplug.h"

#include <stdlib.h>

void hotplug_release(struct hotplug *h)
{
	free(h->gone);
	h->gone = NULL;
}

struct error *hotplug_look(struct hotplug *h, const struct cpus *online,
			   void (*changed)(uint32_t cpu, enum hotplug_change change, void *context),
			   void *context)
{
	if (!h->gone && !(h->gone = calloc(h->cpus->n + 1, sizeof(*h->gone))))
		return error_memory();
	/* Both lists are sorted. */
	for (size_t i = 0, at = 0; i < h->cpus->n; i++) {
		uint32_t cpu = h->cpus->ids[i];
		bool gone;

		while (at < online->n && online->ids[at] < cpu)
			at++;
		gone = at == online->n || online->ids[at] != cpu;
		if (gone != h->gone[i])
			changed(cpu, gone ? HOTPLUG_WENT : HOTPLUG_CAME_BACK, context);
		h->gone[i] = gone;
	}
	return NULL;
}
