/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/trace/trace_file.h"

#include "common/clock.h"
#include "record/system/privileges.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

enum own_key {
	KEY_HOST,
	KEY_KERNEL,
	KEY_ARCH,
	KEY_COMMAND_LINE,
	KEY_RECORDER,
	KEY_CLOCK,
	KEY_EVENT_SOURCE,
	KEY_START_TIME,
	KEY_START_MONOTONIC,
};

static const char *const own_keys[] = {
	[KEY_HOST] = "host",
	[KEY_KERNEL] = "kernel",
	[KEY_ARCH] = "arch",
	[KEY_COMMAND_LINE] = "command_line",
	[KEY_RECORDER] = "recorder",
	[KEY_CLOCK] = "clock",
	[KEY_EVENT_SOURCE] = "event_source",
	[KEY_START_TIME] = "start_time",
	[KEY_START_MONOTONIC] = "start_monotonic_ns",
};

bool trace_file_has_key(const char *key)
{
	for (size_t i = 0; i < sizeof(own_keys) / sizeof(*own_keys); i++)
		if (!strcmp(own_keys[i], key))
			return true;
	return false;
}

void trace_file_init(struct trace_file *f)
{
	*f = (struct trace_file){ .output = { .fd = -1 } };
}

struct error *trace_file_open(struct trace_file *f, const char *path)
{
	trace_file_init(f);
	return output_open(&f->output, path);
}

struct error *trace_file_error(const struct trace_file *f, struct error *error)
{
	/* Asked for every sample, twice. */
	if (!error)
		return NULL;
	return error_prefix(error, "%s", f->output.path ? f->output.path : "standard output");
}

/* ISO 8601 with nanoseconds, in UTC. */
static void wall_clock(char *text, size_t size, const struct timespec *now)
{
	struct tm parts;
	size_t n;

	gmtime_r(&now->tv_sec, &parts);
	n = strftime(text, size, "%Y-%m-%dT%H:%M:%S", &parts);
	snprintf(text + n, size - n, ".%09ldZ", now->tv_nsec);
}

struct trace_start trace_start_now(void)
{
	struct trace_start start = { .monotonic_ns = clock_now() };

	clock_gettime(CLOCK_REALTIME, &start.wall);
	return start;
}

struct error *trace_file_started(struct trace_file *f, const struct trace_start *start)
{
	char realtime[64], monotonic[32];
	struct error *error;

	wall_clock(realtime, sizeof(realtime), &start->wall);
	snprintf(monotonic, sizeof(monotonic), "%" PRIu64, start->monotonic_ns);
	error = prf_writer_metadata(f->writer, own_keys[KEY_START_TIME], realtime);
	if (!error)
		error = prf_writer_metadata(f->writer, own_keys[KEY_START_MONOTONIC], monotonic);
	return trace_file_error(f, error);
}

static struct error *write_metadata(struct prf_writer *w, const struct trace_file_options *options)
{
	struct utsname name;
	struct error *error = NULL;

	memset(&name, 0, sizeof(name));
	uname(&name);
	const char *const own[] = {
		[KEY_HOST] = name.nodename,
		[KEY_KERNEL] = name.release,
		[KEY_ARCH] = name.machine,
		[KEY_COMMAND_LINE] = options->command_line,
		[KEY_RECORDER] = "prof-record " PROF_VERSION,
		[KEY_CLOCK] = "CLOCK_MONOTONIC",
		[KEY_EVENT_SOURCE] = options->events->n ? options->events->events[0].name : "",
	};
	for (size_t i = 0; i < sizeof(own) / sizeof(*own) && !error; i++)
		error = prf_writer_metadata(w, own_keys[i], own[i]);
	for (size_t i = 0; i < options->metadata_count && !error; i++)
		error = prf_writer_metadata(w, options->metadata[i].key,
					    options->metadata[i].value);
	return error;
}

static struct error *write_events(struct trace_file *f, const struct event_list *events)
{
	struct error *error = NULL;

	for (size_t i = 0; i < events->n && !error; i++) {
		const struct event *event = &events->events[i];
		struct prf_event definition = {
			.kind = event->kind,
			.name = event->name,
			.unit = event->unit,
			.frequency = event->frequency,
			.period = event->period,
		};

		error = prf_writer_event(f->writer, &definition, &f->events[i]);
	}
	return error;
}

/* The thread that compresses writes to what is open. */
static void give_up_privileges(void)
{
	privileges_drop_in_thread(PRIVILEGES_FOR_NOTHING);
}

struct error *trace_file_begin(struct trace_file *f, const struct trace_file_options *options)
{
	struct prf_writer_options writer = {
		.fd = f->output.fd,
		.level = options->level,
		.compress_thread = true,
		.thread_began = give_up_privileges,
		.keep_waiting = options->keep_waiting,
		.context = options->context,
	};
	struct error *error = output_begin(&f->output);

	if (error)
		return error;
	error = prf_writer_new(&f->writer, &writer);
	if (!error)
		error = write_events(f, options->events);
	if (!error)
		error = write_metadata(f->writer, options);
	return trace_file_error(f, error);
}

struct error *trace_file_sample(struct trace_file *f, const struct prf_sample *sample)
{
	return trace_file_error(f, prf_writer_sample(f->writer, sample));
}

struct error *trace_file_statistics(struct trace_file *f, const struct statistic *list, size_t n)
{
	struct error *error = NULL;

	for (size_t i = 0; i < n && !error; i++)
		error = prf_writer_statistic(f->writer, list[i].key, list[i].value);
	return trace_file_error(f, error);
}

struct error *trace_file_tick(struct trace_file *f, uint64_t now_ns, uint64_t pause_ns)
{
	return trace_file_error(f, prf_writer_tick(f->writer, now_ns, pause_ns));
}

struct error *trace_file_finish(struct trace_file *f)
{
	struct error *error = trace_file_error(f, prf_writer_finish(f->writer));

	f->output.whole = !error;
	return error;
}

struct output trace_file_detach(struct trace_file *f)
{
	struct output output = f->output;

	prf_writer_free(f->writer);
	trace_file_init(f);
	return output;
}

struct error *trace_file_close(struct trace_file *f, bool discard)
{
	prf_writer_free(f->writer);
	f->writer = NULL;
	return output_close(&f->output, discard);
}
