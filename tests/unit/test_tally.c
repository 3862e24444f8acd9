/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>

#include "report/profile/tally.h"
#include "tests/unit/trace_fixture.h"
#include "tests/unit/unit.h"

/* A trace in memory: two threads, two stacks, an event on the CPU and one off it. */
struct fixture {
	struct prf_writer *writer;
	struct prf_reader *reader;
	uint32_t events[2], tasks[3], stacks[2];
	struct selection selection;
	struct tally *tally;
	uint64_t weight; /* that counted() found last */
};

static void begin(struct fixture *f)
{
	const struct prf_writer_options options = { .fd = -1 };
	const struct prf_event events[2] = {
		{ PRF_EVENT_ON_CPU, "cpu-clock", "samples", 1000, 0 },
		{ PRF_EVENT_OFF_CPU, "off-cpu", "ns", 0, 1 },
	};
	const struct prf_task tasks[3] = {
		{ 1, 1, 1, 1, 0, 0, "one", "/a", "" },
		{ 1, 2, 1, 2, 0, 0, "one", "/a", "" },
		{ 3, 3, 3, 3, 0, 0, "three", "/b", "" },
	};
	const struct prf_object object = { .kind = PRF_OBJECT_FILE, .path = "/x", .root = "" };
	uint32_t id, frame;

	*f = (struct fixture){ 0 };
	fixture_must(prf_writer_new(&f->writer, &options));
	for (size_t i = 0; i < 2; i++)
		fixture_must(prf_writer_event(f->writer, &events[i], &f->events[i]));
	for (size_t i = 0; i < 3; i++)
		fixture_must(prf_writer_task(f->writer, &tasks[i], &f->tasks[i]));
	fixture_must(prf_writer_object(f->writer, &object, &id));
	fixture_must(prf_writer_frame(f->writer, &(struct prf_frame){ id, 0, 0x10 }, &frame));
	fixture_must(prf_writer_frames(f->writer, &frame, 1, &f->stacks[0]));
	fixture_must(prf_writer_frame(f->writer, &(struct prf_frame){ id, 0, 0x20 }, &frame));
	fixture_must(prf_writer_frames(f->writer, &frame, 1, &f->stacks[1]));
}

static void sample(struct fixture *f, uint64_t time, uint32_t task, uint32_t event, uint32_t stack,
		   uint32_t cpu, uint64_t weight)
{
	const struct prf_sample s = { .time_ns = time,
				      .task = f->tasks[task],
				      .event = f->events[event],
				      .stack = stack == PRF_NONE ? PRF_NONE : f->stacks[stack],
				      .waker = PRF_NONE,
				      .cpu = cpu,
				      .weight = weight };

	fixture_must(prf_writer_sample(f->writer, &s));
}

/* Tallies all that was written; `times` as often. */
static void count(struct fixture *f, struct tally_options *options, int times)
{
	struct prf_record record;
	const void *data;
	size_t size;

	fixture_must(prf_writer_finish(f->writer));
	data = prf_writer_memory(f->writer, &size);
	options->selection = &f->selection;
	fixture_must(tally_new(&f->tally, options));
	fixture_must(prf_reader_new_memory(&f->reader, data, size));
	tally_begin(f->tally, f->reader);
	while (fixture_next(f->reader, &record))
		for (int i = 0; record.type == PRF_RECORD_SAMPLES && i < times; i++)
			fixture_must(tally_add(f->tally, &record.samples));
	fixture_must(tally_end(f->tally));
}

static void end(struct fixture *f)
{
	tally_free(f->tally);
	prf_reader_free(f->reader);
	prf_writer_free(f->writer);
	selection_release(&f->selection);
}

/* Samples, and in f->weight the weight, of all cells with this stack in groups whose task has this
 * tid (0: any). */
static uint64_t counted(struct fixture *f, uint32_t stack, uint32_t tid)
{
	size_t n, groups;
	const struct tally_cell *cells = tally_cells(f->tally, &n);
	const struct tally_group *group = tally_groups(f->tally, &groups);
	uint64_t samples = 0;

	f->weight = 0;
	for (size_t i = 0; i < n; i++) {
		const struct prf_task *task = group[cells[i].group].task;

		if (cells[i].stack != stack || (tid && task->tid != tid))
			continue;
		samples += cells[i].samples;
		f->weight += cells[i].weight;
	}
	return samples;
}

static void test_adds_up(void **state)
{
	struct tally_options options = { .dimensions = PROFILE_BY_COMM };
	struct tally_totals totals;
	struct fixture f;
	size_t n;

	begin(&f);
	sample(&f, 1000, 0, 0, 0, 0, 1);
	sample(&f, 3000, 1, 0, 0, 1, 1);
	sample(&f, 2000, 2, 0, 1, 0, 5);
	sample(&f, 4000, 2, 0, PRF_NONE, 0, 1);
	sample(&f, 5000, 0, 1, 0, 0, 700);
	count(&f, &options, 2);
	assert_int_equal(counted(&f, f.stacks[0], 0), 4);
	assert_int_equal(counted(&f, f.stacks[1], 0), 2);
	assert_int_equal(f.weight, 10);
	assert_int_equal(counted(&f, PRF_NONE, 0), 2);
	tally_groups(f.tally, &n);
	assert_int_equal(n, 2);
	tally_trace_totals(f.tally, &totals);
	assert_int_equal(totals.samples, 10);
	assert_int_equal(totals.other_events, 2);
	assert_int_equal(totals.first_ns, 1000);
	assert_int_equal(totals.last_ns, 5000);
	end(&f);
}

static void test_tells_threads_apart(void **state)
{
	struct tally_options options = { .dimensions = PROFILE_BY_THREAD };
	struct fixture f;

	begin(&f);
	/* The same stack by turns, so that no remembered cell fits. */
	for (int i = 0; i < 100; i++)
		sample(&f, 1000 + (uint64_t)i, (uint32_t)i % 3, 0, 0, 0, 1);
	count(&f, &options, 1);
	assert_int_equal(counted(&f, f.stacks[0], 1), 34);
	assert_int_equal(counted(&f, f.stacks[0], 2), 33);
	assert_int_equal(counted(&f, f.stacks[0], 3), 33);
	end(&f);
}

static void test_events_and_cpus(void **state)
{
	struct tally_options options = { .dimensions = PROFILE_BY_CPU | PROFILE_BY_EVENT };
	struct fixture f;
	size_t n, events;

	begin(&f);
	f.selection.all_events = true;
	for (int i = 0; i < 12; i++)
		sample(&f, 1000, 0, (uint32_t)i % 2, 0, (uint32_t)i / 2 % 3, 1);
	count(&f, &options, 1);
	tally_groups(f.tally, &n);
	/* Two events on three CPUs, and the two that the CPUs were split from. */
	assert_int_equal(n, 8);
	tally_cells(f.tally, &n);
	assert_int_equal(n, 6);
	tally_events(f.tally, &events);
	assert_int_equal(events, 2);
	end(&f);
}

static void test_selects(void **state)
{
	struct tally_options options = { .dimensions = PROFILE_BY_COMM };
	struct fixture f;

	begin(&f);
	assert_true(number_set_add(&f.selection.tids, "2"));
	assert_true(number_set_add(&f.selection.cpus, "1"));
	sample(&f, 1, 0, 0, 0, 1, 1);
	sample(&f, 2, 1, 0, 0, 1, 1);
	sample(&f, 3, 1, 0, 0, 0, 1);
	count(&f, &options, 1);
	assert_int_equal(counted(&f, f.stacks[0], 0), 1);
	end(&f);
}

/* With the cells, what the tally keeps is when their samples came. */
static void test_slices(void **state)
{
	struct tally_options options = { .dimensions = PROFILE_BY_TIME | PROFILE_BY_THREAD,
					 .slice_ns = 100 };
	const struct slices *slices;
	struct fixture f;

	begin(&f);
	sample(&f, 1000, 0, 0, 0, 0, 1);
	sample(&f, 1098, 1, 0, 0, 0, 1);
	sample(&f, 1099, 0, 0, 0, 0, 1);
	sample(&f, 1100, 0, 0, 0, 0, 1);
	sample(&f, 1250, 0, 0, 0, 0, 5);
	count(&f, &options, 1);
	assert_int_equal(counted(&f, f.stacks[0], 1), 4);
	assert_int_equal(f.weight, 8);
	assert_int_equal(counted(&f, f.stacks[0], 2), 1);
	slices = tally_slices(f.tally);
	assert_int_equal(slices->count, 5);
	assert_int_equal(slices->cells[0], slices->cells[2]);
	assert_int_not_equal(slices->cells[0], slices->cells[1]);
	assert_int_equal(slices->weights[3], 1);
	assert_int_equal(slices->weights[4], 5);
	assert_int_equal(slices->run_count, 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(slices->runs[i].slice, i);
	assert_int_equal(slices->runs[1].first, 3);
	end(&f);
}

/* Stacks that threads take by turns, of which few can be remembered. */
static void test_many_threads_on_a_stack(void **state)
{
	struct tally_options options = { .dimensions = PROFILE_BY_THREAD };
	struct fixture f;
	size_t n;

	begin(&f);
	f.selection.all_events = true;
	for (uint32_t i = 0; i < 6000; i++)
		sample(&f, 1000 + i, i % 3, i / 3 % 2, i / 6 % 3 == 2 ? PRF_NONE : i / 6 % 3, 0, 2);
	options.dimensions |= PROFILE_BY_EVENT | PROFILE_BY_CPU;
	count(&f, &options, 1);
	tally_cells(f.tally, &n);
	assert_int_equal(n, 18);
	assert_int_equal(counted(&f, f.stacks[0], 0), 2004);
	assert_int_equal(counted(&f, PRF_NONE, 0), 1998);
	assert_int_equal(f.weight, 3996);
	end(&f);
}

/* Samples of groups with this parallelism. */
static uint64_t beside(const struct fixture *f, uint32_t parallelism)
{
	size_t n, groups;
	const struct tally_cell *cells = tally_cells(f->tally, &n);
	const struct tally_group *group = tally_groups(f->tally, &groups);
	uint64_t samples = 0;

	for (size_t i = 0; i < n; i++)
		if (group[cells[i].group].parallelism == parallelism)
			samples += cells[i].samples;
	return samples;
}

/* One thread of a process for three ticks, two for the next two; and one of another process. */
static void put_phases(struct fixture *f)
{
	for (uint64_t tick = 1; tick <= 5; tick++)
		sample(f, tick * 1000000, 0, 0, 0, 0, 1);
	for (uint64_t tick = 4; tick <= 5; tick++)
		sample(f, tick * 1000000 + 10000, 1, 0, 0, 1, 1);
	for (uint64_t tick = 1; tick <= 5; tick++)
		sample(f, tick * 1000000 + 20000, 2, 0, 0, 2, 1);
	sample(f, 4000000, 0, 1, 0, 0, 700);
}

static void test_counts_by_parallelism(void **state)
{
	struct tally_options options = { .dimensions = PROFILE_BY_PARALLELISM | PROFILE_BY_CPU };
	struct fixture f;

	begin(&f);
	f.selection.all_events = true;
	put_phases(&f);
	count(&f, &options, 1);
	assert_int_equal(beside(&f, 1), 8);
	assert_int_equal(beside(&f, 2), 4);
	assert_int_equal(beside(&f, 0), 1);
	end(&f);
}

static void test_selects_by_parallelism(void **state)
{
	struct tally_options options = { .dimensions = PROFILE_BY_THREAD };
	struct fixture f;

	begin(&f);
	assert_true(number_set_add(&f.selection.parallelism, "2-64"));
	/* Threads that are left out have run all the same. */
	assert_true(number_set_add(&f.selection.tids, "1"));
	put_phases(&f);
	count(&f, &options, 1);
	assert_int_equal(counted(&f, f.stacks[0], 0), 2);
	assert_int_equal(beside(&f, 0), 2); /* groups do not differ by it */
	end(&f);
}

/* Counts the trace once more, as another one. */
static void count_again(struct fixture *f)
{
	struct prf_record record;
	struct prf_reader *again;
	const void *data;
	size_t size;

	data = prf_writer_memory(f->writer, &size);
	fixture_must(prf_reader_new_memory(&again, data, size));
	tally_begin(f->tally, again);
	while (fixture_next(again, &record))
		if (record.type == PRF_RECORD_SAMPLES)
			fixture_must(tally_add(f->tally, &record.samples));
	fixture_must(tally_end(f->tally));
	/* What came before is joined, and does not need its reader. */
	prf_reader_free(f->reader);
	f->reader = again;
}

static void test_traces_follow_each_other(void **state)
{
	const uint32_t first[] = { 7, 5 }, second[] = { 9, 5 };
	const uint32_t moments[] = { 0, 1, 2, 0, 3, 2 };
	struct tally_options options = { .dimensions = PROFILE_BY_COMM | PROFILE_BY_TIME };
	const struct slices *slices;
	struct fixture f;
	size_t events, n;

	begin(&f);
	sample(&f, 1, 0, 0, 1, 0, 1);
	sample(&f, 2, 0, 0, 0, 0, 1);
	sample(&f, 3, 0, 0, PRF_NONE, 0, 1);
	count(&f, &options, 1);
	assert_int_equal(tally_joined(f.tally), 0);
	fixture_must(tally_join(f.tally, first));
	count_again(&f);
	assert_int_equal(tally_joined(f.tally), 3);
	fixture_must(tally_join(f.tally, second));
	assert_int_equal(counted(&f, 5, 0), 2);
	assert_int_equal(counted(&f, 7, 0), 1);
	assert_int_equal(counted(&f, 9, 0), 1);
	assert_int_equal(counted(&f, PRF_NONE, 0), 2);
	tally_cells(f.tally, &n);
	assert_int_equal(n, 4);
	/* The moments of cells that became one are its own. */
	slices = tally_slices(f.tally);
	assert_int_equal(slices->count, 6);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(slices->cells[i], moments[i]);
	/* Equal events are one. */
	tally_events(f.tally, &events);
	assert_int_equal(events, 2);
	end(&f);
}

/* Cells of one trace are joined where its stacks are one, never with those of another trace. */
static void test_traces_told_apart(void **state)
{
	const uint32_t first[] = { 7, 5 }, second[] = { 5, 5 };
	struct tally_options options = { .dimensions = PROFILE_BY_COMM | PROFILE_BY_TRACE };
	struct fixture f;
	size_t n;

	begin(&f);
	sample(&f, 1, 0, 0, 1, 0, 1);
	sample(&f, 2, 0, 0, 0, 0, 1);
	sample(&f, 3, 0, 0, PRF_NONE, 0, 1);
	count(&f, &options, 1);
	fixture_must(tally_join(f.tally, first));
	count_again(&f);
	fixture_must(tally_join(f.tally, second));
	assert_int_equal(tally_joined(f.tally), 5);
	tally_cells(f.tally, &n);
	assert_int_equal(n, 5);
	assert_int_equal(counted(&f, 5, 0), 3);
	assert_int_equal(counted(&f, 7, 0), 1);
	assert_int_equal(counted(&f, PRF_NONE, 0), 2);
	tally_forget_cells(f.tally);
	assert_null(tally_cells(f.tally, &n));
	assert_int_equal(n, 5);
	end(&f);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_adds_up),
	cmocka_unit_test(test_tells_threads_apart),
	cmocka_unit_test(test_events_and_cpus),
	cmocka_unit_test(test_selects),
	cmocka_unit_test(test_slices),
	cmocka_unit_test(test_many_threads_on_a_stack),
	cmocka_unit_test(test_counts_by_parallelism),
	cmocka_unit_test(test_selects_by_parallelism),
	cmocka_unit_test(test_traces_follow_each_other),
	cmocka_unit_test(test_traces_told_apart),
};

UNIT_TESTS(tests);
