/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_TRACE_TRACE_FILE_H
#define RECORD_TRACE_TRACE_FILE_H

/* One trace that is being written: the file, the writer, and what every trace begins with. */

#include "common/error.h"
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

/*
 * Puts the name of the file before an error of its writer, unless it is NULL. The functions below
 * have done so; whoever writes definitions of its own to `writer` does it with this.
 */
struct error *trace_file_error(const struct trace_file *f, struct error *error);

/* Empties the file, and writes header, events and metadata. */
struct error *trace_file_begin(struct trace_file *f, const struct trace_file_options *options);

struct error *trace_file_sample(struct trace_file *f, const struct prf_sample *sample);

/* Numbers about the recording; the last value of a key counts. */
struct statistic {
	const char *key;
	uint64_t value;
};
struct error *trace_file_statistics(struct trace_file *f, const struct statistic *list, size_t n);

/* Writes what has waited for a second or more by `now_ns`. */
struct error *trace_file_tick(struct trace_file *f, uint64_t now_ns);

/* Writes the end. */
struct error *trace_file_finish(struct trace_file *f);

/* Closes it; `discard` removes a file that was not there before. */
void trace_file_close(struct trace_file *f, bool discard);

#endif
