/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/tally.h"

#include "common/array.h"
#include "common/buffer.h"
#include "common/map.h"
#include "common/pairs.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_SLICE_NS 1000000
#define DEFAULT_MAX_SLICES 4096
#define MAX_SLICED_CELLS (4u << 20) /* more cells than that make the slices longer */
#define MAX_GROUPS (1u << 24)
#define LAST_CELLS 4 /* a power of two */
#define LAST_EVENTS 4

/* The group that the samples of a task with this event belong to. */
struct known_group {
	uint32_t event, group;
};

/* What a (task, event) is, if not a group's number. */
#define NOT_ASKED UINT32_MAX
#define NOT_COUNTED (UINT32_MAX - 1)
#define OTHER_EVENT (UINT32_MAX - 2)

struct tally {
	struct tally_options options;

	struct tally_cell *cells;
	size_t cell_count, cell_capacity;
	uint32_t *table; /* open addressing: cell number + 1, 0: empty */
	size_t table_size;
	uint64_t seed;
	struct pairs wakers; /* (global stack, task) */

	/*
	 * The cells that each stack of this trace was counted in last, by the low bits of the
	 * group: no hashing for the next sample.
	 */
	uint32_t (*last_cell)[LAST_CELLS];
	size_t last_cell_count;

	struct tally_group *groups;
	size_t group_count, group_capacity;
	struct map group_ids;

	const struct prf_event **events;
	size_t event_count, event_capacity;
	struct map event_ids;

	/* This trace. */
	const struct prf_reader *reader;
	uint32_t trace;
	uint32_t stack_base;
	struct known_group (*known)[LAST_EVENTS]; /* of each task, by the event's low bits */
	struct map decided;			  /* (task, event) to group: all that were asked for */
	uint32_t *global_event;
	size_t local_events, task_capacity;
	struct tally_totals totals;
	bool has_origin;

	/* The slice of the last sample, and its time since the origin: saves divisions. */
	uint64_t slice_begin, slice_end;
	uint32_t slice;

	/* The last group that was made of a (group, cpu), by number of the first. */
	uint32_t last_base, last_cpu, last_cpu_group;
};

int tally_new(struct tally **tally, const struct tally_options *options)
{
	struct tally *t = calloc(1, sizeof(*t));

	if (!t)
		return PRF_ERROR_MEMORY;
	t->options = *options;
	if (!t->options.slice_ns)
		t->options.slice_ns = DEFAULT_SLICE_NS;
	if (!t->options.max_slices)
		t->options.max_slices = DEFAULT_MAX_SLICES;
	t->seed = (uint64_t)(uintptr_t)t * 0x9e3779b97f4a7c15u | 1;
	t->trace = PRF_NONE;
	*tally = t;
	return 0;
}

static void end_trace(struct tally *t)
{
	free(t->known);
	map_release(&t->decided);
	free(t->global_event);
	free(t->last_cell);
	t->known = NULL;
	t->global_event = NULL;
	t->last_cell = NULL;
	t->local_events = t->task_capacity = t->last_cell_count = 0;
}

void tally_free(struct tally *t)
{
	if (!t)
		return;
	end_trace(t);
	free(t->cells);
	free(t->table);
	free(t->groups);
	free(t->events);
	pairs_release(&t->wakers);
	map_release(&t->group_ids);
	map_release(&t->event_ids);
	free(t);
}

int tally_begin(struct tally *t, const struct prf_reader *reader, uint32_t *stack_base)
{
	if (t->reader)
		t->stack_base += (uint32_t)prf_reader_stacks(t->reader);
	end_trace(t);
	t->reader = reader;
	t->trace++;
	t->totals = (struct tally_totals){ 0 };
	t->has_origin = false;
	t->last_base = NOT_ASKED;
	*stack_base = t->stack_base;
	return 0;
}

/* -------- cells -------- */

static uint64_t hash_cell(const struct tally *t, const struct tally_cell *key)
{
	uint64_t h = ((uint64_t)key->group << 32 | key->stack) ^ t->seed;

	h *= 0x9fb21c651e98df25u;
	h ^= h >> 29;
	h += ((uint64_t)key->slice << 32 | key->waker);
	h *= 0xd6e8feb86659fd93u;
	return h ^ h >> 32;
}

static bool same_cell(const struct tally_cell *a, const struct tally_cell *b)
{
	return a->group == b->group && a->stack == b->stack && a->waker == b->waker &&
	       a->slice == b->slice;
}

static bool grow_table(struct tally *t)
{
	size_t size = t->table_size ? t->table_size * 2 : 4096;
	uint32_t *table = calloc(size, sizeof(*table));

	if (!table)
		return false;
	for (size_t i = 0; i < t->cell_count; i++) {
		size_t at = hash_cell(t, &t->cells[i]) & (size - 1);

		while (table[at])
			at = (at + 1) & (size - 1);
		table[at] = (uint32_t)i + 1;
	}
	free(t->table);
	t->table = table;
	t->table_size = size;
	return true;
}

/* A new cell, whether or not there is one with this key; PRF_NONE without memory. */
static uint32_t append_cell(struct tally *t, const struct tally_cell *key)
{
	if (t->cell_count >= PRF_NONE / 2 ||
	    !array_reserve(&t->cells, &t->cell_capacity, t->cell_count + 1))
		return PRF_NONE;
	t->cells[t->cell_count] = *key;
	return (uint32_t)t->cell_count++;
}

/* The number of the cell with this key; PRF_NONE without memory. */
static uint32_t find_cell(struct tally *t, const struct tally_cell *key)
{
	uint32_t cell;
	size_t at;

	if ((t->cell_count + 1) * 4 > t->table_size * 3 && !grow_table(t))
		return PRF_NONE;
	for (at = hash_cell(t, key) & (t->table_size - 1); t->table[at];
	     at = (at + 1) & (t->table_size - 1))
		if (same_cell(&t->cells[t->table[at] - 1], key))
			return t->table[at] - 1;
	cell = append_cell(t, key);
	if (cell != PRF_NONE)
		t->table[at] = cell + 1;
	return cell;
}

/* Counts cells with the same key together. */
static void join_cells(struct tally *t)
{
	size_t n = t->cell_count;

	t->cell_count = 0;
	if (t->table)
		memset(t->table, 0, t->table_size * sizeof(*t->table));
	for (size_t i = 0; i < n; i++) {
		struct tally_cell cell = t->cells[i];
		size_t before = t->cell_count;
		uint32_t at = find_cell(t, &cell);

		if (at == PRF_NONE) {
			t->cells[t->cell_count++] = cell; /* into the room it had */
		} else if (t->cell_count == before) {
			t->cells[at].samples += cell.samples;
			t->cells[at].weight += cell.weight;
		}
	}
}

/* Doubles the slices' length; joins cells only when there are too many, for it takes long. */
static void coarsen(struct tally *t)
{
	t->options.slice_ns *= 2;
	for (size_t i = 0; i < t->cell_count; i++)
		t->cells[i].slice /= 2;
	if (t->cell_count >= MAX_SLICED_CELLS)
		join_cells(t);
	t->slice_begin = t->slice_end = 0;
	/* Remembered cells may have other numbers now. */
	memset(t->last_cell, 0xff, t->last_cell_count * sizeof(*t->last_cell));
}

/* -------- groups -------- */

static uint32_t find_group(struct tally *t, const void *key, size_t size,
			   const struct tally_group *group)
{
	bool added;
	uint64_t *id = map_put(&t->group_ids, key, size, &added);

	if (!id)
		return PRF_NONE;
	if (!added)
		return (uint32_t)*id;
	if (t->group_count == MAX_GROUPS ||
	    !array_reserve(&t->groups, &t->group_capacity, t->group_count + 1)) {
		map_remove(&t->group_ids, key, size);
		return PRF_NONE;
	}
	*id = t->group_count;
	t->groups[t->group_count] = *group;
	return (uint32_t)t->group_count++;
}

/* The group of a (task, event) on any CPU: one per distinct text of what tells groups apart. */
static uint32_t group_of_task(struct tally *t, uint32_t task, uint32_t event)
{
	const struct prf_task *who = prf_reader_task(t->reader, task);
	unsigned int by = t->options.dimensions;
	struct tally_group group = { t->trace, task, event, PRF_NONE };
	struct buffer key = { 0 };
	uint32_t id = PRF_NONE;

	buffer_u32(&key, event);
	buffer_u32(&key, by & (PROFILE_BY_TRACE | PROFILE_BY_HOST) ? t->trace : 0);
	buffer_u32(&key, by & PROFILE_BY_PID ? who->pid : 0);
	buffer_u32(&key, by & PROFILE_BY_TID ? who->tid : 0);
	buffer_append(&key, who->comm, by & PROFILE_BY_COMM ? strlen(who->comm) + 1 : 0);
	buffer_append(&key, who->cgroup, by & PROFILE_BY_CGROUP ? strlen(who->cgroup) + 1 : 0);
	if (buffer_ok(&key))
		id = find_group(t, key.data, key.size, &group);
	buffer_release(&key);
	return id;
}

static uint32_t group_on_cpu(struct tally *t, uint32_t base, uint32_t cpu)
{
	struct tally_group group;
	uint8_t key[9] = { 'c' }; /* shorter than any key of group_of_task() */

	if (t->last_base == base && t->last_cpu == cpu)
		return t->last_cpu_group;
	group = t->groups[base];
	group.cpu = cpu;
	memcpy(key + 1, &base, 4);
	memcpy(key + 5, &cpu, 4);
	t->last_cpu_group = find_group(t, key, sizeof(key), &group);
	t->last_base = base;
	t->last_cpu = cpu;
	return t->last_cpu_group;
}

static void event_key(const struct prf_event *event, struct buffer *key)
{
	buffer_u32(key, event->kind);
	buffer_u64(key, event->frequency);
	buffer_u64(key, event->period);
	buffer_append(key, event->name, strlen(event->name) + 1);
	buffer_text(key, event->unit);
}

uint32_t tally_find_event(const struct tally *t, const struct prf_event *event)
{
	struct buffer key = { 0 };
	const uint64_t *id;

	event_key(event, &key);
	id = map_get(&t->event_ids, key.data, key.size);
	buffer_release(&key);
	return id ? (uint32_t)*id : PRF_NONE;
}

/* The global number of an event; PRF_NONE without memory. */
static uint32_t global_event(struct tally *t, const struct prf_event *event)
{
	struct buffer key = { 0 };
	uint64_t *id = NULL;
	bool added;

	if (!array_reserve(&t->events, &t->event_capacity, t->event_count + 1))
		return PRF_NONE;
	event_key(event, &key);
	if (buffer_ok(&key))
		id = map_put(&t->event_ids, key.data, key.size, &added);
	buffer_release(&key);
	if (!id)
		return PRF_NONE;
	if (added) {
		*id = t->event_count;
		t->events[t->event_count++] = event;
	}
	return (uint32_t)*id;
}

static bool follow_events(struct tally *t, size_t events)
{
	uint32_t *global = realloc(t->global_event, events * sizeof(*global));

	if (!global)
		return false;
	t->global_event = global;
	for (; t->local_events < events; t->local_events++) {
		uint32_t i = (uint32_t)t->local_events;

		global[i] = global_event(t, prf_reader_event(t->reader, i));
		if (global[i] == PRF_NONE)
			return false;
	}
	return true;
}

/* Room for the events, tasks and stacks that have been defined meanwhile. */
static bool follow_definitions(struct tally *t)
{
	size_t events = prf_reader_events(t->reader);
	size_t tasks = prf_reader_tasks(t->reader);
	size_t stacks = prf_reader_stacks(t->reader);

	if (events > t->local_events && !follow_events(t, events))
		return false;
	if (tasks > t->task_capacity) {
		size_t capacity = tasks + tasks / 2;
		struct known_group(*room)[LAST_EVENTS] = realloc(t->known, capacity * sizeof(*room));

		if (!room)
			return false;
		memset(room + t->task_capacity, 0xff,
		       (capacity - t->task_capacity) * sizeof(*room));
		t->known = room;
		t->task_capacity = capacity;
	}
	if (stacks > t->last_cell_count) {
		size_t count = stacks + stacks / 2;
		uint32_t(*room)[LAST_CELLS] = realloc(t->last_cell, count * sizeof(*room));

		if (!room)
			return false;
		memset(room + t->last_cell_count, 0xff,
		       (count - t->last_cell_count) * sizeof(*room));
		t->last_cell = room;
		t->last_cell_count = count;
	}
	return true;
}

/* -------- samples -------- */

static uint32_t decide(struct tally *t, uint32_t task, uint32_t event)
{
	const struct selection *s = t->options.selection;
	const struct prf_event *what = prf_reader_event(t->reader, event);

	if (!selection_has_task(s, prf_reader_task(t->reader, task)))
		return NOT_COUNTED;
	if (!selection_has_event(s, what, t->events[0]))
		return OTHER_EVENT;
	return group_of_task(t, task, t->global_event[event]);
}

static void note_times(struct tally *t, const struct prf_samples *s)
{
	const uint64_t *time_ns = s->time_ns;
	uint64_t first = UINT64_MAX, last = 0;

	for (size_t i = 0, n = s->n; i < n; i++) {
		first = time_ns[i] < first ? time_ns[i] : first;
		last = time_ns[i] > last ? time_ns[i] : last;
	}
	if (!t->totals.samples || first < t->totals.first_ns)
		t->totals.first_ns = first;
	if (last > t->totals.last_ns)
		t->totals.last_ns = last;
	if (!t->has_origin) {
		t->totals.origin_ns = first;
		t->has_origin = true;
	}
	t->totals.samples += s->n;
}

static uint32_t slice_of(struct tally *t, uint64_t time_ns)
{
	uint64_t since = time_ns > t->totals.origin_ns ? time_ns - t->totals.origin_ns : 0;

	if (since >= t->slice_begin && since < t->slice_end && t->cell_count < MAX_SLICED_CELLS)
		return t->slice;
	while (since / t->options.slice_ns >= t->options.max_slices ||
	       t->cell_count >= MAX_SLICED_CELLS) {
		if (t->options.slice_ns > UINT64_MAX / 4)
			break;
		coarsen(t);
		if (since / t->options.slice_ns < t->options.max_slices &&
		    t->options.slice_ns > UINT64_C(1) << 40)
			break;
	}
	t->slice = (uint32_t)(since / t->options.slice_ns);
	t->slice_begin = t->slice * t->options.slice_ns;
	t->slice_end = t->slice_begin + t->options.slice_ns;
	return t->slice;
}

/* The group that a sample's task and event belong to, or NOT_COUNTED and the like. */
static uint32_t decided(struct tally *t, uint32_t task, uint32_t event)
{
	struct known_group *known = &t->known[task][event % LAST_EVENTS];
	const uint32_t key[2] = { task, event };
	uint64_t *group;
	bool added;

	if (known->event == event)
		return known->group;
	group = map_put(&t->decided, key, sizeof(key), &added);
	if (!group)
		return PRF_NONE;
	if (added)
		*group = decide(t, task, event);
	*known = (struct known_group){ event, (uint32_t)*group };
	return known->group;
}

/* Counts one sample; false without memory. */
static bool count_sample(struct tally *t, const struct prf_samples *s, size_t i, uint32_t group,
			 bool by_time)
{
	uint32_t stack = s->stack[i], *last = NULL, at;
	struct tally_cell key = { .group = group, .stack = stack, .waker = PRF_NONE };

	if (by_time)
		key.slice = slice_of(t, s->time_ns[i]);
	if (t->options.wakers && s->waker[i] != PRF_NONE) {
		key.waker = pairs_put(&t->wakers, s->waker[i] + t->stack_base, s->waker_task[i]);
		if (key.waker == UINT32_MAX)
			return false;
	}
	if (stack != PRF_NONE) {
		last = &t->last_cell[stack][group % LAST_CELLS];
		key.stack += t->stack_base;
	}
	at = last ? *last : PRF_NONE;
	if (at == PRF_NONE || t->cells[at].group != group || t->cells[at].slice != key.slice ||
	    t->cells[at].waker != key.waker)
		/* Few slices have a stack in two threads: looking for it would only take time. */
		at = by_time ? append_cell(t, &key) : find_cell(t, &key);
	if (at == PRF_NONE)
		return false;
	t->cells[at].samples++;
	t->cells[at].weight += s->weight[i];
	if (last)
		*last = at;
	return true;
}

/*
 * When neither CPU nor time nor wakers tell anything apart, as mostly: the one loop that runs
 * for every sample of a large trace. Locals, since stores could change what `t` points to.
 */
static int add_plain(struct tally *t, const struct prf_samples *s)
{
	const uint32_t *task = s->task, *event = s->event, *stack = s->stack;
	const uint64_t *weight = s->weight;
	struct known_group(*known)[LAST_EVENTS] = t->known;
	uint32_t(*last_cell)[LAST_CELLS] = t->last_cell;
	struct tally_cell *cells = t->cells;

	for (size_t i = 0, n = s->n; i < n; i++) {
		const struct known_group *one = &known[task[i]][event[i] % LAST_EVENTS];
		uint32_t group = one->group, at = PRF_NONE;

		if (one->event == event[i] && group < OTHER_EVENT && stack[i] != PRF_NONE)
			at = last_cell[stack[i]][group % LAST_CELLS];
		if (at != PRF_NONE && cells[at].group == group) {
			cells[at].samples++;
			cells[at].weight += weight[i];
			continue;
		}
		group = decided(t, task[i], event[i]);
		if (group == PRF_NONE)
			return PRF_ERROR_MEMORY;
		if (group >= OTHER_EVENT)
			t->totals.other_events += group == OTHER_EVENT;
		else if (!count_sample(t, s, i, group, false))
			return PRF_ERROR_MEMORY;
		cells = t->cells;
	}
	return 0;
}

static int add_apart(struct tally *t, const struct prf_samples *s)
{
	const bool by_cpu = t->options.dimensions & PROFILE_BY_CPU;
	const bool by_time = t->options.dimensions & PROFILE_BY_TIME;
	const struct number_set *cpus = &t->options.selection->cpus;

	for (size_t i = 0; i < s->n; i++) {
		uint32_t group = decided(t, s->task[i], s->event[i]);

		if (group < OTHER_EVENT && cpus->count && !number_set_has(cpus, s->cpu[i]))
			continue;
		if (group < OTHER_EVENT && by_cpu)
			group = group_on_cpu(t, group, s->cpu[i]);
		if (group == PRF_NONE)
			return PRF_ERROR_MEMORY;
		if (group >= OTHER_EVENT)
			t->totals.other_events += group == OTHER_EVENT;
		else if (!count_sample(t, s, i, group, by_time))
			return PRF_ERROR_MEMORY;
	}
	return 0;
}

int tally_add(struct tally *t, const struct prf_samples *s)
{
	const unsigned int apart = PROFILE_BY_CPU | PROFILE_BY_TIME;

	if (!s->n)
		return 0;
	if (!follow_definitions(t))
		return PRF_ERROR_MEMORY;
	note_times(t, s);
	if ((t->options.dimensions & apart) || t->options.wakers ||
	    t->options.selection->cpus.count)
		return add_apart(t, s);
	return add_plain(t, s);
}

/* -------- results -------- */

void tally_trace_totals(const struct tally *t, struct tally_totals *totals)
{
	*totals = t->totals;
}

const struct tally_cell *tally_cells(const struct tally *t, size_t *n)
{
	*n = t->cell_count;
	return t->cells;
}

struct tally_waker tally_waker(const struct tally *t, uint32_t number)
{
	const struct pair *pair = &t->wakers.pairs[number];

	return (struct tally_waker){ (uint32_t)pair->a, (uint32_t)pair->b };
}

const struct tally_group *tally_groups(const struct tally *t, size_t *n)
{
	*n = t->group_count;
	return t->groups;
}

const struct prf_event *const *tally_events(const struct tally *t, size_t *n)
{
	*n = t->event_count;
	return t->events;
}

uint64_t tally_slice_ns(const struct tally *t)
{
	return t->options.slice_ns;
}
