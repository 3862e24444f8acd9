/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_TRACE_TRACE_FILE_H
#define RECORD_TRACE_TRACE_FILE_H

/*
 * The trace that is being written: file, writer, and the definitions that every trace begins with.
 */

#include "common/error.h"
#include "format/prf.h"
#include "record/events/event.h"
#include "record/trace/output.h"

#include <time.h>

struct trace_file {
	struct output output;
	struct prf_writer *writer;
	uint32_t events[EVENT_LIST_MAX]; /* event number in the sampler -> in the trace */
};

struct metadata {
	const char *key, *value;
};

/* Whether every trace has a note of this key from the recorder itself. */
bool trace_file_has_key(const char *key);

struct trace_file_options {
	int level; /* of compression */
	const struct event_list *events;
	const char *command_line;
	const struct metadata *metadata; /* from -M */
	size_t metadata_count;
	/* As in struct prf_writer_options. */
	bool (*keep_waiting)(void *context, uint64_t stalled_ns);
	void *context;
};

void trace_file_init(struct trace_file *f);

/* Opens the file, whose content stays until trace_file_begin(); see output_remedy(). */
struct error *trace_file_open(struct trace_file *f, const char *path);

/*
 * Prefixes an error of the file's writer with the file's name; passes NULL through. The functions
 * below do so themselves; others that write to `writer` call this.
 */
struct error *trace_file_error(const struct trace_file *f, struct error *error);

/* Empties the file, and writes the header, events and metadata. */
struct error *trace_file_begin(struct trace_file *f, const struct trace_file_options *options);

/* A moment by both clocks. */
struct trace_start {
	struct timespec wall; /* CLOCK_REALTIME */
	uint64_t monotonic_ns;
};
struct trace_start trace_start_now(void);

/* Writes when sampling began for the file, or went on from the last one. Before any sample. */
struct error *trace_file_started(struct trace_file *f, const struct trace_start *start);

struct error *trace_file_sample(struct trace_file *f, const struct prf_sample *sample);

/* A number about the recording; of several values for a key, the last one counts. */
struct statistic {
	const char *key;
	uint64_t value;
};
struct error *trace_file_statistics(struct trace_file *f, const struct statistic *list, size_t n);

/* As prf_writer_tick(). */
struct error *trace_file_tick(struct trace_file *f, uint64_t now_ns, uint64_t pause_ns);

/* Writes what is buffered and the end of the trace. */
struct error *trace_file_finish(struct trace_file *f);

/* The file, which is the caller's to close now, of a trace that was finished. */
struct output trace_file_detach(struct trace_file *f);

/* Closes the file; `discard` removes it if it did not exist before. */
struct error *trace_file_close(struct trace_file *f, bool discard);

#endif
