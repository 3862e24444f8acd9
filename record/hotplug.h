/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_HOTPLUG_H
#define RECORD_HOTPLUG_H

/*
 * CPUs that go offline while they are recorded, and come back. The kernel takes their perf events
 * away and does not bring them back, so somebody has to look and open them anew.
 */

#include "record/system/cpus.h"

#include <stdbool.h>

/* Starts as { .cpus = those that are recorded }, which must stay. */
struct hotplug {
	const struct cpus *cpus;
	bool *gone; /* of each of them; NULL: none has been so far */
};

void hotplug_release(struct hotplug *h);

enum hotplug_change { HOTPLUG_WENT, HOTPLUG_CAME_BACK };

/* Tells of each change since the last call, given those that are online now. 0 or -ENOMEM. */
int hotplug_look(struct hotplug *h, const struct cpus *online,
		 void (*changed)(uint32_t cpu, enum hotplug_change change, void *context),
		 void *context);

#endif
