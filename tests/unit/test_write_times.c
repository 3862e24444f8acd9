/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/symbols/write_times.h"
#include "tests/unit/unit.h"

#include "common/clock.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void is_written(const struct write_times *t, uint64_t end, uint64_t after, uint64_t by)
{
	const struct written written = write_times_of(t, end);

	assert_int_equal(written.after, after);
	assert_int_equal(written.by, by);
}

static void between_two_looks(void **state)
{
	struct write_times t = { 0 };

	is_written(&t, 1, 0, UINT64_MAX);
	write_times_add(&t, (struct write_look){ 8, 10, 100 });
	write_times_add(&t, (struct write_look){ 18, 20, 200 });
	write_times_add(&t, (struct write_look){ 28, 30, 200 });
	write_times_add(&t, (struct write_look){ 38, 40, 200 });
	write_times_add(&t, (struct write_look){ 48, 50, 300 });
	is_written(&t, 100, 0, 10);
	is_written(&t, 101, 8, 20);
	is_written(&t, 200, 8, 20);
	is_written(&t, 201, 38, 50);
	is_written(&t, 301, 48, UINT64_MAX);
	write_times_forget(&t, 200);
	is_written(&t, 201, 38, 50);
	write_times_release(&t);
}

/* Only the last byte is known not to be older than the file's time. */
static void not_before_the_files_time(void **state)
{
	struct write_times t = { 0 };

	write_times_add(&t, (struct write_look){ 8, 10, 100 });
	write_times_add(&t, (struct write_look){ 48, 50, 300, .modified_ns = 45 });
	is_written(&t, 300, 45, 50);
	is_written(&t, 299, 8, 50);
	write_times_release(&t);
}

static void another_file(void **state)
{
	struct write_times t = { 0 };

	write_times_add(&t, (struct write_look){ 8, 10, 100 });
	write_times_add(&t, (struct write_look){ 18, 20, 50 });
	is_written(&t, 50, 0, 20);
	is_written(&t, 51, 18, UINT64_MAX);
	write_times_release(&t);
}

/* The owner of a file sets its time to what he likes: one that cannot be is not used. */
static void looks_at_a_file(void **state)
{
	const struct timespec future[2] = { { .tv_sec = 4000000000 }, { .tv_sec = 4000000000 } };
	char path[] = "/tmp/test-write-times-XXXXXX";
	struct write_times t = { 0 };
	uint64_t before = clock_now();
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "12345", 5), 5);
	write_times_look(&t, fd);
	assert_int_equal(t.looks[0].size, 5);
	assert_in_range(t.looks[0].end_ns, t.looks[0].begin_ns, clock_now());
	/* The file's clock ticks some milliseconds apart. */
	assert_in_range(t.looks[0].modified_ns, before - 20000000, t.looks[0].end_ns);
	assert_int_equal(write(fd, "6", 1), 1);
	assert_int_equal(futimens(fd, future), 0);
	write_times_look(&t, fd);
	assert_int_equal(t.looks[1].size, 6);
	assert_int_equal(t.looks[1].modified_ns, 0);
	close(fd);
	unlink(path);
	write_times_release(&t);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(between_two_looks),
	cmocka_unit_test(not_before_the_files_time),
	cmocka_unit_test(another_file),
	cmocka_unit_test(looks_at_a_file),
};

UNIT_TESTS(tests);
