/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>

#include "report/profile/trace.h"
#include "tests/unit/error_check.h"
#include "tests/unit/trace_fixture.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A trace with what report/profile/trace.h keeps: metadata, statistics, losses, names. */
static void write_trace(struct prf_writer *w)
{
	const struct prf_event event = { PRF_EVENT_ON_CPU, "cpu-clock", "samples", 99, 0 };
	const struct prf_task task = { 1, 1, 1, 1, 0, 0, "c", "", "" };
	const struct prf_object object = { .kind = PRF_OBJECT_FILE, .path = "/x", .root = "" };
	const struct prf_place places[2] = { { "inner", "a.c", 1, 0 }, { "outer", "b.c", 2, 0 } };
	struct prf_place many[RECORDED_PLACES_MAX + 1];
	const struct prf_loss losses[2] = { { 1, 2, 0, PRF_LOSS_RING_FULL, 5 },
					    { 1, 2, 0, PRF_LOSS_SIDE_BAND, 7 } };
	struct prf_sample sample = { .weight = 1, .stack = PRF_NONE, .waker = PRF_NONE };
	uint32_t id;

	fixture_must(prf_writer_event(w, &event, &sample.event));
	fixture_must(prf_writer_task(w, &task, &sample.task));
	fixture_must(prf_writer_object(w, &object, &id));
	fixture_must(prf_writer_frame(w, &(struct prf_frame){ id, 0, 16 }, &id));
	fixture_must(prf_writer_names(w, id, places, 2));
	for (size_t i = 0; i <= RECORDED_PLACES_MAX; i++)
		many[i] = places[0];
	fixture_must(prf_writer_names(w, id, many, RECORDED_PLACES_MAX + 1));
	fixture_must(prf_writer_metadata(w, "host", "first"));
	fixture_must(prf_writer_metadata(w, "host", "second"));
	fixture_must(prf_writer_statistic(w, "fired", 12));
	for (size_t i = 0; i < 2; i++)
		fixture_must(prf_writer_loss(w, &losses[i]));
	for (uint64_t i = 0; i < 10; i++) {
		sample.time_ns = 1000 + 100 * i;
		fixture_must(prf_writer_sample(w, &sample));
	}
	fixture_must(prf_writer_finish(w));
}

static FILE *file_with(void (*fill)(struct prf_writer *w), char path[64])
{
	struct prf_writer_options options = { .level = 1 };
	struct prf_writer *w;
	FILE *file = tmpfile();

	assert_non_null(file);
	options.fd = fileno(file);
	fixture_must(prf_writer_new(&w, &options));
	fill(w);
	prf_writer_free(w);
	snprintf(path, 64, "/proc/self/fd/%d", fileno(file));
	return file;
}

static FILE *trace_file(char path[64])
{
	return file_with(write_trace, path);
}

static void test_what_is_kept(void **state)
{
	struct symbolizer_options none = { 0 };
	struct trace_sinks sinks = { .to_ns = UINT64_MAX };
	struct trace t;
	uint64_t fired;
	char path[64];
	FILE *file = trace_file(path);

	assert_null(symbolizer_new(&sinks.symbolizer, &none));
	assert_no_error(trace_open(&t, path));
	assert_true(t.seekable);
	assert_null(trace_read(&t, &sinks));
	assert_string_equal(trace_metadata(&t, "host"), "second");
	assert_null(trace_metadata(&t, "kernel"));
	assert_true(trace_statistic(&t, "fired", &fired));
	assert_int_equal(fired, 12);
	assert_false(trace_statistic(&t, "other", &fired));
	/* Mapping records are no samples. */
	assert_int_equal(trace_lost_samples(&t), 5);
	assert_int_equal(t.loss_count, 2);
	/* Not even those that were too many to be kept are missing in the sum. */
	t.loss_count = 0;
	assert_true(trace_lost_in_window(&t, PRF_LOSS_COUNT) == 5);
	assert_true(trace_lost_in_window(&t, PRF_LOSS_SKIPPED) == 0);
	assert_int_equal(t.names.count, 1);
	assert_int_equal(t.names.list[0].count, 2);
	assert_string_equal(t.names.places[1].function, "outer");
	assert_int_equal(t.object_count, 1);
	assert_int_equal(t.damage_count, 0);
	assert_true(prf_reader_complete(t.reader));
	trace_close(&t);
	symbolizer_free(sinks.symbolizer);
	fclose(file);
}

/* As many keys as are kept, one more, and all of them again. */
static void write_keys(struct prf_writer *w)
{
	char key[16];

	for (uint32_t i = 0; i < 2 * (TRACE_KEYS_KEPT + 1); i++) {
		snprintf(key, sizeof(key), "key%" PRIu32, i % (TRACE_KEYS_KEPT + 1));
		fixture_must(prf_writer_metadata(w, key, i > TRACE_KEYS_KEPT ? key : "first"));
		fixture_must(prf_writer_statistic(w, key, i));
	}
	fixture_must(prf_writer_finish(w));
}

static void test_many_keys(void **state)
{
	struct trace_sinks sinks = { .to_ns = UINT64_MAX };
	struct trace t;
	uint64_t value;
	char path[64], key[16];
	FILE *file = file_with(write_keys, path);

	assert_no_error(trace_open(&t, path));
	assert_null(trace_read(&t, &sinks));
	assert_int_equal(t.metadata_count, TRACE_KEYS_KEPT);
	assert_int_equal(t.statistic_count, TRACE_KEYS_KEPT);
	for (uint32_t i = 0; i < TRACE_KEYS_KEPT; i++) {
		snprintf(key, sizeof(key), "key%" PRIu32, i);
		assert_string_equal(trace_metadata(&t, key), key);
		assert_true(trace_statistic(&t, key, &value));
		assert_int_equal(value, TRACE_KEYS_KEPT + 1 + i);
	}
	snprintf(key, sizeof(key), "key%d", TRACE_KEYS_KEPT);
	assert_null(trace_metadata(&t, key));
	assert_false(trace_statistic(&t, key, &value));
	trace_close(&t);
	fclose(file);
}

/* Numbers of the symbolizer for these objects, written by a writer that knows the last one only. */
static void object_numbers(const struct prf_object *objects, size_t n, uint32_t *numbers)
{
	const struct prf_symbol symbol = { .start = 1, .size = 1, .name = "f" };
	struct prf_writer_options options = { .recent = 1 };
	struct symbolizer_options none = { 0 };
	struct trace_sinks sinks = { .to_ns = UINT64_MAX };
	FILE *file = tmpfile();
	struct prf_writer *w;
	struct trace t;
	char path[64];
	uint32_t id;

	assert_non_null(file);
	options.fd = fileno(file);
	fixture_must(prf_writer_new(&w, &options));
	for (uint32_t i = 0; i < n; i++) {
		fixture_must(prf_writer_object(w, &objects[i], &id));
		assert_int_equal(id, i);
		fixture_must(prf_writer_symbols(w, id, &symbol, 1));
	}
	fixture_must(prf_writer_finish(w));
	prf_writer_free(w);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(file));
	assert_null(symbolizer_new(&sinks.symbolizer, &none));
	assert_no_error(trace_open(&t, path));
	assert_null(trace_read(&t, &sinks));
	assert_int_equal(t.object_count, n);
	memcpy(numbers, t.objects, n * sizeof(*numbers));
	trace_close(&t);
	symbolizer_free(sinks.symbolizer);
	fclose(file);
}

/* Writes an object in a trace of its own, and reads it with those of other traces. */
static uint32_t shared_number(const struct prf_object *object, struct trace_sinks *sinks,
			      struct trace *t)
{
	FILE *file = tmpfile();
	struct prf_writer_options options = { .fd = fileno(file) };
	struct prf_writer *w;
	char path[64];
	uint32_t id;

	fixture_must(prf_writer_new(&w, &options));
	fixture_must(prf_writer_object(w, object, &id));
	fixture_must(prf_writer_finish(w));
	prf_writer_free(w);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(file));
	assert_no_error(trace_open(t, path));
	assert_null(trace_read(t, sinks));
	id = t->objects[0];
	fclose(file);
	return id;
}

/* Code is the same in two traces where its build-id says so, and then once in memory. */
static void test_objects_of_two_traces(void **state)
{
	const struct prf_object kernel = { .kind = PRF_OBJECT_KERNEL,
					   .path = "[kernel]",
					   .root = "",
					   .build_id = { 1 },
					   .build_id_size = 20,
					   .base = 1 << 20 };
	struct prf_object objects[] = { kernel, kernel, kernel, kernel, kernel };
	struct symbolizer_options none = { 0 };
	struct map shared = { 0 };
	struct trace_sinks sinks = { .to_ns = UINT64_MAX, .objects = &shared };
	uint32_t numbers[5];
	struct trace traces[5];

	objects[1].base = 1 << 21; /* after another boot */
	objects[2].build_id[0] = 2;
	objects[3].build_id_size = objects[4].build_id_size = 0;
	objects[3].build_id[0] = objects[4].build_id[0] = 0;
	assert_null(symbolizer_new(&sinks.symbolizer, &none));
	for (size_t i = 0; i < 5; i++)
		numbers[i] = shared_number(&objects[i], &sinks, &traces[i]);
	assert_int_equal(numbers[0], numbers[1]);
	for (size_t i = 2; i < 5; i++)
		assert_int_equal(numbers[i], i - 1);
	for (size_t i = 0; i < 5; i++)
		trace_close(&traces[i]);
	symbolizer_free(sinks.symbolizer);
	map_release(&shared);
}

/* In a long trace an object may be defined again: its symbols are those of all its definitions. */
static void test_an_object_that_comes_again(void **state)
{
	const struct prf_object objects[] = {
		{ .kind = PRF_OBJECT_KERNEL, .path = "[kernel]", .root = "", .base = 5 },
		{ .kind = PRF_OBJECT_FILE, .path = "/a", .root = "", .inode = 1 },
		{ .kind = PRF_OBJECT_JIT, .path = "[jit]", .root = "" },
		{ .kind = PRF_OBJECT_FILE, .path = "/a", .root = "", .inode = 2 },
		{ .kind = PRF_OBJECT_KERNEL, .path = "[kernel]", .root = "", .base = 5 },
		{ .kind = PRF_OBJECT_FILE, .path = "/a", .root = "", .inode = 1 },
		{ .kind = PRF_OBJECT_JIT, .path = "[jit]", .root = "" },
	};
	uint32_t numbers[7];

	object_numbers(objects, 7, numbers);
	assert_int_equal(numbers[4], numbers[0]);
	assert_int_equal(numbers[5], numbers[1]);
	assert_int_not_equal(numbers[3], numbers[1]);
	/* Each process's made code is its own. */
	assert_int_not_equal(numbers[6], numbers[2]);
}

static void test_span(void **state)
{
	uint64_t start, end;
	struct trace t;
	char path[64];
	FILE *file = trace_file(path);

	assert_no_error(trace_open(&t, path));
	assert_no_error(trace_span(&t, true, &start, &end));
	assert_int_equal(start, 1000);
	assert_int_equal(end, 1900);
	trace_close(&t);
	fclose(file);
}

static bool count(struct trace *t, const struct prf_samples *samples, void *context)
{
	*(size_t *)context += samples->n;
	return false;
}

static void test_window(void **state)
{
	size_t n = 0;
	struct prf_loss loss;
	struct trace_sinks sinks = {
		.samples = count, .context = &n, .from_ns = 1200, .to_ns = 1500
	};
	struct trace t;
	char path[64];
	FILE *file = trace_file(path);

	assert_no_error(trace_open(&t, path));
	assert_null(trace_read(&t, &sinks));
	assert_int_equal(n, 3);
	/* What was lost before it does not count. */
	assert_true(trace_lost_in_window(&t, PRF_LOSS_COUNT) == 0);
	loss = t.losses[0];
	assert_true(trace_cut_loss(&t, &loss) == 0);
	t.losses[0].to_ns = 2401;
	loss = t.losses[0];
	assert_true(trace_cut_loss(&t, &loss) == 0.625);
	assert_int_equal(loss.from_ns, 1200);
	assert_int_equal(loss.to_ns, 1500);
	assert_int_equal(loss.count, 1);
	assert_true(trace_lost_in_window(&t, PRF_LOSS_COUNT) == 0.625);
	assert_true(trace_lost_in_window(&t, PRF_LOSS_SKIPPED) == 0);
	trace_close(&t);
	fclose(file);
}

/* A trace may claim any number. */
static void test_whole_samples(void **state)
{
	assert_int_equal(trace_whole_samples(0.4), 0);
	assert_int_equal(trace_whole_samples(2.5), 3);
	assert_true(trace_whole_samples((double)UINT64_MAX * 3) == UINT64_MAX);
}

/* A pipe can be read twice after it was copied. */
static void test_pipe(void **state)
{
	struct trace_sinks sinks = { .samples = count, .to_ns = UINT64_MAX };
	uint64_t start, end;
	char path[64], data[16384];
	FILE *file = trace_file(path);
	struct trace t;
	size_t n = 0;
	ssize_t size;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	size = pread(fileno(file), data, sizeof(data), 0);
	assert_true(size > 0 && size < (ssize_t)sizeof(data));
	assert_int_equal(write(ends[1], data, (size_t)size), size);
	close(ends[1]);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", ends[0]);
	assert_no_error(trace_open(&t, path));
	assert_false(t.seekable);
	assert_no_error(trace_make_seekable(&t));
	assert_no_error(trace_span(&t, true, &start, &end));
	assert_int_equal(start, 1000);
	sinks.context = &n;
	assert_null(trace_read(&t, &sinks));
	assert_int_equal(n, 10);
	trace_close(&t);
	close(ends[0]);
	fclose(file);
}

static void test_cannot_open(void **state)
{
	struct trace t;

	assert_error(trace_open(&t, "/nonexistent/trace.prf"), ERROR_SYSTEM,
		     "cannot open: No such file or directory");
	trace_close(&t);
	assert_error(trace_open(&t, "/"), ERROR_SYSTEM, "cannot read: Is a directory");
	trace_close(&t);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_objects_of_two_traces),
	cmocka_unit_test(test_what_is_kept),
	cmocka_unit_test(test_an_object_that_comes_again),
	cmocka_unit_test(test_span),
	cmocka_unit_test(test_window),
	cmocka_unit_test(test_whole_samples),
	cmocka_unit_test(test_pipe),
	cmocka_unit_test(test_cannot_open),
	cmocka_unit_test(test_many_keys),
};

UNIT_TESTS(tests);
