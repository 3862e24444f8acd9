/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/unmatched.h"

#include "common/buffer.h"
#include "common/message.h"

#include <inttypes.h>
#include <string.h>

static const char *shown_path(const struct loaded *l)
{
	if (l->trace_count > 1)
		return "the traces";
	return strcmp(l->traces[0].path, "-") ? l->traces[0].path : "standard input";
}

/* How long the longest recording is, in seconds; negative when that is not known. */
static double duration(const struct loaded *l)
{
	double longest = -1;

	for (size_t i = 0; i < l->trace_count; i++) {
		uint64_t start, end;
		double seconds;

		if (!l->traces[i].seekable ||
		    error_ignore(trace_span(&l->traces[i], true, &start, &end)))
			return -1;
		seconds = (double)(end - start) / 1e9;
		longest = seconds > longest ? seconds : longest;
	}
	return longest;
}

static void say_outside(const struct loaded *l)
{
	double seconds = duration(l);

	if (seconds < 0)
		message_error(
			"%s: no sample lies in the window of --time; --info shows how long the "
			"recording is",
			shown_path(l));
	else
		message_error("%s: no sample lies in the window of --time; the recording is %.3f s "
			      "long",
			      shown_path(l), seconds);
}

static void add(struct buffer *b, bool given, const char *option)
{
	if (given)
		buffer_printf(b, "%s%s", b->size ? ", " : "", option);
}

/* The options that chose among stacks, as the user knows them. */
static void name_shape(struct buffer *b, const struct shape *s)
{
	add(b, s->focus, "--focus");
	add(b, s->root, "--root");
	add(b, s->caller_of, "--caller-of");
}

static void name_selection(struct buffer *b, const struct selection *s)
{
	add(b, s->comms.count, "--comm");
	add(b, s->pids.count, "--pid");
	add(b, s->tids.count, "--tid");
	add(b, s->cpus.count, "--cpu");
	add(b, s->parallelism.count, "--parallelism");
	add(b, s->events.count, "--event");
	add(b, s->cgroups.count, "--cgroup");
	add(b, s->on_cpu && s->off_cpu, "--wall");
	add(b, s->on_cpu && !s->off_cpu, "--on-cpu");
	add(b, s->off_cpu && !s->on_cpu, "--off-cpu");
	add(b, s->has_time, "--time");
}

static bool has_waits(const struct loaded *l)
{
	size_t n;
	const struct prf_event *const *events = tally_events(l->tally, &n);

	for (size_t i = 0; i < n; i++)
		if (events[i]->kind == PRF_EVENT_OFF_CPU || events[i]->kind == PRF_EVENT_PREEMPTED)
			return true;
	return false;
}

static void say_selection(const struct loaded *l, const struct report_options *o, uint64_t samples)
{
	struct buffer list = { 0 };

	if (o->selection.off_cpu && !o->selection.on_cpu && !has_waits(l)) {
		message_error("%s: no waits were recorded; prof-record --off-cpu does",
			      shown_path(l));
		return;
	}
	name_selection(&list, &o->selection);
	message_error("%s: none of %" PRIu64 " samples fits %s; --info lists the events, "
		      "-f top --by=thread the threads",
		      shown_path(l), samples,
		      list.size ? buffer_string(&list) : "what was asked for");
	buffer_release(&list);
}

static void say_shape(const struct loaded *l, const struct report_options *o)
{
	struct buffer list = { 0 };

	name_shape(&list, &o->shape);
	message_error("%s: no stack has the functions that %s %s for; -f top lists the functions",
		      shown_path(l), list.size ? buffer_string(&list) : "it",
		      list.size && memchr(list.data, ',', list.size) ? "ask" : "asks");
	buffer_release(&list);
}

bool unmatched(const struct loaded *l, const struct report_options *o)
{
	uint64_t samples = 0;
	size_t cells;

	if (l->profile->samples)
		return false;
	for (size_t i = 0; i < l->trace_count; i++)
		samples += l->traces[i].totals.samples;
	tally_cells(l->tally, &cells);
	if (samples && cells)
		say_shape(l, o);
	else if (samples)
		say_selection(l, o, samples);
	else if (o->selection.has_time && duration(l) != 0)
		say_outside(l);
	else if (o->from_folded)
		message_error("%s: there are no folded stacks", shown_path(l));
	else if (o->view->table) /* such a table is empty where nothing ran */
		return false;
	else
		message_error(
			"%s: there are no samples: what was recorded did not run, or not for long; "
			"prof-record --off-cpu records waits too, -F more often",
			shown_path(l));
	return true;
}
