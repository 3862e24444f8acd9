/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/publication.h"
#include "tests/unit/unit.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf/abi/unwind.h"
#include "tests/unit/error_check.h"

/* Above any number that the kernel gives, so that /proc knows nothing of it. */
#define PID 100000000u
#define SECOND UINT64_C(1000000000)

/* -------- the kernel half's map of processes, with one entry: in place of libbpf's -------- */

static struct unwind_process there;
static bool is_there;
static int execs_after_look;	 /* the process execs after that many looks, */
static bool execs_before_update; /* or after the last one */
static int update_error;	 /* 0: the next update succeeds */

/* As walk_exec() does. */
static void exec_there(void)
{
	there = (struct unwind_process){ .execs = there.execs + 1, .mm = there.mm + 1 };
}

int bpf_map_lookup_elem(int fd, const void *key, void *value)
{
	bool found = is_there;

	if (found)
		*(struct unwind_process *)value = there;
	if (execs_after_look && !--execs_after_look)
		exec_there();
	return found ? 0 : -ENOENT;
}

int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	if (update_error)
		return update_error;
	if (execs_before_update)
		exec_there();
	execs_before_update = false;
	there = *(const struct unwind_process *)value;
	is_there = true;
	return 0;
}

int bpf_map_delete_elem(int fd, const void *key)
{
	is_there = false;
	return 0;
}

struct fixture {
	pid_t children[2];
	int child_count;
	int segments_fd;
	struct objects *objects;
	struct spaces *spaces;
	struct publications p;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	there = (struct unwind_process){ 0 };
	is_there = execs_before_update = false;
	execs_after_look = update_error = 0;
	f->segments_fd = memfd_create("segments", MFD_CLOEXEC);
	assert_int_equal(
		ftruncate(f->segments_fd, UNWIND_MAX_SEGMENTS * sizeof(struct unwind_segment)), 0);
	f->objects = objects_new();
	f->spaces = spaces_new(f->objects, true);
	assert_no_error(publications_init(&f->p, f->segments_fd, -1));
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < f->child_count; i++) {
		kill(f->children[i], SIGKILL);
		waitpid(f->children[i], NULL, 0);
	}
	publications_release(&f->p);
	spaces_free(f->spaces);
	objects_free(f->objects);
	close(f->segments_fd);
	free(f);
	return 0;
}

/* A process maps some more. */
static void map_in(struct fixture *f, uint32_t pid, uint64_t start)
{
	const struct side_record r = { .type = SIDE_RECORD_MAP,
				       .pid = pid,
				       .tid = pid,
				       .map = { .start = start, .size = 0x1000, .inode = 1 },
				       .name = "/bin/x" };

	assert_no_error(spaces_apply(f->spaces, &r));
	publications_change(&f->p, pid);
}

static void map(struct fixture *f, uint64_t start)
{
	map_in(f, PID, start);
}

static uint32_t published(struct fixture *f, uint64_t now_ns)
{
	publications_update(&f->p, f->spaces, now_ns);
	return there.count;
}

static void what_is_mapped_is_published(void **state)
{
	struct fixture *f = *state;

	map(f, 0x1000);
	assert_int_equal(published(f, SECOND), 1);
	assert_int_equal(f->p.segments[there.first].start, 0x1000);
	map(f, 0x3000);
	assert_int_equal(published(f, SECOND), 2);
	assert_false(f->p.pending);
}

static void without_room_it_is_tried_again(void **state)
{
	struct fixture *f = *state;
	const struct pool_range all = { 0, UNWIND_MAX_SEGMENTS, 0 };

	assert_int_equal(range_pool_take(&f->p.pool, all.count, 0, SECOND), 0);
	map(f, 0x1000);
	assert_int_equal(published(f, SECOND), 0);
	/* Meanwhile nothing is looked at. */
	assert_false(f->p.pending);
	range_pool_give(&f->p.pool, &all, SECOND);
	/* What was given back rests first. */
	assert_int_equal(published(f, SECOND + 1), 0);
	assert_int_equal(published(f, 3 * SECOND), 1);
	assert_int_equal(f->p.segments[there.first].start, 0x1000);
	assert_false(f->p.pending);
	assert_int_equal(f->p.crowded_out, 1);
}

/* As many processes as the map can have: when some have ended there is room. */
static void of_too_many_it_is_tried_again(void **state)
{
	struct fixture *f = *state;

	map(f, 0x1000);
	update_error = -E2BIG;
	assert_int_equal(published(f, SECOND), 0);
	assert_int_equal(published(f, 3 * SECOND), 0);
	assert_int_equal(f->p.crowded_out, 1);
	update_error = 0;
	assert_int_equal(published(f, 5 * SECOND), 1);
	assert_int_equal(f->p.segments[there.first].start, 0x1000);
}

/* What was published before is still there, and its segments are not used for anything else. */
static void without_memory_it_is_tried_again(void **state)
{
	struct fixture *f = *state;
	uint32_t first;

	map(f, 0x1000);
	assert_int_equal(published(f, SECOND), 1);
	first = there.first;
	map(f, 0x3000);
	update_error = -ENOMEM;
	assert_int_equal(published(f, SECOND), 1);
	assert_false(f->p.pending);
	update_error = 0;
	assert_int_equal(published(f, SECOND + 1), 1);
	assert_int_equal(f->p.segments[first].start, 0x1000);
	assert_int_equal(f->p.segments[first].end, 0x2000);
	assert_int_equal(published(f, 3 * SECOND), 2);
	assert_int_not_equal(there.first, first);
	assert_false(f->p.pending);
	assert_int_equal(f->p.crowded_out, 0);
}

/* A process of that user, which only waits. */
static uint32_t start_of(struct fixture *f, uid_t user)
{
	pid_t child;
	int ends[2];
	char c = 0;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (!child) {
		c = setresuid(user, user, user) == 0;
		if (write(ends[1], &c, 1) == 1)
			pause();
		_exit(0);
	}
	assert_true(child > 0);
	f->children[f->child_count++] = child;
	close(ends[1]);
	assert_int_equal(read(ends[0], &c, 1), 1);
	close(ends[0]);
	if (!c)
		skip();
	return (uint32_t)child;
}

/* Enough later that nothing rests any more. */
static uint64_t later(const struct fixture *f)
{
	return f->p.now_ns + 2 * SECOND;
}

/* How many mappings are published at most of a process that maps one after the other. */
static uint32_t most_of(struct fixture *f, uint32_t pid)
{
	uint32_t n = 0;

	do
		map_in(f, pid, 0x1000 + 0x2000 * n++);
	while (published(f, later(f)) == n);
	return n - 1;
}

/* What the user has, and all have, when nothing rests. */
static uint64_t share_of(struct fixture *f, uint32_t user)
{
	range_pool_expire(&f->p.pool, later(f));
	return shares_of(&f->p.pool.shares, user);
}

static uint64_t taken(struct fixture *f)
{
	range_pool_expire(&f->p.pool, later(f));
	return f->p.pool.shares.taken;
}

/* One user's processes leave as much for those of others. */
static void users_share_the_segments(void **state)
{
	struct fixture *f = *state;
	const uint32_t one = start_of(f, 65534), other = start_of(f, 65533);

	f->p.pool.shares.limit = 80;
	shares_take(&f->p.pool.shares, 0, 10);
	for (uint32_t n = 0; n < 18; n++) {
		map_in(f, one, 0x1000 + 0x2000 * n);
		assert_int_equal(published(f, later(f)), n + 1);
	}
	/* Each has what it had, and next to that what it has now. */
	assert_int_equal(most_of(f, other), 13);
	publications_exit(&f->p, other, f->p.now_ns);
	/* Root takes what there is. */
	assert_int_equal(most_of(f, (uint32_t)getpid()), 26);
	assert_int_equal(published(f, later(f)), 27);
	map_in(f, one, 0x100000);
	assert_int_equal(published(f, f->p.now_ns), 0);
	assert_int_equal(f->p.crowded_out, 3);
	/* It is tried again, even if it still may not. */
	shares_take(&f->p.pool.shares, 0, 18);
	assert_int_equal(published(f, later(f)), 0);
	shares_give(&f->p.pool.shares, 0, 28);
	publications_exit(&f->p, (uint32_t)getpid(), f->p.now_ns);
	assert_int_equal(published(f, later(f)), 19);
	publications_exit(&f->p, one, f->p.now_ns);
	assert_int_equal(taken(f), 0);
}

/* One that maps all the time takes no more than that: what it had rests. */
static void a_process_that_maps_all_the_time(void **state)
{
	struct fixture *f = *state;
	const uint32_t one = start_of(f, 65534);

	f->p.pool.shares.limit = 800;
	shares_take(&f->p.pool.shares, 0, 100);
	for (uint32_t n = 0; n < 100; n++) {
		map_in(f, one, 0x1000 + 0x2000 * n);
		published(f, SECOND + n);
	}
	assert_true(shares_of(&f->p.pool.shares, 65534) <= 350);
	assert_int_equal(f->p.crowded_out, 1);
	/* Others find room. */
	map(f, 0x1000);
	assert_int_equal(published(f, SECOND + 100), 1);
	/* And so does it, when it does not. */
	assert_int_equal(published(f, 3 * SECOND), 100);
}

/* A run that several processes have stays of the share of whose process it was written for. */
static void runs_of_children_are_their_parents(void **state)
{
	struct fixture *f = *state;
	const uint32_t one = start_of(f, 65534), other = (uint32_t)getpid();

	f->p.pool.shares.limit = 80;
	shares_take(&f->p.pool.shares, 0, 10);
	for (uint32_t n = 0; n < 10; n++)
		map_in(f, one, 0x1000 + 0x2000 * n);
	assert_int_equal(published(f, SECOND), 10);
	publications_fork(&f->p, one, other, SECOND);
	publications_exec(&f->p, other);
	assert_int_equal(publications_user(&f->p, other), 0);
	publications_exit(&f->p, other, SECOND);
	assert_int_equal(share_of(f, 65534), 10);
	assert_int_equal(share_of(f, 0), 10);
	publications_exit(&f->p, one, SECOND);
	assert_int_equal(taken(f), 10);
}

/* So does one that was written before anybody was asked for. */
static void runs_stay_when_children_are_asked_first(void **state)
{
	struct fixture *f = *state;
	const uint32_t one = start_of(f, 65534), other = (uint32_t)getpid();

	map_in(f, one, 0x1000);
	assert_int_equal(published(f, SECOND), 1);
	publications_fork(&f->p, one, other, SECOND);
	publications_fork(&f->p, one, PID, SECOND);
	publications_user(&f->p, PID);
	assert_int_equal(share_of(f, UINT32_MAX), 0);
	publications_exec(&f->p, other);
	publications_user(&f->p, other);
	publications_exit(&f->p, other, SECOND);
	assert_int_equal(publications_user(&f->p, one), 65534);
	assert_int_equal(share_of(f, 65534), 1);
	assert_int_equal(share_of(f, 0), 0);
	publications_exit(&f->p, PID, SECOND);
}

/* Those that change all the time, and may have no more, are not in the way of one who may. */
static void who_has_his_share_uses_up_no_tries(void **state)
{
	struct fixture *f = *state;
	const uint32_t one = start_of(f, 65534);

	f->p.pool.shares.limit = 80;
	shares_take(&f->p.pool.shares, 0, 70);
	for (uint32_t n = 0; n < 6; n++)
		map_in(f, one, 0x1000 + 0x2000 * n);
	published(f, SECOND);
	assert_int_equal(share_of(f, 65534), 0);
	shares_give(&f->p.pool.shares, 0, 4);
	for (uint32_t i = 0; i < 1000; i++)
		for (uint32_t n = 0; n < 8; n++)
			map_in(f, PID + i, 0x1000 + 0x2000 * n);
	published(f, later(f));
	assert_int_equal(share_of(f, 65534), 6);
}

/* What has rested does not make anything scarce: nobody is asked for. */
static void what_has_rested_is_not_scarce(void **state)
{
	struct fixture *f = *state;
	const uint32_t one = start_of(f, 65534);
	const struct pool_range most = { 0, 50, 0 };
	struct code_file code = { .state = CODE_FILE_READY };

	f->p.pool.shares.limit = 80;
	assert_int_equal(range_pool_take(&f->p.pool, most.count, 0, SECOND), 0);
	range_pool_give(&f->p.pool, &most, SECOND);
	map_in(f, one, 0x1000);
	assert_int_equal(published(f, 100 * SECOND), 1);
	assert_int_equal(shares_of(&f->p.pool.shares, 0), 1);
	f->p.pool.hint = 0;
	assert_int_equal(range_pool_take(&f->p.pool, most.count, 0, 100 * SECOND), 0);
	range_pool_give(&f->p.pool, &most, 100 * SECOND);
	spaces_find(f->spaces, one, 0x1000)->object->code = &code;
	code.changed = true;
	publications_refresh(&f->p, 200 * SECOND);
	spaces_find(f->spaces, one, 0x1000)->object->code = NULL;
	assert_int_equal(share_of(f, 0), 1);
	assert_int_equal(taken(f), 1);
}

/* The run of whoever had the pid before rests, as any other. */
static void a_pid_is_used_again(void **state)
{
	struct fixture *f = *state;
	const uint32_t parent = (uint32_t)getpid();

	map_in(f, parent, 0x1000);
	map(f, 0x1000);
	published(f, SECOND);
	assert_int_equal(f->p.pool.shares.taken, 2);
	publications_fork(&f->p, parent, PID, SECOND);
	range_pool_expire(&f->p.pool, SECOND + 1);
	assert_int_equal(f->p.pool.shares.taken, 2);
	assert_int_equal(taken(f), 1);
}

/* As long as there is much room nobody is asked for: all is root's. */
static void users_are_asked_when_it_matters(void **state)
{
	struct fixture *f = *state;
	const uint32_t one = start_of(f, 65534);

	map_in(f, one, 0x1000);
	assert_int_equal(published(f, SECOND), 1);
	assert_int_equal(share_of(f, 0), 1);
	f->p.pool.shares.limit = 8;
	map_in(f, one, 0x3000);
	assert_int_equal(published(f, SECOND), 2);
	assert_int_equal(share_of(f, 0), 0);
	assert_int_equal(share_of(f, 65534), 2);
	/* So are a new program, and a child, which may have become another user. */
	f->p.pool.shares.limit = 24;
	publications_exec(&f->p, one);
	there.execs++;
	publications_fork(&f->p, one, PID, SECOND);
	map(f, 0x1000);
	shares_take(&f->p.pool.shares, 0, 1);
	publications_update(&f->p, f->spaces, later(f));
	assert_int_equal(share_of(f, 65534), 2);
	assert_int_equal(share_of(f, UINT32_MAX), 1);
	publications_exit(&f->p, one, SECOND);
	publications_exit(&f->p, PID, SECOND);
	assert_int_equal(taken(f), 1);
}

/* A child that has mapped nothing gets a run of its own when a table is ready. */
static void children_do_not_pay_as_root(void **state)
{
	struct fixture *f = *state;
	const uint32_t one = start_of(f, 65534);
	struct code_file code = { .state = CODE_FILE_READY };

	f->p.pool.shares.limit = 80;
	shares_take(&f->p.pool.shares, 0, 10);
	map_in(f, one, 0x1000);
	assert_int_equal(published(f, SECOND), 1);
	spaces_find(f->spaces, one, 0x1000)->object->code = &code;
	publications_fork(&f->p, one, PID, SECOND);
	code.changed = true;
	publications_refresh(&f->p, 2 * SECOND);
	assert_int_equal(share_of(f, 0), 10);
	assert_int_equal(taken(f), 12);
	spaces_find(f->spaces, one, 0x1000)->object->code = NULL;
	publications_exit(&f->p, PID, SECOND);
}

/* It is known at the second look: the program before is not published for the new one. */
static void exec_between_looks(void **state)
{
	struct fixture *f = *state;
	uint64_t before;

	map(f, 0x1000);
	assert_int_equal(published(f, SECOND), 1);
	there.mm = 1;
	before = taken(f);
	map(f, 0x3000);
	execs_after_look = 1;
	assert_int_equal(published(f, SECOND), 0);
	assert_int_equal(there.execs, 1);
	assert_int_equal(there.mm, 2);
	assert_int_equal(taken(f), before);
	publications_exec(&f->p, PID);
	assert_int_equal(published(f, SECOND), 2);
	assert_int_equal(there.execs, 1);
	assert_int_equal(there.mm, 2);
	assert_false(f->p.pending);
}

/* Nothing tells of that: after a while the next stack says which address space it is. */
static void exec_between_look_and_update(void **state)
{
	struct fixture *f = *state;

	map(f, 0x1000);
	assert_int_equal(published(f, SECOND), 1);
	there.mm = 1;
	map(f, 0x3000);
	execs_before_update = true;
	assert_int_equal(published(f, SECOND), 2);
	publications_exec(&f->p, PID);
	assert_int_equal(published(f, 2 * SECOND), 2);
	assert_true(f->p.pending);
	there.id = 0;
	assert_int_equal(published(f, 3 * SECOND), 2);
	assert_int_not_equal(there.id, 0);
	assert_int_equal(there.mm, 0);
	assert_false(f->p.pending);
}

/* The fork itself was not told, as the child was read from /proc since. It execs later. */
static void a_child_whose_fork_is_not_told(void **state)
{
	struct fixture *f = *state;

	there.execs = 3;
	is_there = true;
	publications_user(&f->p, PID);
	map(f, 0x1000);
	assert_int_equal(published(f, SECOND), 1);
	exec_there();
	publications_exec(&f->p, PID);
	map(f, 0x3000);
	assert_int_equal(published(f, SECOND), 2);
	assert_int_equal(there.execs, 4);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

static const struct CMUnitTest tests[] = {
	TEST(what_is_mapped_is_published),
	TEST(without_room_it_is_tried_again),
	TEST(of_too_many_it_is_tried_again),
	TEST(without_memory_it_is_tried_again),
	TEST(users_share_the_segments),
	TEST(a_process_that_maps_all_the_time),
	TEST(runs_of_children_are_their_parents),
	TEST(runs_stay_when_children_are_asked_first),
	TEST(who_has_his_share_uses_up_no_tries),
	TEST(what_has_rested_is_not_scarce),
	TEST(a_pid_is_used_again),
	TEST(users_are_asked_when_it_matters),
	TEST(children_do_not_pay_as_root),
	TEST(a_child_whose_fork_is_not_told),
	TEST(exec_between_looks),
	TEST(exec_between_look_and_update),
};

UNIT_TESTS(tests);
