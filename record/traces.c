/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/traces.h"

#include "common/clock.h"
#include "common/message.h"
#include "record/drain.h"
#include "record/failure.h"
#include "record/system/error_status.h"
#include "record/trace/vanished.h"
#include "record/unwinding.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int open_file(struct session *s, const char *path)
{
	int status = trace_file_open(&s->trace, path);

	return status ? fail("cannot write %s: %s; %s", path, strerror(-status),
			     output_remedy(status))
		      : 0;
}

static int begin_file(struct session *s)
{
	struct trace_file_options options = {
		.level = s->settings->level,
		.events = &s->settings->events,
		.command_line = s->settings->command_line,
		.metadata = s->settings->metadata,
		.metadata_count = s->settings->metadata_count,
	};
	int status = trace_file_begin(&s->trace, &options);

	if (status)
		return trace_failed(s->settings->output, status);
	s->file_began_ns = clock_now();
	jit_set_writer(s->jit, s->trace.writer);
	return 0;
}

/* The next one of the series. */
static int open_next(struct session *s)
{
	struct series *series = &s->settings->series;
	struct timespec wall;
	int status;
	char *name;

	clock_gettime(CLOCK_REALTIME, &wall);
	name = series_name(series, &wall);
	if (!name)
		return fail("out of memory");
	status = open_file(s, name);
	if (!status)
		status = begin_file(s);
	if (!status && series_begin(series, name, clock_now()))
		status = fail("out of memory");
	free(name);
	if (!status)
		series_trim(series);
	return status;
}

int traces_open(struct session *s)
{
	struct series *series = &s->settings->series;
	const char *path = s->settings->output;

	if (!strcmp(path, "-") && isatty(STDOUT_FILENO))
		return fail("a trace is not for a terminal; give -o FILE, or a pipe behind -o -");
	if (!series_wanted(series))
		return open_file(s, path);
	series->base = strdup(path);
	return series->base ? open_next(s) : fail("out of memory");
}

int traces_begin(struct session *s)
{
	/* A series has begun: its files are new ones. */
	return s->trace.writer ? 0 : begin_file(s);
}

int traces_finish(struct session *s, uint64_t now_ns, bool last)
{
	struct prf_writer *w = s->trace.writer;
	uint64_t cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID), lost = losses_samples(&s->losses);
	struct prf_writer_totals totals;
	uint64_t fired, began = s->file_began_ns > s->began_ns ? s->file_began_ns : s->began_ns;
	int status;

	jit_finish(s->jit);
	prf_writer_totals(w, &totals);
	/* What fired and still waits in a ring counts for the next file. */
	fired = last ? s->losses.fired - s->earlier.fired : totals.samples + lost - s->earlier.lost;
	const struct {
		const char *key;
		uint64_t value;
	} statistics[] = {
		{ "fired", fired },
		{ "ring_bytes", s->ring_bytes },
		{ "duration_ns", now_ns > began ? now_ns - began : 0 },
		{ "recorder_cpu_ns", cpu_ns - s->earlier.cpu_ns },
		{ "children_not_followed", sampler_not_followed(s->sampler) },
	};

	status = kernel_symbols_write(s->world.kernel, w);
	if (!status)
		status = vanished_write(s->world.objects, s->unwinder, w);
	overhead_update(&s->overhead, s->sampler);
	if (!status)
		status = overhead_write(&s->overhead, w);
	for (size_t i = 0; i < sizeof(statistics) / sizeof(*statistics) && !status; i++)
		status = error_status(
			prf_writer_statistic(w, statistics[i].key, statistics[i].value));
	if (!status)
		status = unwinding_finish(s);
	if (!status)
		status = trace_file_finish(&s->trace);
	prf_writer_totals(w, &totals);
	s->earlier.files++;
	s->earlier.samples += totals.samples;
	s->earlier.stacks += totals.stacks;
	s->earlier.bytes += totals.file_bytes;
	s->earlier.lost = lost;
	s->earlier.fired += fired;
	s->earlier.cpu_ns = cpu_ns;
	return status;
}

uint64_t traces_due_ns(const struct session *s)
{
	return s->settings->series.ns ? s->settings->series.due_ns : UINT64_MAX;
}

/* Ids of the last file mean nothing in the next one. */
static void forget_ids(struct session *s)
{
	resolver_forget(s->resolver);
	tasks_forget_ids(s->world.tasks);
	kernel_symbols_forget_written(s->world.kernel);
}

int traces_switch(struct session *s, uint64_t now_ns, int signal)
{
	struct prf_writer_totals totals;
	int status;

	prf_writer_totals(s->trace.writer, &totals);
	if (signal != SIGUSR2 && !series_is_due(&s->settings->series, now_ns, totals.file_bytes))
		return 0;
	status = drain_settle(s, now_ns);
	if (!status)
		status = traces_finish(s, now_ns, false);
	if (status)
		return trace_failed(s->settings->output, status);
	trace_file_close(&s->trace, false);
	forget_ids(s);
	return open_next(s);
}

void traces_totals(const struct session *s, struct prf_writer_totals *totals)
{
	*totals = (struct prf_writer_totals){ 0 };
	if (s->trace.writer)
		prf_writer_totals(s->trace.writer, totals);
	totals->samples += s->earlier.samples;
	totals->stacks += s->earlier.stacks;
	totals->file_bytes += s->earlier.bytes;
}

bool traces_full(const struct session *s)
{
	struct prf_writer_totals totals;

	if (!s->settings->max_bytes)
		return false;
	traces_totals(s, &totals);
	return totals.file_bytes >= s->settings->max_bytes;
}
