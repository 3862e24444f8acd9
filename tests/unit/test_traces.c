/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/recording.h"
#include "record/traces.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <unistd.h>

#include "record/options.h"

/* A trace that holds nearly as much as one can ends a recording, but a series goes on. */
static void test_full(void **state)
{
	struct prf_writer_options options = { .recent = 1 };
	struct prf_object object = { .kind = PRF_OBJECT_JIT, .path = "", .root = "" };
	struct settings settings = { 0 };
	struct session s = { .settings = &settings };
	uint32_t id;

	options.fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	assert_null(prf_writer_new(&s.trace.writer, &options));
	assert_false(traces_full(&s));
	for (; !prf_writer_nearly_full(s.trace.writer); object.base++)
		assert_null(prf_writer_object(s.trace.writer, &object, &id));
	assert_true(traces_full(&s));
	settings.series.on_signal = true;
	assert_false(traces_full(&s));
	/* All files together may have been given a largest size. */
	settings.max_bytes = 1000;
	assert_true(traces_full(&s));
	prf_writer_free(s.trace.writer);
	close(options.fd);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_full),
};

UNIT_TESTS(tests);
