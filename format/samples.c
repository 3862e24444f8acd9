/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/samples.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/fuzzing.h"
#include "format/column.h"

/* -------- writing -------- */

void samples_batch_release(struct samples_batch *b)
{
	free(b->time_ns);
	free(b->lane);
	free(b->task);
	free(b->stack);
	free(b->waker);
	free(b->waker_task);
	free(b->weight);
	pairs_release(&b->lanes);
	stack_encoder_release(&b->stacks);
	*b = (struct samples_batch){ 0 };
}

static bool enlarge(void *column, size_t room, size_t size)
{
	void **array = column;
	void *larger = realloc(*array, room * size);

	if (larger)
		*array = larger;
	return larger != NULL;
}

static bool grow(struct samples_batch *b)
{
	size_t room = b->room ? b->room * 2 : 256;

	if (!enlarge(&b->time_ns, room, sizeof(*b->time_ns)) ||
	    !enlarge(&b->lane, room, sizeof(*b->lane)) ||
	    !enlarge(&b->task, room, sizeof(*b->task)) ||
	    !enlarge(&b->stack, room, sizeof(*b->stack)) ||
	    !enlarge(&b->waker, room, sizeof(*b->waker)) ||
	    !enlarge(&b->waker_task, room, sizeof(*b->waker_task)) ||
	    !enlarge(&b->weight, room, sizeof(*b->weight)))
		return false;
	b->room = room;
	return true;
}

bool samples_batch_add(struct samples_batch *b, const struct prf_sample *sample)
{
	uint32_t lane;

	if (b->n == b->room && !grow(b))
		return false;
	lane = pairs_put(&b->lanes, sample->cpu, sample->event);
	if (lane == UINT32_MAX)
		return false;
	b->lane[b->n] = lane;
	b->time_ns[b->n] = sample->time_ns;
	b->task[b->n] = sample->task;
	b->stack[b->n] = sample->stack;
	b->waker[b->n] = sample->waker;
	b->waker_task[b->n] = sample->waker == PRF_NONE ? PRF_NONE : sample->waker_task;
	b->wakers |= b->waker_task[b->n] != PRF_NONE;
	b->weight[b->n] = sample->weight;
	b->n++;
	return true;
}

/*
 * Each sample's distance in time from the one before it on its lane. The first of a lane has none
 * before it: the lane's start is chosen so that it has the least distance of all, which is the
 * column's base. No writer must give samples in order of time: distances are signed, and the base
 * may be negative.
 */
static void distances(const struct samples_batch *b, uint64_t *start, uint64_t *distance,
		      uint64_t *base)
{
	int64_t least = INT64_MAX;
	bool *seen = (bool *)(start + b->lanes.count); /* after the starts */

	memset(seen, 0, b->lanes.count);
	for (size_t i = 0; i < b->n; i++) {
		uint32_t lane = b->lane[i];

		distance[i] = b->time_ns[i] - start[lane];
		if (seen[lane] && (int64_t)distance[i] < least)
			least = (int64_t)distance[i];
		start[lane] = b->time_ns[i];
		seen[lane] = true;
	}
	*base = least == INT64_MAX ? 0 : (uint64_t)least;
	/* Let each lane begin one least distance before its first sample. */
	for (size_t i = b->n; i-- > 0;)
		start[b->lane[i]] = b->time_ns[i] - *base;
	memset(seen, 0, b->lanes.count);
	for (size_t i = 0; i < b->n; i++) {
		if (!seen[b->lane[i]])
			distance[i] = *base;
		seen[b->lane[i]] = true;
	}
}

/* Where columns of `n` values go; `values` is room for one of them. */
struct columns {
	struct payload *out;
	uint64_t *values;
	size_t n;
};

/* With `add` 1, PRF_NONE becomes 0. */
static void column_of_ids(const struct columns *to, const uint32_t *ids, uint32_t add)
{
	for (size_t i = 0; i < to->n; i++)
		to->values[i] = (uint32_t)(ids[i] + add);
	column_encode_min(to->out, to->values, to->n, false);
}

/* First and last time; on several lanes they need not be those of the first and last sample. */
static void span(const struct samples_batch *b, uint64_t *from_ns, uint64_t *to_ns)
{
	*from_ns = *to_ns = b->time_ns[0];
	for (size_t i = 1; i < b->n; i++) {
		*from_ns = b->time_ns[i] < *from_ns ? b->time_ns[i] : *from_ns;
		*to_ns = b->time_ns[i] > *to_ns ? b->time_ns[i] : *to_ns;
	}
}

static void head_encode(const struct samples_batch *b, const struct samples_counts *counts,
			const uint64_t *start, struct buffer *out)
{
	uint64_t before = 0;

	buffer_uleb(out, counts->events);
	buffer_uleb(out, counts->tasks);
	buffer_uleb(out, counts->stacks);
	buffer_uleb(out, b->n);
	buffer_uleb(out, b->lanes.count);
	for (size_t i = 0; i < b->lanes.count; i++) {
		buffer_uleb(out, b->lanes.pairs[i].b);
		buffer_uleb(out, b->lanes.pairs[i].a);
		buffer_sleb(out, (int64_t)(start[i] - before));
		before = start[i];
	}
}

/* At first the room for values holds the distances in time. */
static bool columns_encode(struct samples_batch *b, uint64_t base, const struct columns *to)
{
	column_encode(to->out, to->values, to->n, base, true);
	column_of_ids(to, b->lane, 0);
	column_of_ids(to, b->task, 0);
	for (size_t i = 0; i < to->n; i++)
		b->stack[i]++; /* PRF_NONE becomes 0 */
	if (!stack_column_encode(&b->stacks, to->out, b->stack, to->n, to->values))
		return false;
	column_of_ids(to, b->waker, 1);
	column_encode_min(to->out, b->weight, to->n, false);
	/* Hardly any trace has wakers, and a column of none costs two bytes a block. */
	if (b->wakers)
		column_of_ids(to, b->waker_task, 1);
	return buffer_ok(&to->out->raw);
}

bool samples_encode(struct samples_batch *b, const struct samples_counts *counts,
		    struct payload *out)
{
	uint64_t *values = malloc(b->n * sizeof(*values));
	uint64_t *start = calloc(b->lanes.count, sizeof(*start) + sizeof(bool)), base;
	bool good = false;

	if (values && start) {
		out->samples = b->n;
		span(b, &out->from_ns, &out->to_ns);
		distances(b, start, values, &base);
		head_encode(b, counts, start, &out->raw);
		good = columns_encode(b, base, &(struct columns){ out, values, b->n });
		b->wakers = false;
		b->n = 0;
		pairs_clear(&b->lanes);
	}
	free(values);
	free(start);
	return good;
}

/* -------- reading -------- */

/* Samples that are read at a time. A fuzzer's blocks have few, and it has to see a second slice. */
#define SLICE (FUZZING ? 64 : 4096)

struct lane {
	uint64_t last; /* time of its last sample */
	uint32_t event, cpu;
};

struct samples_block {
	size_t n, next;
	uint64_t tasks, stacks; /* how many there are */
	struct lane *lanes;
	size_t lane_count, lane_room;
	struct column time_ns, lane, task, waker, weight, waker_task;
	struct stack_column stack;
	uint64_t slice_time[SLICE], slice_weight[SLICE];
	uint32_t slice_lane[SLICE], slice_task[SLICE], slice_event[SLICE];
	uint32_t slice_stack[SLICE], slice_waker[SLICE], slice_waker_task[SLICE];
	uint32_t slice_cpu[SLICE];
	uint32_t room[SLICE];
};

struct samples_block *samples_block_new(void)
{
	return calloc(1, sizeof(struct samples_block));
}

void samples_block_free(struct samples_block *b)
{
	if (b)
		free(b->lanes);
	free(b);
}

static struct error *lanes_decode(struct samples_block *b, struct cursor *c, uint64_t events)
{
	uint64_t start = 0, lanes = cursor_uleb(c);

	if (lanes > WIRE_LANES_MAX || lanes > cursor_left(c))
		return error_new(ERROR_CORRUPT, "%" PRIu64 " lanes in %zu bytes", lanes,
				 cursor_left(c));
	if (!array_reserve(&b->lanes, &b->lane_room, lanes))
		return error_memory();
	b->lane_count = lanes;
	for (size_t i = 0; i < lanes; i++) {
		uint64_t event = cursor_uleb(c), cpu = cursor_uleb(c);

		start += (uint64_t)cursor_sleb(c);
		if (event >= events)
			return error_new(ERROR_CORRUPT,
					 "lane %zu: its event is %" PRIu64 ", but %" PRIu64
					 " are defined",
					 i, event, events);
		if (cpu > UINT32_MAX)
			return error_new(ERROR_CORRUPT, "lane %zu: its CPU is %" PRIu64, i, cpu);
		b->lanes[i] = (struct lane){ start, (uint32_t)event, (uint32_t)cpu };
	}
	return NULL;
}

static void columns_decode(struct samples_block *b, struct cursor *c, size_t n)
{
	column_decode(c, n, true, &b->time_ns);
	column_decode(c, n, false, &b->lane);
	column_decode(c, n, false, &b->task);
	stack_column_decode(c, n, &b->stack);
	column_decode(c, n, false, &b->waker);
	column_decode(c, n, false, &b->weight);
	b->waker_task = (struct column){ 0 };
	if (cursor_left(c))
		column_decode(c, n, false, &b->waker_task);
}

struct error *samples_decode(struct samples_block *b, struct tables *t, struct cursor *c)
{
	uint64_t events = cursor_uleb(c), n;
	struct error *error;

	b->n = b->next = 0;
	b->tasks = cursor_uleb(c);
	b->stacks = cursor_uleb(c);
	n = cursor_uleb(c);
	if (!cursor_ok(c))
		return error_new(ERROR_CORRUPT, "the head of a block of samples is cut short");
	if (n > WIRE_SAMPLES_MAX || n > cursor_left(c))
		return error_new(ERROR_CORRUPT, "%" PRIu64 " samples in %zu bytes", n,
				 cursor_left(c));
	error = lanes_decode(b, c, events);
	if (error)
		return error;
	columns_decode(b, c, n);
	if (!cursor_ok(c))
		return error_new(ERROR_CORRUPT, "a column of %" PRIu64 " samples is broken", n);
	error = tables_expect_events(t, events);
	if (!error)
		error = tables_expect_tasks(t, b->tasks);
	if (!error)
		error = tables_expect_stacks(t, b->stacks);
	if (!error)
		b->n = n;
	return error;
}

static void decode_times(struct samples_block *b, size_t n)
{
	struct lane *lanes = b->lanes;

	if (!b->lane.planes) {
		struct lane *lane = &lanes[b->slice_lane[0]];
		uint64_t last = lane->last;

		for (size_t i = 0; i < n; i++)
			b->slice_time[i] = last += b->slice_time[i];
		lane->last = last;
		return;
	}
	for (size_t i = 0; i < n; i++) {
		struct lane *lane = &lanes[b->slice_lane[i]];

		b->slice_time[i] = lane->last += b->slice_time[i];
	}
}

/* Constant columns need to be filled only once, in the first slice. */
static bool wanted(const struct samples_block *b, const struct column *column)
{
	return column->planes || b->next == 0;
}

/* A column of ids, each of which must be defined. */
struct ids {
	const struct column *column;
	const char *name;
	uint64_t defined;
	uint32_t plus; /* 1: the column holds id + 1, and 0 for none */
	uint32_t *slice;
};

/* Says which sample of the next `n` is wrong. */
static struct error *wrong_id(const struct samples_block *b, const struct ids *ids, size_t n)
{
	uint64_t value = 0;
	size_t i = b->next;

	for (; i < b->next + n; i++) {
		column_read(ids->column, i, 1, &value);
		if (value >= ids->defined + ids->plus)
			break;
	}
	return error_new(ERROR_CORRUPT,
			 "sample %zu: its %s is %" PRIu64 ", but %" PRIu64 " are defined", i,
			 ids->name, value - ids->plus, ids->defined);
}

static struct error *ids_decode(struct samples_block *b, const struct ids *ids, size_t n)
{
	if (!wanted(b, ids->column))
		return NULL;
	if (column_read_u32(ids->column, b->next, n, ids->slice) >= ids->defined + ids->plus)
		return wrong_id(b, ids, n);
	for (size_t i = 0; ids->plus && i < n; i++)
		ids->slice[i]--; /* 0 becomes PRF_NONE */
	return NULL;
}

static struct error *stacks_of_samples(struct samples_block *b, size_t n)
{
	uint64_t highest = stack_column_read(&b->stack, n, b->slice_stack, b->room);

	if (highest > UINT32_MAX)
		return error_new(ERROR_CORRUPT, "samples %zu to %zu: their stacks are broken",
				 b->next, b->next + n - 1);
	if (highest > b->stacks)
		return error_new(ERROR_CORRUPT,
				 "samples %zu to %zu: their highest stack is %" PRIu64
				 ", but %" PRIu64 " are defined",
				 b->next, b->next + n - 1, highest - 1, b->stacks);
	for (size_t i = 0; i < n; i++)
		b->slice_stack[i]--;
	return NULL;
}

static struct error *all_ids_decode(struct samples_block *b, size_t n)
{
	const struct ids columns[] = {
		{ &b->lane, "lane", b->lane_count, 0, b->slice_lane },
		{ &b->task, "task", b->tasks, 0, b->slice_task },
		{ &b->waker, "waker's stack", b->stacks, 1, b->slice_waker },
		{ &b->waker_task, "waker", b->tasks, 1, b->slice_waker_task },
	};
	struct error *error = stacks_of_samples(b, n);

	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns) && !error; i++)
		error = ids_decode(b, &columns[i], n);
	return error;
}

static void decode_lanes(struct samples_block *b, size_t n)
{
	if (!wanted(b, &b->lane))
		return;
	for (size_t i = 0; i < n; i++) {
		const struct lane *lane = &b->lanes[b->slice_lane[i]];

		b->slice_event[i] = lane->event;
		b->slice_cpu[i] = lane->cpu;
	}
}

/* Keeps the samples of a time range; how many they are. */
static size_t filter(struct samples_block *b, size_t n, uint64_t from_ns, uint64_t to_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t time_ns = b->slice_time[i];

		b->slice_time[kept] = time_ns;
		b->slice_task[kept] = b->slice_task[i];
		b->slice_event[kept] = b->slice_event[i];
		b->slice_stack[kept] = b->slice_stack[i];
		b->slice_waker[kept] = b->slice_waker[i];
		b->slice_waker_task[kept] = b->slice_waker_task[i];
		b->slice_cpu[kept] = b->slice_cpu[i];
		b->slice_weight[kept] = b->slice_weight[i];
		kept += time_ns >= from_ns && time_ns < to_ns;
	}
	return kept;
}

bool samples_left(const struct samples_block *b)
{
	return b->next < b->n;
}

struct error *samples_next(struct samples_block *b, uint64_t from_ns, uint64_t to_ns,
			   struct prf_samples *samples)
{
	size_t n = b->n - b->next < SLICE ? b->n - b->next : SLICE;
	struct error *error = all_ids_decode(b, n);

	if (error) {
		b->next = b->n;
		return error;
	}
	column_read(&b->time_ns, b->next, n, b->slice_time);
	decode_times(b, n);
	decode_lanes(b, n);
	if (wanted(b, &b->weight))
		column_read(&b->weight, b->next, n, b->slice_weight);
	b->next += n;
	if (from_ns || to_ns != UINT64_MAX)
		n = filter(b, n, from_ns, to_ns);
	*samples = (struct prf_samples){
		.n = n,
		.time_ns = b->slice_time,
		.task = b->slice_task,
		.event = b->slice_event,
		.stack = b->slice_stack,
		.waker = b->slice_waker,
		.waker_task = b->slice_waker_task,
		.cpu = b->slice_cpu,
		.weight = b->slice_weight,
	};
	return NULL;
}
