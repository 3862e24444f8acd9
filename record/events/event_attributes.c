/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/events/event_attributes.h"

#include <stdio.h>

void event_attributes(const struct event *event, struct perf_event_attr *attributes)
{
	bool timer = event_is_timer(event);

	*attributes = (struct perf_event_attr){
		.size = sizeof(*attributes),
		.type = event->type,
		.config = event->config,
		.disabled = 1,
		.exclude_kernel = event->user_only && !timer,
		.exclude_user = event->kernel_only && !timer,
		.exclude_hv = 1,
	};
	if (event->frequency) {
		attributes->freq = 1;
		attributes->sample_freq = event->frequency;
	} else {
		attributes->sample_period = event->period;
	}
}

bool event_device_type(const char *name, uint32_t *type)
{
	char path[96];
	bool found;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", name);
	f = fopen(path, "re");
	found = f && fscanf(f, "%u", type) == 1;
	if (f)
		fclose(f);
	return found;
}

/* Bits of `config`, as in format/retprobe and format/ref_ctr_offset of both PMUs. */
#define PROBE_AT_RETURN 1
#define PROBE_SEMAPHORE_SHIFT 32

bool event_place_attributes(const struct event *event, size_t place,
			    struct perf_event_attr *attributes)
{
	event_attributes(event, attributes);
	attributes->sample_period = 1;
	if (event->source == EVENT_TRACEPOINT || event->source == EVENT_TRACED_PROBE)
		return true;
	if (!event_device_type(event->probe.form->device, &attributes->type))
		return false;
	attributes->config = event->probe.form->at_return ? PROBE_AT_RETURN : 0;
	if (event->source == EVENT_KPROBE) {
		attributes->kprobe_func = (uintptr_t)event->probe.symbol;
		attributes->probe_offset = event->probe.symbol_offset;
		return true;
	}
	attributes->config |= event->places[place].semaphore << PROBE_SEMAPHORE_SHIFT;
	attributes->uprobe_path = (uintptr_t)event->probe.file;
	attributes->probe_offset = event->places[place].offset;
	return true;
}
