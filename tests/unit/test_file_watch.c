/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/symbols/file_watch.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Nothing but the thread may look: until it has seen that size. */
static void wait_for(struct file_watch *watch, int number, struct write_times *times, uint64_t size)
{
	while (!times->n || times->looks[times->n - 1].size < size) {
		usleep(1000);
		file_watch_take(watch, number, times);
	}
}

static void sees_each_write(void **state)
{
	char path[] = "/tmp/test-file-watch-XXXXXX";
	struct file_watch *watch = file_watch_new();
	struct write_times times = { 0 };
	int fd = mkstemp(path), number;

	assert_non_null(watch);
	number = file_watch_add(watch, fd);
	assert_true(number >= 0);
	assert_int_equal(file_watch_add(watch, fd), -1);
	assert_int_equal(write(fd, "one", 3), 3);
	wait_for(watch, number, &times, 3);
	assert_int_equal(write(fd, "two", 3), 3);
	wait_for(watch, number, &times, 6);
	/* The look that found the first three bytes is the last that did not find the fourth. */
	assert_true(write_times_of(&times, 4).after > write_times_of(&times, 3).after);
	assert_true(write_times_of(&times, 4).by > write_times_of(&times, 3).by);
	file_watch_remove(watch, number);
	file_watch_free(watch);
	write_times_release(&times);
	close(fd);
	unlink(path);
}

/* A map that was written before anybody asked for it. The thread looks twice a millisecond. */
static void look_at_early_map(useconds_t pause_us, struct write_times *times)
{
	struct file_watch *watch = file_watch_new();
	char path[64];
	int fd, number;

	assert_non_null(watch);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	unlink(path);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	assert_true(fd >= 0);
	usleep(pause_us);
	assert_int_equal(write(fd, "one", 3), 3);
	usleep(pause_us);
	number = file_watch_add(watch, fd);
	file_watch_take(watch, number, times);
	file_watch_free(watch);
	close(fd);
	unlink(path);
}

static void sees_maps_before_they_are_asked_for(void **state)
{
	struct write_times times = { 0 };

	/* On a busy machine the thread may not get to look in time. */
	for (useconds_t pause_us = 50000; times.n < 2 && pause_us < 4000000; pause_us *= 2) {
		write_times_release(&times);
		look_at_early_map(pause_us, &times);
	}
	assert_true(times.n >= 2);
	assert_true(write_times_of(&times, 3).after > 0);
	write_times_release(&times);
}

static void without_a_watch(void **state)
{
	struct write_times times = { 0 };

	assert_int_equal(file_watch_add(NULL, 0), -1);
	file_watch_take(NULL, -1, &times);
	file_watch_remove(NULL, -1);
	file_watch_free(NULL);
	assert_int_equal(times.n, 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(sees_each_write),
	cmocka_unit_test(sees_maps_before_they_are_asked_for),
	cmocka_unit_test(without_a_watch),
};

UNIT_TESTS(tests);
