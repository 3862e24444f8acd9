/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>

#include "report/profile/parallelism.h"
#include "tests/unit/trace_fixture.h"
#include "tests/unit/unit.h"

#define MS 1000000u
#define TAKEN_MAX 65536

enum { EVENT_TIMER, EVENT_WAIT, EVENT_FASTER, EVENTS };
/* Two threads of one process, and another process. */
enum { TASK_A, TASK_B, TASK_OTHER, TASKS };

/* A trace in memory, and what came out of it. */
struct fixture {
	struct prf_writer *writer;
	struct prf_reader *reader;
	struct parallelism *parallelism;
	struct parallel_sample taken[TAKEN_MAX];
	size_t count;
};

static bool take(void *context, const struct parallel_sample *sample)
{
	struct fixture *f = context;

	assert_true(f->count < TAKEN_MAX);
	f->taken[f->count++] = *sample;
	return true;
}

static void write_definitions(struct fixture *f)
{
	const struct prf_event events[EVENTS] = {
		{ PRF_EVENT_ON_CPU, "cpu-clock", "samples", 1000, 0 },
		{ PRF_EVENT_OFF_CPU, "off-cpu", "ns", 0, 1 },
		{ PRF_EVENT_ON_CPU, "task-clock", "samples", 5000, 0 },
	};
	const struct prf_task tasks[TASKS] = {
		{ 1, 1, 1, 1, 0, 0, "a", "", "" },
		{ 1, 2, 1, 2, 0, 0, "b", "", "" },
		{ 3, 3, 3, 3, 0, 0, "other", "", "" },
	};
	uint32_t id;

	for (size_t i = 0; i < EVENTS; i++)
		fixture_must(prf_writer_event(f->writer, &events[i], &id));
	for (size_t i = 0; i < TASKS; i++)
		fixture_must(prf_writer_task(f->writer, &tasks[i], &id));
}

static struct fixture *begin(void)
{
	const struct prf_writer_options options = { .fd = -1 };
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	fixture_must(prf_writer_new(&f->writer, &options));
	write_definitions(f);
	f->parallelism = parallelism_new(take, f);
	assert_non_null(f->parallelism);
	return f;
}

static void end(struct fixture *f)
{
	parallelism_free(f->parallelism);
	prf_reader_free(f->reader);
	prf_writer_free(f->writer);
	free(f);
}

static void put(struct fixture *f, uint64_t time, uint32_t task, uint32_t event, uint32_t cpu)
{
	const struct prf_sample s = { .time_ns = 1000 * MS + time,
				      .task = task,
				      .event = event,
				      .stack = PRF_NONE,
				      .waker = PRF_NONE,
				      .cpu = cpu,
				      .weight = 1 };

	fixture_must(prf_writer_sample(f->writer, &s));
}

/* Ticks of one CPU that hit a task: those numbered from `from` up to, not including, `to`. */
struct run {
	uint64_t from, to, phase_ns;
	uint32_t task, cpu;
};

static void put_run(struct fixture *f, const struct run *r)
{
	for (uint64_t i = r->from; i < r->to; i++)
		put(f, i * MS + r->phase_ns, r->task, EVENT_TIMER, r->cpu);
}

static void count(struct fixture *f)
{
	struct prf_record record;

	f->reader = fixture_read_back(f->writer);
	parallelism_begin(f->parallelism, f->reader);
	while (fixture_next(f->reader, &record))
		if (record.type == PRF_RECORD_SAMPLES)
			assert_true(parallelism_add(f->parallelism, &record.samples));
	assert_true(parallelism_end(f->parallelism));
	for (size_t i = 1; i < f->count; i++)
		assert_true(f->taken[i - 1].time_ns <= f->taken[i].time_ns);
}

/* How many samples of a task have that many beside them. */
static size_t with(const struct fixture *f, uint32_t task, uint32_t running)
{
	size_t n = 0;

	for (size_t i = 0; i < f->count; i++)
		n += f->taken[i].task == task && f->taken[i].running == running;
	return n;
}

/* One thread for 20 ticks; from the 10th to the 15th a second one on another CPU. */
static void counts_threads_that_tick_at(uint64_t phase_ns)
{
	struct fixture *f = begin();

	put_run(f, &(struct run){ 0, 20, 0, TASK_A, 0 });
	put_run(f, &(struct run){ 10, 15, phase_ns, TASK_B, 1 });
	count(f);
	assert_int_equal(f->count, 25);
	assert_int_equal(with(f, TASK_A, 1), 15);
	assert_int_equal(with(f, TASK_A, 2), 5);
	assert_int_equal(with(f, TASK_B, 2), 5);
	for (size_t i = 0; i < f->count; i++)
		if (f->taken[i].running == 2)
			assert_in_range(f->taken[i].time_ns - 1000 * MS, 10 * MS, 15 * MS);
	end(f);
}

static void counts_threads_of_the_process(void **state)
{
	counts_threads_that_tick_at(0);
	counts_threads_that_tick_at(20000);
	counts_threads_that_tick_at(400000);
}

static void counts_no_other_process(void **state)
{
	struct fixture *f = begin();

	put_run(f, &(struct run){ 0, 10, 0, TASK_A, 0 });
	put_run(f, &(struct run){ 0, 10, 0, TASK_OTHER, 1 });
	count(f);
	assert_int_equal(with(f, TASK_A, 1), 10);
	assert_int_equal(with(f, TASK_OTHER, 1), 10);
	end(f);
}

static void a_thread_that_moves_is_one(void **state)
{
	struct fixture *f = begin();

	put_run(f, &(struct run){ 0, 10, 0, TASK_A, 0 });
	put_run(f, &(struct run){ 9, 20, 400000, TASK_A, 1 });
	put_run(f, &(struct run){ 20, 30, 0, TASK_A, 0 });
	count(f);
	assert_int_equal(with(f, TASK_A, 1), 31);
	end(f);
}

/* As the recorder writes them when their stacks took longer. */
static void late_samples_count_in_their_time(void **state)
{
	struct fixture *f = begin();

	put_run(f, &(struct run){ 0, 500, 0, TASK_A, 0 });
	put_run(f, &(struct run){ 100, 200, 20000, TASK_B, 1 });
	put_run(f, &(struct run){ 500, 1000, 0, TASK_A, 0 });
	count(f);
	assert_int_equal(with(f, TASK_A, 1), 900);
	assert_int_equal(with(f, TASK_A, 2), 100);
	assert_int_equal(with(f, TASK_B, 2), 100);
	end(f);
}

static void other_events_have_no_number(void **state)
{
	struct fixture *f = begin();

	put(f, 0, TASK_A, EVENT_TIMER, 0);
	put(f, 0, TASK_B, EVENT_WAIT, 1);
	put(f, 0, TASK_B, EVENT_FASTER, 1);
	count(f);
	assert_int_equal(f->count, 3);
	assert_int_equal(with(f, TASK_A, 1), 1);
	assert_int_equal(with(f, TASK_B, 0), 2);
	end(f);
}

/* No machine has so many ticks at a time, but a file may. */
static void more_than_fits_a_window(void **state)
{
	struct fixture *f = begin();

	for (uint32_t i = 0; i < 50000; i++)
		put(f, 0, i % 2 ? TASK_A : TASK_B, EVENT_TIMER, 0);
	put_run(f, &(struct run){ 10, 20, 0, TASK_A, 0 });
	count(f);
	assert_int_equal(f->count, 50010);
	assert_int_equal(with(f, TASK_B, 2), 25000);
	assert_int_equal(with(f, TASK_A, 1), 10);
	end(f);
}

static void traces_are_apart(void **state)
{
	struct fixture *f = begin();
	struct prf_reader *first;

	put_run(f, &(struct run){ 0, 10, 0, TASK_A, 0 });
	count(f);
	first = f->reader;
	/* The same times, of which nothing is left. */
	f->count = 0;
	prf_writer_free(f->writer);
	fixture_must(prf_writer_new(&f->writer, &(struct prf_writer_options){ .fd = -1 }));
	write_definitions(f);
	put_run(f, &(struct run){ 0, 10, 0, TASK_B, 1 });
	count(f);
	assert_int_equal(with(f, TASK_B, 1), 10);
	prf_reader_free(first);
	end(f);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(counts_threads_of_the_process),
	cmocka_unit_test(counts_no_other_process),
	cmocka_unit_test(a_thread_that_moves_is_one),
	cmocka_unit_test(late_samples_count_in_their_time),
	cmocka_unit_test(other_events_have_no_number),
	cmocka_unit_test(more_than_fits_a_window),
	cmocka_unit_test(traces_are_apart),
};

UNIT_TESTS(tests);
