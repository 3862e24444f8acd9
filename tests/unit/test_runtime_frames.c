/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/runtimes/runtime_frames.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/limits.h"
#include "tests/unit/trace_fixture.h"

struct fixture {
	struct runtime_frames frames;
	struct prf_writer *w;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	fixture_must(prf_writer_new(&f->w, &(struct prf_writer_options){ .fd = -1 }));
	runtime_frames_begin(&f->frames, f->w);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	runtime_frames_release(&f->frames);
	prf_writer_free(f->w);
	free(f);
	return 0;
}

static uint32_t find(struct fixture *f, const char *object, const char *function, uint32_t line)
{
	const struct prf_place place = { .function = function, .file = "a.js", .line = line };
	const struct runtime_places places = { &place, 1 };
	uint32_t id;

	fixture_must(runtime_frames_find(&f->frames, object, &places, &id));
	return id;
}

/* How many frames of the trace have this function's name. */
static size_t named(struct fixture *f, const char *function)
{
	struct prf_reader *r = fixture_read_back(f->w);
	struct prf_record record;
	size_t n = 0;

	while (fixture_next(r, &record))
		n += record.type == PRF_RECORD_NAMES &&
		     !strcmp(record.names.places[0].function, function);
	prf_reader_free(r);
	return n;
}

static void equal_names_are_one_frame(void **state)
{
	struct fixture *f = *state;
	uint32_t one = find(f, "[js]", "one", 1);

	assert_int_equal(find(f, "[js]", "one", 1), one);
	assert_int_not_equal(find(f, "[js]", "one", 2), one);
	assert_int_not_equal(find(f, "[js]", "two", 1), one);
	assert_int_not_equal(find(f, "[java]", "one", 1), one);
	assert_int_equal(named(f, "one"), 3);
}

/* Whatever a process makes up, memory is bounded, and no frame gets another one's name. */
static void names_without_end(void **state)
{
	enum { LENGTH = 60000 };
	struct fixture *f = *state;
	uint32_t first = find(f, "[js]", "first", 1), last = first;
	char *name = malloc(LENGTH + 16);
	size_t most = 0;

	memset(name, 'x', LENGTH);
	for (uint32_t i = 0; i < 2 * (LIMIT_RUNTIME_FRAMES_BYTES / LENGTH); i++) {
		uint32_t id;

		snprintf(name + LENGTH, 16, "%u", i);
		id = find(f, "[js]", name, 1);
		assert_true(id > last);
		last = id;
		most = f->frames.bytes > most ? f->frames.bytes : most;
	}
	assert_in_range(most, LIMIT_RUNTIME_FRAMES_BYTES / 2, LIMIT_RUNTIME_FRAMES_BYTES);
	assert_true(f->frames.numbers.count <= LIMIT_RUNTIME_FRAMES_BYTES / LENGTH);
	/* It was forgotten, and is defined again. */
	assert_true(find(f, "[js]", "first", 1) > last);
	assert_int_equal(named(f, "first"), 2);
	free(name);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(equal_names_are_one_frame, setup, teardown),
	cmocka_unit_test_setup_teardown(names_without_end, setup, teardown),
};

UNIT_TESTS(tests);
