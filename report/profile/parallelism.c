/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/profile/parallelism.h"

#include "common/array.h"
#include "common/fuzzing.h"
#include "common/map.h"
#include "report/profile/event_time.h"
#include "report/profile/in_order.h"

#include <stdlib.h>

/*
 * In an interval each CPU has one tick, and no machine has so many CPUs. A power of two. Less for a
 * fuzzer, as in in_order.h.
 */
#define WINDOW_MAX (FUZZING ? 64 : 16384)

struct task {
	uint32_t process; /* its number */
	uint32_t ticks;	  /* that hit it in the window */
};

struct parallelism {
	parallelism_take *take;
	void *context;
	const struct prf_reader *reader;
	uint64_t interval_ns; /* of the ticks; 0: there were none yet */
	struct in_order order;
	/*
	 * The window: a ring of samples, numbered as they came. Those from `next` on wait for what
	 * comes after them; those before it were given on, and are near to one that waits.
	 */
	struct parallel_sample *window;
	uint64_t first, next, end;

	struct task *tasks;
	size_t task_count, task_capacity;
	uint32_t *running; /* of each process: threads that ticks of the window hit */
	size_t process_count, process_capacity;
	struct map processes; /* the number of each pid */
};

struct parallelism *parallelism_new(parallelism_take *take, void *context)
{
	struct parallelism *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->take = take;
	p->context = context;
	p->window = calloc(WINDOW_MAX, sizeof(*p->window));
	if (!in_order_init(&p->order, sizeof(*p->window)) || !p->window) {
		parallelism_free(p);
		return NULL;
	}
	return p;
}

void parallelism_free(struct parallelism *p)
{
	if (!p)
		return;
	in_order_release(&p->order);
	map_release(&p->processes);
	free(p->window);
	free(p->tasks);
	free(p->running);
	free(p);
}

void parallelism_begin(struct parallelism *p, const struct prf_reader *reader)
{
	p->reader = reader;
	p->interval_ns = 0;
	p->first = p->next = p->end = 0;
	p->task_count = p->process_count = 0;
	map_release(&p->processes);
}

static bool follow_tasks(struct parallelism *p)
{
	size_t n = prf_reader_tasks(p->reader);

	if (!array_reserve(&p->tasks, &p->task_capacity, n) ||
	    !array_reserve(&p->running, &p->process_capacity, n))
		return false;
	for (; p->task_count < n; p->task_count++) {
		uint32_t pid = prf_reader_task(p->reader, (uint32_t)p->task_count)->pid, number;
		bool added;

		number = map_number(&p->processes, &pid, sizeof(pid), (uint32_t)p->process_count,
				    &added);
		if (number == UINT32_MAX)
			return false;
		if (added)
			p->running[p->process_count++] = 0;
		p->tasks[p->task_count] = (struct task){ .process = number };
	}
	return true;
}

/* -------- the window -------- */

static struct parallel_sample *sample(const struct parallelism *p, uint64_t number)
{
	return &p->window[number % WINDOW_MAX];
}

static bool too_far(const struct parallelism *p, uint64_t later_ns, uint64_t earlier_ns)
{
	return later_ns > earlier_ns && later_ns - earlier_ns > p->interval_ns / 2;
}

static void drop_first(struct parallelism *p)
{
	const struct parallel_sample *one = sample(p, p->first++);
	struct task *task = &p->tasks[one->task];

	if (one->ticks && !--task->ticks)
		p->running[task->process]--;
}

/* Gives on the one that waits longest. */
static bool finish_next(struct parallelism *p)
{
	struct parallel_sample *one = sample(p, p->next++);

	while (too_far(p, one->time_ns, sample(p, p->first)->time_ns))
		drop_first(p);
	one->running = one->ticks ? p->running[p->tasks[one->task].process] : 0;
	return p->take(p->context, one);
}

static bool add_last(struct parallelism *p, const struct parallel_sample *one)
{
	struct task *task = &p->tasks[one->task];

	/* Those that are too far from this one are too far from all that come later. */
	while (p->next < p->end && too_far(p, one->time_ns, sample(p, p->next)->time_ns))
		if (!finish_next(p))
			return false;
	if (p->end - p->first == WINDOW_MAX) {
		if (p->next == p->first && !finish_next(p))
			return false;
		drop_first(p);
	}
	*sample(p, p->end++) = *one;
	if (one->ticks && !task->ticks++)
		p->running[task->process]++;
	return true;
}

/* -------- samples -------- */

static bool add_earliest(struct parallelism *p)
{
	struct parallel_sample one;

	return in_order_take(&p->order, &one) && add_last(p, &one);
}

/* Whether it is a timer of the interval that counts. */
static bool ticks(struct parallelism *p, uint32_t event)
{
	uint64_t ns = event_ns_per_sample(prf_reader_event(p->reader, event));

	if (!p->interval_ns)
		p->interval_ns = ns;
	return ns && ns == p->interval_ns;
}

bool parallelism_add(struct parallelism *p, const struct prf_samples *samples)
{
	if (!follow_tasks(p))
		return false;
	for (size_t i = 0; i < samples->n; i++) {
		const struct parallel_sample one = {
			.time_ns = samples->time_ns[i],
			.weight = samples->weight[i],
			.task = samples->task[i],
			.event = samples->event[i],
			.stack = samples->stack[i],
			.waker = samples->waker[i],
			.waker_task = samples->waker_task[i],
			.cpu = samples->cpu[i],
			.ticks = ticks(p, samples->event[i]),
		};

		if (in_order_full(&p->order) && !add_earliest(p))
			return false;
		in_order_put(&p->order, one.time_ns, &one);
	}
	return true;
}

bool parallelism_end(struct parallelism *p)
{
	while (p->order.n)
		if (!add_earliest(p))
			return false;
	while (p->next < p->end)
		if (!finish_next(p))
			return false;
	return true;
}
