/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/capture/sideband.h"
#include "tests/unit/unit.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/error_check.h"

static struct cpus cpus;
static struct sideband *sideband;

static int setup(void **state)
{
	assert_no_error(cpus_online(&cpus));
	/* Needs privileges; without them the tests are skipped. */
	if (error_ignore(sideband_new(&sideband, &cpus, 1u << 20)))
		sideband = NULL;
	return 0;
}

static int teardown(void **state)
{
	sideband_free(sideband);
	sideband = NULL;
	cpus_release(&cpus);
	return 0;
}

static pid_t run_true(void)
{
	pid_t pid = fork();

	if (!pid) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
	return pid;
}

/* Takes all there is, or looks at it ahead; counts what concerns a process. */
struct seen {
	int fork, exec, map, exit, all;
};

static struct seen read_all(pid_t pid, bool ahead)
{
	struct seen seen = { 0 };
	struct side_record r;

	for (size_t i = 0; i < sideband_rings(sideband); i++)
		for (;;) {
			uint64_t time = ahead ? sideband_peek_ahead(sideband, i)
					      : sideband_peek(sideband, i);

			if (time == UINT64_MAX)
				break;
			assert_true(ahead ? sideband_take_ahead(sideband, i, &r)
					  : sideband_take(sideband, i, &r));
			assert_int_equal(r.time_ns, time);
			seen.all++;
			if (r.pid != (uint32_t)pid)
				continue;
			seen.fork += r.type == SIDE_RECORD_FORK;
			seen.exit += r.type == SIDE_RECORD_EXIT;
			seen.exec += r.type == SIDE_RECORD_EXEC && !strcmp(r.name, "true");
			seen.map += r.type == SIDE_RECORD_MAP;
		}
	return seen;
}

static void tells_the_life_of_a_process(void **state)
{
	struct seen seen;
	pid_t pid;

	if (!sideband)
		skip();
	sideband_enable(sideband);
	pid = run_true();
	sideband_disable(sideband);
	assert_true(sideband_filled(sideband) <= 100);
	seen = read_all(pid, false);
	assert_int_equal(seen.fork, 1);
	assert_int_equal(seen.exec, 1);
	assert_int_equal(seen.exit, 1);
	assert_true(seen.map >= 2); /* the program and its loader */
	assert_int_equal(read_all(pid, false).all, 0);
}

static void nothing_is_told_when_disabled(void **state)
{
	if (!sideband)
		skip();
	assert_int_equal(read_all(run_true(), false).all, 0);
}

static void looking_ahead_takes_nothing_away(void **state)
{
	struct seen ahead, seen;
	pid_t pid;

	if (!sideband)
		skip();
	sideband_enable(sideband);
	read_all(0, true); /* from now on somebody looks ahead */
	pid = run_true();
	sideband_disable(sideband);
	/* What was not seen ahead is not there yet. */
	assert_int_equal(read_all(pid, false).fork, 0);
	ahead = read_all(pid, true);
	assert_int_equal(ahead.fork, 1);
	assert_int_equal(read_all(pid, true).all, 0);
	seen = read_all(pid, false);
	assert_int_equal(seen.fork, 1);
	assert_int_equal(seen.map, ahead.map);
	assert_true(seen.all >= ahead.all);
}

static void the_time_of_events_goes_on(void **state)
{
	const uint32_t cpu = cpus.ids[0];
	uint64_t first, second;

	if (!sideband)
		skip();
	sideband_enable(sideband);
	first = sideband_enabled_ns(sideband, cpu);
	usleep(1000);
	second = sideband_enabled_ns(sideband, cpu);
	assert_true(first > 0 && second > first);
	sideband_disable(sideband);
	first = sideband_enabled_ns(sideband, cpu);
	usleep(1000);
	assert_int_equal(sideband_enabled_ns(sideband, cpu), first);
	assert_int_equal(sideband_enabled_ns(sideband, CPUS_MAX), UINT64_MAX);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
static const struct CMUnitTest tests[] = {
	TEST(tells_the_life_of_a_process),
	TEST(nothing_is_told_when_disabled),
	TEST(looking_ahead_takes_nothing_away),
	TEST(the_time_of_events_goes_on),
};

UNIT_TESTS(tests);
