/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/events/event_names.h"

#include "common/nearest.h"

#include <linux/perf_event.h>

#include <string.h>

#define HARDWARE(text, other, number, kind, unit)                                                  \
	{                                                                                          \
		text, other, EVENT_PERF, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##number, kind, unit    \
	}
#define SOFTWARE(text, other, number, kind, unit)                                                  \
	{                                                                                          \
		text, other, EVENT_PERF, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##number, kind, unit    \
	}
#define SCHEDULER(text, kind)                                                                      \
	{                                                                                          \
		text, NULL, EVENT_SCHEDULER, 0, 0, kind, "ns"                                      \
	}

const struct event_name event_names[] = {
	HARDWARE("cycles", "cpu-cycles", CPU_CYCLES, PRF_EVENT_ON_CPU, "samples"),
	HARDWARE("instructions", NULL, INSTRUCTIONS, PRF_EVENT_COUNT, "instructions"),
	HARDWARE("cache-references", NULL, CACHE_REFERENCES, PRF_EVENT_COUNT, "events"),
	HARDWARE("cache-misses", NULL, CACHE_MISSES, PRF_EVENT_COUNT, "events"),
	HARDWARE("branches", "branch-instructions", BRANCH_INSTRUCTIONS, PRF_EVENT_COUNT, "events"),
	HARDWARE("branch-misses", NULL, BRANCH_MISSES, PRF_EVENT_COUNT, "events"),
	HARDWARE("bus-cycles", NULL, BUS_CYCLES, PRF_EVENT_COUNT, "cycles"),
	HARDWARE("ref-cycles", NULL, REF_CPU_CYCLES, PRF_EVENT_ON_CPU, "samples"),
	HARDWARE("stalled-cycles-frontend", NULL, STALLED_CYCLES_FRONTEND, PRF_EVENT_COUNT,
		 "cycles"),
	HARDWARE("stalled-cycles-backend", NULL, STALLED_CYCLES_BACKEND, PRF_EVENT_COUNT, "cycles"),
	SOFTWARE("cpu-clock", NULL, CPU_CLOCK, PRF_EVENT_ON_CPU, "samples"),
	SOFTWARE("task-clock", NULL, TASK_CLOCK, PRF_EVENT_ON_CPU, "samples"),
	SOFTWARE("page-faults", "faults", PAGE_FAULTS, PRF_EVENT_COUNT, "events"),
	SOFTWARE("minor-faults", NULL, PAGE_FAULTS_MIN, PRF_EVENT_COUNT, "events"),
	SOFTWARE("major-faults", NULL, PAGE_FAULTS_MAJ, PRF_EVENT_COUNT, "events"),
	SOFTWARE("context-switches", "cs", CONTEXT_SWITCHES, PRF_EVENT_COUNT, "events"),
	SOFTWARE("cpu-migrations", "migrations", CPU_MIGRATIONS, PRF_EVENT_COUNT, "events"),
	SOFTWARE("alignment-faults", NULL, ALIGNMENT_FAULTS, PRF_EVENT_COUNT, "events"),
	SOFTWARE("emulation-faults", NULL, EMULATION_FAULTS, PRF_EVENT_COUNT, "events"),
	SCHEDULER("off-cpu", PRF_EVENT_OFF_CPU),
	SCHEDULER("preempted", PRF_EVENT_PREEMPTED),
	{ 0 },
};

const struct event_name *event_name_find(const char *name)
{
	for (const struct event_name *e = event_names; e->name; e++)
		if (!strcmp(e->name, name) || (e->other_name && !strcmp(e->other_name, name)))
			return e;
	return NULL;
}

const char *event_name_nearest(const char *name)
{
	const char *words[2 * sizeof(event_names) / sizeof(*event_names)];
	size_t n = 0;

	for (const struct event_name *e = event_names; e->name; e++) {
		words[n++] = e->name;
		if (e->other_name)
			words[n++] = e->other_name;
	}
	return nearest_word(name, words, n);
}
