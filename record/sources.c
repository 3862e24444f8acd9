/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/sources.h"

#include "common/message.h"
#include "record/system/privileges.h"

#include <errno.h>
#include <inttypes.h>

#define ASIDE_BYTES ((size_t)32 << 20) /* of each ring's records */

void sources_release(struct sources *s)
{
	sampler_free(s->sampler);
	sideband_free(s->sideband);
	hotplug_release(&s->hotplug);
	cpus_release(&s->cpus);
	cpus_release(&s->sampled);
}

unsigned int sources_measure_rings(struct sources *s)
{
	unsigned int most = sideband_filled(s->sideband);

	for (size_t i = 0; i < sampler_rings(s->sampler); i++) {
		const struct ring *ring = sampler_ring(s->sampler, i);
		uint64_t waiting = ring_filled(ring);
		unsigned int percent = (unsigned int)(waiting * 100 / ring->size);

		if (waiting > s->ring_waited_most)
			s->ring_waited_most = waiting;
		if (percent > most)
			most = percent;
	}
	return most;
}

bool sources_set_aside(struct sources *s)
{
	bool room = sideband_filled(s->sideband) <= 50;

	for (size_t i = 0; i < sampler_rings(s->sampler) && room; i++)
		room = ring_set_aside(sampler_ring(s->sampler, i), ASIDE_BYTES);
	return room;
}

struct looking {
	struct sources *sources;
	const struct event_list *events;
	bool *came_back;
};

static uint64_t enabled_ns(uint32_t cpu, void *context)
{
	const struct looking *l = context;

	return sideband_enabled_ns(l->sources->sideband, cpu);
}

static bool cpu_changed(uint32_t cpu, enum hotplug_change change, void *context)
{
	const struct looking *l = context;
	struct error *error;

	if (change == HOTPLUG_WENT) {
		message_warning("CPU %" PRIu32 " went offline", cpu);
		return false;
	}
	error = sideband_cpu_came_back(l->sources->sideband, cpu);
	if (!error)
		error = sampler_cpu_came_back(l->sources->sampler, l->events, cpu);
	if (error)
		message_warning("CPU %" PRIu32 " is back, but nothing more is recorded there: %s%s",
				cpu, error->text,
				error_is(error, EACCES) && privileges_paranoid() > 2
					? ", as kernel.perf_event_paranoid is above 2"
					: "");
	else
		message_warning("CPU %" PRIu32 " is back; until now nothing was recorded there",
				cpu);
	*l->came_back = true;
	return !error_ignore(error);
}

struct error *sources_look_at_cpus(struct sources *s, const struct event_list *events,
				   bool *came_back)
{
	struct looking looking = { s, events, came_back };
	const struct hotplug_events changes = { enabled_ns, cpu_changed, &looking };
	struct cpus online = { 0 };
	struct error *error = NULL;

	/* If the list of CPUs cannot be read, it is taken to be unchanged. */
	if (!error_ignore(cpus_online(&online)))
		error = hotplug_look(&s->hotplug, &online, &changes);
	cpus_release(&online);
	return error;
}
