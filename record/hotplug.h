/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_HOTPLUG_H
#define RECORD_HOTPLUG_H

/*
 * CPUs that go offline while they are recorded, and come back. The kernel ends their perf events
 * and does not start them again, so the recorder must notice and open new ones.
 */

#include "common/error.h"
#include "record/system/cpus.h"

#include <stdbool.h>

/* Starts as { .cpus = those that are recorded }, which must stay. */
struct hotplug {
	const struct cpus *cpus;
	bool *gone; /* for each of them; NULL: none has gone offline so far */
};

void hotplug_release(struct hotplug *h);

enum hotplug_change { HOTPLUG_WENT, HOTPLUG_CAME_BACK };

/* Calls `changed` for each CPU that changed since the last call, given those online now. */
struct error *hotplug_look(struct hotplug *h, const struct cpus *online,
			   void (*changed)(uint32_t cpu, enum hotplug_change change, void *context),
			   void *context);

#endif
