/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/events/kprobe.h"

#include "common/nearest.h"
#include "record/events/event_attributes.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A line of /proc/kallsyms is "ADDRESS TYPE NAME [MODULE]". */
static bool find_nearest(const char *wanted, char nearest[128])
{
	FILE *f = fopen("/proc/kallsyms", "re");
	size_t best = strlen(wanted) / 3 + 1;
	char line[512], name[128], type;

	*nearest = 0;
	while (f && fgets(line, sizeof(line), f)) {
		size_t distance;

		if (sscanf(line, "%*s %c %127s", &type, name) != 2 || (type != 't' && type != 'T'))
			continue;
		distance = nearest_distance(wanted, name);
		if (distance < best) {
			best = distance;
			strcpy(nearest, name);
		}
	}
	if (f)
		fclose(f);
	return *nearest;
}

static struct error *explain(const struct event *event, int error)
{
	char nearest[128];

	/* By version, a function that is not there is any of these. */
	if (error != ENOENT && error != EINVAL && error != EADDRNOTAVAIL)
		return error_system(error, "event '%.100s'", event->name);
	if (find_nearest(event->probe.symbol, nearest) && strcmp(nearest, event->probe.symbol))
		return error_new(ERROR_ARGUMENT,
				 "this kernel has no function '%.100s'; did you mean '%s'?",
				 event->probe.symbol, nearest);
	return error_new(ERROR_ARGUMENT,
			 "event '%.100s': this kernel has no such place to be probed", event->name);
}

struct error *kprobe_resolve(const struct event *event)
{
	struct perf_event_attr attributes;
	int fd;

	if (!event_place_attributes(event, 0, &attributes))
		return error_new(ERROR_UNSUPPORTED, "event '%.100s': this kernel has no kprobes",
				 event->name);
	/* For our own thread only, and disabled: it is never hit. */
	fd = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	/* Without the privilege to ask, the attempt to sample says so. */
	if (fd < 0 && errno != EACCES && errno != EPERM)
		return explain(event, errno);
	if (fd >= 0)
		close(fd);
	return NULL;
}
