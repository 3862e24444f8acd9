/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of record/events/event.h that asks the kernel which events this machine has. */
#include "record/events/event.h"

#include "common/nearest.h"
#include "record/events/event_attributes.h"
#include "record/events/event_names.h"
#include "record/events/kprobe.h"
#include "record/events/uprobe.h"
#include "record/events/usdt.h"
#include "record/system/tracefs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

bool event_is_available(const struct event *event)
{
	struct perf_event_attr attributes;
	int fd;

	if (event->source != EVENT_PERF)
		return true;
	event_attributes(event, &attributes);
	/*
	 * Opened for our own thread and at a rate that no limit forbids, so that a failure is about
	 * the event only.
	 */
	attributes.freq = 0;
	attributes.sample_period = 1000000000;
	attributes.exclude_kernel = geteuid() != 0 || event->user_only;
	fd = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return errno == EACCES || errno == EPERM;
	close(fd);
	return true;
}

static bool name_is_available(const struct event_name *known)
{
	struct event event = { .source = known->source,
			       .type = known->type,
			       .config = known->config };

	return event_is_available(&event);
}

/* Hardware events of this machine as text: "cycles, instructions", or "none". */
static void available_hardware(char *text, size_t size)
{
	size_t used = 0;

	snprintf(text, size, "none");
	for (const struct event_name *e = event_names; e->name; e++)
		if (e->source == EVENT_PERF && e->type == PERF_TYPE_HARDWARE &&
		    name_is_available(e) && used < size)
			used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
						 e->name);
}

/* All tracepoint names as text, for a suggestion. */
struct tracepoint_names {
	const char *wanted;
	char best[128];
	size_t distance;
};

static void compare_tracepoint(const char *subsystem, const char *name, void *context)
{
	struct tracepoint_names *names = context;
	char full[128];
	size_t distance;

	if ((size_t)snprintf(full, sizeof(full), "%s:%s", subsystem, name) >= sizeof(full))
		return;
	distance = nearest_distance(names->wanted, full);
	if (distance < names->distance) {
		names->distance = distance;
		strcpy(names->best, full);
	}
}

static struct error *unknown_tracepoint(const struct event *event, int tracefs)
{
	struct tracepoint_names names = { .wanted = event->name };

	names.distance = strlen(event->name) / 3 + 1;
	error_ignore(tracefs_each(tracefs, compare_tracepoint, &names));
	if (*names.best)
		return error_new(ERROR_ARGUMENT,
				 "this kernel has no tracepoint '%.100s'; did you mean '%s'?",
				 event->name, names.best);
	return error_new(ERROR_ARGUMENT,
			 "this kernel has no tracepoint '%.100s'; prof-record --list shows all",
			 event->name);
}

static struct error *resolve_tracepoint(struct event *event)
{
	const char *colon = strchr(event->name, ':');
	struct error *error;
	char subsystem[128];
	int tracefs;

	error = tracefs_open(&tracefs);
	if (error)
		return error_prefix(error, "event '%.100s'", event->name);
	snprintf(subsystem, sizeof(subsystem), "%.*s", (int)(colon - event->name), event->name);
	error = tracefs_id(tracefs, subsystem, colon + 1, &event->config);
	if (error_is(error, ENOENT)) {
		error_free(error);
		error = unknown_tracepoint(event, tracefs);
	}
	if (!error && tracefs_is_probe(tracefs, subsystem, colon + 1))
		event->source = EVENT_TRACED_PROBE;
	close(tracefs);
	return error;
}

static struct error *resolve_counter(const struct event *event)
{
	char hardware[256];

	if (event_is_available(event))
		return NULL;
	available_hardware(hardware, sizeof(hardware));
	return error_new(ERROR_UNSUPPORTED,
			 "this machine has no event '%.100s'; of the hardware's it has: %s",
			 event->name, hardware);
}

static struct error *resolve(struct event *event)
{
	switch (event->source) {
	case EVENT_PERF: return resolve_counter(event);
	case EVENT_TRACEPOINT: return resolve_tracepoint(event);
	case EVENT_UPROBE: return uprobe_resolve(event);
	case EVENT_USDT: return usdt_resolve(event);
	case EVENT_KPROBE: return kprobe_resolve(event);
	default: return NULL;
	}
}

struct error *event_list_resolve(struct event_list *list)
{
	struct error *error = NULL;

	for (size_t i = 0; i < list->n && !error; i++)
		error = resolve(&list->events[i]);
	return error;
}

static void print_group(FILE *out, const char *title, enum event_source source, uint32_t type)
{
	fprintf(out, "%s:\n", title);
	for (const struct event_name *e = event_names; e->name; e++) {
		if (e->source != source || e->type != type || !name_is_available(e))
			continue;
		fprintf(out, "  %s", e->name);
		if (e->other_name)
			fprintf(out, " or %s", e->other_name);
		fputc('\n', out);
	}
}

struct name_array {
	char **names;
	size_t n;
};

static void collect(const char *subsystem, const char *name, void *context)
{
	struct name_array *all = context;
	char **names = realloc(all->names, (all->n + 1) * sizeof(*names));

	if (!names)
		return;
	all->names = names;
	if (asprintf(&names[all->n], "%s:%s", subsystem, name) >= 0)
		all->n++;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void print_tracepoints(FILE *out)
{
	struct name_array all = { 0 };
	int tracefs;
	struct error *error = tracefs_open(&tracefs);

	if (!error) {
		error = tracefs_each(tracefs, collect, &all);
		close(tracefs);
	}
	if (error) {
		fprintf(out, "tracepoints: cannot be listed: %s\n", error->text);
		error_free(error);
		return;
	}
	if (all.n)
		qsort(all.names, all.n, sizeof(*all.names), by_name);
	fprintf(out, "tracepoints:\n");
	for (size_t i = 0; i < all.n; i++) {
		fprintf(out, "  %s\n", all.names[i]);
		free(all.names[i]);
	}
	free(all.names);
}

void event_list_print_available(FILE *out)
{
	uint32_t type;

	print_group(out, "hardware", EVENT_PERF, PERF_TYPE_HARDWARE);
	fprintf(out, "  rNNN (raw, in hexadecimal)\n");
	print_group(out, "software", EVENT_PERF, PERF_TYPE_SOFTWARE);
	print_group(out, "scheduler (with --off-cpu)", EVENT_SCHEDULER, 0);
	fprintf(out, "probes:\n");
	for (const struct probe_form *form = probe_forms; form->word; form++)
		if (event_device_type(form->device, &type))
			fprintf(out, "  %s%s\n", form->word, form->rest);
	print_tracepoints(out);
}
