/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_HOTPLUG_H
#define RECORD_HOTPLUG_H

/*
 * CPUs that go offline while they are recorded, and come back. The kernel ends their perf events
 * and does not start them again, so the recorder must notice and open new ones. A CPU may do both
 * between two looks, as all but one do when the machine is suspended: then the time for which its
 * events were enabled stands still.
 */

#include "common/error.h"
#include "record/system/cpus.h"

#include <stdbool.h>

struct hotplug_cpu;

/* Starts as { .cpus = those that are recorded }, which must stay. */
struct hotplug {
	const struct cpus *cpus;
	struct hotplug_cpu *states; /* of each of them; NULL: no look has been taken so far */
};

void hotplug_release(struct hotplug *h);

#define HOTPLUG_NOT_KNOWN UINT64_MAX /* as a time */

enum hotplug_change { HOTPLUG_WENT, HOTPLUG_CAME_BACK };

struct hotplug_events {
	/* How long the events of a CPU have been enabled so far, in ns. */
	uint64_t (*enabled_ns)(uint32_t cpu, void *context);
	/* A CPU that came back: whether it has events again. */
	bool (*changed)(uint32_t cpu, enum hotplug_change change, void *context);
	void *context;
};

/* Calls `changed` for each CPU that changed since the last call, given those online now. */
struct error *hotplug_look(struct hotplug *h, const struct cpus *online,
			   const struct hotplug_events *events);

#endif
