/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/traces.h"

#include "common/clock.h"
#include "record/failure.h"
#include "record/trace/vanished.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/*
 * Once a signal asked for the end: how long a reader may take nothing of a trace in a pipe, and how
 * long names of made code, and then those of deleted files, are read. A series reads them twice if
 * it was about to switch.
 */
#define READER_NS UINT64_C(500000000)
#define NAMES_NS UINT64_C(300000000)

static int open_file(struct session *s, const char *path)
{
	struct error *error = trace_file_open(&s->trace, path);

	if (!error)
		return 0;
	fail("%s; %s", error->text, output_remedy(error));
	error_free(error);
	return 1;
}

/*
 * Called by the thread that writes, too. A signal may be pending for as long as the one that
 * records waits for that one, or reads names.
 */
static bool is_to_end(const struct session *s)
{
	sigset_t pending;

	sigemptyset(&pending);
	sigpending(&pending);
	return s->ending || sigismember(&pending, SIGINT) == 1 ||
	       sigismember(&pending, SIGTERM) == 1 || sigismember(&pending, SIGHUP) == 1;
}

static bool wait_for_reader(void *context, uint64_t spent_ns)
{
	return spent_ns < READER_NS || !is_to_end(context);
}

static bool read_names(void *context, uint64_t spent_ns)
{
	return spent_ns < NAMES_NS || !is_to_end(context);
}

/* Numbers of the previous file are not valid in the new one. */
static void begin_numbers(struct session *s)
{
	resolver_begin(s->drain.resolver, &s->trace);
	tasks_forget_ids(s->world.tasks);
	kernel_symbols_forget_written(s->world.kernel);
	s->vanished.writer = s->trace.writer;
	s->vanished.goes_on = read_names;
	s->vanished.context = s;
	jit_set_writer(s->jit, s->trace.writer);
	if (s->unwinding.java)
		java_set_writer(s->unwinding.java, s->trace.writer);
	if (s->unwinding.javascript)
		javascript_set_writer(s->unwinding.javascript, s->trace.writer);
}

static int begin_file(struct session *s)
{
	struct trace_file_options options = {
		.level = s->settings->level,
		.events = &s->settings->events,
		.command_line = s->settings->command_line,
		.metadata = s->settings->metadata,
		.metadata_count = s->settings->metadata_count,
		.keep_waiting = wait_for_reader,
		.context = s,
	};
	struct error *error = trace_file_begin(&s->trace, &options);

	if (error)
		return fail_error(error);
	if (s->sampling)
		error = trace_file_started(&s->trace, &s->start);
	if (error)
		return fail_error(error);
	s->file_began_ns = clock_now();
	begin_numbers(s);
	return 0;
}

/* Opens the next file of the series. */
static int open_next(struct session *s)
{
	struct series *series = &s->settings->series;
	struct error *error;
	struct timespec wall;
	int status;
	char *name, *partial;

	clock_gettime(CLOCK_REALTIME, &wall);
	name = series_name(series, &wall);
	if (!name || asprintf(&partial, "%s" SERIES_PARTIAL, name) < 0) {
		free(name);
		return fail("out of memory");
	}
	status = open_file(s, partial);
	error = status ? NULL : output_seal_as(&s->trace.output, name);
	if (!status && !error)
		status = begin_file(s);
	if (!status && !error)
		error = series_begin(series, name, clock_now());
	free(name);
	free(partial);
	return error ? fail_error(error) : status;
}

int traces_open(struct session *s)
{
	struct series *series = &s->settings->series;
	const char *path = s->settings->output;

	if (!strcmp(path, "-") && isatty(STDOUT_FILENO))
		return fail("a trace is not for a terminal; give -o FILE, or a pipe after -o -");
	if (s->embedder.option)
		embedder_remove_left(path, series_wanted(series));
	if (!series_wanted(series))
		return open_file(s, path);
	series->base = strdup(path);
	return series->base ? open_next(s) : fail("out of memory");
}

int traces_begin(struct session *s)
{
	/* The first file of a series is always new, so traces_open() has begun it already. */
	return s->trace.writer ? 0 : begin_file(s);
}

/* Writes how stacks of a runtime were merged, if there were any. */
static struct error *write_matches(struct session *s, const char *name, enum script_runtime runtime)
{
	static const char *const what[SCRIPT_MATCHES] = {
		[SCRIPT_MATCHED] = "merged",
		[SCRIPT_LEAF_SKEW] = "leaf_skew",
		[SCRIPT_UNMATCHED] = "unmerged",
	};
	const uint64_t *matches = resolver_matches(s->drain.resolver, runtime);
	uint64_t all = matches[SCRIPT_MATCHED] + matches[SCRIPT_LEAF_SKEW] +
		       matches[SCRIPT_UNMATCHED];
	struct error *error = NULL;
	char text[64];

	for (size_t i = 0; i < SCRIPT_MATCHES && all && !error; i++) {
		if (!what[i])
			continue;
		snprintf(text, sizeof(text), "%s_%s", name, what[i]);
		error = trace_file_statistics(&s->trace, &(struct statistic){ text, matches[i] },
					      1);
	}
	return error;
}

/* Writes what became of scripts' frames, if there were any. */
static struct error *write_scripts(struct session *s)
{
	struct script_names *names = s->unwinding.scripts ? scripts_names(s->unwinding.scripts)
							  : NULL;
	const struct statistic statistics[] = {
		{ "script_code_objects", names ? script_names_count(names) : 0 },
		{ "script_frames_unnamed", names ? script_names_nameless(names) : 0 },
	};
	struct error *error;

	if (!names || !script_names_count(names))
		return NULL;
	error = write_matches(s, "python", SCRIPT_PYTHON);
	if (!error)
		error = write_matches(s, "ruby", SCRIPT_RUBY);
	if (!error)
		error = write_matches(s, "php", SCRIPT_PHP);
	return error ? error
		     : trace_file_statistics(&s->trace, statistics,
					     sizeof(statistics) / sizeof(*statistics));
}

static struct error *write_statistics(struct session *s, uint64_t now_ns, uint64_t fired)
{
	uint64_t began = s->file_began_ns > s->began_ns ? s->file_began_ns : s->began_ns;
	const struct statistic statistics[] = {
		{ "fired", fired },
		{ "ring_bytes", s->sources.ring_bytes },
		{ "duration_ns", now_ns > began ? now_ns - began : 0 },
		{ "recorder_cpu_ns", clock_ns(CLOCK_PROCESS_CPUTIME_ID) - s->earlier.cpu_ns },
		{ "children_not_followed", sampler_not_followed(s->sources.sampler) },
	};
	struct error *error;

	overhead_update(&s->overhead, &s->sources);
	error = overhead_write(&s->overhead, &s->trace);
	if (!error)
		error = trace_file_statistics(&s->trace, statistics,
					      sizeof(statistics) / sizeof(*statistics));
	if (!error)
		error = write_scripts(s);
	return error ? error : unwinding_finish(&s->unwinding, &s->trace);
}

/* Adds the finished file to the totals. */
static void count_file(struct session *s, uint64_t fired)
{
	struct prf_writer_totals totals;

	prf_writer_totals(s->trace.writer, &totals);
	s->earlier.files++;
	s->earlier.samples += totals.samples;
	s->earlier.stacks += totals.stacks;
	s->earlier.bytes += totals.file_bytes;
	s->earlier.lost = losses_samples(&s->losses);
	s->earlier.fired += fired;
	s->earlier.cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* Samples still in a ring count for the next file, unless this is the last one. */
static uint64_t fired_in_file(const struct session *s, bool last)
{
	struct prf_writer_totals totals;

	if (last)
		return s->losses.fired - s->earlier.fired;
	prf_writer_totals(s->trace.writer, &totals);
	return totals.samples + losses_samples(&s->losses) - s->earlier.lost;
}

struct error *traces_finish(struct session *s, uint64_t now_ns, bool last)
{
	struct prf_writer *w = s->trace.writer;
	uint64_t fired = fired_in_file(s, last);
	struct error *error;

	error = jit_finish(s->jit, read_names, s);
	if (!error)
		error = kernel_symbols_write(s->world.kernel, w);
	if (!error)
		error = vanished_write(s->world.objects, s->unwinding.unwinder, &s->vanished);
	error = trace_file_error(&s->trace, error);
	if (!error)
		error = write_statistics(s, now_ns, fired);
	if (!error)
		error = trace_file_finish(&s->trace);
	count_file(s, fired);
	return error;
}

struct error *traces_close(struct session *s)
{
	struct output file;

	if (!s->embedder.option)
		return trace_file_close(&s->trace, false);
	file = trace_file_detach(&s->trace);
	embedder_add(&s->embedder, &file, clock_now());
	return NULL;
}

void traces_take_names(struct session *s, uint64_t now_ns)
{
	embedder_look(&s->embedder, now_ns);
	series_trim(&s->settings->series, s->embedder.files, s->embedder.n);
}

struct error *traces_let_go(struct session *s, uint64_t now_ns)
{
	struct unwinder *u = s->unwinding.unwinder;
	struct error *error;

	if (!s->trace.writer)
		return NULL;
	error = vanished_let_go(s->world.objects, u,
				u ? lookahead_spaces(s->unwinding.lookahead) : NULL, &s->vanished);
	if (u)
		unwinder_forget_unused(u, s->world.objects, now_ns);
	if (s->unwinding.scripts)
		script_names_let_go(scripts_names(s->unwinding.scripts));
	return trace_file_error(&s->trace, error);
}

uint64_t traces_due_ns(const struct session *s)
{
	return s->settings->series.ns ? s->settings->series.due_ns : UINT64_MAX;
}

/* Whether a series goes on in the next file. */
static bool is_due(const struct session *s, uint64_t now_ns)
{
	const struct series *series = &s->settings->series;
	struct prf_writer_totals totals;

	prf_writer_totals(s->trace.writer, &totals);
	return series_is_due(series, now_ns, totals.file_bytes) ||
	       (series_wanted(series) && prf_writer_nearly_full(s->trace.writer));
}

int traces_switch(struct session *s, uint64_t now_ns, int signal)
{
	struct error *error;

	if (signal != SIGUSR2 && !is_due(s, now_ns))
		return 0;
	/* What still waits for tables belongs to this file. */
	error = drain_until(&s->drain, now_ns);
	if (!error)
		error = drain_settle(&s->drain, now_ns);
	if (!error)
		error = traces_finish(s, now_ns, false);
	if (!error)
		error = traces_close(s);
	if (error)
		return fail_error(error);
	s->start = trace_start_now();
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

	/* Of a series, the next file begins then, at the next round. */
	if (prf_writer_nearly_full(s->trace.writer) && !series_wanted(&s->settings->series))
		return true;
	if (!s->settings->max_bytes)
		return false;
	traces_totals(s, &totals);
	return totals.file_bytes >= s->settings->max_bytes;
}
