/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/trace/trace_file.h"
#include "record/system/error_status.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

void trace_file_init(struct trace_file *f)
{
	*f = (struct trace_file){ .output = { .fd = -1 } };
}

int trace_file_open(struct trace_file *f, const char *path)
{
	trace_file_init(f);
	return output_open(&f->output, path);
}

/* ISO 8601 with milliseconds, in UTC. */
static void wall_clock(char *text, size_t size)
{
	struct timespec now;
	struct tm parts;
	size_t n;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &parts);
	n = strftime(text, size, "%Y-%m-%dT%H:%M:%S", &parts);
	snprintf(text + n, size - n, ".%03ldZ", now.tv_nsec / 1000000);
}

static int write_metadata(struct prf_writer *w, const struct trace_file_options *options)
{
	struct utsname name;
	char start[64];
	int status = 0;

	memset(&name, 0, sizeof(name));
	uname(&name);
	wall_clock(start, sizeof(start));
	const struct metadata own[] = {
		{ "host", name.nodename },
		{ "kernel", name.release },
		{ "arch", name.machine },
		{ "command_line", options->command_line },
		{ "recorder", "prof-record " PROF_VERSION },
		{ "start_time", start },
		{ "clock", "CLOCK_MONOTONIC" },
		{ "event_source", options->events->n ? options->events->events[0].name : "" },
	};
	for (size_t i = 0; i < sizeof(own) / sizeof(*own) && !status; i++)
		status = error_status(prf_writer_metadata(w, own[i].key, own[i].value));
	for (size_t i = 0; i < options->metadata_count && !status; i++)
		status = error_status(prf_writer_metadata(w, options->metadata[i].key,
							  options->metadata[i].value));
	return status;
}

int trace_file_begin(struct trace_file *f, const struct trace_file_options *options)
{
	struct prf_writer_options writer = {
		.fd = f->output.fd,
		.level = options->level,
		.compress_thread = true,
	};
	int status = output_begin(&f->output);

	if (status)
		return status;
	status = error_status(prf_writer_new(&f->writer, &writer));
	f->event_count = 0;
	for (size_t i = 0; i < options->events->n && !status; i++) {
		const struct event *event = &options->events->events[i];
		struct prf_event definition = {
			.kind = event->kind,
			.name = event->name,
			.unit = event->unit,
			.frequency = event->frequency,
			.period = event->period,
		};

		status = error_status(
			prf_writer_event(f->writer, &definition, &f->events[f->event_count++]));
	}
	return status ? status : write_metadata(f->writer, options);
}

int trace_file_finish(struct trace_file *f)
{
	return error_status(prf_writer_finish(f->writer));
}

void trace_file_close(struct trace_file *f, bool discard)
{
	prf_writer_free(f->writer);
	f->writer = NULL;
	output_close(&f->output, discard);
}
