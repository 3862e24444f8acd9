/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_PROFILE_TRACE_H
#define REPORT_PROFILE_TRACE_H

/*
 * One trace as prof-report reads it: the file or pipe, its reader, and everything in it that
 * is not a sample. What is kept is bounded by the trace's definitions, never by the number
 * of its samples.
 */

#include "common/arena.h"
#include "common/map.h"
#include "format/prf.h"
#include "report/profile/recorded_names.h"
#include "report/profile/tally.h"
#include "report/profile/text_pool.h"
#include "report/symbols/symbolizer.h"

#include <sys/types.h>

#define TRACE_DAMAGES_KEPT 16
#define TRACE_LOSSES_KEPT 65536
#define TRACE_KEYS_KEPT 1024 /* of metadata, and of statistics */

struct trace_pair {
	const char *key, *value;
};

struct trace_number {
	const char *key;
	uint64_t value;
};

/* What the blocks of a trace are for. */
enum trace_part {
	TRACE_PART_SAMPLES,
	TRACE_PART_STACKS,
	TRACE_PART_FRAMES,
	TRACE_PART_NAMES, /* events, objects, tasks, symbols, names */
	TRACE_PART_OTHER, /* metadata, statistics, losses, index, end */
	TRACE_PART_COUNT
};

struct trace {
	const char *path; /* as given; "-" is standard input */
	int fd;
	bool seekable;
	off_t start;		   /* where in the file the trace begins */
	struct prf_reader *reader; /* NULL after trace_forget() */
	bool complete;		   /* prf_reader_complete() */

	uint32_t *objects; /* symbolizer's number of each object; NULL without a symbolizer */
	size_t object_count;
	struct map files; /* object as text -> the same, of those that may be defined again */

	struct text_pool texts;
	struct trace_pair *metadata;
	size_t metadata_count, metadata_capacity;
	struct trace_number *statistics;
	size_t statistic_count, statistic_capacity;
	struct map metadata_keys, statistic_keys; /* key -> its place in these two */
	struct prf_loss *losses;		  /* the first TRACE_LOSSES_KEPT */
	size_t loss_count, loss_capacity;
	uint64_t lost[PRF_LOSS_COUNT];
	struct recorded_names names;
	/* Code, in objects of the symbolizer, and sources, where trace_sinks.code asks for them. */
	struct prf_code *codes;
	struct prf_source *sources;
	size_t code_count, code_capacity, source_count, source_capacity;
	struct arena arena; /* what is not text of these */
	struct prf_damage damages[TRACE_DAMAGES_KEPT];
	uint64_t damage_count, skipped_bytes;
	uint64_t blocks;
	uint64_t part_bytes[TRACE_PART_COUNT]; /* stored payloads, with their block headers */

	struct tally_totals totals;
	uint64_t from_ns, to_ns; /* the window that was asked for */
	struct error *error;	 /* why reading stopped before the end, or NULL */
};

/* `path` must stay. To be closed in any case. */
struct error *trace_open(struct trace *t, const char *path) ERROR_CHECKED;
void trace_close(struct trace *t);

/* For what needs to read twice: puts a pipe's bytes into an unnamed temporary file. */
struct error *trace_make_seekable(struct trace *t) ERROR_CHECKED;

/* A file without a name; its descriptor, or -1 with errno. */
int trace_unnamed_file(void);

/* Reads this file, from its beginning on, instead of what was opened, which is closed. */
void trace_replace_file(struct trace *t, int fd);

/*
 * When the recording began and ended, read ahead from a seekable trace: the times of the first and
 * the last sample where it does not say; 0, 0 without any.
 */
struct error *trace_span(struct trace *t, bool need_end, uint64_t *start_ns,
			 uint64_t *end_ns) ERROR_CHECKED;

struct trace_sinks {
	struct tally *tally;	       /* NULL: samples are not counted */
	struct symbolizer *symbolizer; /* NULL: symbols are not kept */
	bool code;		       /* keep code and sources; with a symbolizer */
	/* Object as text -> the symbolizer's number, shared by several traces; NULL: one trace. */
	struct map *objects;
	/* Called with each batch of samples after the tally; true: stop here. May be NULL. */
	bool (*samples)(struct trace *t, const struct prf_samples *samples, void *context);
	/* Called now and then with the bytes read so far; true: stop here. May be NULL. */
	bool (*progress)(const struct trace *t, uint64_t bytes, void *context);
	void *context;
	uint64_t from_ns, to_ns; /* samples in this window only; 0, UINT64_MAX for all */
	bool follow;		 /* the trace is still written: prf_reader_follow() */
};

/*
 * Reads from the start to the end. NULL when the end was reached, however damaged the way
 * (t->damage_count); otherwise t->error, and what came before it counts.
 */
const struct error *trace_read(struct trace *t, const struct trace_sinks *sinks);

/*
 * The same in steps, for a trace that is still written: begins at the start, and reads on to the
 * end of what is there by now, as often as it is called. Not after an error.
 */
const struct error *trace_begin(struct trace *t, const struct trace_sinks *sinks);
const struct error *trace_read_on(struct trace *t, const struct trace_sinks *sinks);

/* Forgets the definitions and their names; all else stays, and so do the numbers of its objects. */
void trace_forget(struct trace *t);

/* The value of a key, or NULL. */
const char *trace_metadata(const struct trace *t, const char *key);
bool trace_statistic(const struct trace *t, const char *key, uint64_t *value);

/* How long was recorded within the window; without that in the trace, up to its last sample. */
uint64_t trace_duration(const struct trace *t);

/*
 * How long after the start of the recording its slices begin, less than 0 where samples come before
 * it; false: the trace does not say when it started.
 */
bool trace_since_start(const struct trace *t, int64_t *ns);

/* Samples lost, of all reasons that count samples. */
uint64_t trace_lost_samples(const struct trace *t);

/*
 * Those of them that were lost within the window; of one reason, or of all with PRF_LOSS_COUNT. Of
 * a stretch of time that lies partly in the window its part counts.
 */
double trace_lost_in_window(const struct trace *t, enum prf_loss_reason reason);

/* Cuts a loss to the window; how many samples are left of it: 0 outside, mostly no whole number. */
double trace_cut_loss(const struct trace *t, struct prf_loss *loss);

/* Rounded. A trace may claim any number. */
static inline uint64_t trace_whole_samples(double samples)
{
	return samples < 0x1p63 ? (uint64_t)(samples + 0.5) : UINT64_MAX;
}

#endif
