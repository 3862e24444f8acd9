/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/losses.h"
#include "tests/unit/unit.h"

#include "tests/unit/trace_fixture.h"

#include <errno.h>
#include <string.h>

#define CPUS 2

/* What the kernel half counts: instead of the sampler's own. */
static struct sample_counters counters[CPUS];
static int counters_status;

struct error *sampler_read_counters(struct sampler *s, struct sample_counters *to)
{
	memcpy(to, counters, sizeof(counters));
	return counters_status
		       ? error_system(counters_status, "cannot read the counters of samples")
		       : NULL;
}

struct fixture {
	struct losses losses;
	struct prf_writer *w;
};

static int setup(void **state)
{
	static struct fixture f;

	memset(counters, 0, sizeof(counters));
	counters_status = 0;
	fixture_must(losses_init(&f.losses, CPUS, 100));
	fixture_must(prf_writer_new(&f.w, &(struct prf_writer_options){ .fd = -1 }));
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	losses_release(&f->losses);
	prf_writer_free(f->w);
	return 0;
}

/* "from-to cpu reason count; " for each loss in the trace. */
static void check(struct fixture *f, const char *expected)
{
	struct prf_record record;
	struct prf_reader *r;
	char text[512] = "";

	r = fixture_read_back(f->w);
	while (fixture_next(r, &record))
		if (record.type == PRF_RECORD_LOSS)
			snprintf(text + strlen(text), sizeof(text) - strlen(text),
				 "%d-%d %d %s %d; ", (int)record.loss.from_ns,
				 (int)record.loss.to_ns, (int)record.loss.cpu,
				 prf_loss_reason_name(record.loss.reason), (int)record.loss.count);
	assert_string_equal(text, expected);
	prf_reader_free(r);
}

static void what_is_lost_is_written_once(void **state)
{
	struct fixture *f = *state;

	counters[1].fired = 10;
	counters[1].sent = 7;
	counters[1].lost[SAMPLE_LOST_RING_FULL] = 2;
	counters[1].lost[SAMPLE_LOST_NESTED] = 1;
	counters[1].lost[SAMPLE_LOST_SKIPPED] = 8;
	fixture_must(losses_read(&f->losses, NULL));
	fixture_must(losses_write(&f->losses, f->w, 200));
	fixture_must(losses_read(&f->losses, NULL));
	fixture_must(losses_write(&f->losses, f->w, 300));
	counters[0].lost[SAMPLE_LOST_RING_BUSY] = 4;
	fixture_must(losses_read(&f->losses, NULL));
	fixture_must(losses_write(&f->losses, f->w, 400));
	assert_int_equal(f->losses.fired, 10);
	assert_int_equal(f->losses.sent, 7);
	assert_int_equal(losses_samples(&f->losses), 15);
	check(f, "100-200 1 ring-full 2; 100-200 1 nested 1; 100-200 1 skipped 8; "
		 "300-400 0 ring-busy 4; ");
}

static void mapping_records_are_no_samples(void **state)
{
	const struct side_record lost = { .type = SIDE_RECORD_LOST, .time_ns = 150, .lost = 9 };
	struct fixture *f = *state;

	fixture_must(losses_side_band(&f->losses, f->w, 1, &lost));
	assert_int_equal(losses_samples(&f->losses), 0);
	check(f, "150-150 1 side-band 9; ");
}

/* A code of -1 was once both: EPERM and a failed write. */
static void counters_that_cannot_be_read_are_no_failed_write(void **state)
{
	struct fixture *f = *state;
	struct error *error;

	counters_status = -EPERM;
	error = losses_read(&f->losses, NULL);
	assert_true(error_is(error, EPERM));
	assert_string_equal(error->text,
			    "cannot read the counters of samples: Operation not permitted");
	error_free(error);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
static const struct CMUnitTest tests[] = {
	TEST(what_is_lost_is_written_once),
	TEST(mapping_records_are_no_samples),
	TEST(counters_that_cannot_be_read_are_no_failed_write),
};

UNIT_TESTS(tests);
