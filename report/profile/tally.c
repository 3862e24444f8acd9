/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/profile/tally.h"

#include "common/arena.h"
#include "common/array.h"
#include "common/buffer.h"
#include "common/map.h"
#include "common/pairs.h"
#include "report/profile/event_set.h"
#include "report/profile/group_set.h"
#include "report/profile/parallelism.h"
#include "report/profile/text_pool.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_SLICE_NS 1000000
#define DEFAULT_MAX_SLICES 4096
#define LAST_CELLS 4 /* a power of two */
#define LAST_EVENTS 4

/* The group that the samples of a task with this event belong to. */
struct known_group {
	uint32_t event, group;
};

/* What a (task, event) has in place of a group's number. */
#define NOT_ASKED UINT32_MAX
#define NOT_COUNTED (UINT32_MAX - 1)
#define OTHER_EVENT (UINT32_MAX - 2)

struct tally {
	struct tally_options options;
	struct parallelism *parallelism; /* NULL: it does not matter */

	struct tally_cell *cells;
	size_t cell_count, cell_capacity;
	struct slices slices; /* with PROFILE_TIMED */
	struct pairs wakers;  /* (stack, number of the comm or PRF_NONE) */

	/* What tally_join() has put together: the first cells, whose wakers are here. */
	size_t joined_cells, joined_groups;
	struct pairs joined_keys; /* (group and waker, stack) of these cells, ... */
	size_t first_key;	  /* ... from this one on */
	struct pairs joined_wakers;
	struct arena arena;	/* of the joined groups' tasks */
	struct text_pool texts; /* of these, and comms of wakers */

	/*
	 * The cells that each stack of this trace was counted in last, by the low bits of the
	 * group: no hashing for the next sample. Cells that were displaced from here are found by
	 * `keys`.
	 */
	uint32_t (*last_cell)[LAST_CELLS];
	size_t last_cell_count;
	uint32_t no_stack[LAST_CELLS]; /* the same of samples without a stack */
	struct pairs keys;	       /* (group and waker, stack) */
	uint32_t *kept;		       /* by key: its cell */
	size_t kept_count, kept_capacity;

	struct group_set groups;
	struct event_set events;

	/* This trace. */
	const struct prf_reader *reader;
	uint32_t trace;
	struct known_group (*known)[LAST_EVENTS]; /* of each task, by the event's low bits */
	struct map decided; /* (task, event) to group: all that were asked for */
	uint32_t *global_event;
	size_t local_events, task_capacity;
	struct tally_totals totals;
	bool has_origin;
	uint64_t start_ns; /* see tally_set_start() */
};

static bool count_parallel(void *context, const struct parallel_sample *one);

struct error *tally_new(struct tally **tally, const struct tally_options *options)
{
	struct tally *t = calloc(1, sizeof(*t));

	if (!t)
		return error_memory();
	t->options = *options;
	group_set_init(&t->groups);
	t->slices.length_ns = options->slice_ns ? options->slice_ns : DEFAULT_SLICE_NS;
	t->slices.max = options->max_slices ? options->max_slices : DEFAULT_MAX_SLICES;
	t->trace = PRF_NONE;
	if ((options->dimensions & PROFILE_BY_PARALLELISM) ||
	    options->selection->parallelism.count) {
		t->parallelism = parallelism_new(count_parallel, t);
		if (!t->parallelism) {
			free(t);
			return error_memory();
		}
	}
	*tally = t;
	return NULL;
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
	parallelism_free(t->parallelism);
	free(t->cells);
	slices_release(&t->slices);
	free(t->kept);
	pairs_release(&t->keys);
	group_set_release(&t->groups);
	event_set_release(&t->events);
	pairs_release(&t->wakers);
	pairs_release(&t->joined_keys);
	pairs_release(&t->joined_wakers);
	arena_release(&t->arena);
	text_pool_release(&t->texts);
	free(t);
}

void tally_begin(struct tally *t, const struct prf_reader *reader)
{
	end_trace(t);
	pairs_clear(&t->keys);
	t->kept_count = 0;
	memset(t->no_stack, 0xff, sizeof(t->no_stack));
	slices_restart(&t->slices);
	t->reader = reader;
	t->trace++;
	t->totals = (struct tally_totals){ 0 };
	t->has_origin = false;
	t->start_ns = 0;
	if (t->parallelism)
		parallelism_begin(t->parallelism, reader);
}

void tally_set_start(struct tally *t, uint64_t start_ns)
{
	t->start_ns = start_ns;
}

/* -------- cells -------- */

static bool same_cell(const struct tally_cell *a, const struct tally_cell *b)
{
	return a->group == b->group && a->stack == b->stack && a->waker == b->waker;
}

/* Where the number of the cell with this key is kept, PRF_NONE if it is not; NULL without memory.
 */
static uint32_t *kept_cell(struct tally *t, const struct tally_cell *key)
{
	uint32_t number = pairs_put(&t->keys, (uint64_t)key->group << 32 | key->waker, key->stack);

	if (number == UINT32_MAX || !array_reserve(&t->kept, &t->kept_capacity, t->keys.count))
		return NULL;
	if (number == t->kept_count)
		t->kept[t->kept_count++] = PRF_NONE;
	return &t->kept[number];
}

/* A new cell; PRF_NONE without memory. */
static uint32_t append_cell(struct tally *t, const struct tally_cell *key)
{
	if (t->cell_count >= PRF_NONE / 2 ||
	    !array_reserve(&t->cells, &t->cell_capacity, t->cell_count + 1))
		return PRF_NONE;
	t->cells[t->cell_count] = *key;
	return (uint32_t)t->cell_count++;
}

/*
 * The number of the cell with this key; PRF_NONE without memory. `last`: the cell met last of
 * this stack and of groups with these low bits; as long as that is PRF_NONE there is none.
 */
static uint32_t find_cell(struct tally *t, const struct tally_cell *key, uint32_t last)
{
	uint32_t *kept;

	if (last == PRF_NONE)
		return append_cell(t, key);
	if (same_cell(&t->cells[last], key))
		return last;
	if (!t->cells[last].kept) {
		kept = kept_cell(t, &t->cells[last]);
		if (!kept)
			return PRF_NONE;
		*kept = last;
		t->cells[last].kept = true;
	}
	kept = kept_cell(t, key);
	if (!kept)
		return PRF_NONE;
	if (*kept == PRF_NONE) {
		*kept = append_cell(t, key);
		if (*kept != PRF_NONE)
			t->cells[*kept].kept = true;
	}
	return *kept;
}

/* -------- groups -------- */

static bool tells_traces_apart(const struct tally *t)
{
	return t->options.dimensions & (PROFILE_BY_TRACE | PROFILE_BY_NOTES);
}

/*
 * The group of a (task, event) on any CPU. Groups are distinct by the text of what the dimensions
 * select.
 */
static uint32_t group_of_task(struct tally *t, uint32_t task, uint32_t event)
{
	const struct prf_task *who = prf_reader_task(t->reader, task);
	unsigned int by = t->options.dimensions;
	struct tally_group group = { who, t->trace, event, PRF_NONE, 0 };
	struct buffer key = { 0 };
	uint32_t id = PRF_NONE;

	buffer_u32(&key, event);
	buffer_u32(&key, tells_traces_apart(t) ? t->trace : 0);
	buffer_u32(&key, by & PROFILE_BY_PID ? who->pid : 0);
	buffer_u32(&key, by & PROFILE_BY_TID ? who->tid : 0);
	buffer_append(&key, who->comm, by & PROFILE_BY_COMM ? strlen(who->comm) + 1 : 0);
	buffer_append(&key, who->cgroup, by & PROFILE_BY_CGROUP ? strlen(who->cgroup) + 1 : 0);
	if (buffer_ok(&key))
		id = group_set_add(&t->groups, key.data, key.size, &group);
	buffer_release(&key);
	return id;
}

static bool follow_events(struct tally *t, size_t events)
{
	uint32_t *global = realloc(t->global_event, events * sizeof(*global));

	if (!global)
		return false;
	t->global_event = global;
	for (; t->local_events < events; t->local_events++) {
		uint32_t i = (uint32_t)t->local_events;

		global[i] = event_set_add(&t->events, prf_reader_event(t->reader, i));
		if (global[i] == PRF_NONE)
			return false;
	}
	return true;
}

/* Room for `n` elements of `size` bytes, and for some more to come; all bits of new ones are set.
 */
static bool reserve_empty(void *array, size_t *capacity, size_t n, size_t size)
{
	size_t larger = n + n / 2;
	uint8_t **elements = array, *room;

	if (n <= *capacity)
		return true;
	room = realloc(*elements, larger * size);
	if (!room)
		return false;
	memset(room + *capacity * size, 0xff, (larger - *capacity) * size);
	*elements = room;
	*capacity = larger;
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
	return reserve_empty(&t->known, &t->task_capacity, tasks, sizeof(*t->known)) &&
	       reserve_empty(&t->last_cell, &t->last_cell_count, stacks, sizeof(*t->last_cell));
}

/* -------- samples -------- */

static uint32_t decide(struct tally *t, uint32_t task, uint32_t event)
{
	const struct selection *s = t->options.selection;
	const struct prf_event *what = prf_reader_event(t->reader, event);

	if (!selection_has_task(s, prf_reader_task(t->reader, task)))
		return NOT_COUNTED;
	if (!selection_has_event(s, what, t->events.events[0]))
		return OTHER_EVENT;
	return group_of_task(t, task, t->global_event[event]);
}

/* Most traces have one event, and then no sample has to be looked at. */
static uint64_t count_cpu_samples(const struct tally *t, const struct prf_samples *s)
{
	uint64_t count = 0;

	if (t->local_events == 1)
		return prf_reader_event(t->reader, 0)->kind == PRF_EVENT_ON_CPU ? s->n : 0;
	for (size_t i = 0; i < s->n; i++)
		count += prf_reader_event(t->reader, s->event[i])->kind == PRF_EVENT_ON_CPU;
	return count;
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
		/* What comes before the start is not after it, whatever the trace says. */
		t->totals.origin_ns = t->start_ns && t->start_ns < first ? t->start_ns : first;
		t->has_origin = true;
	}
	t->totals.samples += s->n;
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

/* A sample of a cell came at its time; false without memory. */
static bool note_time(struct tally *t, uint32_t cell, const struct prf_samples *s, size_t i)
{
	uint64_t time_ns = s->time_ns[i], origin_ns = t->totals.origin_ns;
	uint64_t since = time_ns > origin_ns ? time_ns - origin_ns : 0;

	return slices_count(&t->slices, cell, since, s->weight[i]);
}

/* The number of a waker; UINT32_MAX without memory. */
static uint32_t number_waker(struct tally *t, uint32_t stack, uint32_t task)
{
	uint32_t comm = PRF_NONE;

	if (task != PRF_NONE) {
		comm = text_pool_add(&t->texts, prf_reader_task(t->reader, task)->comm);
		if (comm == PRF_NONE)
			return UINT32_MAX;
	}
	return pairs_put(&t->wakers, stack, comm);
}

/* Counts one sample; false without memory. */
static bool count_sample(struct tally *t, const struct prf_samples *s, size_t i, uint32_t group)
{
	uint32_t stack = s->stack[i], *last = &t->no_stack[group % LAST_CELLS], at;
	struct tally_cell key = { .group = group, .stack = stack, .waker = PRF_NONE };

	if (t->options.wakers && s->waker[i] != PRF_NONE) {
		key.waker = number_waker(t, s->waker[i], s->waker_task[i]);
		if (key.waker == UINT32_MAX)
			return false;
	}
	if (stack != PRF_NONE) {
		last = &t->last_cell[stack][group % LAST_CELLS];
	}
	at = find_cell(t, &key, *last);
	if (at == PRF_NONE)
		return false;
	*last = at;
	t->cells[at].samples++;
	t->cells[at].weight += s->weight[i];
	return !(t->options.dimensions & PROFILE_TIMED) || note_time(t, at, s, i);
}

/* Counts a sample where its group says, which need not count. False without memory. */
static bool count_in(struct tally *t, const struct prf_samples *s, size_t i, uint32_t group)
{
	if (group == PRF_NONE)
		return false;
	if (group < OTHER_EVENT)
		return count_sample(t, s, i, group);
	t->totals.other_events += group == OTHER_EVENT;
	return true;
}

/* Where moments of the slice that is counted in go, as long as each is one sample that weighs 1. */
struct moments {
	uint64_t begin_ns, length_ns; /* times of the trace */
	uint32_t *cells;
	size_t count, room;
};

static struct moments moments_of(const struct tally *t)
{
	const struct slices *s = &t->slices;

	return (struct moments){ t->totals.origin_ns + s->begin, s->end - s->begin, s->cells,
				 s->count, s->room };
}

/*
 * The common case, where neither CPU nor wakers distinguish groups: the loop that runs for every
 * sample of a large trace. Fields are copied to locals because the compiler must assume that stores
 * change what `t` points to.
 */
static struct error *add_plain(struct tally *t, const struct prf_samples *s)
{
	const uint32_t *task = s->task, *event = s->event, *stack = s->stack;
	const uint64_t *weight = s->weight;
	struct known_group(*known)[LAST_EVENTS] = t->known;
	uint32_t(*last_cell)[LAST_CELLS] = t->last_cell;
	struct tally_cell *cells = t->cells;
	const bool by_time = t->options.dimensions & PROFILE_TIMED;
	struct moments moments = moments_of(t);

	for (size_t i = 0, n = s->n; i < n; i++) {
		const struct known_group *one = &known[task[i]][event[i] % LAST_EVENTS];
		uint32_t group = one->group, at = PRF_NONE;

		if (one->event == event[i] && group < OTHER_EVENT && stack[i] != PRF_NONE)
			at = last_cell[stack[i]][group % LAST_CELLS];
		if (at != PRF_NONE && cells[at].group == group) {
			cells[at].samples++;
			cells[at].weight += weight[i];
			if (!by_time)
				continue;
			if (s->time_ns[i] - moments.begin_ns < moments.length_ns &&
			    weight[i] == 1 && moments.count < moments.room) {
				moments.cells[moments.count++] = at;
				continue;
			}
			t->slices.count = moments.count;
			if (!note_time(t, at, s, i))
				return error_memory();
			moments = moments_of(t);
			continue;
		}
		group = decided(t, task[i], event[i]);
		t->slices.count = moments.count;
		if (!count_in(t, s, i, group))
			return error_memory();
		moments = moments_of(t);
		cells = t->cells;
	}
	t->slices.count = moments.count;
	return NULL;
}

/*
 * Counts a sample, if it counts, where it belongs by all that distinguishes samples of a task;
 * `running`: see struct parallel_sample. False without memory.
 */
static bool count_apart(struct tally *t, const struct prf_samples *s, size_t i, uint32_t running)
{
	const struct selection *selection = t->options.selection;
	const unsigned int by = t->options.dimensions;
	uint32_t group = decided(t, s->task[i], s->event[i]);

	if (group < OTHER_EVENT && (!number_set_has(&selection->cpus, s->cpu[i]) ||
				    !number_set_has(&selection->parallelism, running)))
		return true;
	if (group < OTHER_EVENT && (by & PROFILE_BY_CPU))
		group = group_set_part(&t->groups, group, GROUP_PART_CPU, s->cpu[i]);
	if (group < OTHER_EVENT && (by & PROFILE_BY_PARALLELISM))
		group = group_set_part(&t->groups, group, GROUP_PART_PARALLELISM, running);
	return count_in(t, s, i, group);
}

static bool count_parallel(void *context, const struct parallel_sample *one)
{
	const struct prf_samples s = {
		.n = 1,
		.time_ns = &one->time_ns,
		.task = &one->task,
		.event = &one->event,
		.stack = &one->stack,
		.waker = &one->waker,
		.waker_task = &one->waker_task,
		.cpu = &one->cpu,
		.weight = &one->weight,
	};

	return count_apart(context, &s, 0, one->running);
}

static bool add_apart(struct tally *t, const struct prf_samples *s)
{
	bool ok = true;

	if (t->parallelism)
		return parallelism_add(t->parallelism, s);
	for (size_t i = 0; ok && i < s->n; i++)
		ok = count_apart(t, s, i, 0);
	return ok;
}

struct error *tally_add(struct tally *t, const struct prf_samples *s)
{
	if (!s->n)
		return NULL;
	if (!follow_definitions(t))
		return error_memory();
	note_times(t, s);
	t->totals.cpu_samples += count_cpu_samples(t, s);
	if ((t->options.dimensions & PROFILE_BY_CPU) || t->options.wakers ||
	    t->options.selection->cpus.count || t->parallelism)
		return add_apart(t, s) ? NULL : error_memory();
	return add_plain(t, s);
}

void tally_count_weights(struct tally *t)
{
	for (size_t i = 0; i < t->cell_count; i++)
		t->cells[i].samples = t->cells[i].weight;
}

struct error *tally_end(struct tally *t)
{
	return !t->parallelism || parallelism_end(t->parallelism) ? NULL : error_memory();
}

/* -------- joining -------- */

/* A copy of a task that stays; NULL without memory. */
static const struct prf_task *copy_task(struct tally *t, const struct prf_task *task)
{
	struct prf_task *copy = arena_take(&t->arena, sizeof(*copy));

	if (!copy)
		return NULL;
	*copy = *task;
	copy->comm = text_pool_keep(&t->texts, task->comm);
	copy->cgroup = text_pool_keep(&t->texts, task->cgroup);
	copy->command_line = text_pool_keep(&t->texts, task->command_line);
	return copy->comm && copy->cgroup && copy->command_line ? copy : NULL;
}

static bool join_groups(struct tally *t)
{
	for (; t->joined_groups < t->groups.n; t->joined_groups++) {
		struct tally_group *group = &t->groups.groups[t->joined_groups];

		group->task = copy_task(t, group->task);
		if (!group->task)
			return false;
	}
	return true;
}

/* The joined cell that a cell of the trace becomes; PRF_NONE without memory. */
static uint32_t join_cell(struct tally *t, size_t i, const uint32_t *stacks)
{
	struct tally_cell cell = t->cells[i];
	uint32_t number;

	if (cell.stack != PRF_NONE)
		cell.stack = stacks[cell.stack];
	if (cell.waker != PRF_NONE) {
		const struct pair *waker = &t->wakers.pairs[cell.waker];

		cell.waker = pairs_put(&t->joined_wakers, stacks[waker->a], waker->b);
		if (cell.waker == UINT32_MAX)
			return PRF_NONE;
	}
	number = pairs_put(&t->joined_keys, (uint64_t)cell.group << 32 | cell.waker, cell.stack);
	if (number == UINT32_MAX)
		return PRF_NONE;
	number += (uint32_t)t->first_key;
	if (number == t->joined_cells) {
		/* Cells with a higher number than this one's were not joined yet. */
		t->cells[t->joined_cells++] = cell;
	} else {
		t->cells[number].samples += cell.samples;
		t->cells[number].weight += cell.weight;
	}
	return number;
}

struct error *tally_join(struct tally *t, const uint32_t *stacks)
{
	size_t first = t->joined_cells, n = t->cell_count - first;
	uint32_t *numbers = malloc((n + 1) * sizeof(*numbers));
	bool ok = numbers && join_groups(t);

	for (size_t i = 0; ok && i < n; i++) {
		numbers[i] = join_cell(t, first + i, stacks);
		ok = numbers[i] != PRF_NONE;
	}
	if (ok)
		slices_renumber(&t->slices, (uint32_t)first, numbers);
	free(numbers);
	if (!ok)
		return error_memory();
	t->cell_count = t->joined_cells;
	pairs_clear(&t->wakers);
	if (tells_traces_apart(t)) {
		/* No cell of a later trace equals one of these. */
		pairs_clear(&t->joined_keys);
		t->first_key = t->joined_cells;
	}
	return NULL;
}

size_t tally_joined(const struct tally *t)
{
	return t->joined_cells;
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

struct tally_waker tally_waker(const struct tally *t, const struct tally_cell *cell)
{
	bool joined = (size_t)(cell - t->cells) < t->joined_cells;
	const struct pairs *wakers = joined ? &t->joined_wakers : &t->wakers;
	const struct pair *pair = &wakers->pairs[cell->waker];
	uint32_t comm = (uint32_t)pair->b;

	return (struct tally_waker){ (uint32_t)pair->a,
				     comm == PRF_NONE ? NULL : text_pool_get(&t->texts, comm) };
}

void tally_forget_cells(struct tally *t)
{
	end_trace(t);
	free(t->cells);
	t->cells = NULL;
	t->cell_capacity = 0;
	pairs_release(&t->keys);
	pairs_release(&t->joined_keys);
}

bool tally_has_wakers(const struct tally *t)
{
	return t->wakers.count || t->joined_wakers.count;
}

const struct tally_group *tally_groups(const struct tally *t, size_t *n)
{
	*n = t->groups.n;
	return t->groups.groups;
}

const struct prf_event *const *tally_events(const struct tally *t, size_t *n)
{
	*n = t->events.n;
	return t->events.events;
}

bool tally_find_event(const struct tally *t, const struct prf_event *event, uint32_t *number)
{
	return event_set_find(&t->events, event, number);
}

const struct slices *tally_slices(const struct tally *t)
{
	return &t->slices;
}
