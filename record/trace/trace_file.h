/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_TRACE_TRACE_FILE_H
#define RECORD_TRACE_TRACE_FILE_H

/* One trace that is being written: the file, the writer, and what stands in every trace. */

#include "format/prf.h"
#include "record/events/event.h"
#include "record/trace/output.h"

struct trace_file {
	struct output output;
	struct prf_writer *writer;
	uint32_t events[EVENT_LIST_MAX]; /* number in the sampler -> number in the trace */
	size_t event_count;
};

struct metadata {
	const char *key, *value;
};

struct trace_file_options {
	int level; /* of compression */
	const struct event_list *events;
	const char *command_line;
	const struct metadata *metadata; /* from the user */
	size_t metadata_count;
};

void trace_file_init(struct trace_file *f);

/*
 * Opens the file; what it holds stays until trace_file_begin(). 0 or -errno; output_remedy()
 * knows what to do.
 */
int trace_file_open(struct trace_file *f, const char *path);

/* Empties the file, and writes header, events and metadata. 0 or -errno. */
int trace_file_begin(struct trace_file *f, const struct trace_file_options *options);

/* Ends it well. 0 or -errno. */
int trace_file_finish(struct trace_file *f);

/* Closes it; `discard` removes a file that was not there before. */
void trace_file_close(struct trace_file *f, bool discard);

#endif
