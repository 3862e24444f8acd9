/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#include "tests/unit/error_check.h"
#include "tests/unit/trace_fixture.h"
#include "tests/unit/unit.h"

static struct prf_writer *writer(int fd, bool thread, uint64_t block_bytes)
{
	struct prf_writer_options options = {
		.fd = fd, .level = 3, .compress_thread = thread, .block_bytes = block_bytes
	};
	struct prf_writer *w;

	fixture_must(prf_writer_new(&w, &options));
	return w;
}

static size_t samples_in(const void *bytes, size_t size, bool *complete)
{
	struct prf_reader *r;
	struct prf_record record;
	size_t n = 0;

	fixture_must(prf_reader_new_memory(&r, bytes, size));
	while (fixture_next(r, &record)) {
		assert_int_not_equal(record.type, PRF_RECORD_DAMAGE);
		if (record.type == PRF_RECORD_SAMPLES)
			n += record.samples.n;
	}
	*complete = prf_reader_complete(r);
	prf_reader_free(r);
	return n;
}

/* One event, task and stack, and so many samples. */
static void add_samples(struct prf_writer *w, size_t n)
{
	const struct prf_event event = { PRF_EVENT_ON_CPU, "cpu-clock", "samples", 99, 0 };
	const struct prf_object object = { .path = "/bin/x", .root = "" };
	const struct prf_task task = { .pid = 1, .tid = 1, .comm = "x" };
	struct prf_frame frame = { 0, 0, 5 };
	struct prf_sample sample = { .waker = PRF_NONE, .weight = 1 };
	uint32_t id, frame_id;

	fixture_must(prf_writer_event(w, &event, &sample.event));
	fixture_must(prf_writer_object(w, &object, &id));
	fixture_must(prf_writer_task(w, &task, &sample.task));
	fixture_must(prf_writer_frame(w, &frame, &frame_id));
	fixture_must(prf_writer_frames(w, &frame_id, 1, &sample.stack));
	for (size_t i = 0; i < n; i++) {
		sample.time_ns = 1000000000 + i * 1000000;
		fixture_must(prf_writer_sample(w, &sample));
	}
}

static void test_a_thread_writes_the_same_bytes(void **state)
{
	struct prf_writer *plain = writer(-1, false, 1000), *threaded = writer(-1, true, 1000);
	const void *a, *b;
	size_t a_size, b_size;

	fixture_write(plain);
	fixture_write(threaded);
	fixture_must(prf_writer_finish(plain));
	fixture_must(prf_writer_finish(threaded));
	a = prf_writer_memory(plain, &a_size);
	b = prf_writer_memory(threaded, &b_size);
	assert_int_equal(a_size, b_size);
	assert_memory_equal(a, b, a_size);
	prf_writer_free(plain);
	prf_writer_free(threaded);
}

static void test_equal_definitions_are_one(void **state)
{
	struct prf_writer *w = writer(-1, false, 0);
	struct prf_object object = { .path = "/a", .root = "" };
	struct prf_frame frame = { 0, 0, 7 };
	struct prf_writer_totals totals;
	uint32_t first, second, third, frames[2], stack, again;

	fixture_must(prf_writer_object(w, &object, &first));
	fixture_must(prf_writer_object(w, &object, &second));
	assert_int_equal(first, second);
	object.build_id_size = 1;
	fixture_must(prf_writer_object(w, &object, &third));
	assert_int_not_equal(first, third);
	fixture_must(prf_writer_frame(w, &frame, &frames[0]));
	frame.flags = PRF_FRAME_EXACT;
	fixture_must(prf_writer_frame(w, &frame, &frames[1]));
	assert_int_not_equal(frames[0], frames[1]);
	fixture_must(prf_writer_frames(w, frames, 2, &stack));
	fixture_must(prf_writer_frames(w, frames, 2, &again));
	assert_int_equal(stack, again);
	fixture_must(prf_writer_frames(w, frames, 1, &again));
	assert_int_not_equal(stack, again);
	fixture_must(prf_writer_frames(w, frames, 0, &again));
	assert_int_equal(again, PRF_NONE);
	prf_writer_totals(w, &totals);
	assert_int_equal(totals.objects, 2);
	assert_int_equal(totals.frames, 2);
	assert_int_equal(totals.stacks, 3);
	prf_writer_free(w);
}

/* Frame by frame, from the root on. */
static uint32_t stack_of(struct prf_writer *w, const uint32_t *frames, size_t n)
{
	struct prf_stack next = { .parent = PRF_NONE };
	uint32_t id = PRF_NONE;

	while (n--) {
		next.frame = frames[n];
		fixture_must(prf_writer_stack(w, &next, &id));
		next.parent = id;
	}
	return id;
}

/* Stacks that share callers with those before them, of many depths, and by turns. */
static void test_stacks_that_share_callers(void **state)
{
	struct prf_writer *w = writer(-1, false, 0);
	struct prf_object object = { .path = "/a", .root = "" };
	struct prf_frame frame = { .object = 0 };
	uint32_t ids[10], frames[400], id, random = 1;

	fixture_must(prf_writer_object(w, &object, &frame.object));
	for (size_t i = 0; i < 10; i++, frame.offset++)
		fixture_must(prf_writer_frame(w, &frame, &ids[i]));
	for (size_t i = 0; i < 400; i++)
		frames[i] = ids[0];
	for (size_t round = 0; round < 2000; round++) {
		size_t n = (random = random * 1103515245 + 12345) >> 16 & 255;

		n += round % 5 ? 0 : 140;
		for (size_t i = 0; i < n && i < (random >> 8 & 31); i++)
			frames[i] = ids[(random >> (i & 15)) % 10];
		if (n)
			frames[n - 1] = ids[round & 1];
		fixture_must(prf_writer_frames(w, frames, n, &id));
		assert_int_equal(id, stack_of(w, frames, n));
	}
	frames[0] = 10;
	assert_error_kind(prf_writer_frames(w, frames, 300, &id), ERROR_ARGUMENT);
	frames[0] = ids[0];
	fixture_must(prf_writer_frames(w, frames, 300, &id));
	assert_int_equal(id, stack_of(w, frames, 300));
	prf_writer_free(w);
}

/* -------- a long trace -------- */

#define VARIANTS 300
#define DEPTH 5

/* Of a stack, which its number decides: the place at a depth from the leaf on. */
static uint64_t place_of(uint32_t variant, uint32_t depth)
{
	for (uint32_t i = 0; i < depth; i++)
		variant /= 3;
	return variant * 8 + depth + 1;
}

static const char *path_of(uint32_t variant, char path[16])
{
	snprintf(path, 16, "/lib%u", variant % 40);
	return path;
}

static uint32_t write_variant(struct prf_writer *w, uint32_t variant)
{
	char path[16];
	const struct prf_object object = { .path = path_of(variant, path), .root = "" };
	uint32_t ids[DEPTH], stack;

	for (uint32_t i = 0; i < DEPTH; i++) {
		struct prf_frame frame = { .offset = place_of(variant, i) };

		fixture_must(prf_writer_object(w, &object, &frame.object));
		fixture_must(prf_writer_frame(w, &frame, &ids[i]));
	}
	fixture_must(prf_writer_frames(w, ids, DEPTH, &stack));
	return stack;
}

static void check_variant(const struct prf_reader *r, uint32_t variant, uint32_t stack)
{
	const struct prf_stack *stacks = prf_reader_all_stacks(r);
	uint32_t depth = 0;
	char path[16];

	for (; stack != PRF_NONE; stack = stacks[stack].parent, depth++) {
		const struct prf_frame *frame = &prf_reader_all_frames(r)[stacks[stack].frame];

		assert_int_equal(frame->offset, place_of(variant, depth));
		assert_string_equal(prf_reader_object(r, frame->object)->path,
				    path_of(variant, path));
	}
	assert_int_equal(depth, DEPTH);
}

/* Samples whose weight is the number of their stack, plus 1. */
static void write_variants(struct prf_writer *w, uint32_t n)
{
	const struct prf_event event = { PRF_EVENT_ON_CPU, "cpu-clock", "samples", 99, 0 };
	const struct prf_task task = { .pid = 1, .tid = 1, .comm = "x" };
	struct prf_sample sample = { .waker = PRF_NONE };
	uint32_t first, random = 1;

	fixture_must(prf_writer_event(w, &event, &sample.event));
	fixture_must(prf_writer_task(w, &task, &sample.task));
	first = write_variant(w, 7);
	for (uint32_t i = 0; i < n; i++) {
		random = random * 1103515245 + 12345;
		sample.weight = (random >> 16) % VARIANTS + 1;
		sample.stack = write_variant(w, (uint32_t)sample.weight - 1);
		/* The caller may know it, although the writer does not any more. */
		if (sample.weight - 1 == 7)
			sample.stack = first;
		sample.time_ns = 1000000000 + i;
		fixture_must(prf_writer_sample(w, &sample));
	}
}

static size_t check_variants(struct prf_reader *r)
{
	struct prf_record record;
	size_t n = 0;

	while (fixture_next(r, &record)) {
		assert_int_not_equal(record.type, PRF_RECORD_DAMAGE);
		if (record.type != PRF_RECORD_SAMPLES)
			continue;
		for (size_t i = 0; i < record.samples.n; i++)
			check_variant(r, (uint32_t)record.samples.weight[i] - 1,
				      record.samples.stack[i]);
		n += record.samples.n;
	}
	assert_true(prf_reader_complete(r));
	return n;
}

/* What the writer has forgotten is defined again, and all numbers mean what they meant. */
static void test_definitions_that_come_again(void **state)
{
	for (uint32_t recent = 0; recent < 64; recent = recent * 4 + 1) {
		struct prf_writer_options options = { .fd = -1,
						      .block_bytes = 4000,
						      .recent = recent };
		struct prf_writer_totals totals;
		struct prf_writer *w;
		struct prf_reader *r;

		fixture_must(prf_writer_new(&w, &options));
		write_variants(w, 5000);
		prf_writer_totals(w, &totals);
		assert_int_equal(totals.objects > 40, recent > 0 && recent < 40);
		assert_int_equal(totals.stacks > 40 * VARIANTS, recent > 0);
		r = fixture_read_back(w);
		assert_int_equal(check_variants(r), 5000);
		prf_reader_free(r);
		prf_writer_free(w);
	}
}

#define LONG 500000

static size_t memory_in_use(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* AddressSanitizer's malloc() counts nothing. Before anything that skip() would leak. */
static void need_memory_in_use(void)
{
	if (!memory_in_use())
		skip();
}

/* Frames and stacks of which none comes again: of all, a thousand take memory. */
static void test_memory_of_a_long_trace(void **state)
{
	struct prf_writer_options options = { .recent = 1000 };
	const struct prf_object object = { .path = "/a", .root = "" };
	struct prf_frame frame = { .object = 0 };
	struct prf_stack stack = { .parent = PRF_NONE };
	struct prf_writer *w;
	uint32_t id;
	size_t before;

	need_memory_in_use();
	options.fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	fixture_must(prf_writer_new(&w, &options));
	fixture_must(prf_writer_object(w, &object, &frame.object));
	before = memory_in_use();
	for (uint64_t i = 0; i < LONG; i++) {
		frame.offset = i;
		fixture_must(prf_writer_frame(w, &frame, &stack.frame));
		fixture_must(prf_writer_stack(w, &stack, &id));
		assert_int_equal(id, i);
		if (i % 1000 == 0)
			fixture_must(prf_writer_tick(w, 1 + i * 1000000, 0));
	}
	/* If all were kept, they took 20 MB and more. */
	assert_true(memory_in_use() - before < (size_t)1 << 20);
	assert_false(prf_writer_nearly_full(w));
	fixture_must(prf_writer_finish(w));
	prf_writer_free(w);
	close(options.fd);
}

/* The same of objects, by the bytes of their paths. */
static void test_memory_of_long_paths(void **state)
{
	struct prf_writer_options options = { .level = 1 };
	char path[4096];
	const struct prf_object object = { .path = path, .root = "" };
	struct prf_writer *w;
	size_t before;
	uint32_t id;

	need_memory_in_use();
	memset(path, 'a', sizeof(path));
	path[sizeof(path) - 1] = 0;
	options.fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	fixture_must(prf_writer_new(&w, &options));
	before = memory_in_use();
	for (uint32_t i = 0; i < 20000; i++) {
		snprintf(path, 9, "/%07u", i);
		path[8] = '/';
		fixture_must(prf_writer_object(w, &object, &id));
		assert_int_equal(id, i);
		/* What was used last is known. */
		fixture_must(prf_writer_object(w, &object, &id));
		assert_int_equal(id, i);
	}
	/* If all were kept, they took 80 MB; there are also the blocks. */
	assert_true(memory_in_use() - before < (size_t)16 << 20);
	prf_writer_free(w);
	close(options.fd);
}

#define RECENT 4000

/* The callers that all samples share are used by each, however few are written anew. */
static void test_shared_callers_stay_known(void **state)
{
	struct prf_writer_options options = { .fd = -1, .recent = RECENT };
	const struct prf_object object = { .path = "/a", .root = "" };
	struct prf_frame frame = { .object = 0 };
	struct prf_writer_totals totals;
	uint32_t frames[12], stack, first, before;
	struct prf_writer *w;

	fixture_must(prf_writer_new(&w, &options));
	fixture_must(prf_writer_object(w, &object, &frame.object));
	for (size_t i = 0; i < 12; i++) {
		frame.offset = i;
		fixture_must(prf_writer_frame(w, &frame, &frames[i]));
	}
	fixture_must(prf_writer_frames(w, frames + 1, 11, &first));
	for (size_t i = 0; i < 4 * RECENT; i++) {
		frame.offset++;
		fixture_must(prf_writer_frame(w, &frame, &frames[0]));
		fixture_must(prf_writer_frames(w, frames, 12, &stack));
	}
	/* Others' stacks take the place of the one that was written last. */
	for (size_t i = 0; i < 100; i++) {
		frame.offset++;
		fixture_must(prf_writer_frame(w, &frame, &frames[0]));
		fixture_must(prf_writer_frames(w, frames, 1, &stack));
	}
	prf_writer_totals(w, &totals);
	before = (uint32_t)totals.stacks;
	fixture_must(prf_writer_frames(w, frames + 1, 11, &stack));
	assert_int_equal(stack, first);
	prf_writer_totals(w, &totals);
	assert_int_equal(totals.stacks, before);
	prf_writer_free(w);
}

/* Code of as many processes as make a trace nearly full: it can be finished, and is whole. */
static void test_nearly_full(void **state)
{
	struct prf_object object = { .kind = PRF_OBJECT_JIT, .path = "[jit]", .root = "" };
	struct prf_writer *w = writer(-1, false, 0);
	struct prf_record record;
	struct prf_reader *r;
	uint32_t id = 0;

	while (!prf_writer_nearly_full(w)) {
		object.base++;
		fixture_must(prf_writer_object(w, &object, &id));
	}
	assert_int_equal(id + 1, (1 << 20) / 16 * 15);
	r = fixture_read_back(w);
	while (fixture_next(r, &record))
		assert_int_not_equal(record.type, PRF_RECORD_DAMAGE);
	assert_true(prf_reader_complete(r));
	assert_int_equal(prf_reader_objects(r), id + 1);
	prf_reader_free(r);
	prf_writer_free(w);
}

/* -------- tasks -------- */

static void test_each_task_is_new(void **state)
{
	struct prf_writer *w = writer(-1, false, 0);
	const struct prf_task task = { .pid = 5, .tid = 6, .comm = "a" };
	struct prf_writer_totals totals;
	uint32_t first, second;

	fixture_must(prf_writer_task(w, &task, &first));
	fixture_must(prf_writer_task(w, &task, &second));
	assert_int_equal(first, 0);
	assert_int_equal(second, 1);
	prf_writer_totals(w, &totals);
	assert_int_equal(totals.tasks, 2);
	prf_writer_free(w);
}

#define MANY 5000000
#define NAMES 70000 /* more than the definitions that are kept for shared tasks */

/* Defines it, and takes a sample of it. */
static void sample_task(struct prf_writer *w, const struct prf_task *task)
{
	struct prf_sample sample = { .stack = PRF_NONE, .waker = PRF_NONE, .weight = 1 };

	fixture_must(prf_writer_task(w, task, &sample.task));
	sample.time_ns = task->start_ns;
	fixture_must(prf_writer_sample(w, &sample));
}

/* So many tasks as a machine of short processes has in an hour; the last ones of other names. */
static void write_many_tasks(struct prf_writer *w)
{
	const struct prf_event event = { PRF_EVENT_ON_CPU, "cpu-clock", "samples", 99, 0 };
	struct prf_task task = { .comm = "cc1", .cgroup = "/build", .command_line = "cc1 -O2" };
	char comm[16];
	uint32_t id;

	fixture_must(prf_writer_event(w, &event, &id));
	for (uint32_t i = 0; i < MANY; i++) {
		task.pid = task.tid = i + 1;
		task.start_ns = 1000000000 + i;
		sample_task(w, &task);
	}
	for (uint32_t i = 0; i < NAMES; i++) {
		snprintf(comm, sizeof(comm), "name-%u", i);
		task.comm = comm;
		sample_task(w, &task);
	}
}

struct task_counts {
	size_t own, shared, named, other, wrong;
};

static void count_tasks(const struct prf_reader *r, const struct prf_samples *s,
			struct task_counts *counts)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct prf_task *task = prf_reader_task(r, s->task[i]);

		if (!strcmp(task->comm, PRF_TASK_OTHER))
			counts->other++;
		else if (!strncmp(task->comm, "name-", 5))
			counts->named++;
		else if (strcmp(task->comm, "cc1") || strcmp(task->cgroup, "/build"))
			counts->wrong++;
		else if (task->pid)
			counts->own++;
		else
			counts->shared++;
	}
}

/* More tasks than a trace has room for: the writer needs no more memory, and all samples stay. */
static void test_many_tasks(void **state)
{
	FILE *file = tmpfile();
	struct task_counts counts = { 0 };
	struct prf_record record;
	struct prf_reader *r;
	struct prf_writer *w;
	size_t before;

	assert_non_null(file);
	w = writer(fileno(file), false, 0);
	before = mallinfo2().uordblks;
	write_many_tasks(w);
	/* 65,536 shared ones of some 100 bytes each, and buffers. */
	assert_true(mallinfo2().uordblks - before < (size_t)32 << 20);
	fixture_must(prf_writer_finish(w));
	prf_writer_free(w);

	rewind(file);
	fixture_must(prf_reader_new_fd(&r, fileno(file)));
	while (fixture_next(r, &record)) {
		assert_int_not_equal(record.type, PRF_RECORD_DAMAGE);
		if (record.type == PRF_RECORD_SAMPLES)
			count_tasks(r, &record.samples, &counts);
	}
	assert_true(prf_reader_complete(r));
	assert_int_equal(counts.own, (1 << 22) - 65536);
	assert_int_equal(counts.own + counts.shared, MANY);
	assert_int_equal(counts.wrong, 0);
	/* One is for "cc1", one for the names that are too many. */
	assert_int_equal(counts.named, 65534);
	assert_int_equal(counts.other, NAMES - 65534);
	prf_reader_free(r);
	fclose(file);
}

/* There is no room for more of them, and for those that are asked for nothing is forgotten. */
static void test_what_is_known_stays_so_at_the_limit(void **state)
{
	const uint32_t most = 1 << 12;
	struct prf_writer *w = writer(-1, false, 0);
	struct prf_event event = { .name = "e", .unit = "samples" };
	uint32_t id;

	for (uint32_t i = 0; i < 2 * most; i++) {
		event.period = i + 1;
		if (i >= most)
			assert_error_kind(prf_writer_event(w, &event, &id), ERROR_LIMIT);
		else
			fixture_must(prf_writer_event(w, &event, &id));
	}
	for (uint32_t i = 0; i < most; i++) {
		event.period = i + 1;
		fixture_must(prf_writer_event(w, &event, &id));
		assert_int_equal(id, i);
	}
	prf_writer_free(w);
}

static void test_wrong_arguments(void **state)
{
	struct prf_writer_options options = { .fd = -1, .level = 20 };
	struct prf_writer *w;
	struct prf_frame frame = { 5, 0, 0 };
	struct prf_stack stack = { PRF_NONE, 0 };
	struct prf_sample sample = { .stack = PRF_NONE, .waker = PRF_NONE };
	struct prf_symbol symbols[2] = { { 5, 1, "b" }, { 4, 1, "a" } };
	struct prf_place place = { "f", "", 0, 0 };
	struct prf_code_line lines[2] = { { 5, "", "", 1 }, { 4, "", "", 1 } };
	struct prf_code_symbol refers[2] = { { 5, 0, "b" }, { 4, 0, "a" } };
	struct prf_code code = { .name = "f", .lines = lines, .symbols = refers };
	uint32_t id;

	assert_error_kind(prf_writer_new(&w, &options), ERROR_ARGUMENT);
	assert_null(w);
	w = writer(-1, false, 0);
	assert_error_kind(prf_writer_frame(w, &frame, &id), ERROR_ARGUMENT);
	frame = (struct prf_frame){ 0, PRF_FRAME_END, 0 };
	assert_error_kind(prf_writer_frame(w, &frame, &id), ERROR_ARGUMENT);
	assert_error_kind(prf_writer_stack(w, &stack, &id), ERROR_ARGUMENT);
	assert_error_kind(prf_writer_sample(w, &sample), ERROR_ARGUMENT);
	assert_error_kind(prf_writer_symbols(w, 0, symbols, 1), ERROR_ARGUMENT);
	assert_error_kind(prf_writer_names(w, 0, &place, 1), ERROR_ARGUMENT);
	assert_error_kind(prf_writer_code(w, &code), ERROR_ARGUMENT);
	add_samples(w, 1);
	fixture_must(prf_writer_code(w, &code));
	code.line_count = 2;
	assert_error_kind(prf_writer_code(w, &code), ERROR_ARGUMENT);
	code.line_count = 0;
	code.symbol_count = 2;
	assert_error_kind(prf_writer_code(w, &code), ERROR_ARGUMENT);
	assert_error_kind(prf_writer_symbols(w, 0, symbols, 2), ERROR_ARGUMENT);
	sample.stack = 1;
	assert_error_kind(prf_writer_sample(w, &sample), ERROR_ARGUMENT);
	sample.stack = sample.waker = 0;
	sample.waker_task = 99;
	assert_error_kind(prf_writer_sample(w, &sample), ERROR_ARGUMENT);
	/* None of it did any harm. */
	fixture_must(prf_writer_finish(w));
	assert_error_kind(prf_writer_finish(w), ERROR_ARGUMENT);
	assert_error_kind(prf_writer_metadata(w, "a", "b"), ERROR_ARGUMENT);
	prf_writer_free(w);
	prf_writer_free(NULL);
}

/* What was written by a tick is there after a kill. */
static void test_tick(void **state)
{
	struct prf_writer *w = writer(-1, false, 0);
	const uint64_t last = 1000000000 + 9 * 1000000;
	const void *bytes;
	size_t size;
	bool complete;

	add_samples(w, 10);
	fixture_must(prf_writer_tick(w, last, 0));
	bytes = prf_writer_memory(w, &size);
	assert_int_equal(samples_in(bytes, size, &complete), 0);
	fixture_must(prf_writer_tick(w, 1000000000 + 1000000000, 0));
	bytes = prf_writer_memory(w, &size);
	assert_int_equal(samples_in(bytes, size, &complete), 10);
	assert_false(complete);
	/* Nothing new, nothing written. */
	fixture_must(prf_writer_tick(w, UINT64_MAX, 0));
	prf_writer_memory(w, &size);
	fixture_must(prf_writer_tick(w, UINT64_MAX, 0));
	bytes = prf_writer_memory(w, &size);
	assert_int_equal(samples_in(bytes, size, &complete), 10);
	prf_writer_free(w);
}

/* ... and by a flush, whenever it waits since: what has no time, too. */
static void test_flush(void **state)
{
	struct prf_writer *w = writer(-1, false, 0);
	struct prf_record record;
	struct prf_reader *r;
	const void *bytes;
	size_t size;

	fixture_must(prf_writer_metadata(w, "host", "box"));
	fixture_must(prf_writer_flush(w));
	bytes = prf_writer_memory(w, &size);
	fixture_must(prf_reader_new_memory(&r, bytes, size));
	assert_true(fixture_next(r, &record));
	assert_int_equal(record.type, PRF_RECORD_METADATA);
	assert_string_equal(record.metadata.value, "box");
	assert_false(fixture_next(r, &record));
	assert_false(prf_reader_ended(r));
	prf_reader_free(r);
	prf_writer_free(w);
}

static void test_full_disk(void **state)
{
	for (int thread = 0; thread < 2; thread++) {
		struct prf_writer_options options = { .level = 3, .compress_thread = thread };
		struct prf_writer *w = NULL;
		int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

		if (fd < 0)
			skip();
		options.fd = fd;
		assert_error(prf_writer_new(&w, &options), ERROR_SYSTEM,
			     "cannot write: No space left on device");
		assert_null(w);
		close(fd);
	}
}

/* The error comes with a later call, again and again, and what was written is a trace. */
static void test_closed_pipe(void **state)
{
	for (int thread = 0; thread < 2; thread++) {
		struct prf_writer *w;
		const struct prf_task task = { .pid = 1, .comm = "x" };
		uint32_t id;
		int fds[2];
		char header[24];

		assert_int_equal(pipe(fds), 0);
		w = writer(fds[1], thread, 0);
		assert_int_equal(read(fds[0], header, sizeof(header)), sizeof(header));
		close(fds[0]);
		fixture_must(prf_writer_task(w, &task, &id));
		assert_error(prf_writer_finish(w), ERROR_SYSTEM, "cannot write: Broken pipe");
		assert_error(prf_writer_metadata(w, "a", "b"), ERROR_SYSTEM,
			     "cannot write: Broken pipe");
		prf_writer_free(w);
		close(fds[1]);
	}
}

static bool wait_twice(void *context, uint64_t stalled_ns)
{
	int *calls = context;

	assert_true(stalled_ns > 0);
	return ++*calls < 3;
}

/* A pipe that is full and not read: the caller is asked, and may give up. */
static void test_stalled_pipe(void **state)
{
	for (int thread = 0; thread < 2; thread++) {
		int fds[2], calls = 0;
		struct prf_writer_options options = { .compress_thread = thread,
						      .keep_waiting = wait_twice,
						      .context = &calls };
		struct prf_writer *w;

		assert_int_equal(pipe(fds), 0);
		assert_true(fcntl(fds[1], F_SETPIPE_SZ, 4096) >= 4096);
		options.fd = fds[1];
		fixture_must(prf_writer_new(&w, &options));
		add_samples(w, 20000);
		assert_error(prf_writer_finish(w), ERROR_SYSTEM,
			     "cannot write, as nothing is read from the pipe: Operation canceled");
		assert_int_equal(calls, 3);
		prf_writer_free(w);
		close(fds[0]);
		close(fds[1]);
	}
}

static int ended_reader = -1;

/* A writer that takes a signal for room is stuck until the reader ends. */
static void on_alarm(int number)
{
	static int alarms;

	if (++alarms == 1000)
		close(ended_reader);
}

/* Signals make no room in a pipe. */
static void test_signals_of_a_stalled_pipe(void **state)
{
	const struct itimerval often = { { 0, 10000 }, { 0, 10000 } }, never = { 0 };
	const struct sigaction action = { .sa_handler = on_alarm };
	struct sigaction before;
	int fds[2], calls = 0;
	struct prf_writer_options options = { .keep_waiting = wait_twice, .context = &calls };
	struct prf_writer *w;

	assert_int_equal(pipe(fds), 0);
	assert_true(fcntl(fds[1], F_SETPIPE_SZ, 4096) >= 4096);
	options.fd = fds[1];
	ended_reader = fds[0];
	fixture_must(prf_writer_new(&w, &options));
	assert_int_equal(sigaction(SIGALRM, &action, &before), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
	add_samples(w, 20000);
	assert_error(prf_writer_finish(w), ERROR_SYSTEM,
		     "cannot write, as nothing is read from the pipe: Operation canceled");
	assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
	assert_int_equal(sigaction(SIGALRM, &before, NULL), 0);
	assert_int_equal(calls, 3);
	prf_writer_free(w);
	close(fds[0]);
	close(fds[1]);
}

static void test_long_text_is_cut(void **state)
{
	const size_t length = 3 << 20;
	char *text = malloc(length + 1);
	struct prf_writer *w = writer(-1, true, 0);
	struct prf_reader *r;
	struct prf_record record;
	const void *bytes;
	size_t size, found = 0;

	assert_non_null(text);
	memset(text, 'x', length);
	text[length] = 0;
	fixture_must(prf_writer_metadata(w, "long", text));
	fixture_must(prf_writer_finish(w));
	bytes = prf_writer_memory(w, &size);
	fixture_must(prf_reader_new_memory(&r, bytes, size));
	while (fixture_next(r, &record))
		if (record.type == PRF_RECORD_METADATA)
			found = strlen(record.metadata.value);
	assert_int_equal(found, 1 << 20);
	assert_true(prf_reader_complete(r));
	prf_reader_free(r);
	prf_writer_free(w);
	free(text);
}

static void test_block_sizes(void **state)
{
	static const uint64_t sizes[] = { 1, 16, 100, 5000, UINT64_MAX };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct prf_writer *w = writer(-1, false, sizes[i]);
		const void *bytes;
		size_t size;
		bool complete;

		add_samples(w, 300);
		fixture_must(prf_writer_finish(w));
		bytes = prf_writer_memory(w, &size);
		assert_int_equal(samples_in(bytes, size, &complete), 300);
		assert_true(complete);
		prf_writer_free(w);
	}
}

static int ignore_sigpipe(void **state)
{
	signal(SIGPIPE, SIG_IGN);
	return 0;
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_a_thread_writes_the_same_bytes),
	cmocka_unit_test(test_equal_definitions_are_one),
	cmocka_unit_test(test_stacks_that_share_callers),
	cmocka_unit_test(test_definitions_that_come_again),
	cmocka_unit_test(test_memory_of_a_long_trace),
	cmocka_unit_test(test_memory_of_long_paths),
	cmocka_unit_test(test_shared_callers_stay_known),
	cmocka_unit_test(test_nearly_full),
	cmocka_unit_test(test_each_task_is_new),
	cmocka_unit_test(test_many_tasks),
	cmocka_unit_test(test_what_is_known_stays_so_at_the_limit),
	cmocka_unit_test(test_wrong_arguments),
	cmocka_unit_test(test_tick),
	cmocka_unit_test(test_flush),
	cmocka_unit_test(test_full_disk),
	cmocka_unit_test(test_closed_pipe),
	cmocka_unit_test(test_stalled_pipe),
	cmocka_unit_test(test_signals_of_a_stalled_pipe),
	cmocka_unit_test(test_long_text_is_cut),
	cmocka_unit_test(test_block_sizes),
};

UNIT_TESTS(tests, .setup = ignore_sigpipe);
