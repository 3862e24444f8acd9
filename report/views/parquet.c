/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/views/parquet.h"

#include "common/array.h"
#include "common/utf8.h"
#include "report/parquet/parquet_file.h"
#include "report/tables/frame_text.h"

#include <stdlib.h>
#include <string.h>

static const struct parquet_field fields[] = {
	{ "time_unix_ns", PARQUET_TIME, PARQUET_OPTIONAL },
	{ "host", PARQUET_TEXT, PARQUET_VALUE },
	{ "service", PARQUET_TEXT, PARQUET_VALUE },
	{ "trace", PARQUET_TEXT, PARQUET_VALUE },
	{ "comm", PARQUET_TEXT, PARQUET_VALUE },
	{ "pid", PARQUET_U32, PARQUET_VALUE },
	{ "tid", PARQUET_U32, PARQUET_VALUE },
	{ "cpu", PARQUET_U32, PARQUET_VALUE },
	{ "parallelism", PARQUET_U32, PARQUET_OPTIONAL },
	{ "event", PARQUET_TEXT, PARQUET_VALUE },
	{ "weight", PARQUET_U64, PARQUET_VALUE },
	{ "cgroup", PARQUET_TEXT, PARQUET_VALUE },
	{ "labels", PARQUET_TEXT, PARQUET_MAP },
	{ "names", PARQUET_TEXT, PARQUET_LIST },
};

/* The columns of the fields above. */
enum {
	TIME,
	HOST,
	SERVICE,
	TRACE,
	COMM,
	PID,
	TID,
	CPU,
	PARALLELISM,
	EVENT,
	WEIGHT,
	CGROUP,
	LABEL_KEYS,
	LABEL_VALUES,
	NAMES,
};

/* Numbers of texts. */
struct task_texts {
	uint32_t comm, cgroup;
};

/* Where in a row group the names of a stack are already. */
struct seen {
	uint32_t group; /* counted from 1; 0: nowhere */
	uint32_t at;
};

struct parquet {
	struct parquet_file file;
	uint32_t *name_of;  /* of each frame of the profile */
	uint32_t *event_of; /* of each event */
	struct seen *seen;  /* of each node */
	struct buffer text;
	/* Of the trace whose samples come: */
	uint32_t trace; /* PRF_NONE: of none yet */
	uint32_t host, service, name;
	uint32_t *labels; /* key, value, key, ... */
	size_t label_count, label_capacity;
	struct dictionary tasks; /* by address */
	struct task_texts *task_texts;
	size_t task_capacity;
};

/* -------- texts -------- */

static uint32_t number_text(struct parquet *q)
{
	return parquet_file_text(&q->file, buffer_string(&q->text));
}

/* Any text, as UTF-8. */
static uint32_t add_text(struct parquet *q, const char *text)
{
	buffer_clear(&q->text);
	utf8_append(&q->text, text);
	return number_text(q);
}

static bool name_frames(struct parquet *q, const struct profile *p, const struct view_options *o)
{
	q->name_of = malloc((p->frame_count + 1) * sizeof(*q->name_of));
	for (size_t i = 0; q->name_of && i < p->frame_count; i++) {
		buffer_clear(&q->text);
		frame_text(&q->text, p, &p->frames[i], o);
		q->name_of[i] = number_text(q);
	}
	return q->name_of;
}

static bool name_events(struct parquet *q, const struct profile *p)
{
	q->event_of = malloc((p->event_count + 1) * sizeof(*q->event_of));
	for (size_t i = 0; q->event_of && i < p->event_count; i++)
		q->event_of[i] = add_text(q, p->events[i].name);
	return q->event_of;
}

/* -------- what the samples of a trace have in common -------- */

static bool has_label(const struct parquet *q, uint32_t key)
{
	for (size_t i = 0; i < q->label_count; i += 2)
		if (q->labels[i] == key)
			return true;
	return false;
}

/* A map has each key once, and keys that differ only in what is not UTF-8 are the same text there.
 */
static void add_label(struct parquet *q, const struct profile_label *label)
{
	uint32_t key = add_text(q, label->key), value = add_text(q, label->value);

	if (has_label(q, key))
		return;
	q->labels[q->label_count++] = key;
	q->labels[q->label_count++] = value;
	if (!strcmp(label->key, "service"))
		q->service = value;
}

static void begin_trace(struct parquet *q, const struct profile *p, uint32_t trace)
{
	const struct profile_trace *t = &p->traces[trace];

	q->trace = trace;
	q->host = add_text(q, t->host);
	q->service = add_text(q, "");
	q->name = add_text(q, label_base_name(t->path));
	q->label_count = 0;
	/* The addresses were those of another reader's tasks. */
	dictionary_clear(&q->tasks);
	if (!array_reserve(&q->labels, &q->label_capacity, 2 * t->label_count)) {
		q->text.failed = true;
		return;
	}
	for (size_t i = 0; i < t->label_count; i++)
		add_label(q, &t->labels[i]);
}

static struct task_texts texts_of_task(struct parquet *q, const struct prf_task *task)
{
	size_t known = q->tasks.count;
	uint32_t index = dictionary_index(&q->tasks, (uintptr_t)task);

	if (index == DICTIONARY_FULL ||
	    !array_reserve(&q->task_texts, &q->task_capacity, q->tasks.count)) {
		q->text.failed = true;
		return (struct task_texts){ 0 };
	}
	if (index == known) {
		buffer_clear(&q->text);
		label_text(&q->text, task->comm);
		q->task_texts[index].comm = number_text(q);
		q->task_texts[index].cgroup = add_text(q, task->cgroup);
	}
	return q->task_texts[index];
}

/* -------- samples -------- */

static void add_time(struct parquet_column *c, const struct profile_trace *trace, uint64_t time_ns)
{
	/* Where the trace does not say what time it was, there is none. */
	parquet_column_row(c, trace->realtime_ns != 0);
	if (trace->realtime_ns)
		parquet_column_add(c, trace->realtime_ns + (time_ns - trace->start_ns));
}

static void add_parallelism(struct parquet_column *c, uint32_t running)
{
	parquet_column_row(c, running != 0);
	if (running)
		parquet_column_add(c, running);
}

static void add_labels(const struct parquet *q, struct parquet_column *columns)
{
	parquet_column_row(&columns[LABEL_KEYS], (uint32_t)q->label_count / 2);
	parquet_column_row(&columns[LABEL_VALUES], (uint32_t)q->label_count / 2);
	for (size_t i = 0; i < q->label_count; i += 2) {
		parquet_column_add(&columns[LABEL_KEYS], q->labels[i]);
		parquet_column_add(&columns[LABEL_VALUES], q->labels[i + 1]);
	}
}

/* Most stacks come again: then their names are found already. */
static void add_names(const struct parquet *q, const struct profile *p,
		      struct parquet_column *names, uint32_t node)
{
	const uint32_t group = (uint32_t)q->file.group_count + 1;
	const uint32_t depth = node == PRF_NONE ? 0 : p->nodes[node].depth;

	parquet_column_row(names, depth);
	if (depth && q->seen[node].group == group) {
		parquet_column_add_again(names, q->seen[node].at, depth);
		return;
	}
	if (depth)
		q->seen[node] = (struct seen){ group, (uint32_t)names->value_count };
	for (; node != PRF_NONE; node = p->nodes[node].parent)
		parquet_column_add(names, q->name_of[p->nodes[node].frame]);
}

void parquet_sample(const struct profile *p, const struct view_options *o,
		    const struct view_sample *sample, struct sink *s)
{
	struct parquet *q = sample->stream;
	struct parquet_column *columns = q->file.columns;
	struct task_texts task;

	if (q->file.error) /* which parquet_end() returns */
		return;
	if (q->trace != sample->trace)
		begin_trace(q, p, sample->trace);
	task = texts_of_task(q, sample->task);
	add_time(&columns[TIME], &p->traces[sample->trace], sample->time_ns);
	parquet_column_add(&columns[HOST], q->host);
	parquet_column_add(&columns[SERVICE], q->service);
	parquet_column_add(&columns[TRACE], q->name);
	parquet_column_add(&columns[COMM], task.comm);
	parquet_column_add(&columns[PID], sample->task->pid);
	parquet_column_add(&columns[TID], sample->task->tid);
	parquet_column_add(&columns[CPU], sample->cpu);
	add_parallelism(&columns[PARALLELISM], sample->parallelism);
	parquet_column_add(&columns[EVENT], q->event_of[sample->event - p->events]);
	parquet_column_add(&columns[WEIGHT], sample->weight);
	parquet_column_add(&columns[CGROUP], task.cgroup);
	add_labels(q, columns);
	add_names(q, p, &columns[NAMES], sample->node);
	parquet_file_end_row(&q->file);
}

/* -------- the file -------- */

static void parquet_free(struct parquet *q)
{
	parquet_file_release(&q->file);
	free(q->name_of);
	free(q->event_of);
	free(q->seen);
	buffer_release(&q->text);
	free(q->labels);
	dictionary_release(&q->tasks);
	free(q->task_texts);
	free(q);
}

struct error *parquet_begin(const struct profile *p, const struct view_options *o, struct sink *s,
			    void **stream)
{
	struct parquet *q = calloc(1, sizeof(*q));

	if (!q)
		return error_memory();
	q->trace = PRF_NONE;
	parquet_file_begin(&q->file, s, fields, sizeof(fields) / sizeof(*fields));
	q->seen = calloc(p->node_count + 1, sizeof(*q->seen));
	if (!q->seen || !q->file.columns || !name_frames(q, p, o) || !name_events(q, p)) {
		parquet_free(q);
		return error_memory();
	}
	*stream = q;
	return NULL;
}

struct error *parquet_end(void *stream)
{
	struct parquet *q = stream;
	struct error *error = parquet_file_end(&q->file);

	if (!error && !buffer_ok(&q->text))
		error = error_memory();
	parquet_free(q);
	return error;
}
