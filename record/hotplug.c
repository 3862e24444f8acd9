/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/hotplug.h"

#include <stdlib.h>

struct hotplug_cpu {
	bool gone;
	bool dead;	     /* it is online, but its events could not be opened again */
	uint64_t enabled_ns; /* as of the last look, or 0 */
};

void hotplug_release(struct hotplug *h)
{
	free(h->states);
	h->states = NULL;
}

/* Whether a CPU that is online has gone and come back since the last look, or the beginning. */
static bool was_away(struct hotplug_cpu *state, uint64_t enabled_ns)
{
	bool stands = enabled_ns != HOTPLUG_NOT_KNOWN && enabled_ns == state->enabled_ns;

	state->enabled_ns = enabled_ns;
	return stands;
}

static void look_at(struct hotplug_cpu *state, uint32_t cpu, bool online,
		    const struct hotplug_events *events)
{
	bool was_gone = state->gone;

	state->gone = !online;
	if (online && !was_gone &&
	    (state->dead || !was_away(state, events->enabled_ns(cpu, events->context))))
		return;
	if (!was_gone)
		events->changed(cpu, HOTPLUG_WENT, events->context);
	if (!online)
		return;
	state->dead = !events->changed(cpu, HOTPLUG_CAME_BACK, events->context);
	state->enabled_ns = HOTPLUG_NOT_KNOWN;
}

struct error *hotplug_look(struct hotplug *h, const struct cpus *online,
			   const struct hotplug_events *events)
{
	if (!h->states && !(h->states = calloc(h->cpus->n + 1, sizeof(*h->states))))
		return error_memory();
	/* Both lists are sorted. */
	for (size_t i = 0, at = 0; i < h->cpus->n; i++) {
		uint32_t cpu = h->cpus->ids[i];

		while (at < online->n && online->ids[at] < cpu)
			at++;
		look_at(&h->states[i], cpu, at < online->n && online->ids[at] == cpu, events);
	}
	return NULL;
}
