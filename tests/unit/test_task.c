/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/spaces/task.h"
#include "tests/unit/unit.h"

#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "tests/unit/trace_fixture.h"

/* Above any number that the kernel gives, so that /proc knows nothing of them. */
#define PID 100000000u

static struct prf_writer *new_writer(void)
{
	struct prf_writer *w;

	fixture_must(prf_writer_new(&w, &(struct prf_writer_options){ .fd = -1 }));
	return w;
}

static uint32_t define(struct tasks *t, struct prf_writer *w, uint32_t pid, uint32_t tid)
{
	uint32_t id = PRF_NONE;

	assert_null(tasks_define(t, w, pid, tid, &id));
	return id;
}

static void fork_task(struct tasks *t, struct side_record fork)
{
	fork.type = SIDE_RECORD_FORK;
	assert_null(tasks_fork(t, &fork));
}

/* The process's first thread makes another one. */
static void fork_thread(struct tasks *t, uint32_t tid, uint64_t time_ns)
{
	fork_task(t, (struct side_record){ .parent_tid = PID,
					   .parent_pid = PID,
					   .pid = PID,
					   .tid = tid,
					   .time_ns = time_ns });
}

static void threads_have_their_makers_name(void **state)
{
	struct tasks *t = tasks_new();

	assert_null(tasks_rename(t, PID, PID, "server", 5));
	fork_thread(t, PID + 1, 6);
	assert_string_equal(tasks_find(t, PID + 1)->comm, "server");
	assert_int_equal(tasks_find(t, PID + 1)->pid, PID);
	assert_int_equal(tasks_find(t, PID + 1)->start_ns, 6);
	fork_task(t, (struct side_record){ .parent_tid = PID + 1,
					   .parent_pid = PID,
					   .pid = PID + 2,
					   .tid = PID + 2,
					   .time_ns = 7 });
	assert_int_equal(tasks_find(t, PID + 2)->parent_pid, PID);
	assert_string_equal(tasks_find(t, PID + 2)->comm, "server");
	assert_null(tasks_find(t, PID + 3));
	tasks_free(t);
}

static void a_new_name_is_a_new_definition(void **state)
{
	struct tasks *t = tasks_new();
	struct prf_writer *w = new_writer();
	uint32_t first, second;

	assert_null(tasks_rename(t, PID, PID, "before", 5));
	first = define(t, w, PID, PID);
	assert_int_equal(define(t, w, PID, PID), first);
	assert_null(tasks_rename(t, PID, PID, "a name that is too long", 9));
	second = define(t, w, PID, PID);
	assert_int_not_equal(first, second);
	assert_string_equal(tasks_find(t, PID)->comm, "a name that is ");
	/* For another trace all are new. */
	tasks_forget_ids(t);
	assert_int_equal(tasks_find(t, PID)->id, PRF_NONE);
	prf_writer_free(w);
	tasks_free(t);
}

static void unknown_ones_are_looked_up(void **state)
{
	struct tasks *t = tasks_new();
	struct prf_writer *w = new_writer();
	uint32_t self = (uint32_t)getpid();

	prctl(PR_SET_NAME, "looked-up");
	define(t, w, self, self);
	assert_string_equal(tasks_find(t, self)->comm, "looked-up");
	assert_int_equal(tasks_find(t, self)->parent_pid, getppid());
	/* One that is gone has no name, but its samples count. */
	define(t, w, PID, PID);
	assert_string_equal(tasks_find(t, PID)->comm, "");
	prf_writer_free(w);
	tasks_free(t);
}

static void collect(uint32_t pid, void *context)
{
	*(uint32_t *)context += pid - PID + 1;
}

static void the_ended_are_kept_for_a_while(void **state)
{
	struct tasks *t = tasks_new();
	uint32_t gone = 0;

	assert_null(tasks_rename(t, PID, PID, "x", 5));
	fork_thread(t, PID + 1, 6);
	assert_false(tasks_exit(t, PID, PID, 10));
	tasks_forget(t, 10, collect, &gone);
	assert_non_null(tasks_find(t, PID));
	tasks_forget(t, 11, collect, &gone);
	assert_null(tasks_find(t, PID));
	assert_int_equal(gone, 0);
	assert_true(tasks_exit(t, PID, PID + 1, 20));
	tasks_forget(t, 21, collect, &gone);
	assert_null(tasks_find(t, PID + 1));
	assert_int_equal(gone, 1);
	assert_false(tasks_exit(t, PID, PID + 1, 30));
	tasks_free(t);
}

/* The thread that ran it has the first one's number now, and no record of its own end. */
static void an_exec_leaves_one_thread(void **state)
{
	const struct side_record exec = {
		.type = SIDE_RECORD_EXEC, .pid = PID, .tid = PID, .time_ns = 12, .name = "next"
	};
	struct tasks *t = tasks_new();
	uint32_t gone = 0;

	assert_null(tasks_rename(t, PID, PID, "server", 5));
	fork_thread(t, PID + 1, 6);
	assert_false(tasks_exit(t, PID, PID, 10));
	assert_null(tasks_exec(t, &exec));
	assert_string_equal(tasks_find(t, PID)->comm, "next");
	assert_int_equal(tasks_find(t, PID)->gone_ns, 0);
	assert_int_equal(tasks_find(t, PID + 1)->gone_ns, 12);
	assert_true(tasks_exit(t, PID, PID, 20));
	tasks_forget(t, 21, collect, &gone);
	assert_null(tasks_find(t, PID + 1));
	assert_int_equal(gone, 1);
	tasks_free(t);
}

static void those_that_are_missing_have_ended(void **state)
{
	struct tasks *t = tasks_new();
	uint32_t self = (uint32_t)getpid(), gone = 0;

	assert_null(tasks_add(t, self, self));
	assert_null(tasks_rename(t, PID, PID, "missing", 5));
	fork_thread(t, PID + 1, 6);
	tasks_end_missing(t, 7);
	assert_int_equal(tasks_find(t, PID)->gone_ns, 7);
	assert_int_equal(tasks_find(t, PID + 1)->gone_ns, 7);
	assert_int_equal(tasks_find(t, self)->gone_ns, 0);
	/* The record of one's end comes yet. */
	assert_true(tasks_exit(t, PID, PID + 1, 6));
	tasks_forget(t, 8, collect, &gone);
	assert_int_equal(gone, 1);
	tasks_free(t);
}

/* A thread has the number of a process whose end, and the fork of the thread, were not told. */
static void the_end_of_one_known_elsewhere(void **state)
{
	struct tasks *t = tasks_new();

	assert_null(tasks_rename(t, PID, PID, "server", 5));
	assert_null(tasks_rename(t, PID + 1, PID + 1, "old", 6));
	assert_false(tasks_exit(t, PID, PID + 1, 10));
	assert_int_equal(tasks_find(t, PID + 1)->gone_ns, 10);
	assert_int_equal(tasks_find(t, PID)->gone_ns, 0);
	assert_true(tasks_exit(t, PID, PID, 20));
	tasks_free(t);
}

static void numbers_are_used_again(void **state)
{
	struct tasks *t = tasks_new();
	uint32_t gone = 0;

	assert_null(tasks_rename(t, PID, PID, "old", 5));
	assert_true(tasks_exit(t, PID, PID, 10));
	fork_task(t, (struct side_record){ .parent_tid = PID + 7,
					   .parent_pid = PID + 7,
					   .pid = PID,
					   .tid = PID,
					   .time_ns = 11 });
	assert_string_equal(tasks_find(t, PID)->comm, "");
	tasks_forget(t, 1000, collect, &gone);
	assert_non_null(tasks_find(t, PID));
	assert_int_equal(gone, 0);
	assert_true(tasks_exit(t, PID, PID, 1001));
	tasks_free(t);
}

/* Nothing was recorded of the ends of the process that had the number before, and of its thread. */
static void a_number_that_is_used_again_without_an_end(void **state)
{
	struct tasks *t = tasks_new();
	uint32_t gone = 0;

	assert_null(tasks_rename(t, PID, PID, "old", 5));
	fork_thread(t, PID + 1, 6);
	fork_thread(t, PID + 3, 7);
	assert_false(tasks_exit(t, PID, PID + 3, 8));
	assert_null(tasks_rename(t, PID + 8, PID + 8, "other", 9));
	tasks_remove(t, PID);
	tasks_remove(t, PID);
	for (uint32_t tid = PID; tid < PID + 4; tid++)
		assert_null(tasks_find(t, tid));
	assert_non_null(tasks_find(t, PID + 8));
	fork_task(t, (struct side_record){ .parent_tid = PID + 7,
					   .parent_pid = PID + 7,
					   .pid = PID,
					   .tid = PID,
					   .time_ns = 11 });
	assert_int_equal(tasks_find(t, PID)->gone_ns, 0);
	fork_thread(t, PID + 2, 12);
	assert_int_equal(tasks_find(t, PID)->gone_ns, 0);
	tasks_forget(t, 12, collect, &gone);
	assert_int_equal(gone, 0);
	assert_false(tasks_exit(t, PID, PID, 20));
	assert_true(tasks_exit(t, PID, PID + 2, 21));
	tasks_free(t);
}

/* Its threads have ended; they are kept as those of others are, and are none of the new one's. */
static void a_number_that_is_used_again_after_an_end(void **state)
{
	struct tasks *t = tasks_new();
	uint32_t gone = 0;

	assert_null(tasks_rename(t, PID, PID, "old", 5));
	fork_thread(t, PID + 1, 6);
	assert_false(tasks_exit(t, PID, PID + 1, 7));
	assert_true(tasks_exit(t, PID, PID, 8));
	tasks_remove(t, PID);
	assert_non_null(tasks_find(t, PID + 1));
	fork_task(t, (struct side_record){ .parent_tid = PID + 7,
					   .parent_pid = PID + 7,
					   .pid = PID,
					   .tid = PID,
					   .time_ns = 9 });
	tasks_forget(t, 10, collect, &gone);
	assert_int_equal(gone, 0);
	assert_null(tasks_find(t, PID + 1));
	assert_int_equal(tasks_find(t, PID)->gone_ns, 0);
	assert_true(tasks_exit(t, PID, PID, 20));
	tasks_free(t);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(threads_have_their_makers_name),
	cmocka_unit_test(a_new_name_is_a_new_definition),
	cmocka_unit_test(unknown_ones_are_looked_up),
	cmocka_unit_test(the_ended_are_kept_for_a_while),
	cmocka_unit_test(an_exec_leaves_one_thread),
	cmocka_unit_test(those_that_are_missing_have_ended),
	cmocka_unit_test(the_end_of_one_known_elsewhere),
	cmocka_unit_test(numbers_are_used_again),
	cmocka_unit_test(a_number_that_is_used_again_without_an_end),
	cmocka_unit_test(a_number_that_is_used_again_after_an_end),
};

UNIT_TESTS(tests);
